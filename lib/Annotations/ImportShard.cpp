//===- ImportShard.cpp - From the shard dialect -------------------------===//

#include "UnsupportedFeatures.h"
#include "shardkit/Annotations/Shard.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDIMPORTSHARDPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

class ShardImporter {
public:
  ShardImporter(ModuleOp module, UnsupportedFeatures features)
      : module(module), context(module.getContext()), features(features) {}
  LogicalResult run();

private:
  LogicalResult importGrid(shard::GridOp op);
  LogicalResult importAnnotation(shard::ShardOp op);

  /// An op of the local view.
  LogicalResult importLocal(Operation *op);
  /// The names of grid axes, in order; all of them if none is given.
  FailureOr<SmallVector<DimEntryAttr>> getAxes(Operation *op, FlatSymbolRefAttr grid, ArrayRef<int16_t> axes);

  /// Null if the annotation is left out.
  FailureOr<ShardingAttr> convert(shard::ShardingOp op, RankedTensorType type);

  struct Grid {
    shard::GridOp op;
    SmallVector<std::string> names;
  };
  ModuleOp module;
  MLIRContext *context;
  UnsupportedFeatures features;
  llvm::MapVector<StringRef, Grid> grids;
};

LogicalResult ShardImporter::run() {
  SmallVector<Operation *> ops;
  module->walk([&](Operation *op) {
    if (isa_and_nonnull<shard::ShardDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (auto grid = dyn_cast<shard::GridOp>(op))
      if (failed(importGrid(grid)))
        return failure();
  SmallVector<shard::ShardingOp> shardings;
  Operation *local = nullptr, *global = nullptr; // The first op of each view.
  for (Operation *op : ops) {
    if (isa<shard::GridOp>(op))
      continue;
    if (auto sharding = dyn_cast<shard::ShardingOp>(op)) {
      shardings.push_back(sharding);
      continue;
    }
    auto annotation = dyn_cast<shard::ShardOp>(op);
    (annotation ? global : local) = op;
    if (local && global)
      return op->emitError() << "'" << op->getName() << "' is of the " << (annotation ? "global" : "local")
                             << " view, in a module with ops of the " << (annotation ? "local" : "global")
                             << " view before it, expected one view";
    if (!annotation) {
      if (failed(importLocal(op)))
        return failure();
      continue;
    }
    if (failed(importAnnotation(annotation)))
      return failure();
  }
  for (shard::ShardingOp op : llvm::reverse(shardings)) {
    if (!op->use_empty())
      return op.emitError() << "'shard.sharding' is used by '" << (*op->user_begin())->getName()
                            << "', expected 'shard.shard' only";
    op->erase();
  }
  for (auto &[name, grid] : grids)
    grid.op->erase();
  if (local && getPhase(module) < int(Phase::Partitioned))
    setPhase(module, Phase::Partitioned);
  return success();
}

LogicalResult ShardImporter::importGrid(shard::GridOp op) {
  SmallVector<std::string> names;
  auto knownNames = op->getAttrOfType<ArrayAttr>(kShardAxesAttr);
  SmallVector<MeshAxisAttr> axes;
  for (auto [i, size] : llvm::enumerate(op.getShape())) {
    if (ShapedType::isDynamic(size))
      return op.emitError() << "axis " << i << " of grid @" << op.getSymName()
                            << " has an unknown size, expected a static one";
    auto name = knownNames && i < knownNames.size() ? dyn_cast<StringAttr>(knownNames[i]) : StringAttr();
    names.push_back(name ? name.str() : getShardAxisName(i));
    axes.push_back(MeshAxisAttr::get(context, names.back(), size));
  }
  OpBuilder b(op);
  auto ids = op->getAttrOfType<DenseI64ArrayAttr>(kShardDeviceIdsAttr);
  if (ids && ids.size() != llvm::product_of(op.getShape()))
    return op.emitError() << kShardDeviceIdsAttr << " has " << ids.size() << " devices, expected "
                          << llvm::product_of(op.getShape()) << ", one of each process of grid @" << op.getSymName();
  auto mesh =
      MeshOp::create(b, op.getLoc(), op.getSymNameAttr(),
                     MeshAttr::get(context, axes, ids ? ids.asArrayRef() : ArrayRef<int64_t>()), {}, {}, {}, {}, {});
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (attr.getName() != kShardAxesAttr && attr.getName() != kShardDeviceIdsAttr)
      mesh->setAttr(attr.getName(), attr.getValue());
  grids.insert({op.getSymName(), {op, std::move(names)}});
  return success();
}

LogicalResult ShardImporter::importAnnotation(shard::ShardOp op) {
  auto sharding = op.getSharding().getDefiningOp<shard::ShardingOp>();
  if (!sharding)
    return op.emitError() << "sharding of 'shard.shard' is an argument, expected the result of "
                             "'shard.sharding'";
  OpBuilder b(op);
  auto attr = convert(sharding, op.getType());
  if (failed(attr))
    return failure();
  if (!*attr) {
    op.getResult().replaceAllUsesWith(op.getSrc());
    op.erase();
    return success();
  }
  auto made = WithShardingConstraintOp::create(b, op.getLoc(), op.getSrc(), *attr);
  for (NamedAttribute other : op->getDiscardableAttrs())
    made->setAttr(other.getName(), other.getValue());
  if (op.getAnnotateForUsers())
    made->setAttr(kShardForUsersAttr, b.getUnitAttr());
  if (!sharding.getStaticHaloSizes().empty())
    made->setAttr(kShardHaloAttr, b.getDenseI64ArrayAttr(sharding.getStaticHaloSizes()));
  op.getResult().replaceAllUsesWith(made.getResult());
  op.erase();
  return success();
}

FailureOr<SmallVector<DimEntryAttr>> ShardImporter::getAxes(Operation *op, FlatSymbolRefAttr grid,
                                                            ArrayRef<int16_t> axes) {
  auto it = grids.find(grid.getValue());
  if (it == grids.end()) {
    op->emitError() << "unknown grid " << grid << ", expected a grid of the module";
    return failure();
  }
  SmallVector<DimEntryAttr> entries;
  for (int16_t axis : axes) {
    if (axis < 0 || axis >= int64_t(it->second.names.size())) {
      op->emitError() << "names axis " << axis << " of grid " << grid << ", expected less than "
                      << it->second.names.size();
      return failure();
    }
    entries.push_back(DimEntryAttr::fullAxis(context, it->second.names[axis]));
  }
  return entries;
}

static std::optional<ReductionKind> getReduction(shard::ReductionKind kind) {
  switch (kind) {
  case shard::ReductionKind::Sum:
    return ReductionKind::Sum;
  case shard::ReductionKind::Product:
    return ReductionKind::Prod;
  case shard::ReductionKind::Max:
    return ReductionKind::Max;
  case shard::ReductionKind::Min:
    return ReductionKind::Min;
  case shard::ReductionKind::BitwiseAnd:
    return ReductionKind::And;
  case shard::ReductionKind::BitwiseOr:
    return ReductionKind::Or;
  case shard::ReductionKind::BitwiseXor:
    return ReductionKind::Xor;
  default:
    return std::nullopt;
  }
}

LogicalResult ShardImporter::importLocal(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto replace = [&](ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
    return success();
  };
  auto grid = op->getAttrOfType<FlatSymbolRefAttr>("grid");
  auto known = grid ? grids.find(grid.getValue()) : grids.end();
  // 1. The position of this process.
  if (isa<shard::ProcessMultiIndexOp, shard::ProcessLinearIndexOp>(op) && known != grids.end()) {
    auto multi = dyn_cast<shard::ProcessMultiIndexOp>(op);
    SmallVector<int16_t> axes(multi ? multi.getAxes() : ArrayRef<int16_t>());
    if (axes.empty())
      llvm::append_range(axes, llvm::seq<int16_t>(0, known->second.names.size()));
    FailureOr<SmallVector<DimEntryAttr>> entries = getAxes(op, grid, axes);
    if (failed(entries))
      return failure();
    SmallVector<Value> coordinates;
    for (DimEntryAttr entry : *entries)
      coordinates.push_back(
          DeviceCoordinateOp::create(b, loc, b.getIndexType(), grid, b.getStringAttr(entry.getAxis())));
    if (multi)
      return replace(coordinates);
    Value linear = coordinates.front();
    for (auto [size, coordinate] :
         llvm::zip(known->second.op.getShape().drop_front(), ArrayRef(coordinates).drop_front())) {
      Value scaled = arith::MulIOp::create(b, loc, linear, arith::ConstantIndexOp::create(b, loc, size));
      linear = arith::AddIOp::create(b, loc, scaled, coordinate);
    }
    return replace(linear);
  }
  // 2. Collectives.
  auto axesAttr = op->getAttrOfType<shard::GridAxesAttr>("grid_axes");
  auto input = op->getNumOperands() == 1 ? dyn_cast<TypedValue<RankedTensorType>>(op->getOperand(0))
                                         : TypedValue<RankedTensorType>();
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  const bool isKnown =
      isa<shard::AllGatherOp, shard::AllSliceOp, shard::AllToAllOp, shard::AllReduceOp, shard::ReduceScatterOp>(op);
  if (!isKnown || !input || !type)
    return op->emitError() << "'" << op->getName()
                           << "' has no counterpart, expected grid, sharding and shard of the global view, or "
                              "all_gather, all_slice, all_to_all, all_reduce, reduce_scatter, process_multi_index and "
                              "process_linear_index of the local view on tensors";
  FailureOr<SmallVector<DimEntryAttr>> axes =
      getAxes(op, grid, axesAttr ? ArrayRef<int16_t>(axesAttr.asArrayRef()) : ArrayRef<int16_t>());
  if (failed(axes))
    return failure();
  if (input.getType().getElementType() != type.getElementType())
    return op->emitError() << "converts elements of " << input.getType().getElementType() << " to "
                           << type.getElementType() << ", expected one element type";
  if (axes->empty())
    return replace(op->getOperands());
  auto shardedAt = [&](int64_t dim) {
    SmallVector<DimShardingAttr> dims(type.getRank(),
                                      DimShardingAttr::get(context, ArrayRef<DimEntryAttr>(), false, 0));
    dims[dim] = DimShardingAttr::get(context, *axes, /*open=*/false, /*priority=*/0);
    return ShardingAttr::get(context, grid, dims);
  };
  auto axisOf = [&](StringRef name) { return op->getAttrOfType<IntegerAttr>(name).getInt(); };
  std::optional<ReductionKind> kind;
  if (auto reduction = op->getAttrOfType<shard::ReductionKindAttr>("reduction"))
    kind = getReduction(reduction.getValue());
  if (isa<shard::AllReduceOp, shard::ReduceScatterOp>(op) && !kind)
    return op->emitError()
           << "combines by a reduction without counterpart, expected sum, product, max, min or a bitwise "
              "one";
  Value made;
  if (isa<shard::AllGatherOp>(op))
    made = AllGatherOp::create(b, loc, type, input, shardedAt(axisOf("gather_axis")), IntegerAttr());
  else if (isa<shard::AllSliceOp>(op))
    made = AllSliceOp::create(b, loc, type, input, shardedAt(axisOf("slice_axis")), IntegerAttr());
  else if (isa<shard::AllToAllOp>(op) && axisOf("split_axis") == axisOf("concat_axis"))
    return op->emitError() << "splits and concatenates dim " << axisOf("split_axis")
                           << ", expected two dims: a sharding moves from one to the other";
  else if (isa<shard::AllToAllOp>(op))
    made = AllToAllOp::create(b, loc, type, input, shardedAt(axisOf("concat_axis")), shardedAt(axisOf("split_axis")),
                              IntegerAttr());
  else if (isa<shard::AllReduceOp>(op))
    made = AllReduceOp::create(b, loc, type, input, ReductionKindAttr::get(context, *kind),
                               AxesAttr::get(context, grid, *axes), IntegerAttr());
  else
    made = ReduceScatterOp::create(b, loc, type, input, ReductionKindAttr::get(context, *kind),
                                   shardedAt(axisOf("scatter_axis")), IntegerAttr());
  return replace(made);
}

FailureOr<ShardingAttr> ShardImporter::convert(shard::ShardingOp op, RankedTensorType type) {
  auto lose = [&](const Twine &fact) -> FailureOr<ShardingAttr> {
    if (failed(features.report(op.getLoc(), fact)))
      return failure();
    return ShardingAttr();
  };
  auto it = grids.find(op.getGrid());
  if (it == grids.end())
    return op.emitError() << "unknown grid @" << op.getGrid() << ", expected a grid of the module";
  ArrayRef<std::string> names = it->second.names;
  if (!op.getStaticShardedDimsOffsets().empty())
    return lose("sharding has 'sharded_dims_offsets', expected shards of one size: #spmd.sharding has no "
                "others");
  if (!op.getDynamicHaloSizes().empty())
    return lose("sharding has halos of unknown size, expected numbers");
  if ((int64_t)op.getSplitAxes().size() > std::max<int64_t>(type.getRank(), 1))
    return op.emitError() << "sharding has " << op.getSplitAxes().size() << " dims, expected at most " << type.getRank()
                          << ", the rank of " << type;
  SmallVector<DimShardingAttr> dims;
  for (auto [d, axes] : llvm::enumerate(op.getSplitAxes().getAxes())) {
    SmallVector<DimEntryAttr> entries;
    for (int16_t axis : axes.asArrayRef()) {
      if (axis < 0 || axis >= (int64_t)names.size())
        return op.emitError() << "dim " << d << " is split along axis " << axis << " of grid @" << op.getGrid()
                              << ", expected less than " << names.size();
      entries.push_back(DimEntryAttr::fullAxis(context, names[axis]));
    }
    dims.push_back(DimShardingAttr::get(context, entries, /*open=*/false, /*priority=*/0));
  }
  dims.resize(type.getRank(), DimShardingAttr::get(context, ArrayRef<DimEntryAttr>(), false, 0));
  return ShardingAttr::get(context, FlatSymbolRefAttr::get(context, op.getGrid()), dims);
}

struct ImportShardPass : public spmd::impl::SPMDImportShardPassBase<ImportShardPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    UnsupportedFeatures features(unsupported);
    // A local program stays one: it names collectives, not shardings.
    if (failed(verifyInput(module, getPhase(module) >= int(Phase::Partitioned) ? Phase::Final : Phase::Annotated,
                           getArgument())) ||
        failed(ShardImporter(module, features).run()))
      signalPassFailure();
  }
};

} // namespace
