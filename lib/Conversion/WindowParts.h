//===- WindowParts.h - Windows of even shards -------------------*- C++ -*-===//
//
// A halo exchange whose windows begin a shard apart: each device takes a part of the shard of
// each neighbor.
//
//   shards of 4, window offset -1, size 6: [3, 4) of device k - 1, [0, 4) of k, [0, 1) of k + 1
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_CONVERSION_WINDOWPARTS_H
#define SHARDKIT_LIB_CONVERSION_WINDOWPARTS_H

#include "shardkit/Dialect/SPMD/IR/ClosedForm.h"

namespace mlir::spmd {

/// A window of a dim, and the digits of ranks that shard it, major to minor.
struct WindowedDim {
  int64_t dim;
  Window window;
  llvm::SmallVector<RankDigit> from; ///< Of the operand; none if it has the full dim.
  llvm::SmallVector<RankDigit> to;   ///< Of the coordinate that the window begins at.
};

/// The windows of an exchange. std::nullopt if an offset is known at run time only, if shards of the operand are
/// uneven, or if its meshes list the devices in different orders.
std::optional<llvm::SmallVector<WindowedDim>> getWindows(HaloExchangeOp op, const ClosedForm &form,
                                                         const MeshCache &meshes);

/// What device k takes: elements [`begin`, `end`) of the shard of device k + `shift`, zeros where there is no such
/// device.
struct WindowPart {
  int64_t shift, begin, end;
};

/// The parts of a window of which one begins at each shard, in rising order. `shard` is the size of a shard.
llvm::SmallVector<WindowPart> getWindowParts(const Window &window, int64_t shard);

/// The type of a value with another size of dim d.
RankedTensorType withDim(Value value, int64_t d, int64_t size);

/// Digits of the dims of a sharding, major to minor.
llvm::SmallVector<RankDigit> getDimDigits(const ShardingOnMesh &on, unsigned dim);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_CONVERSION_WINDOWPARTS_H
