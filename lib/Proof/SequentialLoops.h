//===- SequentialLoops.h - Loops and branches of few kinds ------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_SEQUENTIALLOOPS_H
#define SHARDKIT_LIB_PROOF_SEQUENTIALLOOPS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd::proof {

/// Rewrites each op of scf with regions as scf.for, scf.if or scf.while:
///
///   scf.forall, scf.parallel   nests of scf.for: their iterations may run in any order, also one after the other
///   scf.index_switch           a chain of scf.if
///   scf.execute_region         the ops of its block
void makeSequential(ModuleOp module);

/// Rewrites tensor.gather and tensor.scatter as linalg.generic with elements at indices. (Gathers.cpp)
void expandGathers(ModuleOp module);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_SEQUENTIALLOOPS_H
