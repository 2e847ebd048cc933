//===- ImportShardLocal.h - The local view of upstream's shard --*- C++ -*-===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_IMPORTSHARDLOCAL_H
#define SHARDKIT_LIB_ANNOTATIONS_IMPORTSHARDLOCAL_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// A grid that became the mesh of its name, and the names of its axes there.
struct ShardGrid {
  shard::GridOp op;
  SmallVector<std::string> names;
};
using ShardGrids = llvm::MapVector<StringRef, ShardGrid>;

/// Turns ops of the local view into local-view ops of spmd, in program order. Roots have no counterpart: what is
/// undefined on other processes than the root has the value of the root there.
class ShardLocalImporter {
public:
  ShardLocalImporter(ModuleOp module, const ShardGrids &grids) : module(module), grids(grids) {}
  /// Replaces `op`. Fails after one error.
  LogicalResult import(Operation *op);

private:
  using Axes = SmallVector<DimEntryAttr>;

  /// The axes of the grid with these numbers, in order. One error if there are none.
  FailureOr<Axes> getAxes(Operation *op, FlatSymbolRefAttr grid, ArrayRef<int16_t> axes);
  Axes toAxes(const ShardGrid &grid, ArrayRef<int16_t> axes);
  ShardingAttr shardAt(FlatSymbolRefAttr grid, int64_t rank, int64_t dim, ArrayRef<DimEntryAttr> axes);
  int64_t countProcesses(FlatSymbolRefAttr grid, ArrayRef<int16_t> axes) const;

  LogicalResult importIndex(Operation *op, const ShardGrid &grid, FlatSymbolRefAttr name);
  LogicalResult importCollective(Operation *op, TypedValue<RankedTensorType> input, RankedTensorType type,
                                 FlatSymbolRefAttr grid, ArrayRef<DimEntryAttr> axes);
  FailureOr<Value> importScatter(shard::ScatterOp op, Value input, ArrayRef<DimEntryAttr> axes);
  FailureOr<Value> importBroadcast(Operation *op, Value input, FlatSymbolRefAttr grid, ArrayRef<DimEntryAttr> axes);
  FailureOr<Value> importShift(shard::ShiftOp op);
  LogicalResult importSend(shard::SendOp op);
  FailureOr<Value> importRecv(shard::RecvOp op);
  LogicalResult importHalo(shard::UpdateHaloOp op);

  /// Process i of the grid sends `input` to process `receivers[i]`.
  Value emitPermuted(OpBuilder &b, Location loc, TypedValue<RankedTensorType> input, const ShardGrid &grid,
                     ArrayRef<int64_t> receivers);
  /// Elements [offset, offset + size) of dim `d`, seen from the shard of each process; zeros beyond the dim.
  Value emitWindow(OpBuilder &b, Location loc, TypedValue<RankedTensorType> shard, FlatSymbolRefAttr grid,
                   ArrayRef<int16_t> axes, int64_t d, int64_t offset, int64_t size);

  ModuleOp module;
  const ShardGrids &grids;
  DenseMap<Attribute, FlatSymbolRefAttr> permutedMeshes; ///< By the devices.
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_IMPORTSHARDLOCAL_H
