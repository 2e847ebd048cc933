//===- FunctionIndex.h - Ops of a function by kind --------------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_FUNCTIONINDEX_H
#define SHARDKIT_PROPAGATION_FUNCTIONINDEX_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// Calls, groups, reshapes, annotated ops and meshes of a function, found in one walk. Bodies
/// of structured ops are skipped.
struct FunctionIndex {
  explicit FunctionIndex(func::FuncOp func);
  /// The same with the meshes of the signatures of callees, which are complete.
  static FunctionIndex withCallees(func::FuncOp func);

  /// Adds the meshes and shardings of the signature of a callee.
  void takeSignature(func::CallOp call, func::FuncOp callee);
  void addMesh(FlatSymbolRefAttr mesh, Location loc);

  /// The meshes of the shardings of the function; if they name none, the only mesh of the
  /// module; otherwise none. An error if there are specs of ONNX Runtime.
  FailureOr<std::optional<FunctionMeshes>> getMeshes(const MeshCache &meshes) const { return getMeshes(this, meshes); }
  /// The same for functions that are completed together.
  static FailureOr<std::optional<FunctionMeshes>> getMeshes(ArrayRef<const FunctionIndex *> functions,
                                                            const MeshCache &meshes);

  func::FuncOp func;
  SmallVector<func::CallOp> calls;
  SmallVector<ShardingGroupOp> groups;
  /// Candidates of splitReshapes.
  SmallVector<Operation *> reshapes;
  /// Ops that carry `spmd.shardings`, constraints left out.
  SmallVector<Operation *> annotated;
  /// The meshes, each with the location of its first use.
  SmallVector<std::pair<FlatSymbolRefAttr, Location>, 1> meshes;
  /// The location of a spec of ONNX Runtime that has not been imported.
  std::optional<Location> spec;
  /// Distinct shardings.
  llvm::SmallSetVector<ShardingAttr, 16> shardings;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_FUNCTIONINDEX_H
