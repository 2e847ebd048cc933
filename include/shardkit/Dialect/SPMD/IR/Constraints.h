//===- Constraints.h - Shardings on ops as constraints ----------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_CONSTRAINTS_H
#define SHARDKIT_DIALECT_SPMD_IR_CONSTRAINTS_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

namespace mlir::spmd {

/// Turns each `spmd.shardings` that a user wrote on an op into constraints on
/// its results: upstream rewrites may drop or merge the attribute, never the
/// constraint. The first pass on a module as written does it.
void makeConstraintsOfShardings(Operation *root);
/// The same for the given ops, which carry one.
void makeConstraintsOfShardings(llvm::ArrayRef<Operation *> annotated);
/// Constrains a value for all its users.
WithShardingConstraintOp constrainValue(OpBuilder &b, Value value, ShardingAttr sharding, Location loc);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_CONSTRAINTS_H
