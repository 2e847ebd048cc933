//===- BlockMove.cpp - Collectives as exchanges of blocks -----------------===//

#include "BlockMove.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::spmd;

static bool overlaps(const RankDigit &a, const RankDigit &b) {
  return a.stride < b.stride * b.size && b.stride < a.stride * a.size;
}

/// True if all is said by exact matches: `digit` is one of `digits`, or overlaps none. `isIn` tells which.
static bool isExact(const RankDigit &digit, ArrayRef<RankDigit> digits, bool &isIn) {
  isIn = llvm::is_contained(digits, digit);
  return isIn || llvm::none_of(digits, [&](const RankDigit &other) { return overlaps(digit, other); });
}

/// Whether loops are the digits of `count` elements, major to minor.
template <typename Stride> static bool coverElements(ArrayRef<TransferAtom> atoms, int64_t count, Stride stride) {
  int64_t next = 1;
  for (const TransferAtom &atom : llvm::reverse(atoms)) {
    if (stride(atom) != next)
      return false;
    next *= atom.size;
  }
  return next == count;
}

static int64_t countOf(ArrayRef<TransferAtom> atoms) {
  int64_t count = 1;
  for (const TransferAtom &atom : atoms)
    count *= atom.size;
  return count;
}

static int64_t sourceStride(const TransferAtom &atom) { return atom.srcStride; }
static int64_t destinationStride(const TransferAtom &atom) { return atom.dstStride; }

/// Loops with a local side, by falling stride there.
template <typename Stride>
static SmallVector<TransferAtom, 6> sorted(ArrayRef<TransferAtom> first, ArrayRef<TransferAtom> second, Stride stride) {
  SmallVector<TransferAtom, 6> atoms(first);
  llvm::append_range(atoms, second);
  llvm::sort(atoms, [&](const TransferAtom &a, const TransferAtom &b) { return stride(a) > stride(b); });
  return atoms;
}

namespace {

/// The loops of a move and the digits that it combines, split where digits of ranks begin or end in others:
///   rank (1, 4) to rank (2, 4):  rank (2, 2) to rank (4, 2), rank (1, 2) to rank (2, 2)
class SplitDigits {
public:
  explicit SplitDigits(const ClosedForm &form) : atoms(form.transfer.atoms) {
    if (form.reduction)
      reduced = form.group;
    // A split of one side splits the other one.
    while (splitOnce())
      ;
  }
  SmallVector<TransferAtom, 6> atoms;
  SmallVector<RankDigit, 2> reduced;

private:
  /// The least size of the minor half of a digit; 0 if it is not split.
  int64_t findSplit(const RankDigit &digit) const {
    for (int64_t boundary : boundaries)
      if (boundary > digit.stride && boundary < digit.stride * digit.size && boundary % digit.stride == 0 &&
          digit.stride * digit.size % boundary == 0)
        return boundary / digit.stride;
    return 0;
  }
  bool splitOnce();

  SmallVector<int64_t> boundaries; // rising
};

bool SplitDigits::splitOnce() {
  boundaries.clear();
  auto add = [&](const RankDigit &digit) { boundaries.append({digit.stride, digit.stride * digit.size}); };
  for (const TransferAtom &atom : atoms) {
    if (atom.srcIsRank)
      add({atom.srcStride, atom.size});
    if (atom.dstIsRank)
      add({atom.dstStride, atom.size});
  }
  llvm::for_each(reduced, add);
  llvm::sort(boundaries);
  for (auto *atom = atoms.begin(); atom != atoms.end(); ++atom) {
    int64_t minor = atom->srcIsRank ? findSplit({atom->srcStride, atom->size}) : 0;
    if (minor == 0 && atom->dstIsRank)
      minor = findSplit({atom->dstStride, atom->size});
    if (minor == 0)
      continue;
    TransferAtom major = *atom;
    major.size /= minor;
    major.srcStride *= minor;
    major.dstStride *= minor;
    atom->size = minor;
    atoms.insert(atom, major);
    return true;
  }
  for (auto *digit = reduced.begin(); digit != reduced.end(); ++digit)
    if (int64_t minor = findSplit(*digit)) {
      RankDigit major{digit->stride * minor, digit->size / minor};
      digit->size = minor;
      reduced.insert(digit, major);
      return true;
    }
  return false;
}

} // namespace

