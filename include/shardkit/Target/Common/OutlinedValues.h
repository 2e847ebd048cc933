//===- OutlinedValues.h - Values that outlined code uses --------*- C++ -*-===//

#ifndef SHARDKIT_TARGET_COMMON_OUTLINEDVALUES_H
#define SHARDKIT_TARGET_COMMON_OUTLINEDVALUES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::spmd::target {

/// Constants and views are recomputed in the function or kernel.
inline bool isRecomputed(Operation *op) {
  return op && (op->hasTrait<OpTrait::ConstantLike>() || (isa<ViewLikeOpInterface>(op) && !isa<memref::ViewOp>(op)));
}

/// A buffer without elements: none of its accesses is ever performed. (LLVM has no bare pointer for it, so
/// it is not a parameter.)
inline bool isEmptyBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && memref.getNumElements() == 0 && memref.getLayout().isIdentity();
}

} // namespace mlir::spmd::target

#endif // SHARDKIT_TARGET_COMMON_OUTLINEDVALUES_H
