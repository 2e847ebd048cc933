//===- shard-reduce.cpp - Reduces IR that shows a fault -------------------===//

#include "ReducePass.h"
#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::spmd::registerAllPasses();
  mlir::spmd::registerReducePass();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::spmd::registerAllDialects(registry);

  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
