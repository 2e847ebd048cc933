//===- BlockMove.h - Collectives as exchanges of blocks ---------*- C++ -*-===//
//
// Where layouts split each other evenly, each member of a group sends one block of elements
// to each member that reads it:
//
//   operand  reshaped, transposed: [blocks][elements of a block]
//   received [members that are combined][blocks][elements of a block], transposed, reshaped
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_CONVERSION_BLOCKMOVE_H
#define SHARDKIT_LIB_CONVERSION_BLOCKMOVE_H

#include "MoveBuilder.h"

namespace mlir::spmd {

/// A requirement for a message: the digit `sender` of the rank that sends equals the digit
/// `reader` of the rank that reads.
struct EqualDigits {
  RankDigit sender, reader;
};

class BlockMove {
public:
  /// std::nullopt if a collective has no such form: segments, other orders of the devices,
  /// digits that overlap in part.
  static std::optional<BlockMove> get(const ClosedForm &form);

  int64_t numBlocks() const { return blocks; }
  int64_t numCombined() const { return combined; }
  /// Blocks that a device receives: `numCombined` times the blocks of the result.
  int64_t numSlots() const { return slots; }
  int64_t blockElements() const { return elements; }
  /// Digits of ranks: of the members whose blocks a device receives, of those that read other blocks of its
  /// operand, and of those that are combined. Blocks are in rising order of ranks.
  llvm::SmallVector<RankDigit> getGatheredDigits() const;
  llvm::SmallVector<RankDigit> getSlicedDigits() const;
  llvm::ArrayRef<RankDigit> getReducedDigits() const { return reduced; }
  /// Whether a sender of one digit is the reader of another.
  bool isPermuted() const { return permutes; }
  /// The block of the operand that member `k` reads.
  int64_t getBlock(const Members &members, int64_t k) const;
  /// The slot for the block of member `k`.
  int64_t getSlot(const Members &members, int64_t k) const;
  llvm::ArrayRef<EqualDigits> getConditions() const { return conditions; }
  /// Whether elements have the same order in operand and result.
  bool isInOrder() const {
    return llvm::all_of(kept, [](const TransferAtom &atom) { return atom.srcStride == atom.dstStride; });
  }
  /// Whether member `k` reads its own block.
  bool readsItself(const Members &members, int64_t k) const;

  /// The operand as a tensor of one dim: block after block.
  Value emitPacked(OpBuilder &b, Location loc, Value input) const;
  /// The result, of the blocks that were combined, in a tensor of one dim.
  Value emitUnpacked(OpBuilder &b, Location loc, Value received, RankedTensorType type) const;

private:
  llvm::SmallVector<TransferAtom, 6> gathered, sliced, kept; // source, destination, none is a rank
  llvm::SmallVector<RankDigit, 2> reduced;
  llvm::SmallVector<EqualDigits, 2> conditions;
  bool permutes = false;
  int64_t blocks = 1, combined = 1, slots = 1, elements = 1;
};

/// (sender, receiver) of all devices, where each reads one other as `moved` says. Along digits that only readers have
/// the value is the same: senders that nobody reads take these. std::nullopt if sizes do not allow it, or if two
/// devices would read the same one.
std::optional<llvm::SmallVector<std::pair<int64_t, int64_t>>> getPermutation(llvm::SmallVector<EqualDigits> moved,
                                                                             int64_t devices);

/// A tensor of one dim with the elements of `value`, and back.
Value emitFlat(OpBuilder &b, Location loc, Value value);
Value emitShaped(OpBuilder &b, Location loc, Value flat, RankedTensorType type);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_CONVERSION_BLOCKMOVE_H