std::optional<BlockMove> BlockMove::get(const ClosedForm &form) {
  if (form.isReordered() || !form.transfer.segments.empty() || form.inElements == 0 || form.outElements == 0)
    return std::nullopt;
  BlockMove move;
  SmallVector<RankDigit> replaced; // Digits of the source that do not come from the reader.
  SmallVector<EqualDigits> permuted;
  SplitDigits digits(form);
  move.reduced = digits.reduced;
  llvm::sort(move.reduced, [](const RankDigit &a, const RankDigit &b) { return a.stride > b.stride; });
  llvm::append_range(replaced, move.reduced);
  for (const TransferAtom &atom : digits.atoms) {
    if (atom.size == 1)
      continue;
    if (atom.srcIsRank) {
      RankDigit digit{atom.srcStride, atom.size};
      bool isIn;
      if (!isExact(digit, replaced, isIn) || isIn)
        return std::nullopt;
      replaced.push_back(digit);
    }
    if (atom.srcIsRank && atom.dstIsRank)
      permuted.push_back({{atom.srcStride, atom.size}, {atom.dstStride, atom.size}});
    else
      (atom.srcIsRank ? move.gathered : atom.dstIsRank ? move.sliced : move.kept).push_back(atom);
  }
  auto keepOwn = [&](const RankDigit &digit) { // A digit that sender and reader have in common.
    bool isIn;
    if (!isExact(digit, replaced, isIn))
      return false;
    if (!isIn)
      move.conditions.push_back({digit, digit});
    return true;
  };
  for (const EqualDigits &equal : permuted)
    if (!keepOwn(equal.reader))
      return std::nullopt;
  for (const TransferAtom &atom : move.sliced)
    if (!keepOwn({atom.dstStride, atom.size}))
      return std::nullopt;
  llvm::append_range(move.conditions, permuted);
  move.permutes = !permuted.empty();
  llvm::sort(move.gathered, [](const TransferAtom &a, const TransferAtom &b) { return a.srcStride > b.srcStride; });
  llvm::sort(move.sliced, [](const TransferAtom &a, const TransferAtom &b) { return a.dstStride > b.dstStride; });
  llvm::sort(move.kept, [](const TransferAtom &a, const TransferAtom &b) { return a.dstStride > b.dstStride; });
  if (!coverElements(sorted(move.sliced, move.kept, sourceStride), form.inElements, sourceStride) ||
      !coverElements(sorted(move.gathered, move.kept, destinationStride), form.outElements, destinationStride))
    return std::nullopt;
  move.blocks = countOf(move.sliced);
  move.elements = countOf(move.kept);
  for (const RankDigit &digit : move.reduced)
    move.combined *= digit.size;
  move.slots = move.combined * countOf(move.gathered);
  return move;
}

SmallVector<RankDigit> BlockMove::getGatheredDigits() const {
  return llvm::map_to_vector(gathered, [](const TransferAtom &atom) { return RankDigit{atom.srcStride, atom.size}; });
}

SmallVector<RankDigit> BlockMove::getSlicedDigits() const {
  return llvm::map_to_vector(sliced, [](const TransferAtom &atom) { return RankDigit{atom.dstStride, atom.size}; });
}

int64_t BlockMove::getBlock(const Members &members, int64_t k) const {
  int64_t block = 0;
  for (const TransferAtom &atom : sliced)
    block = block * atom.size + members.getDigit(k, {atom.dstStride, atom.size});
  return block;
}

int64_t BlockMove::getSlot(const Members &members, int64_t k) const {
  int64_t slot = 0;
  for (const RankDigit &digit : reduced)
    slot = slot * digit.size + members.getDigit(k, digit);
  for (const TransferAtom &atom : gathered)
    slot = slot * atom.size + members.getDigit(k, {atom.srcStride, atom.size});
  return slot;
}

