//===- Reductions.h - Edits that make a program smaller ---------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARD_REDUCE_REDUCTIONS_H
#define SHARDKIT_TOOLS_SHARD_REDUCE_REDUCTIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// A kind of edit that shrinks a program. The edits of a kind are numbered from 0; they
/// depend on the module only.
struct Reduction {
  llvm::StringLiteral name;
  /// The number of edits in a module; some may be impossible.
  unsigned (*count)(ModuleOp);
  /// Applies an edit. False if it is impossible; the module is then in any state.
  bool (*apply)(ModuleOp, unsigned);
};

/// All kinds, the largest edits first.
llvm::ArrayRef<Reduction> getReductions();

/// Erases unused ops, including constraints, and unused function arguments.
void eraseUnused(ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_TOOLS_SHARD_REDUCE_REDUCTIONS_H
