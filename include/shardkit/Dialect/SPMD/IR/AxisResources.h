//===- AxisResources.h - Shardings as axis resources ------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_AXISRESOURCES_H
#define SHARDKIT_DIALECT_SPMD_IR_AXISRESOURCES_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

namespace mlir::spmd {

/// What a sharding says, without its mesh; null where axis resources cannot say it: parts
/// of axes, priorities, replicated or unreduced axes, open dims that have some.
AxisResourcesAttr toAxisResources(ShardingAttr sharding);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_AXISRESOURCES_H
