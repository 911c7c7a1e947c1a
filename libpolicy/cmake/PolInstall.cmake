# SPDX-License-Identifier: BSD-2-Clause
# What `cmake --install` puts where, for the core and for the CMake package.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/policy ${POL_GENERATED_INCLUDE}/policy
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS policy_shared policy_static EXPORT policyTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(POL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/policy
  CACHE INTERNAL "Folder of the CMake package")
install(EXPORT policyTargets NAMESPACE policy:: DESTINATION ${POL_PACKAGE_DIR})
configure_package_config_file(cmake/policyConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/policyConfig.cmake
  INSTALL_DESTINATION ${POL_PACKAGE_DIR})
# Before 1.0 the interface may change with the minor number.
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/policyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/policyConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/policyConfigVersion.cmake
  DESTINATION ${POL_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
