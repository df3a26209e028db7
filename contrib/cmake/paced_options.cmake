# SPDX-License-Identifier: BSD-3-Clause
# How everything here is compiled. Programs go to <build>/bin, shared objects to <build>/lib.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

option(PACED_FABRIC_WERROR "Treat warnings as errors" ON)
option(PACED_FABRIC_PCH "Precompile the heaviest headers of tests and of paced" ON)
set(PACED_FABRIC_TEST_FOLDERS all CACHE STRING "Folders of tests/ to build, or all; contrib/check builds each in one preset alone")
set(PACED_FABRIC_SANITIZE "" CACHE STRING "Sanitizers for our own programs and tests: address,undefined or thread")
set(PACED_FABRIC_TEST_DATA ${CMAKE_SOURCE_DIR}/../shared/data CACHE PATH "Others' recorded topologies and traces; tests skip by name where it is missing")

# Every target of ours links this; what is special about the two guests (no libstdc++, hidden symbols) stands
# in plugin/CMakeLists.txt.
add_library(paced_options INTERFACE)
target_include_directories(paced_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(paced_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  $<$<BOOL:${PACED_FABRIC_WERROR}>:-Werror>)
if(PACED_FABRIC_SANITIZE)
  target_compile_options(paced_options INTERFACE -fsanitize=${PACED_FABRIC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(paced_options INTERFACE -fsanitize=${PACED_FABRIC_SANITIZE})
endif()

# For what computes for long: the sanitizers' preset does not optimise, which compiles three times as fast, and tests of these would take minutes.
function(paced_optimise_always target)
  if(PACED_FABRIC_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
