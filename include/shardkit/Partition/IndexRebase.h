//===- IndexRebase.h - Global loop indices in local loops -------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_INDEXREBASE_H
#define SHARDKIT_PARTITION_INDEXREBASE_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::spmd {

/// A loop of an op with a body over an index space that is cut over devices: its global size and its
/// (sub-)axes and gaps.
struct CutLoop {
  unsigned loop;
  int64_t size;
  DimEntries entries;
  /// Indices into captured tensors that are cut like the loop: they stay local.
  SmallVector<OpOperand *, 1> localUses;
};

/// First global index of the chunk that a device has of an uneven dim of `size`;
/// `coordinates` are its coordinates on `entries`.
Value getChunkStart(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries, int64_t size, ArrayRef<Value> coordinates);

/// Where a global index of a dim of `size` that is cut by `entries` is: the index in
/// the shard that has it, and whether this device does. The index may be anything
/// where it does not; one beyond the dim is in no shard, or in padding.
struct OwnedIndex {
  Value index, owned;
};
OwnedIndex getOwnedIndex(OpBuilder &b, Location loc, Value global, ArrayRef<DimEntry> entries, int64_t size,
                         ArrayRef<Value> coordinates);

/// The cut loops of an op whose body reads indices (`readsIndices`), before any
/// type changes; `getSharding` is that of a tensor, null for one that
/// has none (in the body of an op that is computed whole).
SmallVector<CutLoop> getCutLoops(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);

/// Replaces the index of each cut loop in the body by the global one, computed
/// from the local one and the coordinates that `getCoordinates` gives: of the axes among the
/// loop's entries, which it may spell anew. Made outside of the op, or at the start of the body.
void rebaseIndices(Operation *op, ArrayRef<CutLoop> loops,
                   llvm::function_ref<SmallVector<Value>(CutLoop &loop)> getCoordinates);
/// By the coordinates of the device.
void rebaseIndices(Operation *op, ArrayRef<CutLoop> loops, FunctionMeshes &meshes);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_INDEXREBASE_H
