//===- IndexRebase.h - Global loop indices in local loops -------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_INDEXREBASE_H
#define SHARDKIT_PARTITION_INDEXREBASE_H

#include "shardkit/Layout/Sharding.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::spmd {

/// A loop of a structured op that is cut over devices: its global size and its
/// (sub-)axes and gaps.
struct CutLoop {
  unsigned loop;
  int64_t size;
  DimEntries entries;
  /// Indices into captured tensors that are cut like the loop: they stay local.
  SmallVector<OpOperand *, 1> localUses;
};

/// Replaces each `linalg.index` of a cut loop by the global index, computed from
/// the local one and the coordinates of the device.
void rebaseIndices(linalg::LinalgOp op, ArrayRef<CutLoop> loops,
                   const Mesh &mesh, FlatSymbolRefAttr meshRef);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_INDEXREBASE_H
