//===- TosaWindows.h - Convolutions and pooling of tosa ---------*- C++ -*-===//
//
// The windows of dims that these ops read, from their attributes; and what tosa ops need on
// padding.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_TOSAWINDOWS_H
#define SHARDKIT_RULES_TOSAWINDOWS_H

#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// A dim that such an op reads in windows.
struct OpWindow {
  unsigned dim; // the same in operand and result
  DimWindow window;
  /// True if it may read beyond the dim, as `OpWindows::padding`.
  bool readsBeyond;
  /// Shards of the result must have a multiple of this size.
  int64_t granule = 1;
};
struct OpWindows {
  SmallVector<OpWindow, 3> dims;
  TypedAttr padding;
};

/// The dims of operand 0 that conv2d, conv3d, depthwise_conv2d, transpose_conv2d,
/// max_pool2d and avg_pool2d read in windows and that may be sharded; none for other ops.
/// All sizes must be static. Left out are padded dims of unknown zero point, and those of
/// avg_pool2d, which counts the elements that are not padding (--spmd-decompose).
OpWindows getOpWindows(Operation *op);
/// Updates the attributes of the op for a dim whose operand now holds the full window:
/// removes the padding there. `chunk`: the size of the local result.
void setOpWindow(Operation *op, const OpWindow &window, int64_t chunk, int64_t length);

/// The needs of a tosa op on padded shards of factor `f` of its rule.
std::optional<PaddingNeeds> getTosaPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_TOSAWINDOWS_H
