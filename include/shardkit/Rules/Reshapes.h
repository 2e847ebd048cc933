//===- Reshapes.h - Factors of reshapes -------------------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_RESHAPES_H
#define SHARDKIT_RULES_RESHAPES_H

#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// Dims of two row-major shapes of equal element count that cover the same interval of
/// the flat index, between two adjacent common boundaries.
///   6x5 and 2x3x5: [0, 1) and [0, 2), [1, 2) and [2, 3)
struct ReshapeGroup {
  unsigned fromBegin, fromEnd, toBegin, toEnd;
  int64_t size; // dynamic for an unknown size, the same on both sides
  /// True if the boundaries inside divide each other, so that its dims are products of
  /// common factors: 2x6 and 4x3, not 4x6 and 3x8.
  bool refines;
};
/// Groups, major to minor. std::nullopt for shapes without elements, and for unknown
/// sizes, unless there is one on either side at the same position.
std::optional<llvm::SmallVector<ReshapeGroup>> getReshapeGroups(llvm::ArrayRef<int64_t> from,
                                                                llvm::ArrayRef<int64_t> to);
/// Factors of two such shapes, a list per dim: every boundary between two dims of one
/// that is also a boundary of the other, or divides one of its dims, is a boundary between
/// factors. The lists of dims in groups that do not refine are empty (splitReshapes splits
/// such reshapes).
///   12 and 3x4: [(a b)], [a][b]     2x6 and 4x3: [a][(b c)], [(a b)][c]
struct ReshapeFactors {
  ReshapeFactors(ShardingRule &rule, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
  llvm::SmallVector<llvm::SmallVector<int32_t, 2>> from, to;
};
/// The rule of an op whose only result has the elements of its operand in row-major order. Padding may
/// have any content.
ShardingRule getReshapeRule(Operation *op);
/// True for ops that keep the elements in row-major order, which splitReshapes applies
/// to.
bool isReshape(Operation *op);
/// Replaces a reshape whose dims have no common factors by a collapse to the groups of
/// dims and an expand from them: the joined dim can be sharded by any digit. Reshapes of
/// dynamic shape are replaced too if their groups are known. Others stay. `onReplace` is
/// called with a result before it is replaced, and with its replacement.
void splitReshapes(llvm::ArrayRef<Operation *> reshapes, llvm::function_ref<void(Value, Value)> onReplace = {});

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_RESHAPES_H
