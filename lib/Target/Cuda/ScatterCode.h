//===- ScatterCode.h - Updates of places that data say ----------*- C++ -*-===//
//
// A thread for each element of each update. Where several updates meet in one place, the
// threads of the first do them all, in order, so that the bits are those of one thread
// that does everything, and nothing is atomic. For this each update is linked to the next
// one of the same place by a reduction over all pairs of updates, whose elements are not
// read.
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
  /// Loops by which the places differ and that are dims of the result (batches), those
  /// over updates, and those along an update.
  SmallVector<unsigned> batches, updates, along;
  int64_t numBatches = 1, numUpdates = 1, numAlong = 1;
};

/// `op`, on tensors or buffers, if it is a scatter and this is less work than that each
/// place looks at each update.
std::optional<DeviceScatter> getDeviceScatter(linalg::LinalgOp op);

/// Emits before `op` the ops that link its updates. [0, batch.., update..] of the buffer
/// is the number of the next update of the same place, or how many updates there are;
/// [1, ...] is that number too if no update of the place comes before. `made` gets the
/// linalg ops.
Value emitLinks(OpBuilder &b, linalg::LinalgOp op, const DeviceScatter &scatter,
                SmallVectorImpl<linalg::LinalgOp> &made);

/// What thread `id` of `numBatches * numUpdates * numAlong` does.
void emitScatter(OpBuilder &b, linalg::LinalgOp op, const DeviceScatter &scatter, Value links, Value id);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_SCATTERCODE_H
