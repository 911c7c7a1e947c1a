# SPDX-License-Identifier: BSD-2-Clause
# One helper per tier of test. Each names the test <tier>.<name> and gives it
# the tier as its CTest label, so that `ctest -L unit` runs that tier alone.
# Exit status 77 means "skipped here, for a reason that the test printed".

# Long-running tests divide their repetitions by this: sanitizers are slow.
if(POL_SANITIZE)
  set(POL_TEST_DIVISOR 10)
else()
  set(POL_TEST_DIVISOR 1)
endif()

# All programs: the core's internal headers, the static core, tests/testlib.
function(pol_add_test_program target)
  add_executable(${target} ${ARGN})
  target_compile_definitions(${target} PRIVATE
    POL_TEST_DIVISOR=${POL_TEST_DIVISOR}
    POL_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    POL_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/libpolicy/src ${PROJECT_SOURCE_DIR}/tests/testlib
    ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE pol_testlib policy_static)
endfunction()

function(pol_register_test tier name target timeout)
  add_test(NAME ${tier}.${name} COMMAND ${target} ${ARGN})
  set_tests_properties(${tier}.${name} PROPERTIES
    LABELS ${tier} TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
endfunction()

# pol_add_unit_test(name source...): CUnit, one module, seconds at most.
function(pol_add_unit_test name)
  pol_add_test_program(unit_${name} ${ARGN})
  pol_register_test(unit ${name} unit_${name} 120)
endfunction()

# pol_add_property_test(name source...): many random inputs, fixed seed.
function(pol_add_property_test name)
  pol_add_test_program(property_${name} ${ARGN})
  pol_register_test(property ${name} property_${name} 600)
endfunction()

# pol_add_conformance_test(name source...): what any adapter must do.
function(pol_add_conformance_test name)
  pol_add_test_program(conformance_${name} ${ARGN})
  pol_register_test(conformance ${name} conformance_${name} 300)
endfunction()

# pol_add_replay_test(name source...): same inputs, byte-identical plans.
function(pol_add_replay_test name)
  pol_add_test_program(replay_${name} ${ARGN})
  pol_register_test(replay ${name} replay_${name} 300)
endfunction()

# pol_add_scenario_test(name command...): runs policyctl or a script on a
# scenario; the command may name targets by $<TARGET_FILE:...>.
function(pol_add_scenario_test name)
  add_test(NAME scenario.${name} COMMAND ${ARGN})
  set_tests_properties(scenario.${name} PROPERTIES
    LABELS scenario TIMEOUT 300 SKIP_RETURN_CODE 77
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# pol_add_bench(name source...): measures, and prints ratios within one run. With
# --check it takes seconds, which shows that it works; how fast the code is
# decides no test. Without, it takes its time (`make bench`). Runs alone; sanitized builds only compile it.
function(pol_add_bench name)
  pol_add_test_program(bench_${name} ${ARGN})
  if(NOT POL_SANITIZE)
    pol_register_test(bench ${name} bench_${name} 300 --check)
    set_tests_properties(bench.${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
  set_property(GLOBAL APPEND PROPERTY POL_BENCHES bench_${name})
endfunction()

# pol_add_fuzz(name source...): LLVMFuzzerTestOneInput, seeds in
# tests/fuzz/corpus/<name>/, optional dictionary tests/fuzz/<name>.dict.
# With POL_FUZZ it fuzzes for FUZZ_SECONDS; otherwise it runs the seeds once.
function(pol_add_fuzz name)
  set(target fuzz_${name})
  set(here ${PROJECT_SOURCE_DIR}/tests/fuzz)
  if(POL_FUZZ)
    pol_add_test_program(${target} ${ARGN})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${name} COMMAND sh ${here}/run.sh
      $<TARGET_FILE:${target}> ${name} ${CMAKE_CURRENT_BINARY_DIR})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 3600)
  else()
    pol_add_test_program(${target} ${ARGN} ${here}/run_seeds.c)
    pol_register_test(fuzz-smoke ${name} ${target} 120 ${here}/corpus/${name})
  endif()
endfunction()
