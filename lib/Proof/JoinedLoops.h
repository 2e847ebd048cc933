//===- JoinedLoops.h - Loops that divide one loop ---------------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_JOINEDLOOPS_H
#define SHARDKIT_LIB_PROOF_JOINEDLOOPS_H

#include "OpTerms.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace mlir::spmd::proof {

/// An op with loops that walk through dims which divide one dim, written with one loop for these:
///
///   op       out[h, e] = w[h, e]    w is a reshape of W, with index 2 h + e
///   joined   out[j] = W[j]
///
/// Each pair (h, e) is one index j, so that the results of the op are a reshape of those of the joined one, and a
/// reduction over both counts what a reduction over j counts. If W is a slice that begins at 12, the loop of the joined
/// op is 12 + j, and the results are a reshape of a slice of its.
class JoinedLoops {
public:
  /// std::nullopt if no loops of `term`, which has the elements `result` of the op, divide a loop.
  static std::optional<JoinedLoops> find(const OpTerms &op, TermId term, ArrayRef<int> result);

  /// The key of the joined op.
  SmallVector<int64_t> getKey() const;
  /// The sizes of the loops of the op, if `joined` is a class under the key; std::nullopt if its loops have other sizes
  /// than those that are joined.
  std::optional<SmallVector<int64_t>> getLoopSizes(const ClassInfo &joined) const;
  /// The result of the op, as a class: a reshape of `joined`.
  ClassId getResult(ClassId joined) const;

private:
  /// Loops, the major one first, and the sizes of their dims.
  struct Group {
    SmallVector<unsigned> loops;
    SmallVector<int64_t> sizes;
    int64_t offset = 0; ///< the first index of the joined loop
    int64_t getSize() const { return computeProduct(sizes); }
  };

  JoinedLoops(const OpTerms &op, ArrayRef<int> result) : op(op), dimLoops(result) {}
  /// Adds the loops that walk through dims of an element which are one dim of a reshape of it.
  void addGroups(TermId element);
  /// Numbers the loops of the joined op, the first of each group in its place.
  void numberLoops();
  bool setResult();
  /// Sets the offsets at which the elements of `converted` are. True if there are any.
  bool setOffsets(TermId converted);
  /// The term over the joined loops; std::nullopt if it has one of them by itself.
  std::optional<TermId> convert(TermId id);
  std::optional<TermId> convertElement(TermId id);
  std::optional<SmallVector<TermId>> convertAll(ArrayRef<TermId> ids);
  /// A sum in which a group has the factors of its digits.
  std::optional<SmallVector<int64_t, 6>> convertSum(ArrayRef<int64_t> sum);
  /// The dims of an element from `d` on that a group walks through; 0 if that does not begin there.
  size_t countDims(const Group *group, size_t d, RankedTensorType type, const SumList &sums) const;
  /// The group of which `loop` is the first; null if there is none.
  const Group *getGroupAt(int64_t loop) const;
  /// The group that an index of the joined op is of; null if there is none.
  const Group *getGroupOfJoined(ArrayRef<int64_t> sum) const;
  /// A reduction over one index is none.
  bool isDropped(unsigned loop) const { return op.structured.isReduction[loop] && op.isUnit(loop); }
  bool isGrouped(int64_t loop) const { return loop >= 0 && groupOf[loop] >= 0; }

  const OpTerms &op;
  ArrayRef<int> dimLoops;
  SmallVector<Group, 2> groups;
  SmallVector<int> groupOf;         ///< per loop its group, or -1
  SmallVector<unsigned> newNumbers; ///< per loop that of the joined op
  Structured joined;                ///< its reductions; of its loops only the number
  SmallVector<bool> isUnit;         ///< per loop of the joined op
  SumList result;
  TermId term = 0;
  llvm::DenseMap<TermId, std::optional<TermId>> converted;
};

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_JOINEDLOOPS_H
