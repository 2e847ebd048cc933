//===- PaddingNeeds.h - Ops on padded shards --------------------*- C++ -*-===//
//
// Where the axes of a factor do not divide it, every shard is as long as the
// longest and the last ones end in padding lanes, which hold anything. This file
// knows, per op, what keeps them out of results and keeps them from doing harm.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_PADDINGNEEDS_H
#define SHARDKIT_RULES_PADDINGNEEDS_H

#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// What an op needs so that padding lanes of one factor do no harm. By default
/// nothing: the op may run on them as it is.
struct PaddingNeeds {
  /// Operands of which these lanes must hold `value`.
  struct Mask {
    unsigned operand;
    TypedAttr value;
  };
  llvm::SmallVector<Mask, 2> masks;
  /// What the body does on these lanes.
  enum class Body : uint8_t {
    Run,    ///< all that it does elsewhere
    Select, ///< its results are those that the outputs hold already
    Skip,   ///< likewise (zero where there is no output); nothing is computed
  } body = Body::Run;
  /// The factor among those of the op's own rule: the loop of a body.
  int32_t loop = -1;
};

/// Nothing if the op has no form on padded shards of factor `f`: the factor
/// shares a dim with others, or it is not known what the op does there: a written rule
/// must mean by the factor what the op's own rule does.
std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f);

/// True for an integer op that traps on some operands, or that is lowered to one.
bool mayTrap(Operation *op);

/// Notes in the rule of an op which factors may be cut unevenly.
void markUnevenFactors(ShardingRule &rule, Operation *op);

/// True if a factor may be cut by `entries`: they divide it, or they are whole
/// axes that leave a rest and the op has a form on padded shards.
bool canCut(const Factor &factor, llvm::ArrayRef<DimEntry> entries, const Mesh &mesh);

/// True for axes that a dim of `size` may be given because another is read in windows
/// along it: they divide it, or pad it by a quarter at most.
bool mayBeginCut(llvm::ArrayRef<DimEntry> entries, int64_t size);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_PADDINGNEEDS_H
