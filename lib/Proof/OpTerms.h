//===- OpTerms.h - The terms of a local op over global indices --*- C++ -*-===//
// Internal to the proof: one try to match a structured op, with one fact per operand and one global index per loop.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_OPTERMS_H
#define SHARDKIT_LIB_PROOF_OPTERMS_H

#include "LocalValues.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::spmd::proof {

using Ranks = SmallVector<RankDigit, 2>;

/// The global index that a loop may stand for, and the size of the dim with that index. Without a form, the loop is
/// tied to no index: all elements along it are equal.
struct LoopIndex {
  std::optional<IndexForm> form;
  std::optional<int64_t> size;
  bool isGuess = false; ///< no operand says so
};

/// How far the tries to match an op came: the furthest says why it failed.
struct Attempt {
  int distance = -1;
  Outcome outcome = Outcome::Undecided;
  std::string why, kind;
  /// Values of their own that were made in search of one that the unsharded program has.
  int numOwn = 0;
  void fail(int newDistance, Outcome newOutcome, const Twine &newWhy, StringRef newKind) {
    if (newDistance > distance)
      *this = {newDistance, newOutcome, newWhy.str(), newKind.str(), numOwn};
  }
};

/// `form` of dim `dim` of an operand, at `map` over the loops of an op. `size` is the local size of the dim.
std::optional<IndexForm> getAt(const IndexForm &form, unsigned dim, int64_t size, const IndexForm &map);

/// Writes the terms of a structured op over global indices:
///
///   op       out[i] = a[i + 2]                    over local loops
///   facts    a[j] = A[4 x + j], loop i is 4 x + i
///   term     A[i + 2]                             over global loops
///
/// `inside` are the terms with every loop in its dim. In lanes outside of a dim, where operands have padding, an op
/// computes other terms: `convertOutside` writes these.
class OpTerms {
public:
  OpTerms(Operation &op, const Structured &structured, ArrayRef<const Fact *> operands, ArrayRef<LoopIndex> loops,
          LocalValues &values);

  /// Computes `inside`. False, with the reason in `attempt`, if operands do not fit each other.
  bool convertInside(Attempt &attempt);
  /// The terms in a frame in which the loops in `outside` are not in their dims.
  SmallVector<TermId> convert(TermFrame &frame, const llvm::SmallBitVector &outside);
  /// The frame of the lanes in which the index of one loop is beyond its dim (`above`) or before it. The other loops
  /// may have any index.
  TermFrame getFrameOutside(unsigned loop, bool above) const;

  /// True if a term reads what is partial.
  bool readsPartial(TermId id) const;
  unsigned getNumLoops() const { return loops.size(); }
  /// True if the loop takes one index alone.
  bool isUnit(unsigned loop) const;
  /// The indices of a loop: [first, last]; std::nullopt if they are not known.
  std::optional<std::pair<int64_t, int64_t>> getRange(unsigned loop) const;

  /// The first and the last index of each loop, if they are known.
  using Ranges = SmallVector<std::optional<std::pair<int64_t, int64_t>>, 4>;
  /// True if all elements that are read through are inside of the values that the devices have, with the indices of the
  /// loops in `ranges`. Others are padding of these, and not what they are read through to.
  bool areReadsInside(const Ranges &ranges) const;

  /// True if the op reads `tensor` at computed indices, and a device has a part of dim `d` of it.
  bool isShardedLookup(Value tensor, unsigned d) const;
  /// True if every device has all of dim `d` of an operand, and its elements differ: a term has the index then.
  bool hasAll(Value tensor, unsigned d) const;
  /// True if the op reads `tensor` at computed indices, and all elements along dim `d` are equal. The term does not
  /// have the index then, so that the unsharded program may read a tensor of another size.
  bool isUniformLookup(Value tensor, unsigned d) const;
  /// True if the unsharded program reads a dim of `size` at this index, whatever it computes, so that it is inside.
  bool isReadBy(TermId index, int64_t size);

