# Compiler and linker flags of every target of ours.
add_library(qq_flags INTERFACE)
target_include_directories(qq_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(qq_flags INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wextra-semi
  -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Without the flag ccache never hits on a precompiled header.
  target_compile_options(qq_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  add_link_options(-fuse-ld=mold)
else()
  # g++ 12 takes a coroutine's promise for uninitialised, string code for overlapping or too long, and an EXPECT_ as
  # the only statement of an `if` for the owner of an `else`.
  target_compile_options(qq_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds
    -Wno-dangling-else -Wno-shadow)
  if(CMAKE_UNITY_BUILD)
    # Every file of a batch is a header to it, whose types may hold nothing of an anonymous namespace; the frames
    # of coroutines do.
    target_compile_options(qq_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
# RelWithDebInfo is the release: optimised, with line tables for stack traces, and asserts on.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -gline-tables-only")
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The second opinion ships nowhere and nobody debugs it.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2")
endif()

# Seconds for a whole test program. Sanitizers slow some of them ten times, and so does a busy machine.
set(QQ_TEST_TIMEOUT 600)
if(QQ_SANITIZE)
  set(QQ_TEST_TIMEOUT 2400)
endif()

if(QQ_SANITIZE)
  # Compiles in two thirds of the time of -O2; what is measured is not built with sanitizers.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -gline-tables-only")
  add_compile_options(-fsanitize=${QQ_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${QQ_SANITIZE})
  add_compile_definitions(QQ_SANITIZED=1)
else()
  # Hardening of what ships.
  target_compile_options(qq_flags INTERFACE -fstack-protector-strong -fPIE
    $<$<CONFIG:RelWithDebInfo>:-U_FORTIFY_SOURCE> $<$<CONFIG:RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
  add_link_options(-pie -Wl,-z,relro,-z,now)
endif()
if(QQ_FUZZ)
  # Coverage of our own code steers the fuzzers; the engine itself is linked in fuzz/.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