bool BlockMove::readsItself(const Members &members, int64_t k) const {
  return llvm::all_of(conditions, [&](const EqualDigits &equal) {
    return members.getDigit(k, equal.sender) == members.getDigit(k, equal.reader);
  });
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

/// Digits that change places, so that each device reads one other; false if sizes do not allow it.
static bool close(SmallVectorImpl<EqualDigits> &moved) {
  auto isSender = [&](const RankDigit &d) { return llvm::any_of(moved, [&](auto &e) { return e.sender == d; }); };
  auto isReader = [&](const RankDigit &d) { return llvm::any_of(moved, [&](auto &e) { return e.reader == d; }); };
  // The value is the same along digits that only readers have: the digits that only senders have go there.
  SmallVector<RankDigit> readers, senders;
  for (const EqualDigits &equal : moved) {
    if (!isSender(equal.reader))
      readers.push_back(equal.reader);
    if (!isReader(equal.sender))
      senders.push_back(equal.sender);
  }
  for (const RankDigit &reader : readers) {
    const auto *sender = llvm::find_if(senders, [&](const RankDigit &d) { return d.size == reader.size; });
    if (sender == senders.end())
      return false;
    moved.push_back({reader, *sender});
    senders.erase(sender);
  }
  return senders.empty();
}

std::optional<SmallVector<std::pair<int64_t, int64_t>>> spmd::getPermutation(SmallVector<EqualDigits> moved,
                                                                             int64_t devices) {
  if (!close(moved))
    return std::nullopt;
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  llvm::SmallBitVector seen(devices);
  for (int64_t rank = 0; rank < devices; ++rank) {
    int64_t sender = rank;
    for (const EqualDigits &e : moved)
      sender += (rank / e.reader.stride % e.reader.size - rank / e.sender.stride % e.sender.size) * e.sender.stride;
    if (sender < 0 || sender >= devices || seen.test(sender))
      return std::nullopt;
    seen.set(sender);
    pairs.emplace_back(sender, rank);
  }
  return pairs;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

Value spmd::emitFlat(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return value;
  if (auto shaped = value.getDefiningOp<tensor::ExpandShapeOp>(); shaped && shaped.getSrcType().getRank() == 1)
    return shaped.getSrc();
  auto flat = type.clone({type.getNumElements()});
  if (type.getRank() == 0)
    return tensor::ExpandShapeOp::create(b, loc, flat, value, ArrayRef<ReassociationIndices>());
  ReassociationIndices all(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  return tensor::CollapseShapeOp::create(b, loc, flat, value, ArrayRef<ReassociationIndices>(all));
}

Value spmd::emitShaped(OpBuilder &b, Location loc, Value flat, RankedTensorType type) {
  if (type.getRank() == 1)
    return flat;
  if (auto collapsed = flat.getDefiningOp<tensor::CollapseShapeOp>(); collapsed && collapsed.getSrcType() == type)
    return collapsed.getSrc();
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, loc, type, flat, ArrayRef<ReassociationIndices>());
  ReassociationIndices all(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  return tensor::ExpandShapeOp::create(b, loc, type, flat, ArrayRef<ReassociationIndices>(all));
}

/// The elements of a tensor of one dim, read as loops `from`, in the order of loops `to`.
static Value emitReordered(OpBuilder &b, Location loc, Value flat, ArrayRef<TransferAtom> from,
                           ArrayRef<TransferAtom> to) {
  SmallVector<int64_t> shape, permuted, permutation;
  for (const TransferAtom &atom : from)
    shape.push_back(atom.size);
  for (const TransferAtom &atom : to) {
    permuted.push_back(atom.size);
    const auto *it = llvm::find_if(from, [&](const TransferAtom &other) {
      return other.srcIsRank == atom.srcIsRank && other.dstIsRank == atom.dstIsRank &&
             other.srcStride == atom.srcStride && other.dstStride == atom.dstStride;
    });
    permutation.push_back(it - from.begin());
  }
  if (llvm::is_sorted(permutation))
    return flat;
  auto type = cast<RankedTensorType>(flat.getType());
  Value value = emitShaped(b, loc, flat, type.clone(shape));
  Value empty = tensor::EmptyOp::create(b, loc, permuted, type.getElementType());
  return emitFlat(b, loc, linalg::TransposeOp::create(b, loc, value, empty, permutation).getResult().front());
}

Value BlockMove::emitPacked(OpBuilder &b, Location loc, Value input) const {
  SmallVector<TransferAtom, 6> blocksFirst(sliced);
  llvm::append_range(blocksFirst, kept);
  return emitReordered(b, loc, emitFlat(b, loc, input), sorted(sliced, kept, sourceStride), blocksFirst);
}

Value BlockMove::emitUnpacked(OpBuilder &b, Location loc, Value received, RankedTensorType type) const {
  SmallVector<TransferAtom, 6> blocksFirst(gathered);
  llvm::append_range(blocksFirst, kept);
  return emitShaped(b, loc, emitReordered(b, loc, received, blocksFirst, sorted(gathered, kept, destinationStride)),
                    type);
}
