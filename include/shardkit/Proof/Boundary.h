//===- Boundary.h - Arguments and results of both programs ------*- C++ -*-===//
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOF_BOUNDARY_H
#define SHARDKIT_PROOF_BOUNDARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd::proof {

/// The values of the unsharded function that arguments and results of the local one are shards of.
struct Boundary {
  SmallVector<Value> arguments, results;
};

/// Pairs the signatures. Arguments and results of the local function that are segments get slices of the stored tensors
/// in the unsharded function; an argument that joins the shards of several segments is divided into these. Changes both
/// functions. One error at `local` if the numbers do not fit.
FailureOr<Boundary> pairBoundary(func::FuncOp global, func::FuncOp local);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_BOUNDARY_H
