# Build options and the flags every target of ours gets through the interface target dtkb_flags.
option(DTKB_TESTS "Build the tests" ON)
option(DTKB_WERROR "Treat warnings as errors" OFF)
option(DTKB_FUZZ "Build the fuzz targets (clang)" OFF)
set(DTKB_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)  # GNU C: POSIX and Linux interfaces are used throughout
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

add_library(dtkb_flags INTERFACE)
target_compile_definitions(dtkb_flags INTERFACE _GNU_SOURCE)
target_compile_options(dtkb_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
                       $<$<BOOL:${DTKB_WERROR}>:-Werror>)
if(DTKB_FUZZ)
  target_compile_options(dtkb_flags INTERFACE -fsanitize=fuzzer-no-link)  # coverage in the library: without it libFuzzer is blind
endif()
if(DTKB_SANITIZE)
  target_compile_options(dtkb_flags INTERFACE -fsanitize=${DTKB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(dtkb_flags INTERFACE -fsanitize=${DTKB_SANITIZE})
else()
  target_compile_options(dtkb_flags INTERFACE $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2> -fstack-protector-strong)
endif()
