//===- AxisResources.h - Shardings as axis resources ------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_AXISRESOURCES_H
#define SHARDKIT_DIALECT_SPMD_IR_AXISRESOURCES_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

namespace mlir::spmd {

/// A sharding as axis resources, without its mesh. Null for shardings that these cannot
/// express: with sub-axes, priorities, replicated or unreduced axes, or open dims that have
/// axes.
AxisResourcesAttr toAxisResources(ShardingAttr sharding);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_AXISRESOURCES_H
