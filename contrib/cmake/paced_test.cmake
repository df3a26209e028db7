# SPDX-License-Identifier: BSD-3-Clause
# How tests are declared.
#
#   paced_add_test(NAME duration SOURCES duration_test.cpp LIBRARIES paced_base [LABEL unit] [TIMEOUT 180]
#                  [DEPENDS paced] [LOCK name])
#     A GoogleTest program, target `test_NAME`; every TEST in it becomes one test of ctest. LABEL is by default
#     the first folder below tests/ (unit, topology, config, ...). DEPENDS: targets that the test runs; the
#     definition PACED_FABRIC_BIN_DIR says where they are. LOCK: what they share, so that they run one by one.
#   paced_add_script_test(NAME spank_exports COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/exports.sh [LABEL abi] [TIMEOUT 180])
#     Any other command. Exit code 77 means skipped; the last line then says why.
#
# Tests see these definitions: PACED_FABRIC_SOURCE_DIR (the repository), PACED_FABRIC_BIN_DIR and
# PACED_FABRIC_LIB_DIR (what was built), PACED_FABRIC_TEST_DATA (others' recordings, which may be missing). Script
# tests see them as environment variables. tests/doubles/paths.h reads them.
include(GoogleTest)

function(paced_test_label result)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/tests OUTPUT_VARIABLE folder)
  string(REGEX REPLACE "/.*" "" folder ${folder})
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

# GoogleTest and what most tests include, compiled once: half of the time that a test takes to build.
add_executable(paced_test_headers EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/paced_test_headers.cpp)
target_link_libraries(paced_test_headers PRIVATE paced_options GTest::gtest_main)
if(PACED_FABRIC_PCH)
  target_precompile_headers(paced_test_headers PRIVATE <gtest/gtest.h> <filesystem> <fstream> <map> <sstream> <string> <vector>)
endif()

function(paced_test_definitions target)
  target_compile_definitions(${target} PRIVATE
    PACED_FABRIC_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    PACED_FABRIC_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
    PACED_FABRIC_LIB_DIR="${CMAKE_LIBRARY_OUTPUT_DIRECTORY}"
    PACED_FABRIC_TEST_DATA="${PACED_FABRIC_TEST_DATA}")
endfunction()

function(paced_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;LABEL;TIMEOUT;LOCK" "SOURCES;LIBRARIES;DEPENDS")
  if(NOT arg_LABEL)
    paced_test_label(arg_LABEL)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 180)
  endif()
  if(arg_LOCK)
    set(lock RESOURCE_LOCK ${arg_LOCK})
  endif()
  set(target test_${arg_NAME})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} paced_options GTest::gtest_main)
  paced_test_definitions(${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(PACED_FABRIC_PCH)
    target_precompile_headers(${target} REUSE_FROM paced_test_headers)
    # g++ 12 forgets that what it has precompiled are system headers, and warns of what it inlines from them
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict>)
  endif()
  if(arg_DEPENDS)
    add_dependencies(${target} ${arg_DEPENDS})
  endif()
  # PRE_TEST: the list is read when ctest runs, so that a build does not run programs
  gtest_discover_tests(${target} TEST_PREFIX "${arg_LABEL}.${arg_NAME}." DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ${lock})
endfunction()

function(paced_add_script_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;LABEL;TIMEOUT" "COMMAND")
  if(NOT arg_LABEL)
    paced_test_label(arg_LABEL)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 180)
  endif()
  add_test(NAME ${arg_LABEL}.${arg_NAME} COMMAND ${arg_COMMAND})
  set_tests_properties(${arg_LABEL}.${arg_NAME} PROPERTIES
    LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "PACED_FABRIC_SOURCE_DIR=${CMAKE_SOURCE_DIR};PACED_FABRIC_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};PACED_FABRIC_LIB_DIR=${CMAKE_LIBRARY_OUTPUT_DIRECTORY};PACED_FABRIC_TEST_DATA=${PACED_FABRIC_TEST_DATA}")
endfunction()
