//===- ImportSorts.h - Sorts of StableHLO -----------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_IMPORTSORTS_H
#define SHARDKIT_LIB_ANNOTATIONS_IMPORTSORTS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Replaces each `stablehlo.sort`, which the lowering of StableHLO to linalg leaves with a
/// region of ops on tensors of rank 0, by `spmd.sort`, whose region is on scalars. One that still
/// has StableHLO's ops in its region stays.
LogicalResult importSorts(ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_IMPORTSORTS_H
