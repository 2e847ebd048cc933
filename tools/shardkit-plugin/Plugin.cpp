//===- Plugin.cpp - ShardKit in another mlir-opt --------------------------===//
//
//   mlir-opt --load-dialect-plugin=ShardKitPlugin.so --load-pass-plugin=ShardKitPlugin.so
//
//===----------------------------------------------------------------------===//

#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ShardKit", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) { mlir::spmd::registerAllDialects(*registry); }};
}

extern "C" __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ShardKit", LLVM_VERSION_STRING, [] { mlir::spmd::registerAllPasses(); }};
}
