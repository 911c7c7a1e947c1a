# SPDX-License-Identifier: BSD-2-Clause
# Compiler settings that every target of the tree shares.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT POL_ASSERT_LEVEL MATCHES "^[012]$")
  message(FATAL_ERROR "POL_ASSERT_LEVEL=${POL_ASSERT_LEVEL}: not 0, 1 or 2")
endif()
add_compile_definitions(POL_ASSERT_LEVEL=${POL_ASSERT_LEVEL})

set(POL_WARNINGS -Wall -Wextra -Wshadow -Wvla -Wundef -Wpointer-arith
  -Wstrict-prototypes -Wmissing-prototypes)
if(POL_WERROR)
  list(APPEND POL_WARNINGS -Werror)
endif()
add_compile_options(${POL_WARNINGS})

if(POL_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "POL_FUZZ needs clang as the C compiler")
  endif()
  # Every object counts coverage; only the fuzz targets get libFuzzer's main.
  add_compile_options(-fsanitize=fuzzer-no-link)
  if(NOT POL_SANITIZE)
    set(POL_SANITIZE address,undefined)
  endif()
endif()
if(POL_SANITIZE)
  add_compile_options(-fsanitize=${POL_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${POL_SANITIZE})
  # gcc's instrumentation hides from it what has been set already.
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
