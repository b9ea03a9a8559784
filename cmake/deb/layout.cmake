# CPack runs this before it packs what it installed: what Debian wants elsewhere than other systems.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(usr ${CPACK_TEMPORARY_DIRECTORY}/usr)

file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${usr}/share/doc/dtkb)
file(REMOVE ${usr}/share/doc/dtkb/LICENSE) # /usr/share/common-licenses has it

file(MAKE_DIRECTORY ${usr}/share/zsh/vendor-completions)
file(RENAME ${usr}/share/zsh/site-functions/_dtkb ${usr}/share/zsh/vendor-completions/_dtkb)
file(REMOVE_RECURSE ${usr}/share/zsh/site-functions)

# `import dtkb` without PYTHONPATH.
file(MAKE_DIRECTORY ${usr}/lib/python3/dist-packages)
file(CREATE_LINK ../../../share/dtkb/python/dtkb ${usr}/lib/python3/dist-packages/dtkb SYMBOLIC)

file(GLOB pages ${usr}/share/man/man1/*.1)
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
