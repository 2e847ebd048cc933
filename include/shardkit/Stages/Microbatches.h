//===- Microbatches.h - What a microbatch computes --------------*- C++ -*-===//
//
// Microbatches are a sharding over an axis that runs in time: the ordinary rules say
// of every value whether it is cut, partial or the same in all of them
// (docs/internals/Stages.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_STAGES_MICROBATCHES_H
#define SHARDKIT_STAGES_MICROBATCHES_H

#include "shardkit/Layout/Sharding.h"
#include "shardkit/Partition/IndexRebase.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spmd {

/// A value as microbatches have it.
struct MicrobatchState {
  enum Kind : uint8_t {
    Same,     ///< equal in all of them
    Cut,      ///< each has its part
    Partial,  ///< each has a part of a sum (or maximum ...)
    Complete, ///< computed once, from what is accumulated over all of them
  };
  Kind kind = Same;
  ReductionKind reduction = ReductionKind::Sum; ///< of what is partial
  /// Of a cut value: how, on the mesh of microbatches.
  SmallVector<DimEntries, 4> dims = {};
  /// The dim that is cut, -1 where none is.
  int64_t getDim() const;
  /// Whether part m is what lies side by side along that dim.
  bool isPlain() const;
  /// On the mesh of microbatches.
  Sharding getSharding() const;
};

/// Ops that mark values and compute nothing.
bool isMark(Operation *op);

/// How the ops of a function behave in microbatches. A value that is partial is
/// accumulated where the first op is not linear in it, or uses it together with what is
/// no part of the sum (a weight being updated): that op, and all behind it, runs once
/// per step (`isApply`). Ops whose operands are all the same belong nowhere: whoever
/// needs them computes them.
class Microbatches {
public:
  /// `count` microbatches of the arguments of `func`, a function of one block without
  /// calls, that carry `spmd.microbatch`. One error where the count does not divide, or
  /// where an op needs all microbatches at once. Sums over arguments that ops on the part
  /// of a microbatch need (how many samples count) are made of these as a whole, and
  /// ops that read their place in the batch read the number of the microbatch: both are further
  /// arguments of `func`.
  static FailureOr<Microbatches> analyze(func::FuncOp func, int64_t count);

  /// The number of arguments before any was added.
  unsigned getNumGiven() const { return numGiven; }
  /// The argument that was added for the number of the microbatch, tensor<i64>, from 0 on; null where no op needs it.
  BlockArgument getNumber() const { return number; }
  /// The number of `arg` among those given, or of that whose values it has.
  unsigned getGiven(BlockArgument arg) const {
    return arg.getArgNumber() < numGiven ? arg.getArgNumber() : wholeArguments[arg.getArgNumber() - numGiven];
  }
  const MicrobatchState &get(Value value) const;
  bool isApply(Operation *op) const { return apply.contains(op); }
  /// True if the op computes the same in every microbatch.
  bool isSame(Operation *op) const;
  /// Makes an op one that runs once per step, and all that read its results. An error
  /// where one of these needs what microbatches have in parts.
  LogicalResult moveToApply(Operation *op);
  /// Moves to `apply` what only apply ops read, where no more is accumulated for it.
  void shrink();

  int64_t getCount() const { return count; }
  /// The type of a value in one microbatch.
  RankedTensorType getType(Value value) const;
  /// Retypes all ops to what one microbatch computes, attributes included.
  void makeLocal();

private:
  class OpVisit;
  Microbatches(func::FuncOp func, int64_t count) : func(func), count(count), numGiven(func.getNumArguments()) {}
  LogicalResult readArguments();
  LogicalResult propagate();
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitOnly(Operation *op);
  LogicalResult visitLoop(Operation *op);
  void set(Value value, MicrobatchState state) { states[value] = std::move(state); }
  bool makeWhole(Operation *op, ArrayRef<Value> read);
  void placeIndices();

  func::FuncOp func;
  int64_t count;
  unsigned numGiven;
  SmallVector<unsigned> wholeArguments; ///< Of each that was added: whose values it has.
  IRMapping wholes;                     ///< What is made of whole arguments.
  BlockArgument number;
  /// Loops over the batch whose index is read.
  llvm::MapVector<Operation *, SmallVector<CutLoop>> indexed;
  /// What the analysis cuts by: `count`, or with one microbatch what divides all of
  /// the dims, so that it sees what would be accumulated.
  int64_t divisor = 1;
  /// Layouts that propagation gave, as far as they cut: hints.
  llvm::DenseMap<Value, SmallVector<DimEntries, 4>> hints;
  llvm::DenseMap<Value, MicrobatchState> states;
  /// Of one microbatch: what it has as a whole though the rules call it a part.
  llvm::DenseSet<Value> held;
  bool looksAgain = false;
  llvm::DenseSet<Operation *> apply;
};

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_MICROBATCHES_H
