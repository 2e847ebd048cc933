//===- FunctionGroups.h - Functions that share values -----------*- C++ -*-===//
//
// A session has several public functions over the same weights and state. Their arguments and
// results that are one value have one layout, so such functions are completed together.
//
//   @prefill(%w {spmd.weight = "w"}, %x) -> %cache {spmd.name = "cache"}
//   @decode(%w {spmd.weight = "w"}, %c {spmd.name = "cache"}) -> %next {spmd.tied = 1}
//
//   shared value 0: %w of both      shared value 1: %cache, %c, and %next, which is tied to %c
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROPAGATION_FUNCTIONGROUPS_H
#define SHARDKIT_PROPAGATION_FUNCTIONGROUPS_H

#include "shardkit/Propagation/FunctionIndex.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd {

/// The public functions of a module that nothing calls, in groups that share values:
///   * arguments of one `spmd.weight`, with one loading function and segment;
///   * state: arguments and results of one `spmd.name` and type, where a function returns the
///     value or has a result tied to it, and a function takes it.
/// Functions on other devices share nothing. Linear in arguments and results.
class FunctionGroups {
public:
  using GetIndexFn = llvm::function_ref<const FunctionIndex &(func::FuncOp)>;
  /// An argument or result of a function that is a shared value.
  struct Member {
    func::FuncOp func;
    bool isResult;
    unsigned index;
  };

  /// An error if a weight has several types. `meshes`: of the module.
  LogicalResult read(ModuleOp module, const MeshCache &meshes, GetIndexFn getIndex);

  /// The functions that are completed with `func`, in the order of the module; `func` alone if
  /// it shares nothing.
  SmallVector<func::FuncOp, 1> getGroup(func::FuncOp func) const;
  /// The number of the shared value that an argument or result is; -1 if it is none.
  int64_t getArgument(func::FuncOp func, unsigned i) const { return lookup(func, i); }
  int64_t getResult(func::FuncOp func, unsigned i) const { return lookup(func, func.getNumArguments() + i); }
  /// In the order of the module.
  ArrayRef<Member> getMembers(unsigned shared) const { return values[shared]; }

private:
  class Reader;
  int64_t lookup(func::FuncOp func, unsigned slot) const {
    auto it = numbers.find(func);
    return it == numbers.end() ? -1 : it->second[slot];
  }

  std::vector<SmallVector<Member, 2>> values;
  /// Per function that shares values: the shared value of each argument, then of each result.
  llvm::DenseMap<Operation *, SmallVector<int64_t>> numbers;
  llvm::DenseMap<Operation *, unsigned> groupOf;
  std::vector<SmallVector<func::FuncOp, 2>> groups;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_FUNCTIONGROUPS_H
