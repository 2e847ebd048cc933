//===- TosaWindows.h - Convolutions and pooling of tosa ---------*- C++ -*-===//
//
// What these ops say in attributes of the dims that they read in windows.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_TOSAWINDOWS_H
#define SHARDKIT_RULES_TOSAWINDOWS_H

#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// A dim that such an op reads in windows.
struct OwnWindow {
  unsigned dim; // of the operand and the result
  DimWindow window;
  /// Whether it may read places beyond the dim, as `OwnWindows::padding`.
  bool readsBeyond;
  /// What a shard of the result must be a multiple of.
  int64_t granule = 1;
};
struct OwnWindows {
  SmallVector<OwnWindow, 3> dims;
  TypedAttr padding;
};

/// The dims of operand 0 that conv2d, conv3d, depthwise_conv2d, transpose_conv2d,
/// max_pool2d and avg_pool2d read in windows and that may be cut; none for other
/// ops. All sizes must be static. Left out are padded dims of unknown zero point,
/// and those of avg_pool2d, which counts what is no padding (--spmd-decompose).
OwnWindows getOwnWindows(Operation *op);
/// Makes the op read dim `dim`, of which it now has all that it reads, as such: its
/// own padding there is none. `chunk`: the size of the local result.
void setOwnWindow(Operation *op, const OwnWindow &window, int64_t chunk, int64_t length);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_TOSAWINDOWS_H
