//===- Structured.h - Ops as loops around a term ----------------*- C++ -*-===//

#ifndef SHARDKIT_PROOF_STRUCTURED_H
#define SHARDKIT_PROOF_STRUCTURED_H

#include "shardkit/Proof/Terms.h"

namespace mlir::spmd::proof {

/// An op that writes each element of its results by a term over loops: structured ops,
/// elementwise ops, slices, paddings, concatenations, insertions, generated tensors.
struct Structured {
  struct Argument {
    Value value;
    /// The element that is read, over the loops. Of a lookup: not set.
    llvm::SmallVector<IndexForm, 4> map;
    bool isLookup = false;
    /// The loops of each dim with their factors, those of one iteration too (they are constants in forms).
    llvm::SmallVector<llvm::SmallVector<std::pair<unsigned, int64_t>, 1>, 4> loops = {};
    /// The dims of a lookup of a local op in which each lane that reads an element has an index inside of the dim.
    llvm::SmallVector<bool, 4> readsInside = {};
  };
  llvm::SmallVector<int64_t, 4> extents;
  llvm::SmallVector<bool, 4> isReduction;
  /// The tensors that terms refer to: inputs, then the outputs' first values, then lookups.
  llvm::SmallVector<Argument, 4> arguments;
  /// Number of the first output among the arguments.
  unsigned numInputs = 0;
  /// Per result the element that an iteration writes.
  llvm::SmallVector<llvm::SmallVector<IndexForm, 4>, 1> results;
  /// The loop of each dim of each result; -1: not a loop.
  llvm::SmallVector<llvm::SmallVector<int, 4>, 1> resultLoops;
  llvm::SmallVector<TermId, 1> terms;
  llvm::SmallVector<Trap, 0> traps;
  /// The first and the last index of dims that a slice reads or writes.
  struct Range {
    unsigned dim;
    IndexForm first, last;
  };
  llvm::SmallVector<Range, 0> ranges;

  bool hasReduction() const { return llvm::is_contained(isReduction, true); }
};

/// Terms of the scalars around ops.
struct ScalarReader {
  std::function<TermId(Value)> get;
  std::function<std::optional<IndexForm>(Operation *)> getCoordinate;
};

/// std::nullopt if the op has no such form, or a dynamic size.
std::optional<Structured> readStructured(Operation *op, TermTable &terms, const ScalarReader &scalars);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_STRUCTURED_H
