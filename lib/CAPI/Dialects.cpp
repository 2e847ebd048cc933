//===- Dialects.cpp - Dialects and passes for MLIR's C API ----------------===//

#include "shardkit-c/Dialects.h"
#include "shardkit/Bundle/Bundle.h"
#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"
#include "shardkit/StableHLO/StableHLORules.h"

#include "mlir/CAPI/Registration.h"
#include <mutex>

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(SPMD, spmd, mlir::spmd::SPMDDialect)

void skRegisterAllDialects(MlirDialectRegistry registry) {
  mlir::spmd::registerTarget(*unwrap(registry));
  mlir::spmd::registerAllDialects(*unwrap(registry));
  mlir::spmd::registerStableHLORules(*unwrap(registry));
}

void skRegisterAllPasses(void) {
  static std::once_flag once;
  std::call_once(once, mlir::spmd::registerAllPasses);
}
