//===- CallTable.h - Calls as their callers see them ------------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_CALLTABLE_H
#define SHARDKIT_PROPAGATION_CALLTABLE_H

#include "shardkit/Propagation/FunctionIndex.h"
#include "shardkit/Rules/ShardingRule.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd {

/// The functions of a module, how their callers see them, and the copies made of
/// private ones. A function whose layouts are its own (public, declared only, or
/// annotated) is propagated before its callers, who bring their operands to its
/// layouts. Any other is propagated after its caller, once per distinct
/// signature: what callers see of it before is a rule, the dims of its arguments
/// and results that its ops relate.
class CallTable {
public:
  explicit CallTable(ModuleOp module);

  /// One error, at a call, if a function calls itself; else each function names the
  /// meshes of its callees too.
  LogicalResult verify();
  func::FuncOp getCallee(func::CallOp call) const { return functions.lookup(call.getCalleeAttr().getAttr()); }
  /// What the function holds; valid until the call table ends.
  const FunctionIndex &getIndex(func::FuncOp func) const { return *indices.find(func)->second; }
  bool keepsSignature(func::FuncOp func) const { return !specialized.contains(func); }
  /// What a call does, for a callee without layouts of its own.
  ShardingRule getRule(func::CallOp call);

  /// The function to call instead of `callee` with arguments and results in
  /// these layouts (null for what is no tensor): a private copy, `@callee_spmd0`
  /// and so on in the order of the calls. The second is true where it is new.
  std::pair<func::FuncOp, bool> specialize(func::FuncOp callee, ArrayRef<ShardingAttr> arguments,
                                           ArrayRef<ShardingAttr> results);
  /// Erases the functions that only copies are called of.
  void eraseUnused();

private:
  /// The dims of a function's arguments, then results, as classes: equal numbers
  /// are dims that its ops relate.
  struct Summary {
    SmallVector<SmallVector<int32_t, 4>, 4> tensors;
  };
  const Summary &getSummary(func::FuncOp func);
  /// Adds the meshes of the callees of `func`, whose own are complete.
  void takeMeshes(func::FuncOp func);

  ModuleOp module;
  llvm::DenseMap<StringAttr, func::FuncOp> functions;
  llvm::DenseMap<Operation *, std::unique_ptr<FunctionIndex>> indices;
  llvm::SmallDenseSet<Operation *> specialized;
  llvm::DenseMap<Operation *, Summary> summaries;
  llvm::DenseMap<std::pair<Operation *, Attribute>, func::FuncOp> copies;
  llvm::DenseMap<Operation *, unsigned> numCopies;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_CALLTABLE_H
