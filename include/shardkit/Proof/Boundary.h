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

/// Copies of a loading function of the unsharded program and of a shard function. The result of the latter has the
/// layout of the argument that it makes.
struct LoadingFunctions {
  func::FuncOp load, shard;
};

/// Those of an argument of `local`, in the modules of both. One error at `local` if `global` loads it in another way.
FailureOr<LoadingFunctions> copyLoadingFunctions(func::FuncOp global, func::FuncOp local, unsigned argument);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_BOUNDARY_H
