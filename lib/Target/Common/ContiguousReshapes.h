//===- ContiguousReshapes.h - Reshapes of buffers as casts ------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_CONTIGUOUSRESHAPES_H
#define SHARDKIT_LIB_TARGET_COMMON_CONTIGUOUSRESHAPES_H

#include "mlir/IR/Operation.h"

namespace mlir::spmd::target {

/// Replaces what `spmd-target-contiguous-reshapes` replaces in `root`, a function or kernels.
void castReshapes(Operation *root);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_CONTIGUOUSRESHAPES_H
