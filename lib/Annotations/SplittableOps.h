//===- SplittableOps.h - Ops that compute segment by segment ----*- C++ -*-===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_SPLITTABLEOPS_H
#define SHARDKIT_LIB_ANNOTATIONS_SPLITTABLEOPS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {

/// Whether a tensor.pad leaves dim `dim` as it is, also in the values that it pads with.
inline bool canSplitPad(tensor::PadOp op, int64_t dim) {
  return op.getStaticLow()[dim] == 0 && op.getStaticHigh()[dim] == 0 &&
         op.getRegion().front().getArgument(dim).use_empty();
}

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_SPLITTABLEOPS_H
