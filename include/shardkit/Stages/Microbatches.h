//===- Microbatches.h - The computation of a microbatch ---------*- C++ -*-===//
//
// Microbatches are a sharding over an axis that runs in time: the ordinary rules determine
// whether a value is split, partial or the same in all of them
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

/// The state of a value in a microbatch.
struct MicrobatchState {
  enum Kind : uint8_t {
    Same,     ///< equal in all of them
    Split,    ///< each has a slice
    Partial,  ///< each has a summand of a sum (or of a maximum ...)
    Complete, ///< computed once, from values that are accumulated over all of them
  };
  Kind kind = Same;
  ReductionKind reduction = ReductionKind::Sum; ///< the reduction of a partial value
  /// The dims of a split value, on the mesh of microbatches.
  SmallVector<DimEntries, 4> dims = {};
  /// The dim that is split, -1 if none is.
  int64_t getDim() const;
  /// True if the slice of each microbatch is contiguous along that dim.
  bool isPlain() const;
  /// On the mesh of microbatches.
  Sharding getSharding() const;
};

/// Ops that mark values and compute nothing.
bool isMark(Operation *op);

/// The behavior of the ops of a function in microbatches.
///
/// A partial value is accumulated before the first op that is not linear in it, or that combines
/// it with a value that is not a summand (a weight being updated). That op and all users of its
/// results run once per step (`isApply`). Ops whose operands are all the same belong to no
/// fragment: each fragment that needs them computes them.
///
/// Example, with `%x` split along its rows:
///
///   %h = dot(%x, %w)      Split: each microbatch has rows of %h
///   %g = dot(%x^T, %h)    Partial: the rows are summed up
///   %n = %w - %g          Complete: runs once per step, after the accumulation of %g
class Microbatches {
public:
  /// `count` microbatches of the arguments of `func`, a function of one block without
  /// calls, that have `spmd.microbatch`. One error if the count does not divide their sizes, or
  /// if an op needs all microbatches at once. Adds arguments to `func`:
  ///
  /// * an unsplit copy of an argument, for sums over the batch that an op on a microbatch needs
  ///   (such as the number of samples);
  /// * the index of the microbatch, for ops that read their index in the batch.
  static FailureOr<Microbatches> analyze(func::FuncOp func, int64_t count);

  /// The number of arguments before any was added.
  unsigned getNumOriginal() const { return numOriginal; }
  /// The argument that was added for the index of the microbatch, a tensor<i64>; null if no op needs it.
  BlockArgument getNumber() const { return number; }
  /// The index of `arg` among the original arguments, or of the argument of which it is a copy.
  unsigned getOriginal(BlockArgument arg) const {
    return arg.getArgNumber() < numOriginal ? arg.getArgNumber() : unsplitArguments[arg.getArgNumber() - numOriginal];
  }
  const MicrobatchState &get(Value value) const;
  bool isApply(Operation *op) const { return apply.contains(op); }
  /// True if the op computes the same in every microbatch.
  bool isSame(Operation *op) const;
  /// Moves an op and all users of its results to the ops that run once per step. An error if
  /// one of these needs a split value.
  LogicalResult moveToApply(Operation *op);
  /// Moves an op to `apply` if only apply ops read its result and no more bytes are accumulated
  /// for it.
  void shrink();

  int64_t getCount() const { return count; }
  /// The type of a value in one microbatch.
  RankedTensorType getType(Value value) const;
  /// Retypes all ops to what one microbatch computes, attributes included.
  void makeLocal();

private:
  class OpVisit;
  Microbatches(func::FuncOp func, int64_t count) : func(func), count(count), numOriginal(func.getNumArguments()) {}
  LogicalResult readArguments();
  LogicalResult propagate();
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitOnly(Operation *op);
  LogicalResult visitLoop(Operation *op);
  void set(Value value, MicrobatchState state) { states[value] = std::move(state); }
  bool useUnsplitArguments(Operation *op, ArrayRef<Value> read);
  void addMicrobatchIndices();

  func::FuncOp func;
  int64_t count;
  unsigned numOriginal;
  SmallVector<unsigned> unsplitArguments; ///< The original of each argument that was added.
  IRMapping unsplit;                      ///< Values computed from unsplit arguments.
  BlockArgument number;
  /// Loops over the batch whose index is read.
  llvm::MapVector<Operation *, SmallVector<ShardedLoop>> indexed;
  /// The divisor that the analysis splits by: `count`, or with one microbatch a common divisor
  /// of the dims, so that it finds the values that would be accumulated.
  int64_t divisor = 1;
  /// Hints: the split dims of values, from propagation.
  llvm::DenseMap<Value, SmallVector<DimEntries, 4>> hints;
  llvm::DenseMap<Value, MicrobatchState> states;
  /// With one microbatch: values that it has in full although the rules treat them as slices.
  llvm::DenseSet<Value> held;
  bool looksAgain = false;
  llvm::DenseSet<Operation *> apply;
};

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_MICROBATCHES_H
