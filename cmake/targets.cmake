# qq_folder(<name> [LINKS <targets>...] [PRIVATE_LINKS <targets>...])
#
# One folder of src/ as one static library qq_<name>, made of all its .cc files (its sub-folders
# included), and, where there are *_test.cc files, one GoogleTest program <name>_test beside it.
# LINKS names the folders that the headers may include; the layering check reads the sources.
function(qq_folder name)
  cmake_parse_arguments(arg "" "" "LINKS;PRIVATE_LINKS;TEST_LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(qq_${name} STATIC ${sources})
    target_link_libraries(qq_${name} PUBLIC qq_flags ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
    if(name STREQUAL "base")
      target_precompile_headers(qq_base PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
    else()
      target_precompile_headers(qq_${name} REUSE_FROM qq_base)
    endif()
  else()
    add_library(qq_${name} INTERFACE)
    target_link_libraries(qq_${name} INTERFACE qq_flags ${arg_LINKS})
  endif()
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE qq_${name} qq_testing ${arg_PRIVATE_LINKS} ${arg_TEST_LINKS})
    target_precompile_headers(${name}_test REUSE_FROM qq_testing)
    set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME unit.${name} COMMAND ${name}_test --gtest_brief=1)
    set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT ${QQ_TEST_TIMEOUT})
  endif()
endfunction()

# GoogleTest with its own precompiled header, shared by every test program.
file(WRITE ${CMAKE_BINARY_DIR}/testing.cc "// Carries the precompiled header of the test programs.\n")
add_library(qq_testing STATIC ${CMAKE_BINARY_DIR}/testing.cc)
target_link_libraries(qq_testing PUBLIC qq_flags GTest::gmock GTest::gtest GTest::gtest_main)
target_precompile_headers(qq_testing PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h <gtest/gtest.h> <gmock/gmock.h>)

# qq_alone(<file>...): compiled by themselves where the others of a target are compiled in batches (the presets
# asan, fuzz, tsan and gcc), for the names of their own that another file has too.
function(qq_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
