//===- ReshardLowering.h - A change of layout as collectives ----*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_RESHARDLOWERING_H
#define SHARDKIT_PARTITION_RESHARDLOWERING_H

#include "shardkit/Cost/LayoutTable.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// Emits the collectives that lead the local value `input` of a value of
/// `globalType` from one layout to another, and returns the local result. A
/// complete value that becomes partial is kept by the first shard and replaced
/// by the neutral element on the others. Reports where a step has no spelling.
FailureOr<Value> lowerReshard(OpBuilder &b, Location loc, Value input, RankedTensorType globalType, LayoutId from,
                              LayoutId to, LayoutTable &table);

/// Coordinates of this device on (sub-)axes, as they are spelled.
SmallVector<Value> getCoordinates(OpBuilder &b, Location loc, const FunctionMeshes::AxesOnMesh &axes);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_RESHARDLOWERING_H
