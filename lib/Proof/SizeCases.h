//===- SizeCases.h - Functions at each of their sizes -----------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_SIZECASES_H
#define SHARDKIT_LIB_PROOF_SIZECASES_H

#include "shardkit/Proof/Prover.h"

namespace mlir::spmd::proof {

/// True if an argument of a partitioned function is a size that only the run knows.
bool hasSizeArguments(func::FuncOp local);

/// Proves a function whose signature has sizes that only the run knows: at each choice of sizes within their bounds,
/// with the types and constants of that choice. Not decided if there are more than `maxCases` of them, or no bounds.
FailureOr<Proof> proveAtAllSizes(func::FuncOp global, func::FuncOp local, int64_t maxCases, const Fallback &fallback);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_SIZECASES_H
