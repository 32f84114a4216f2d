# Link-time optimisation and the recorded profile of what ships; goals and price: docs/decisions/0010-lto-and-profile.md
#
# Test programs link the same objects, which therefore hold machine code (what mold takes) beside bitcode (what lld
# takes).
option(QQ_LTO "Link queqiao with ThinLTO (clang only)" OFF)
set(QQ_PROFILE "" CACHE STRING "use: optimise by cmake/queqiao.profdata; record: count, for tools/profile/record")

set(product_compile_options)
set(product_link_options)
set(product_depends)

if(QQ_LTO OR QQ_PROFILE STREQUAL "record")
  # mold 1.10 dies of functions that libraries with and without counters have in common, so lld links those too.
  find_program(QQ_LLD ld.lld-19)
  if(NOT QQ_LLD)
    message(FATAL_ERROR "ld.lld-19, which links the release, is missing: run tools/setup.sh, "
      "or as root: apt-get install --no-install-recommends lld-19")
  endif()
  list(APPEND product_link_options -fuse-ld=lld-19)
endif()

if(QQ_LTO)
  list(APPEND product_compile_options -flto=thin -ffat-lto-objects)
  # The cache makes linking again after a small change quick.
  list(APPEND product_link_options -flto=thin -Wl,--fat-lto-objects
    -Wl,--thinlto-cache-dir=${CMAKE_BINARY_DIR}/lto-cache -Wl,--thinlto-cache-policy=cache_size_bytes=200m)
endif()

if(QQ_PROFILE)
  # A function of one file is told apart by that file's name. Without its folders, which differ from clone to clone;
  # the folders of src/ are in the namespace.
  list(APPEND product_compile_options "SHELL:-mllvm -static-func-full-module-prefix=false")
endif()
if(QQ_PROFILE STREQUAL "record")
  list(APPEND product_compile_options -fprofile-generate)
  list(APPEND product_link_options -fprofile-generate)
elseif(QQ_PROFILE STREQUAL "use" AND NOT EXISTS ${PROJECT_SOURCE_DIR}/cmake/queqiao.profdata)
  message(WARNING "cmake/queqiao.profdata is missing, queqiao will be slower; tools/profile/record writes it")
elseif(QQ_PROFILE STREQUAL "use")
  # The compiler does not list the profile among what it read.
  set(product_depends ${PROJECT_SOURCE_DIR}/cmake/queqiao.profdata)
  # Relative to the build folder, where the compiler runs: the same in every clone.
  file(RELATIVE_PATH profile ${CMAKE_BINARY_DIR} ${product_depends})
  # A function that changed since the recording is compiled as if it had no profile, without a warning.
  list(APPEND product_compile_options -fprofile-use=${profile} "SHELL:-mllvm -no-pgo-warn-mismatch")
elseif(QQ_PROFILE)
  message(FATAL_ERROR "QQ_PROFILE is '${QQ_PROFILE}', not one of: use record (or empty)")
endif()

# qq_optimize(<target>...): targets of src/ whose code requests run through.
function(qq_optimize)
  foreach(target ${ARGN})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    target_compile_options(${target} PRIVATE ${product_compile_options})
    get_target_property(sources ${target} SOURCES)
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES OBJECT_DEPENDS "${product_depends}")
  endforeach()
endfunction()
