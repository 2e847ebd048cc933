//===- ReplicatedFunctions.h - Functions on replicated values ---*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_REPLICATEDFUNCTIONS_H
#define SHARDKIT_PARTITION_REPLICATEDFUNCTIONS_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// Replaces the annotations in the regions of an op by their operands, with a remark
/// `dropped-constraint` for each constraint. Returns the number of constraints.
unsigned dropAnnotations(Operation *root, StringRef reason);

/// Makes a function of several blocks compute on replicated values: its arguments are gathered
/// at its begin; returned values and operands of calls are resharded right before. Every op
/// gets `spmd.shardings`. Each reshard that moves data is a remark, with `forbidImplicit` an
/// error.
LogicalResult makeReplicated(func::FuncOp func, FunctionMeshes &meshes, bool forbidImplicit);

/// Emits an error at a call in the regions of an op that computes on replicated values, if the
/// callee has sharded arguments or results: they cannot be resharded there.
LogicalResult verifyReplicatedCalls(Operation *op);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_REPLICATEDFUNCTIONS_H
