//===- BoundaryOrder.h - Signatures on reordered meshes ---------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_BOUNDARYORDER_H
#define SHARDKIT_PARTITION_BOUNDARYORDER_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// Moves arguments and results of a function between the device order of their meshes and the common order, in which
/// the function computes, where one is not a permutation of digits of the other (MeshViews.h).
///
/// Example: @a = <"x"=4> is the common mesh and @b lists its devices reversed. An argument on <@b, [{"x"}]> keeps that
/// sharding, and the body reads `spmd.collective_permute %arg <@b, [{"x"}]> to <@a, [{"x"}]>`.
class BoundaryOrder {
public:
  BoundaryOrder(func::FuncOp func, FunctionMeshes &meshes) : func(func), meshes(meshes) {}

  /// Reads which arguments and results are on reordered meshes. Does nothing for private functions, whose callers are
  /// in the same order. One error for what cannot be moved.
  LogicalResult read();
  /// Adds the moves to the partitioned body. The signature has the layouts of the common order, and gets those of the
  /// reordered meshes.
  LogicalResult apply();

private:
  /// A caller passes values in the common order, and a public function takes those of its meshes.
  LogicalResult verifyNotCalled();
  LogicalResult readValue(DictionaryAttr attrs, Location loc, FlatSymbolRefAttr &mesh);
  /// The sharding in the order of `mesh` of a value with the sharding `attr`; null if it is replicated.
  FailureOr<ShardingAttr> express(ShardingAttr attr, FlatSymbolRefAttr mesh, Location loc);

  func::FuncOp func;
  FunctionMeshes &meshes;
  SmallVector<FlatSymbolRefAttr, 0> arguments, results; // null for those in the common order
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_BOUNDARYORDER_H