  Operation &op;
  const Structured &structured;
  ArrayRef<LoopIndex> loops;
  LocalValues &values;
  SmallVector<TermId> inside;
  /// True if `inside` holds only because the loops are in their dims.
  bool usedAssumption = false;
  /// True if a result gets a class of its own where the unsharded program has none of its terms.
  bool addsDefined = false;
  /// True if what all lanes read inside of the local tensor counts as read by all devices, and not by the owner alone.
  bool readsInside = false;
  /// The reduction of which operands are partial results; std::nullopt if all are complete.
  std::optional<ReductionKind> partialKind;
  /// The ranks over which the elements that are read and the first values of the outputs are partial.
  llvm::DenseMap<TermId, Ranks> elements;
  SmallVector<Ranks, 1> outputs;
  /// Elements that only the devices with one coordinate over these ranks have: those where all conditions hold.
  struct Ownership {
    Ranks ranks;
    llvm::SmallDenseSet<TermId> conditions;
    bool operator==(const Ownership &other) const {
      return ranks == other.ranks && conditions.size() == other.conditions.size() &&
             llvm::all_of(conditions, [&](TermId id) { return other.conditions.contains(id); });
    }
  };
  llvm::DenseMap<TermId, Ownership> owned;
  /// Values that the owner of what they read has; the other devices have `other`.
  struct Masked {
    Ranks ranks;
    TermId other;
  };
  llvm::DenseMap<TermId, Masked> masked;
  /// True if an operand does not fit, and why.
  bool isMisfit = false;
  std::string misfit;

private:
  /// Notes that an element is read through at an index that is outside of its dim in some lanes. False if it is there,
  /// where loops are in `outside`.
  bool addRead(ArrayRef<int64_t> sum, int64_t size, const TermFrame &frame, const llvm::SmallBitVector &outside);
  bool readPartialKind(Attempt &attempt);
  /// Scalars of the function around the op that are elements are complete.
  void readOuterElements();
  /// Notes that all elements in a term are complete.
  void addCompleteElements(TermId term);
  /// Notes over which ranks an element is partial. Two operands may not differ in that.
  void addElement(TermId element, const Ranks &ranks);
  TermId convertArgument(unsigned number, TermFrame &frame, const llvm::SmallBitVector &outside);
  TermId convertLookup(unsigned number, ArrayRef<TermId> indices, TermFrame &frame);
  /// The value of a selection by whether the device owns what the value reads: a partial result (`masked`).
  std::optional<TermId> convertOwned(const Term &term, TermFrame &frame);
  /// An index at which the unsharded program reads, and the size of the dim.
  using Bound = std::pair<IndexForm, int64_t>;
  /// True if a condition holds wherever the unsharded program is defined, as it reads within these bounds.
  bool isBound(TermId id, ArrayRef<Bound> bounds) const;
  /// True if the op reads what one device owns outside of the selections in `maskedSelects`.
  bool readsUnmasked(TermFrame &frame) const;
  TermId setMisfit(const Twine &why);

  ArrayRef<const Fact *> operands;
  llvm::DenseMap<TermId, SmallVector<Bound, 2>> bounds; ///< of the look-ups, by their terms
  llvm::DenseSet<TermId> maskedSelects, completed;
  /// An index of a dim at which an element is read through. What conditions around it say of loops is in `where`.
  struct Read {
    SmallVector<int64_t, 6> sum;
    int64_t size;
    Ranges where;
  };
  SmallVector<Read, 0> reads;
  Ranges assumed; ///< the indices of the loops in `inside`
};

/// Checks that no lane of padding divides by what padding holds, or reads at an index that is outside of a tensor.
/// False, with the reason in `attempt`, if one may. (Traps.cpp)
bool checkTraps(OpTerms &op, Attempt &attempt);

/// True if a trap does no harm in any lane, whatever padding holds: all indices are inside of the dims, and the divisor
/// is a number.
bool isHarmless(const Trap &trap, const TermTable &terms);

/// Adds the facts of result `r`. False if other results are not worth a try. (ResultMatch.cpp)
bool matchResult(OpTerms &terms, unsigned r, Attempt &attempt);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_OPTERMS_H
