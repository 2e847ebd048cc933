//===- InitAllDialects.h - Dialects and interfaces of ShardKit --*- C++ -*-===//
//
// Registers all dialects and external models.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_INITALLDIALECTS_H
#define SHARDKIT_INITALLDIALECTS_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// Adds ShardKit's dialects and the interfaces that it attaches to upstream ops.
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<SPMDDialect>();
  registerShardingRules(registry);
}

} // namespace mlir::spmd

#endif // SHARDKIT_INITALLDIALECTS_H
