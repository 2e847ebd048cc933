//===- RuleTable.cpp - Interned sharding rules ----------------------------===//

#include "shardkit/Rules/RuleTable.h"

using namespace mlir;
using namespace mlir::spmd;

const ShardingRule *RuleTable::intern(ShardingRule rule) {
  SmallVector<int64_t, 64> key;
  rule.appendKey(key);
  const ShardingRule *&known = ids[key];
  if (!known) {
    rule.dropValues();
    known = &rules.emplace_back(std::move(rule));
  }
  return known;
}
