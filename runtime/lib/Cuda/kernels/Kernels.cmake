# The PTX of the runtime's own kernels, for GPUs of compute capability 8.0 and later. Sets:
#   SHARDKIT_KERNELS_SOURCE    the C++ source that holds it (Kernels.cpp.in)
#   SHARDKIT_KERNELS_PTX_DIR   the folder of the PTX; empty: the runtime is built without it
#   SHARDKIT_KERNELS_COMPILE   the command of clang without its inputs, where the PTX is compiled here
#
# 1. If SHARDKIT_PTX_DIR names a folder (scripts/export-suite writes one for hosts without clang 22), its files are taken.
# 2. Otherwise clang 22 compiles them during the build, into ptx/ of the build folder: about three CPU seconds.
# 3. Otherwise the runtime has none, and a function that needs one fails with a message that names both ways.
#
# ptx/sources.sha256 holds the digest of the sources, so that the PTX of other sources is not taken.

find_program(SHARDKIT_CLANG clang-22 DOC "clang 22 with the NVPTX target, for the runtime's own kernels; empty: none")
set(SHARDKIT_PTX_DIR "" CACHE PATH "Folder with the PTX of the runtime's own kernels; empty: SHARDKIT_CLANG compiles them")

set(kernels_dir ${CMAKE_CURRENT_LIST_DIR})
include(${kernels_dir}/Sources.cmake)
set(SHARDKIT_KERNELS_SOURCE ${CMAKE_CURRENT_BINARY_DIR}/Kernels.cpp)
set(SHARDKIT_KERNELS_COMPILE)

if(SHARDKIT_PTX_DIR)
  set(SHARDKIT_KERNELS_PTX_DIR ${SHARDKIT_PTX_DIR})
elseif(SHARDKIT_CLANG)
  set(SHARDKIT_KERNELS_PTX_DIR ${PROJECT_BINARY_DIR}/ptx)
  file(MAKE_DIRECTORY ${SHARDKIT_KERNELS_PTX_DIR})
  set(SHARDKIT_KERNELS_COMPILE ${SHARDKIT_CLANG} --target=nvptx64-nvidia-cuda -nogpulib -std=c11 -ffreestanding -O2
      -ffp-contract=off -fno-unroll-loops -fno-ident -Wall -Wextra -Werror -march=sm_80
      -Xclang -target-feature -Xclang +ptx70 -Xclang -target-feature -Xclang -ptx88
      -I${CMAKE_CURRENT_SOURCE_DIR}/../include -S)
  foreach(name IN LISTS kernel_names)
    set(source ${kernels_dir}/kernels.c)
    set(define)
    if(name MATCHES "^attention_(.*)$")
      set(source ${kernels_dir}/attention.c)
      string(TOUPPER -D${CMAKE_MATCH_1} define)
    endif()
    add_custom_command(OUTPUT ${SHARDKIT_KERNELS_PTX_DIR}/${name}.ptx
      COMMAND ${SHARDKIT_KERNELS_COMPILE} ${define} ${source} -o ${SHARDKIT_KERNELS_PTX_DIR}/${name}.ptx
      DEPENDS ${source} ${kernel_headers} COMMENT "PTX of ${name}" VERBATIM)
  endforeach()
else()
  set(SHARDKIT_KERNELS_PTX_DIR "")
  message(STATUS "The runtime has no kernels of its own for GPUs: neither clang-22 nor SHARDKIT_PTX_DIR")
endif()

set(embedded)
if(SHARDKIT_KERNELS_PTX_DIR)
  list(TRANSFORM kernel_names REPLACE "(.+)" "${SHARDKIT_KERNELS_PTX_DIR}/\\1.ptx" OUTPUT_VARIABLE embedded)
endif()
if(SHARDKIT_PTX_DIR)
  list(APPEND embedded ${SHARDKIT_PTX_DIR}/sources.sha256)
  foreach(file IN LISTS embedded)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "SHARDKIT_PTX_DIR: ${file} does not exist, expected a folder that scripts/export-suite wrote")
    endif()
  endforeach()
endif()
add_custom_command(OUTPUT ${SHARDKIT_KERNELS_SOURCE}
  COMMAND ${CMAKE_COMMAND} -DPTX_DIR=${SHARDKIT_KERNELS_PTX_DIR} -DGIVEN=${SHARDKIT_PTX_DIR}
          -DTO=${SHARDKIT_KERNELS_SOURCE} -P ${kernels_dir}/Embed.cmake
  DEPENDS ${embedded} ${kernel_sources} ${kernels_dir}/../Kernels.cpp.in ${kernels_dir}/Embed.cmake
  COMMENT "Embedding the PTX of the runtime's kernels" VERBATIM)
