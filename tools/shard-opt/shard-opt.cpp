//===- shard-opt.cpp - mlir-opt with ShardKit -----------------------------===//

#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"
#include "shardkit/StableHLO/StableHLORules.h"
#include "shardkit/Support/LocatedDiagnostics.h"
#include "shardkit/Support/PassDebugging.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::spmd::registerAllPasses();
  mlir::spmd::registerDebugOptions();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::spmd::registerAllDialects(registry);
  mlir::spmd::registerStableHLORules(registry);

  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "ShardKit: shard models over meshes of devices\n", registry);
  mlir::spmd::registerLocatedDiagnostics(registry, input);
  llvm::LogicalResult result = mlir::MlirOptMain(argc, argv, input, output, registry);
  mlir::spmd::printStatistics();
  return mlir::asMainReturnCode(result);
}
