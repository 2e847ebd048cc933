//===- MoveUnits.h - Units of segments, in the ops that use them -*- C++ -*-===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_MOVEUNITS_H
#define SHARDKIT_LIB_ANNOTATIONS_MOVEUNITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {

/// Moves collapses of units after the ops that use them, so that these compute on units:
///
///   %w2 = collapse_shape %w : 8x32x64 into 256x64     %0 = contract %x, %w : 4x64, 8x32x64 -> 4x8x32
///   %0 = contract %x, %w2 : 4x64, 256x64 -> 4x256     %1 = collapse_shape %0 : 4x8x32 into 4x256
LogicalResult moveUnits(func::FuncOp func, ArrayRef<tensor::CollapseShapeOp> collapses);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_MOVEUNITS_H
