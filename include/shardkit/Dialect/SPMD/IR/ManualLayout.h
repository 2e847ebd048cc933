//===- ManualLayout.h - What manual computations see ------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_MANUALLAYOUT_H
#define SHARDKIT_DIALECT_SPMD_IR_MANUALLAYOUT_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

namespace mlir::spmd {

/// The layout in which the region of `op` has a value of `shape`: sharded along the manual axes, full along the free
/// ones.
Layout getManualLayout(ManualComputationOp op, Sharding sharding, const Mesh &mesh, ArrayRef<int64_t> shape);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_MANUALLAYOUT_H
