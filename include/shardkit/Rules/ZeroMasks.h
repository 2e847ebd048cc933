//===- ZeroMasks.h - Where tensors are zero because of a mask ---*- C++ -*-===//
//
// A mixture of experts gives each expert the tokens that its router has chosen. In a
// program on full tensors this is a mask: elements of other tokens are zero.
//
//   %h = select(%mask[token, expert], %x * %w[expert], 0)      zero where the mask is false
//   %y = sum over expert of f(%h) * %v[expert]                 adds nothing there
//
// A product with such a zero counts as zero, whatever the other factor: an infinite weight
// of an expert does not reach the tokens of others.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_ZEROMASKS_H
#define SHARDKIT_RULES_ZEROMASKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::spmd {

/// Two dims of a tensor: the groups (experts) and the rows of which each group has some.
struct MaskedDims {
  int64_t group, row;
  bool operator==(const MaskedDims &other) const { return group == other.group && row == other.row; }
};

/// A tensor that has groups and rows. A row counts for a group if any element along the other
/// dims is true, or not zero: %chosen[token, choice, expert], of which each choice is one expert.
struct ZeroMask {
  Value value;
  MaskedDims dims;
  explicit operator bool() const { return static_cast<bool>(value); }
  bool operator==(const ZeroMask &other) const { return value == other.value && dims == other.dims; }
};

/// The dim of `map`'s results that is the loop, -1 if none is; std::nullopt if a result
/// computes with the loop.
std::optional<int64_t> getDimOfLoop(AffineMap map, unsigned loop);

/// True if all elements along `dim` are known to be the same.
bool isInvariant(Value value, int64_t dim);

/// The same mask without the broadcasts, the transposes and the disjunctions along other dims
/// that it is read through; null for tensors of other types, and where all groups have the
/// same rows.
ZeroMask resolveMask(ZeroMask mask);

/// In how many groups a row is at most, of a mask that is made of one-hot vectors: as many as each row has choices.
/// Rows from one to another are taken for those of one group: `start[group] <= row < end[group]`, as in a product of
/// sorted rows. None of a mask that data give otherwise.
std::optional<int64_t> getUsedGroups(const ZeroMask &mask);

/// Finds masks, and remembers them while no op changes.
class ZeroMasks {
public:
  /// `getMoved`: the tensor whose elements another device has computed as those of a value, if
  /// there is one. Of a value that moved its own elements are the mask, as those of what it
  /// was made of are elsewhere.
  explicit ZeroMasks(llvm::function_ref<Value(Value)> getMoved) : getMoved_(getMoved) {}

  /// A mask such that `value` is zero in all rows of a group that do not count; null if none
  /// is known.
  ZeroMask find(Value value, MaskedDims dims);

private:
  llvm::function_ref<Value(Value)> getMoved_;
  llvm::DenseMap<std::pair<Value, std::pair<int64_t, int64_t>>, ZeroMask> known_;
};

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_ZEROMASKS_H
