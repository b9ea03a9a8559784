# What other projects find: the pkg-config file and the CMake package; and what `cpack` makes: a .tar.gz and a .deb.
include(CMakePackageConfigHelpers)
# Both find their prefix from where they lie, so an installation may be moved.
file(RELATIVE_PATH dtkb_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/dtkb.pc.in ${CMAKE_BINARY_DIR}/dtkb.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/dtkb.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_package_config_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/dtkb-config.cmake.in ${CMAKE_BINARY_DIR}/dtkb-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dtkb)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dtkb-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/dtkb-config.cmake ${CMAKE_BINARY_DIR}/dtkb-config-version.cmake
              ${CMAKE_CURRENT_SOURCE_DIR}/cmake/dtkb_plugin.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dtkb)
install(EXPORT dtkb-targets NAMESPACE dtkb:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dtkb)
install(FILES LICENSE README.md kb/NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/dtkb)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME dtkb)
set(CPACK_PACKAGE_VENDOR "dtkb project")
set(CPACK_PACKAGE_CONTACT "dtkb project <dtkb@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tells why a distributed deep-learning training job failed")
set(CPACK_PACKAGE_DESCRIPTION
    "Matches the log of a failed job to known causes and to the classified issues of a published study, probes the machine, and says what to
do. A command line, a C library with its headers, and probe plugins.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/cmake/deb/triggers)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/dtkb_deb.cmake.in ${CMAKE_BINARY_DIR}/dtkb_deb.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/dtkb_deb.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/deb/layout.cmake)
include(CPack)
