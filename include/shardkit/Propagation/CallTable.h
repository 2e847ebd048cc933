//===- CallTable.h - Callees from the view of callers -----------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_CALLTABLE_H
#define SHARDKIT_PROPAGATION_CALLTABLE_H

#include "shardkit/Cost/MovePrices.h"
#include "shardkit/Propagation/FunctionGroups.h"
#include "shardkit/Rules/ShardingRule.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd {

/// The functions of a module, their rules for callers, and the copies of private ones.
///
///   * A function that keeps its signature (public, declared only, or annotated) is propagated
///     before its callers, which reshard their operands to its layouts.
///   * Any other function is specialized: a copy per distinct signature is propagated after the
///     caller. Before, callers see a rule: the dims of arguments and results that the ops of
///     the function relate.
class CallTable {
public:
  explicit CallTable(ModuleOp module);

  /// Emits an error at a recursive call, and where a weight has several types. Otherwise adds
  /// to each function the meshes of its callees. `meshes`: of the module.
  LogicalResult verify(const MeshCache &meshes);
  func::FuncOp getCallee(func::CallOp call) const { return functions.lookup(call.getCalleeAttr().getAttr()); }
  /// The index of a function; valid as long as the call table.
  const FunctionIndex &getIndex(func::FuncOp func) const { return *indices.find(func)->second; }
  const FunctionGroups &getGroups() const { return groups; }
  /// Costs of moves, planned once for all functions.
  SharedMovePrices &getPrices() { return prices; }
  /// The meshes of the functions of a group.
  FailureOr<std::optional<FunctionMeshes>> getMeshes(ArrayRef<func::FuncOp> group, const MeshCache &meshes) const;
  bool keepsSignature(func::FuncOp func) const { return !specialized.contains(func); }
  /// The rule of a call of a function that is specialized.
  ShardingRule getRule(func::CallOp call);

  /// The private copy of `callee` for arguments and results in these layouts (null if not a
  /// tensor): `@callee_spmd0` and so on, in the order of the calls; and whether it is new.
  std::pair<func::FuncOp, bool> specialize(func::FuncOp callee, ArrayRef<ShardingAttr> arguments,
                                           ArrayRef<ShardingAttr> results);
  /// Erases specialized functions whose callers all call copies.
  void eraseUnused();

private:
  /// Dims of the arguments, then of the results: dims that ops relate have equal numbers.
  struct Summary {
    SmallVector<SmallVector<int32_t, 4>, 4> tensors;
  };
  const Summary &getSummary(func::FuncOp func);
  /// Adds the meshes of the callees of `func`, which are complete.
  void takeMeshes(func::FuncOp func);

  ModuleOp module;
  llvm::DenseMap<StringAttr, func::FuncOp> functions;
  llvm::DenseMap<Operation *, std::unique_ptr<FunctionIndex>> indices;
  FunctionGroups groups;
  SharedMovePrices prices;
  llvm::SmallDenseSet<Operation *> specialized;
  llvm::DenseMap<Operation *, Summary> summaries;
  llvm::DenseMap<std::pair<Operation *, Attribute>, func::FuncOp> copies;
  llvm::DenseMap<Operation *, unsigned> numCopies;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_CALLTABLE_H
