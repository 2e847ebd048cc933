//===- TiledMove.h - Transposes by squares ---------------------*- C++ -*--===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_TILEDMOVE_H
#define SHARDKIT_LIB_TARGET_CUDA_TILEDMOVE_H

#include "ThreadCode.h"

namespace mlir::spmd::cuda {

/// An elementwise op that reads some operands along another dim than it writes: a block
/// processes a square of both dims, and transposes it in shared memory.
struct TiledMove {
  unsigned readLoop = 0, writeLoop = 0;
  SmallVector<unsigned> others; ///< The other loops, slowest first.
  SmallVector<unsigned> turned; ///< Operands that are contiguous along readLoop.
};
inline constexpr int64_t kTile = 32;

std::optional<TiledMove> getTiledMove(linalg::LinalgOp op);
/// Number of squares.
OpFoldResult countTiles(OpBuilder &b, linalg::LinalgOp op, const TiledMove &move);
/// Emits square `block id` for `threads` threads.
void emitTiledMove(OpBuilder &b, linalg::LinalgOp op, const TiledMove &move, int64_t threads, gpu::GPUFuncOp kernel);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_TILEDMOVE_H
