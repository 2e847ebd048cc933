//===- HiddenCollectives.h - Collectives during compute ---------*- C++ -*-===//

#ifndef SHARDKIT_COST_HIDDENCOLLECTIVES_H
#define SHARDKIT_COST_HIDDENCOLLECTIVES_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// The fraction of collectives that passes while devices compute: the least `spmd.overlap` of the meshes with `flops`,
/// which give compute a time; 0 if one has none.
double getOverlap(ModuleOp module);

/// Seconds of the started collectives of a function that pass while the ops before their results are needed compute,
/// in all executions of a run of it, without what it calls. An op hides what it takes once. `mesh` has the rate of
/// compute.
double getHiddenSeconds(func::FuncOp func, const MeshCache &meshes, const Mesh &mesh, double overlap,
                        int64_t tripCount);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_HIDDENCOLLECTIVES_H
