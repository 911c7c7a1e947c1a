# SPDX-License-Identifier: BSD-2-Clause
# pol_add_adapter(NAME SOURCES file... [LINK library...]): a static library
# libpolicy-NAME.a, target policy::NAME with any "-" as "_", whose public
# headers are below include/ of the current folder and whose own are in src/.
# It sees only the core's public headers. Installed with policy-NAME.pc (from
# pkgconfig/) and as a component of the CMake package.
function(pol_add_adapter name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  string(REPLACE "-" "_" id ${name})
  set(target policy_${id})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(policy::${id} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME policy-${name} EXPORT_NAME ${id}
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC policy_static PRIVATE ${arg_LINK})

  set_property(GLOBAL APPEND PROPERTY POL_ADAPTERS ${name})
  pol_install_adapter(${name} ${id} ${target} ${arg_LINK})
endfunction()

function(pol_install_adapter name id target)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/include)
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
      FILES_MATCHING PATTERN "*.h")
  endif()
  install(TARGETS ${target} EXPORT policy_${id}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT policy_${id}Targets NAMESPACE policy::
    DESTINATION ${POL_PACKAGE_DIR})

  # PkgConfig::NAME among the libraries: users of the package need it as well.
  set(POL_ADAPTER_MODULES "")
  set(POL_ADAPTER_LOOKUPS "")
  foreach(library IN LISTS ARGN)
    if(library MATCHES "^PkgConfig::(.+)$")
      set(module ${POL_MODULE_${CMAKE_MATCH_1}})
      string(APPEND POL_ADAPTER_MODULES " ${module}")
      string(APPEND POL_ADAPTER_LOOKUPS "pkg_check_modules(${CMAKE_MATCH_1} "
        "REQUIRED IMPORTED_TARGET ${module})\n")
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY POL_ADAPTER_MODULES_${name}
    "${POL_ADAPTER_MODULES}")
  configure_file(${PROJECT_SOURCE_DIR}/libpolicy/cmake/adapterConfig.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/policy_${id}.cmake @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/policy_${id}.cmake
    DESTINATION ${POL_PACKAGE_DIR})
endfunction()
