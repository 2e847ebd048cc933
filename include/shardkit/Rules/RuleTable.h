//===- RuleTable.h - Interned sharding rules --------------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_RULETABLE_H
#define SHARDKIT_RULES_RULETABLE_H

#include "shardkit/Layout/KeyedTable.h"
#include "shardkit/Rules/ShardingRule.h"
#include <deque>

namespace mlir::spmd {

/// Rules without their values, each kept once: ops of a repeated layer share
/// them. Equal addresses are equal rules on tensors of equal types.
class RuleTable {
public:
  const ShardingRule *intern(ShardingRule rule);

private:
  std::deque<ShardingRule> rules;
  KeyedTable<const ShardingRule *> ids;
};

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_RULETABLE_H
