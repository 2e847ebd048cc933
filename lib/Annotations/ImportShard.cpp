//===- ImportShard.cpp - From the shard dialect -------------------------===//

#include "ImportShardLocal.h"
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

  /// Null if the annotation is left out.
  FailureOr<ShardingAttr> convert(shard::ShardingOp op, RankedTensorType type);

  ModuleOp module;
  MLIRContext *context;
  UnsupportedFeatures features;
  ShardGrids grids;
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
  ShardLocalImporter localOps(module, grids);
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
      if (failed(localOps.import(op)))
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
