//===- PaddingNeeds.h - Ops on padded shards --------------------*- C++ -*-===//
//
// If the axes of a factor do not divide it, all shards have the size of the largest, and
// the last ones end in padding lanes with undefined values. This file determines, per op,
// how these values are kept out of results.
//
//   reduction of 5 elements on 2 devices: shards of 3, device 1 masks its last lane
//   with the neutral element of the reduction
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_PADDINGNEEDS_H
#define SHARDKIT_RULES_PADDINGNEEDS_H

#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// The requirements of an op on padding lanes of one factor. By default there are none:
/// the op may run on them as it is.
struct PaddingNeeds {
  /// Operands of which these lanes must hold `value`.
  struct Mask {
    unsigned operand;
    TypedAttr value;
  };
  llvm::SmallVector<Mask, 2> masks;
  /// The action of the body on these lanes.
  enum class Body : uint8_t {
    Run,    ///< computes as on other lanes
    Select, ///< yields the current elements of the outputs
    Skip,   ///< the same (zero without an output), without computing
  } body = Body::Run;
  /// The factor among those of the builtin rule of the op: the loop of a body.
  int32_t loop = -1;
};

/// std::nullopt if the op cannot run on padded shards of factor `f`: the factor shares a
/// dim with others, or the behavior of the op there is unknown. In a rule that the user
/// wrote, the factor must correspond to one of the builtin rule.
std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f);

/// True for an integer op that traps on some operands, or that is lowered to one.
bool mayTrap(Operation *op);

/// Sets in the rule of an op which factors may be sharded unevenly.
void markUnevenFactors(ShardingRule &rule, Operation *op);

/// True if a factor may be sharded by `entries`: they divide it, or they are full axes and
/// the op can run on padded shards.
bool canShard(const Factor &factor, llvm::ArrayRef<DimEntry> entries, const Mesh &mesh);

/// True if a dim of `size` may get these axes because another dim is read in windows along
/// it: they divide it, or pad it by a quarter at most.
bool canShardWindows(llvm::ArrayRef<DimEntry> entries, int64_t size);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_PADDINGNEEDS_H
