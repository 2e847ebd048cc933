//===- Counterexample.h - Arguments for which programs differ ---*- C++ -*-===//
//
// Runs an unsharded function and a partitioned one on the same numbers, and compares
// their results. See docs/internals/Proof.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COUNTEREXAMPLE_COUNTEREXAMPLE_H
#define SHARDKIT_COUNTEREXAMPLE_COUNTEREXAMPLE_H

#include "shardkit/Proof/Certificate.h"

namespace mlir::spmd {

/// Refuses functions of `certificate` that are not decided, where there are arguments for which a device holds another
/// element of a result than the unsharded function has there. What is too large to be run in about a second stays not
/// decided, and so does what has an op that is not run.
void refuseByExample(ModuleOp global, ModuleOp local, proof::Certificate &certificate);

} // namespace mlir::spmd

#endif // SHARDKIT_COUNTEREXAMPLE_COUNTEREXAMPLE_H
