//===- ControlFlow.h - Loops and branches on values -------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_CONTROLFLOW_H
#define SHARDKIT_RULES_CONTROLFLOW_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::spmd {

/// True for ops whose bodies are propagated through and cut like the function
/// around them: scf.for, while, if, index_switch; scf.execute_region of one
/// block; scf.forall; scf.parallel that combines scalars. Every other op with
/// regions computes on whole values, as a function of several blocks does.
bool isControlFlow(Operation *op);

/// The ops at the end of a scf.forall that write slices of its shared outputs.
SmallVector<tensor::ParallelInsertSliceOp> getSliceWrites(scf::ForallOp loop);

/// Dims of shared output `i` that an iteration writes in part. Where they are in
/// one shard is known when the loop runs, so they stay whole; the others may be
/// cut: every shard then writes its part of each slice.
llvm::SmallBitVector getPartlyWrittenDims(scf::ForallOp loop, unsigned i);

/// Trips assumed of a loop whose bounds are not constant.
constexpr int64_t kDefaultTripCount = 100;

/// How often a loop runs its body: from constant bounds, else `unknown`; 1 for
/// ops that are no loops.
int64_t getTripCount(Operation *op, int64_t unknown);

/// How often the ops of a block run while its function runs once: the product of
/// the trip counts of the loops around it.
int64_t countExecutions(Block *block, int64_t unknown);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_CONTROLFLOW_H
