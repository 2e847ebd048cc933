//===- shard-lsp-server.cpp - Language server for IR with shardings -------===//

#include "shardkit/InitAllDialects.h"
#include "mlir/IR/Dialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::spmd::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
