//===- LocalToStableHLO.h - Around StableHLO ops ----------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_CONVERSION_LOCALTOSTABLEHLO_H
#define SHARDKIT_LIB_CONVERSION_LOCALTOSTABLEHLO_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// What partitioning adds around StableHLO ops, and scf, become StableHLO: arithmetic on
/// coordinates, reshapes, transposes, slices of one tensor. Scalars become tensors of rank 0,
/// an index one of i32. Fails after one error at an op that has no such form.
LogicalResult convertLocalToStableHLO(ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_CONVERSION_LOCALTOSTABLEHLO_H
