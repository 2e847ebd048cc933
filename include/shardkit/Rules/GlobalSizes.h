//===- GlobalSizes.h - Sizes in attributes of unknown ops -------*- C++ -*-===//
//
// Partition changes the types of operands and results, and by `makeLocal` of an op's
// ShardingRuleOpInterface its attributes. Nothing changes the attributes of other ops. A factor
// whose size is in such an attribute is therefore replicated.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_GLOBALSIZES_H
#define SHARDKIT_RULES_GLOBALSIZES_H

#include "mlir/IR/Operation.h"

namespace mlir::spmd {

class ShardingRule;

/// A size or offset of a global tensor that an op holds outside of the types of its operands and results.
struct GlobalSize {
  int32_t factor;    ///< A dim along which it is.
  int64_t number;    ///< The size or offset.
  std::string where; ///< The attribute or type, for messages.
};

/// The first global size of each factor of `rule`: a size, offset, stride or number of elements in an attribute (also
/// in arrays, dictionaries and types), or a type in a region. Empty for ops whose attributes partition makes local, and
/// if the rule sets `hasLocalAttributes`. `hasBuiltinRule`: the rule is not only written on the op.
llvm::SmallVector<GlobalSize, 0> findGlobalSizes(Operation *op, const ShardingRule &rule, bool hasBuiltinRule);

/// The global sizes for which `getShardingRule` replicates factors of the rule of `op`.
llvm::SmallVector<GlobalSize, 0> getGlobalSizes(Operation *op);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_GLOBALSIZES_H
