//===- ShardEmitter.h - Collectives of upstream's dialect shard -*- C++ -*-===//

#ifndef SHARDKIT_LIB_CONVERSION_SHARDEMITTER_H
#define SHARDKIT_LIB_CONVERSION_SHARDEMITTER_H

#include "BlockMove.h"
#include "WindowParts.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::spmd {

/// The axes of a grid on which the digits of all collectives are axes, where that is possible: axes of meshes are split
/// at the boundaries of their sub-axes.
class GridAxes {
public:
  explicit GridAxes(int64_t devices) : boundaries{1, devices} {}
  /// Adds the boundaries of a digit, unless one does not divide another.
  void add(const RankDigit &digit) {
    for (int64_t boundary : {digit.stride, digit.stride * digit.size})
      if (!llvm::is_contained(boundaries, boundary) &&
          llvm::all_of(boundaries, [&](int64_t b) { return b % boundary == 0 || boundary % b == 0; }))
        boundaries.insert(llvm::lower_bound(boundaries, boundary), boundary);
  }
  /// Sizes, major to minor.
  SmallVector<int64_t> getShape() const {
    SmallVector<int64_t> shape;
    for (size_t i = boundaries.size() - 1; i > 0; --i)
      shape.push_back(boundaries[i] / boundaries[i - 1]);
    if (shape.empty() || boundaries.back() == 1)
      shape.assign({1});
    return shape;
  }
  /// The axes whose product are the digits, major to minor; std::nullopt if a digit is not a product of axes.
  std::optional<SmallVector<int16_t>> find(ArrayRef<RankDigit> digits) const {
    SmallVector<int16_t> axes;
    for (const RankDigit &digit : digits) {
      const auto *begin = llvm::find(boundaries, digit.stride),
                 *end = llvm::find(boundaries, digit.stride * digit.size);
      if (begin == boundaries.end() || end == boundaries.end())
        return std::nullopt;
      for (const auto *it = begin; it != end; ++it)
        axes.push_back(int16_t(boundaries.end() - it - 2));
    }
    llvm::sort(axes);
    return axes;
  }

  RankDigit getDigit(int16_t axis) const {
    const int64_t *end = boundaries.end() - axis - 1;
    return {end[-1], end[0] / end[-1]};
  }

private:
  SmallVector<int64_t, 6> boundaries; // rising
};

/// Collectives become those of a grid, one op each where the dialect has one, with reshapes and transposes around it.
/// Others gather the operands of their group. Ranks are linear indices of processes.
class ShardEmitter : public CollectiveEmitter {
public:
  explicit ShardEmitter(ModuleOp module) : CollectiveEmitter(module), symbols(module) {}
  /// Reads all collectives, for the axes of the grids. Fails after an error.
  LogicalResult prepare();

  FailureOr<Value> emit(RewriterBase &b, CollectiveToEmit &collective) override;
  bool takesComplex(const CollectiveToEmit &collective) const override {
    return !collective.form.reduction && BlockMove::get(collective.form);
  }
  FailureOr<Value> emitBroadcast(RewriterBase &b, BroadcastOp op, ArrayRef<RankDigit> digits) override;
  Value emitRank(RewriterBase &b, Operation *op) override { return emitRankOn(b, op->getLoc(), getGrid(op)); }

private:
  /// Of meshes that list the same devices in the same order.
  struct Grid {
    const Mesh *mesh;
    GridAxes axes;
    shard::GridOp op;
  };
  Value emitRankOn(RewriterBase &b, Location loc, Grid &grid) {
    return shard::ProcessLinearIndexOp::create(b, loc, b.getIndexType(), getName(b, loc, grid));
  }
  FlatSymbolRefAttr getName(RewriterBase &b, Location loc, Grid &grid);
  Grid &findGrid(const Mesh &mesh);
  Grid &getGrid(Operation *op) { return *gridOf.lookup(op->getParentOfType<FunctionOpInterface>()); }
  std::optional<Value> emitNamed(RewriterBase &b, CollectiveToEmit &collective, const BlockMove &move);
  Value emitGathered(RewriterBase &b, CollectiveToEmit &collective);
  // ShardMoves.cpp
  std::optional<Value> emitPermuted(RewriterBase &b, CollectiveToEmit &collective,
                                    const std::optional<BlockMove> &move);
  Value emitSent(RewriterBase &b, Operation *op, Value flat, ArrayRef<int64_t> senders);
  std::optional<Value> emitWindows(RewriterBase &b, HaloExchangeOp op, CollectiveToEmit &collective);
  Value emitHalo(RewriterBase &b, Location loc, Value value, const WindowedDim &of, Grid &grid, int16_t axis);
  Value emitShifts(RewriterBase &b, Operation *op, Value value, const WindowedDim &of, Grid &grid, int16_t axis);

  SymbolTable symbols;
  std::vector<std::unique_ptr<Grid>> grids;
  DenseMap<Operation *, Grid *> gridOf; ///< Of a function.
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_CONVERSION_SHARDEMITTER_H
