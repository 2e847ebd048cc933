//===- FunctionIndex.h - What passes look for in a function -----*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_FUNCTIONINDEX_H
#define SHARDKIT_PROPAGATION_FUNCTIONINDEX_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// The ops of a function that passes ask for, found in one walk. What structured
/// ops compute per element is passed over.
struct FunctionIndex {
  explicit FunctionIndex(func::FuncOp func);
  /// The same with the meshes that callees name on their signatures, which are
  /// settled.
  static FunctionIndex withCallees(func::FuncOp func);

  /// Adds what the signature of a callee names: the caller reads it.
  void takeSignature(func::CallOp call, func::FuncOp callee);
  void addMesh(FlatSymbolRefAttr mesh, Location loc);

  /// The meshes that the shardings of the function name; where they name none,
  /// the module's only mesh; nothing where there is none. An error where there are
  /// specs of ONNX Runtime.
  FailureOr<std::optional<FunctionMeshes>> getMeshes(const MeshCache &meshes) const;

  func::FuncOp func;
  SmallVector<func::CallOp> calls;
  SmallVector<ShardingGroupOp> groups;
  /// Ops that splitReshapes looks at.
  SmallVector<Operation *> reshapes;
  /// Ops that carry `spmd.shardings`, constraints left out.
  SmallVector<Operation *> annotated;
  /// Meshes that are named, each with the first place that does.
  SmallVector<std::pair<FlatSymbolRefAttr, Location>, 1> meshes;
  /// Where a spec of ONNX Runtime stands that has not been imported.
  std::optional<Location> spec;
  /// Distinct shardings.
  llvm::SmallSetVector<ShardingAttr, 16> shardings;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_FUNCTIONINDEX_H
