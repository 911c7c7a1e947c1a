# SPDX-License-Identifier: BSD-2-Clause
# Libraries from outside, none of them needed by the core itself. A target
# PkgConfig::NAME that is missing here is only an error where a part of the tree
# links it. POL_MODULE_NAME is what pkg-config calls it.

set(POL_MODULE_YAML yaml-0.1)
set(POL_MODULE_JSONC json-c)
set(POL_MODULE_ZLIB zlib)
set(POL_MODULE_CUNIT cunit)
set(POL_MODULE_EVENT libevent)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  foreach(name YAML JSONC ZLIB CUNIT EVENT)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${POL_MODULE_${name}})
    if(NOT TARGET PkgConfig::${name})
      message(STATUS "Not found by pkg-config: ${POL_MODULE_${name}}")
    endif()
  endforeach()
endif()
