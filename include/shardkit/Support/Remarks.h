//===- Remarks.h - Whether remarks are enabled --------------------*- C++ -*-===//

#ifndef SHARDKIT_SUPPORT_REMARKS_H
#define SHARDKIT_SUPPORT_REMARKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace mlir::spmd {

/// Whether missed remarks about `func` are enabled; otherwise their contents need not be computed. (A tool
/// made by MlirOptMain always has a remark engine, whose filters are private.)
inline bool areRemarksEnabled(func::FuncOp func) {
  auto probe = remark::missed(func.getLoc(), remark::RemarkOpts::name("probe").category("spmd"));
  bool enabled(probe);
  probe = {}; // given up, not reported
  return enabled;
}

} // namespace mlir::spmd

#endif // SHARDKIT_SUPPORT_REMARKS_H
