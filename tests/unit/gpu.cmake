# The GPU probes on the stand-ins of tests/fakes.
function(dtkb_gpu_test name)
  dtkb_unit_test(${name} test_${name}.c gpu_scenario.c)
  target_link_libraries(test_${name} PRIVATE PkgConfig::XML2 Threads::Threads)
  target_compile_definitions(test_${name} PRIVATE FAKES="${CMAKE_BINARY_DIR}/tests/fakes" PLUGINS="${dtkb_PLUGIN_BUILD_DIR}"
                             FACTS_XML="${PROJECT_SOURCE_DIR}/kb/facts.xml")
  add_dependencies(test_${name} dtkb-probe-host ${ARGN})
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;probes")
endfunction()

if(TARGET dtkb-plugin-cuda)
  dtkb_gpu_test(probe_cuda dtkb-plugin-cuda fake-cuda fake-nvml fake-cudart fake-empty)
  add_test(NAME unit.verify_ptx COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/verify_ptx.sh ${CMAKE_BINARY_DIR}/cuda_probe/verify.ptx
                                        ${PROJECT_SOURCE_DIR}/cuda_probe/verify_sm60.ptx)
  set_tests_properties(unit.verify_ptx PROPERTIES LABELS "unit;probes")
  set_property(TEST unit.verify_ptx PROPERTY ENVIRONMENT_MODIFICATION PATH=path_list_prepend:${CUDAToolkit_BIN_DIR})
endif()
if(TARGET dtkb-plugin-nccl)
  dtkb_gpu_test(probe_nccl dtkb-plugin-nccl fake-cuda fake-nvml fake-nccl-current fake-nccl-old fake-nccl-no-send fake-empty-nccl)
  find_file(DTKB_REAL_NCCL libnccl.so.2 PATHS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib ${CUDAToolkit_TARGET_DIR}/lib
            ${DTKB_NCCL_INCLUDE_DIR}/../lib /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}
            DOC "NCCL itself, for tests that need no GPU")
  if(DTKB_REAL_NCCL)
    target_compile_definitions(test_probe_nccl PRIVATE REAL_NCCL="${DTKB_REAL_NCCL}")
  endif()
  set(parts ${PROJECT_SOURCE_DIR}/cuda_probe)
  dtkb_unit_test(nccl_parts test_nccl_parts.c ${parts}/bisect.c ${parts}/seek.c ${parts}/transcript.c)
  target_link_libraries(test_nccl_parts PRIVATE dtkb_cuda)
  target_compile_definitions(test_nccl_parts PRIVATE FAKES="${CMAKE_BINARY_DIR}/tests/fakes" FACTS_XML="${PROJECT_SOURCE_DIR}/kb/facts.xml")
  set_tests_properties(unit.nccl_parts PROPERTIES LABELS "unit;probes")
  # Nothing of the vendor's is linked.
  add_test(NAME unit.gpu_symbols COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/gpu_symbols.sh $<TARGET_FILE:dtkb-plugin-cuda> $<TARGET_FILE:dtkb-plugin-nccl>)
  set_tests_properties(unit.gpu_symbols PROPERTIES LABELS "unit;probes")
  find_program(DTKB_VALGRIND valgrind)
  if(DTKB_VALGRIND AND NOT DTKB_SANITIZE)
    add_test(NAME unit.gpu_valgrind COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/gpu_valgrind.sh $<TARGET_FILE:dtkb-probe-host> ${dtkb_PLUGIN_BUILD_DIR}
                                            ${CMAKE_BINARY_DIR}/tests/fakes)
    set_tests_properties(unit.gpu_valgrind PROPERTIES LABELS "unit;probes" TIMEOUT 300)
  endif()
endif()
