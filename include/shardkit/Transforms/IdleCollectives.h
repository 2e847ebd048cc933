//===- IdleCollectives.h - Collectives that move nothing --------*- C++ -*-===//

#ifndef SHARDKIT_TRANSFORMS_IDLECOLLECTIVES_H
#define SHARDKIT_TRANSFORMS_IDLECOLLECTIVES_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// Replaces collectives of which no device receives anything: those among one device, with no
/// elements, or with windows that each device has. Slices (all_slice) stay. Returns
/// whether there was one; fails, with an error, if a layout does not fit.
FailureOr<bool> removeIdleCollectives(func::FuncOp func, const MeshCache &meshes);

} // namespace mlir::spmd

#endif // SHARDKIT_TRANSFORMS_IDLECOLLECTIVES_H
