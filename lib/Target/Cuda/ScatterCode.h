//===- ScatterCode.h - Scatters in kernels ----------------------*- C++ -*-===//
//
// One thread for each element of each update. If several updates have the same index, the
// threads of the first one apply them all, in order. The results are therefore bitwise
// those of a sequential loop, without atomics. A reduction over all pairs of updates links
// each update to the next one with the same index; it does not read their elements. For
// example, with indices [5, 2, 5, 5], update 0 is linked to 2, and 2 to 3; the threads of
// updates 0 and 1 do all work.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_SCATTERCODE_H
#define SHARDKIT_LIB_TARGET_CUDA_SCATTERCODE_H

#include "../Common/ScatterMatch.h"
#include "ThreadCode.h"

namespace mlir::spmd::cuda {

struct DeviceScatter {
  explicit DeviceScatter(const target::Scatter &match) : match(match) {}

  target::Scatter match;
  /// Loops over batches, which index the result, loops over updates, and loops along an
  /// update.
  SmallVector<unsigned> batches, updates, along;
  /// All loops of a thread, slowest first.
  SmallVector<unsigned> getLoops() const {
    SmallVector<unsigned> loops(batches);
    llvm::append_range(loops, updates);
    llvm::append_range(loops, along);
    return loops;
  }
};

/// `op`, on tensors or buffers, if it is a scatter for which links are less work than the
/// visit of each update by each element.
std::optional<DeviceScatter> getDeviceScatter(linalg::LinalgOp op);

/// Emits before `op` the ops that link its updates. [0, batch.., update..] of the buffer
/// is the next update with the same index, or the number of updates. [1, ...] is that
/// number if an earlier update has the same index. `made` gets the linalg ops.
Value emitLinks(OpBuilder &b, linalg::LinalgOp op, const DeviceScatter &scatter,
                SmallVectorImpl<linalg::LinalgOp> &made);

/// Emits the code of thread `id`, of as many as the loops have iterations.
void emitScatter(OpBuilder &b, linalg::LinalgOp op, const DeviceScatter &scatter, Value links, Value id);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_SCATTERCODE_H
