//===- WholeFunctions.h - Functions that compute on whole values -*- C++ -*--===//

#ifndef SHARDKIT_PARTITION_WHOLEFUNCTIONS_H
#define SHARDKIT_PARTITION_WHOLEFUNCTIONS_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// Replaces the annotations in an op's regions by their operands, with a remark
/// `dropped-constraint` for each constraint. Returns how many there were.
unsigned dropAnnotations(Operation *root, StringRef reason);

/// Makes a function of several blocks compute on whole values: its arguments are
/// gathered where it begins, and what it returns, or hands to a call, is brought
/// to the layout that is asked for right before. Every op gets `spmd.shardings`.
/// Each reshard that moves data is a remark, with `forbidImplicit` an error.
LogicalResult makeWhole(func::FuncOp func, FunctionMeshes &meshes, bool forbidImplicit);

/// An error at each call in the regions of an op that computes on whole values
/// if the callee's arguments or results are cut: nothing could bring them there.
LogicalResult verifyWholeCalls(Operation *op);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_WHOLEFUNCTIONS_H
