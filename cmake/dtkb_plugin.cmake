# dtkb_add_plugin(NAME SOURCE...): a probe plugin, libdtkb-probe-NAME.so, that exports its entry symbol and nothing else.
# Used for the bundled plugins and, through find_package(dtkb), by everybody else's projects.
function(dtkb_add_plugin name)
  set(target dtkb-plugin-${name}) # not dtkb-probe-NAME: with NAME host that is the helper program
  add_library(${target} MODULE ${ARGN})
  target_link_libraries(${target} PRIVATE dtkb::plugin)
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                        C_STANDARD 11 PREFIX lib OUTPUT_NAME dtkb-probe-${name} SUFFIX .so
                        LIBRARY_OUTPUT_DIRECTORY ${dtkb_PLUGIN_BUILD_DIR})
  # clang leaves a sanitizer's symbols to the program that loads the plugin.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  if(NOT DTKB_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  # dtkb searches only what nobody else can write, whatever the umask here is.
  add_custom_command(TARGET ${target} POST_BUILD COMMAND chmod go-w $<TARGET_FILE:${target}> $<TARGET_FILE_DIR:${target}> VERBATIM)
  install(TARGETS ${target} LIBRARY DESTINATION ${dtkb_PLUGIN_INSTALL_DIR})
endfunction()

# dtkb_plugin_left_out(NAME REASON): a line beside the plugins that `dtkb plugin list` shows.
function(dtkb_plugin_left_out name reason)
  set(note ${dtkb_PLUGIN_BUILD_DIR}/libdtkb-probe-${name}.left-out)
  file(WRITE ${note} "${reason}\n")
  install(FILES ${note} DESTINATION ${dtkb_PLUGIN_INSTALL_DIR})
  message(STATUS "plugin ${name} is left out: ${reason}")
endfunction()
