# What other projects find: the pkg-config file and the CMake package.
include(CMakePackageConfigHelpers)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/dtkb.pc.in ${CMAKE_BINARY_DIR}/dtkb.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/dtkb.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_package_config_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/dtkb-config.cmake.in ${CMAKE_BINARY_DIR}/dtkb-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dtkb)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dtkb-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/dtkb-config.cmake ${CMAKE_BINARY_DIR}/dtkb-config-version.cmake
              ${CMAKE_CURRENT_SOURCE_DIR}/cmake/dtkb_plugin.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dtkb)
install(EXPORT dtkb-targets NAMESPACE dtkb:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dtkb)
