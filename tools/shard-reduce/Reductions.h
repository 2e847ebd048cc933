//===- Reductions.h - Edits that make a program smaller ---------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARD_REDUCE_REDUCTIONS_H
#define SHARDKIT_TOOLS_SHARD_REDUCE_REDUCTIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// A kind of edit that leaves a smaller program. The edits of a kind are numbered
/// from 0; which they are depends on the module alone.
struct Reduction {
  llvm::StringLiteral name;
  /// How many there are in a module; some may not be possible.
  unsigned (*count)(ModuleOp);
  /// Does one. False, with the module in any state, where it is not possible.
  bool (*apply)(ModuleOp, unsigned);
};

/// All kinds, those that take away most first.
llvm::ArrayRef<Reduction> getReductions();

/// Erases what nothing reads: ops, constraints too, and function arguments.
void eraseUnused(ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_TOOLS_SHARD_REDUCE_REDUCTIONS_H
