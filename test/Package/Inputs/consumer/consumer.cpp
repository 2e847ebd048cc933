#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::spmd::registerAllDialects(registry);
  mlir::spmd::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "consumer\n", registry));
}
