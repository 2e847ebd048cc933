//===- FunctionMesh.h - The mesh of a function ------------------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_FUNCTIONMESH_H
#define SHARDKIT_PROPAGATION_FUNCTIONMESH_H

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// The mesh that the shardings of a function name; where it names none, the
/// module's only mesh; null where there is none. An error, at the place that
/// differs, if there are several.
FailureOr<FlatSymbolRefAttr> getFunctionMesh(func::FuncOp func,
                                             const MeshCache &meshes);

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_FUNCTIONMESH_H
