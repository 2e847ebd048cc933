# MLIR's headers, and those of JSON and of tests, parsed once instead of by each source, which is most of what compiling one takes.
# Sources include what they use all the same. ccache keeps what is compiled so with the setting that headers do not read the time.
option(SHARDKIT_PRECOMPILE_HEADERS "Parse large headers once for all sources" ON)
if(SHARDKIT_PRECOMPILE_HEADERS)
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

# A library's sources are compiled several at a time: headers and the templates that they share are instantiated once for
# each batch instead of once for each source, which is two thirds of the work. OFF makes small changes compile faster.
option(SHARDKIT_UNITY_BUILD "Compile the sources of a library in batches" ON)
set(CMAKE_UNITY_BUILD ${SHARDKIT_UNITY_BUILD})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
