// The dialect and its pass, for shard-opt and shard-compile.
#include "Toy.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Toy", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) { registry->insert<toy::ToyDialect>(); }};
}

extern "C" __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Toy", LLVM_VERSION_STRING, [] { registerToyToLinalg(); }};
}
