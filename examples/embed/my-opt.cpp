// An mlir-opt with ShardKit's passes, a pass of its own, and a sharding rule of its own.
#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

void registerWinogradRule(mlir::DialectRegistry &registry);
void registerMyCollectives();
void registerReportGathers();

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::spmd::registerAllDialects(registry);
  mlir::spmd::registerAllPasses();
  registerWinogradRule(registry);
  registerMyCollectives();
  registerReportGathers();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "my-opt\n", registry));
}
