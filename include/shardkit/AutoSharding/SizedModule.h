//===- SizedModule.h - Sizes that layouts are chosen for --------*- C++ -*-===//

#ifndef SHARDKIT_AUTOSHARDING_SIZEDMODULE_H
#define SHARDKIT_AUTOSHARDING_SIZEDMODULE_H

#include "shardkit/AutoSharding/FunctionSearch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>

namespace mlir::spmd {

/// A copy of a module in which each size that only the run knows has the value that layouts are
/// chosen for: its hint, else its upper bound, else the number of devices. Values of at least as many
/// elements as devices are rounded up to a multiple of these, since shards of such a dim are padded.
///
///   func.func @f(%x: tensor<?x16xf32>, %b: index {spmd.size = "b", spmd.bound = [1, 64], spmd.hint = 8})
///   // copy, on 4 devices:
///   func.func @f(%x: tensor<8x16xf32>, %b: index)
///
/// Dims that the program for all sizes cannot have padded shards of stay unsharded in it, by the rules
/// of their ops.
class SizedModule {
public:
  /// None if no function has size arguments, or one passes values of unknown size to functions or
  /// manual computations: their sizes are not known there. A memory budget holds at the bounds: hints
  /// do not count then.
  static std::optional<SizedModule> create(ModuleOp module, const SearchOptions &options);

  ModuleOp get() { return *copy; }

  /// Gives the ops, functions and meshes of the module the attributes that passes have given those
  /// of the copy.
  void writeBack();

private:
  SizedModule(ModuleOp module, bool atBounds);

  /// The copy of a function with its sizes.
  void setSizes(func::FuncOp func, func::FuncOp sized, ArrayRef<int64_t> values);
  void writeBack(func::FuncOp func, func::FuncOp sized);

  ModuleOp module;
  OwningOpRef<ModuleOp> copy;
  /// By op of the module: the rule of what stands for it, if that is not its own.
  llvm::DenseMap<Operation *, RuleAttr> restricted;
  /// By function: its sizes, as `spmd.solver` states them.
  llvm::DenseMap<StringAttr, DictionaryAttr> planned;
};

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_SIZEDMODULE_H
