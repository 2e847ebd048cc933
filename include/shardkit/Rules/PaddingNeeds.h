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

/// std::nullopt if the op cannot run on padded shards of factor `f`: the factor shares a
/// dim with others, or the behavior of the op there is unknown. In a rule that the user
/// wrote, the factor must correspond to one of the builtin rule.
std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f);

/// The model of ops that move full lanes, or compute on floats only: any content is harmless.
template <typename Model, typename OpTy> struct LaneWiseModel : ShardingRuleOpInterface::ExternalModel<Model, OpTy> {
  std::optional<PaddingNeeds> getPaddingNeeds(Operation *, const ShardingRule &rule, int32_t f) const {
    return rule.factor(f).kind == FactorKind::Parallel ? std::optional(PaddingNeeds()) : std::nullopt;
  }
};

/// The needs of an op with a body over an index space.
std::optional<PaddingNeeds> getBodyPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f);
/// Operand `index` must hold `value`, if it has the factor at all. A null value: std::nullopt.
std::optional<PaddingNeeds> maskOperand(const ShardingRule &rule, int32_t f, unsigned index, TypedAttr value);
/// Zeros in both factors of a product: 0 * inf is NaN. -0.0 * 0.0 is -0.0, which adds nothing
/// to any sum; of integers one zero is enough.
std::optional<PaddingNeeds> maskProduct(const ShardingRule &rule, int32_t f, TypedAttr zeroA, TypedAttr zeroB,
                                        bool integers);

/// True for an integer op that traps on some operands, or that is lowered to one.
bool mayTrap(Operation *op);

/// Sets in the rule of an op which factors may be sharded unevenly.
void markUnevenFactors(ShardingRule &rule, Operation *op);

/// The sizes of the dims of factor `f`, by `getDim`.
llvm::SmallVector<AffineExpr> getSizes(const ShardingRule &rule, int32_t f,
                                       llvm::function_ref<AffineExpr(Value, unsigned)> getDim);

/// Why shards of factor `f` of an op cannot have padding of a size that only the run knows; none if they can, or if the
/// factor has no such size. `getDim` is the size of a dim of unknown size, null if it is not known either.
std::optional<std::string> getReasonAgainstPadding(Operation *op, const ShardingRule &rule, int32_t f,
                                                   llvm::function_ref<AffineExpr(Value, unsigned)> getDim);

/// True if a factor may be sharded by `entries`: they divide it, or they are full axes and
/// the op can run on padded shards.
bool canShard(const Factor &factor, llvm::ArrayRef<DimEntry> entries, const Mesh &mesh);

/// True if a dim of `size` may get these axes because another dim is read in windows along
/// it: they divide it, or pad it by a quarter at most.
bool canShardWindows(llvm::ArrayRef<DimEntry> entries, int64_t size);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_PADDINGNEEDS_H
