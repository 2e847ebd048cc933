//===- Selections.h - Reductions that keep one of many ----------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_SELECTIONS_H
#define SHARDKIT_LIB_PROOF_SELECTIONS_H

#include "OpTerms.h"

namespace mlir::spmd::proof {

/// The body of a reduction of tuples that keeps the tuple it has or takes another one, by comparing both:
///
///   best, at = select(x > best, x, best), select(x > best, j, at)
///
/// `terms` has the outputs and, as arguments, the components of the other tuple.
struct Selection {
  SmallVector<TermId> terms;
  SmallVector<Attribute> first; ///< the first values of the outputs
  SmallVector<Type> types;
  /// What an iteration has as the other tuple.
  SmallVector<TermId> taken;

  /// std::nullopt if the converted terms of an op are not such.
  static std::optional<Selection> read(ArrayRef<TermId> terms, ArrayRef<Type> types, TermTable &table);
  /// True if both select in the same way, from the same first tuple.
  bool isLike(const Selection &other) const {
    return terms == other.terms && first == other.first && types == other.types;
  }
};

/// What a selection allows for all tuples. It is evaluated for all orders that the components of three tuples and of
/// the first one may have, which is all that a body of comparisons depends on.
struct SelectionLaws {
  /// Blocks in their order: s(s(a, b), x) = s(a, s(b, x)) and s(a, first) = a, where selections led to a and b.
  bool inBlocks = false;
  /// Any order: s(s(a, x), y) = s(s(a, y), x).
  bool inAnyOrder = false;
};
SelectionLaws getLaws(const Selection &selection, const TermTable &table);

/// A selection of which each device has the tuples of one block of a loop: what result `r` holds, as blocks one after
/// the other along dim 0. `fact` is what it would hold of `fact.value`, the result for all tuples. std::nullopt if all
/// tuples do not keep what is kept of what the blocks keep. (SelectionBlocks.cpp)
std::optional<Fact> getBlockChoice(const OpTerms &op, unsigned r, const Fact &fact, ArrayRef<int64_t> loopSizes);

/// The value of the unsharded program that result `r` is, if the op selects among what all blocks keep.
std::optional<ClassId> findChoice(const OpTerms &op, unsigned r);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_SELECTIONS_H
