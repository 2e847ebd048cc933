//===- IndexRebase.h - Global loop indices in local loops -------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_INDEXREBASE_H
#define SHARDKIT_PARTITION_INDEXREBASE_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::spmd {

/// A sharded loop of an op with a body over an index space: its global size, and its entries.
struct ShardedLoop {
  unsigned loop;
  int64_t size;
  DimEntries entries;
  /// Indices into captured tensors that are sharded like the loop: they stay local.
  SmallVector<OpOperand *, 1> localUses;
};

/// The number of the chunk of a device. `coordinates` are its coordinates on `entries`, which have no strides.
Value getChunkNumber(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries, ArrayRef<Value> coordinates);

/// The first global index of the chunk of a device, on an uneven dim of `size`.
/// `coordinates` are the coordinates of the device on `entries`.
Value getChunkStart(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries, int64_t size, ArrayRef<Value> coordinates);

/// Converts a global index of a dim of `size` that is sharded by `entries`: the index in the
/// shard that owns it, and whether this device owns it. If not, the index is arbitrary. An
/// index beyond the dim is not owned, or in padding.
struct OwnedIndex {
  Value index, owned;
};
OwnedIndex getOwnedIndex(OpBuilder &b, Location loc, Value global, ArrayRef<DimEntry> entries, int64_t size,
                         ArrayRef<Value> coordinates);

/// The sharded loops of an op whose body reads indices (`readsIndices`), before any type
/// changes. `getSharding` returns null for a tensor without a sharding (in the body of an op
/// that computes on replicated values).
SmallVector<ShardedLoop> getShardedLoops(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);

/// Replaces the index of each sharded loop in the body by the global one, computed from the
/// local one and the coordinates of `getCoordinates`, outside of the op or at the start of the
/// body. `getCoordinates` may express the entries of the loop on other axes.
///
///   dim of 8, {"x"=2}: global = 4 * x + local
void rebaseIndices(Operation *op, ArrayRef<ShardedLoop> loops,
                   llvm::function_ref<SmallVector<Value>(ShardedLoop &loop)> getCoordinates);
/// The same by the coordinates of the device.
void rebaseIndices(Operation *op, ArrayRef<ShardedLoop> loops, FunctionMeshes &meshes);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_INDEXREBASE_H
