//===- ControlFlow.h - Loops and branches on values -------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_CONTROLFLOW_H
#define SHARDKIT_RULES_CONTROLFLOW_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::spmd {

/// True for ops whose bodies are propagated through and sharded like the function
/// around them: scf.for, while, if, index_switch; scf.execute_region of one block;
/// scf.forall; scf.parallel that combines scalars. Every other op with regions computes
/// on replicated values, as a function of several blocks does.
bool isControlFlow(Operation *op);

/// The ops at the end of a scf.forall that write slices of its shared outputs.
SmallVector<tensor::ParallelInsertSliceOp> getSliceWrites(scf::ForallOp loop);

/// Dims of shared output `i` that an iteration writes partially. The owner of an index is
/// known only when the loop runs, so these dims stay unsharded. The others may be
/// sharded: every device then writes its shard of each slice.
llvm::SmallBitVector getPartlyWrittenDims(scf::ForallOp loop, unsigned i);

/// Trips assumed of a loop whose bounds are not constant.
constexpr int64_t kDefaultTripCount = 100;

/// The number of executions of a loop body: from constant bounds, else `unknown`; 1 for
/// other ops.
int64_t getTripCount(Operation *op, int64_t unknown);

/// The number of executions of a block per call of its function: the product of the
/// trip counts of the loops around it.
int64_t countExecutions(Block *block, int64_t unknown);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_CONTROLFLOW_H
