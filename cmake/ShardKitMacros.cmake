# For work on the compiler: its libraries build in half the time, and run several times slower. Solver and layout
# arithmetic are optimized all the same.
option(SHARDKIT_QUICK_COMPILER "Build the compiler's libraries without optimization" OFF)

# A ShardKit library that uses LLVM or MLIR, ShardKitFoo in the tree and ShardKit::Foo for users. LLVM's headers are
# C++17 and warn by the page under C++20, so they are system headers; its packages are built without RTTI and exceptions.
function(add_shardkit_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  string(REGEX REPLACE "^ShardKit" "" short ${name})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(ShardKit::${short} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(${name} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}> $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>)
  target_compile_options(${name} PRIVATE -fno-rtti -fno-exceptions)
  if(SHARDKIT_QUICK_COMPILER AND MLIR IN_LIST ARG_LINK)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(SHARDKIT_PRECOMPILE_HEADERS AND MLIR IN_LIST ARG_LINK)
    target_precompile_headers(${name} REUSE_FROM ShardKitMlirHeaders)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  install(TARGETS ${name} EXPORT ShardKitTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# A tool linked against LLVM's and MLIR's shared libraries.
function(add_shardkit_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE -fno-rtti -fno-exceptions)
  if(SHARDKIT_QUICK_COMPILER)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  # Tells compilers apart (lib/Driver/CompilerIdentity.cpp).
  target_link_options(${name} PRIVATE -Wl,--build-id=sha1)
  # An installed tool finds LLVM's libraries where the built one does.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
