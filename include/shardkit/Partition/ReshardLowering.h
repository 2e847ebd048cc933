//===- ReshardLowering.h - A change of layout as collectives ----*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_RESHARDLOWERING_H
#define SHARDKIT_PARTITION_RESHARDLOWERING_H

#include "shardkit/Cost/LayoutTable.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// Creates the collectives that reshard the local value `input` of a value of `globalType`, and
/// returns the local result. A complete value that becomes partial is kept by the first shard
/// and replaced by the neutral element on the others. Emits an error if a step cannot be
/// expressed on a mesh.
FailureOr<Value> lowerReshard(OpBuilder &b, Location loc, Value input, RankedTensorType globalType, LayoutId from,
                              LayoutId to, LayoutTable &table);

/// Coordinates of this device on (sub-)axes.
SmallVector<Value> getCoordinates(OpBuilder &b, Location loc, const FunctionMeshes::AxesOnMesh &axes);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_RESHARDLOWERING_H
