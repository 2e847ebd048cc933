//===- ExportShard.cpp - To the shard dialect ---------------------------===//

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
#define GEN_PASS_DEF_SPMDEXPORTSHARDPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

class ShardExporter {
public:
  ShardExporter(ModuleOp module, UnsupportedFeatures features)
      : module(module), context(module.getContext()), features(features), meshes(module) {}
  LogicalResult run();

private:
  using Axes = SmallVector<SmallVector<int16_t>>;

  /// The axes of each dim, without the dims at the end that have none; std::nullopt if
  /// the sharding is left out.
  FailureOr<std::optional<Axes>> convert(Attribute attr, Location loc, const Twine &what);

  /// Annotates `value` at the insertion point of `b`. Equal shardings of a block are one op,
  /// before the first use.
  FailureOr<Value> annotate(OpBuilder &b, Value value, Attribute attr, Location loc, const Twine &what, bool forUsers,
                            ArrayRef<int64_t> halo = {});
  LogicalResult exportSignature(FunctionOpInterface func);
  LogicalResult exportConstraint(WithShardingConstraintOp op);
  LogicalResult exportOther(Operation *op);
  LogicalResult exportMesh(const MeshCache::Entry &entry);

  ModuleOp module;
  MLIRContext *context;
  UnsupportedFeatures features;
  MeshCache meshes;
  llvm::DenseMap<std::tuple<Block *, Attribute, Attribute, Attribute>, shard::ShardingOp> shardings;
  llvm::DenseMap<Operation *, Operation *> afterArguments;
};

LogicalResult ShardExporter::run() {
  makeConstraintsOfShardings(module);
  SmallVector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto func = dyn_cast<FunctionOpInterface>(op)) {
      if (failed(exportSignature(func)))
        return failure();
    } else if (auto constraint = dyn_cast<WithShardingConstraintOp>(op)) {
      if (failed(exportConstraint(constraint)))
        return failure();
    } else if (isa_and_nonnull<SPMDDialect>(op->getDialect()) && !isa<MeshOp>(op)) {
      if (failed(exportOther(op)))
        return failure();
    }
  }
  for (const MeshCache::Entry &entry : meshes.entries())
    if (failed(exportMesh(entry)))
      return failure();
  return success();
}

FailureOr<std::optional<ShardExporter::Axes>> ShardExporter::convert(Attribute attr, Location loc, const Twine &what) {
  auto lose = [&](const Twine &fact) -> FailureOr<std::optional<Axes>> {
    if (failed(features.report(loc, what + fact)))
      return failure();
    return std::optional<Axes>();
  };
  auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
  if (!sharding)
    return lose(" is not a sharding on a mesh, expected one: run --spmd-resolve-axis-resources or "
                "--spmd-import-ort first");
  const Mesh *mesh = meshes.lookupOrEmit(sharding.getMesh(), [&] { return emitError(loc); });
  if (!mesh)
    return failure();
  if (!sharding.getReplicated().empty() || !sharding.getUnreduced().empty())
    return lose(" has replicated or unreduced axes, expected none: the dialect shard has none");
  Axes dims;
  for (DimShardingAttr dim : sharding.getDims()) {
    if (dim.getOpen() || dim.getPriority() != 0)
      return lose(" has an open dim or a priority, expected closed dims: the dialect shard has "
                  "no others");
    auto &axes = dims.emplace_back();
    for (DimEntryAttr entry : dim.getEntries()) {
      if (!entry.isFullAxis())
        return lose(" has a stride or a sub-axis, expected full axes: the dialect shard has "
                    "no others");
      std::optional<unsigned> axis = mesh->findAxis(entry.getAxis());
      if (!axis)
        return emitError(loc) << what << " names axis \"" << entry.getAxis() << "\", expected one of "
                              << mesh->axesToString();
      axes.push_back(*axis);
    }
  }
  while (!dims.empty() && dims.back().empty())
    dims.pop_back();
  return std::optional(std::move(dims));
}

FailureOr<Value> ShardExporter::annotate(OpBuilder &b, Value value, Attribute attr, Location loc, const Twine &what,
                                         bool forUsers, ArrayRef<int64_t> halo) {
  auto dims = convert(attr, loc, what);
  if (failed(dims))
    return failure();
  if (!*dims)
    return value;
  SmallVector<shard::GridAxesAttr> axes;
  for (ArrayRef<int16_t> dim : **dims)
    axes.push_back(shard::GridAxesAttr::get(context, dim));
  if (axes.empty())
    axes.push_back(shard::GridAxesAttr::get(context, ArrayRef<int16_t>()));
  FlatSymbolRefAttr grid = cast<ShardingAttr>(attr).getMesh();
  auto key =
      std::make_tuple(b.getInsertionBlock(), Attribute(grid), Attribute(shard::GridAxesArrayAttr::get(context, axes)),
                      Attribute(b.getDenseI64ArrayAttr(halo)));
  shard::ShardingOp &sharding = shardings[key];
  if (!sharding)
    // The short builder of MLIR 22 takes halos for offsets.
    sharding = shard::ShardingOp::create(b, loc, shard::ShardingType::get(context), grid,
                                         shard::GridAxesArrayAttr::get(context, axes), b.getDenseI64ArrayAttr({}),
                                         ValueRange(), b.getDenseI64ArrayAttr(halo), ValueRange());
  return shard::ShardOp::create(b, loc, value.getType(), value, sharding, forUsers).getResult();
}

LogicalResult ShardExporter::exportSignature(FunctionOpInterface func) {
  for (StringRef name : {StringRef(kShardingAttr), StringRef(kAxisResourcesAttr)}) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      Attribute attr = func.getArgAttr(i, name);
      if (!attr)
        continue;
      std::string what = "sharding of argument #" + std::to_string(i);
      if (func.isExternal())
        return func.emitError() << what << " cannot be written on a declaration, expected a body";
      BlockArgument arg = func.getArgument(i);
      OpBuilder b(&func.getFunctionBody().front(), func.getFunctionBody().front().begin());
      // In argument order.
      if (afterArguments.count(func))
        b.setInsertionPointAfter(afterArguments[func]);
      auto annotated = annotate(b, arg, attr, arg.getLoc(), what, /*forUsers=*/false);
      if (failed(annotated))
        return failure();
      if (*annotated != arg) {
        Operation *made = annotated->getDefiningOp();
        arg.replaceAllUsesExcept(*annotated, made);
        afterArguments[func] = made;
      }
      func.removeArgAttr(i, b.getStringAttr(name));
    }
    for (unsigned i = 0; i < func.getNumResults(); ++i) {
      Attribute attr = func.getResultAttr(i, name);
      if (!attr)
        continue;
      std::string what = "sharding of result #" + std::to_string(i);
      if (func.isExternal())
        return func.emitError() << what << " cannot be written on a declaration, expected a body";
      for (Block &block : func.getFunctionBody()) {
        Operation *terminator = block.getTerminator();
        if (!terminator->hasTrait<OpTrait::ReturnLike>())
          continue;
        OpBuilder b(terminator);
        auto annotated = annotate(b, terminator->getOperand(i), attr, terminator->getLoc(), what,
                                  /*forUsers=*/true);
        if (failed(annotated))
          return failure();
        terminator->setOperand(i, *annotated);
      }
      func.removeResultAttr(i, StringAttr::get(context, name));
    }
  }
  return success();
}

LogicalResult ShardExporter::exportConstraint(WithShardingConstraintOp op) {
  OpBuilder b(op);
  auto halo = op->getAttrOfType<DenseI64ArrayAttr>(kShardHaloAttr);
  auto annotated =
      annotate(b, op.getInput(), op.getShardingAttr(), op.getLoc(), "sharding of 'spmd.with_sharding_constraint'",
               op->hasAttr(kShardForUsersAttr), halo ? halo.asArrayRef() : ArrayRef<int64_t>());
  if (failed(annotated))
    return failure();
  if (Operation *made = annotated->getDefiningOp(); *annotated != op.getInput())
    for (NamedAttribute attr : op->getDiscardableAttrs())
      if (attr.getName() != kShardForUsersAttr && attr.getName() != kShardHaloAttr)
        made->setAttr(attr.getName(), attr.getValue());
  op.getResult().replaceAllUsesWith(*annotated);
  op.erase();
  return success();
}

LogicalResult ShardExporter::exportOther(Operation *op) {
  // Other ops change the meaning of their values, not only their sharding.
  if (!isa<PropagationBarrierOp, ShardingGroupOp, StageBoundaryOp, ReshardOp>(op))
    return op->emitError() << "'" << op->getName()
                           << "' has no counterpart, expected constraints only: the dialect "
                              "shard has no others";
  if (failed(features.report(op->getLoc(), "'" + op->getName().getStringRef() +
                                               "' has no counterpart, expected constraints only: "
                                               "the dialect shard has no others")))
    return failure();
  op->replaceAllUsesWith(op->getOperands().take_front(op->getNumResults()));
  op->erase();
  return success();
}

LogicalResult ShardExporter::exportMesh(const MeshCache::Entry &entry) {
  MeshOp op = entry.op;
  if (!entry.mesh->deviceIds.empty())
    if (failed(features.report(op.getLoc(), "mesh @" + op.getSymName() +
                                                " has device_ids, expected consecutive devices: "
                                                "the dialect shard has no other order")))
      return failure();
  for (StringRef name : {"alpha", "beta", "flops", "bandwidth", "memory", "spmd.overlap"})
    if (op->hasAttr(name))
      if (failed(features.report(op.getLoc(), "mesh @" + op.getSymName() + " has '" + name +
                                                  "', expected no costs: the dialect shard has "
                                                  "none")))
        return failure();
  SmallVector<int64_t> shape;
  SmallVector<Attribute> names;
  bool isNamed = false;
  for (auto [i, axis] : llvm::enumerate(entry.mesh->axes)) {
    shape.push_back(axis.size);
    names.push_back(StringAttr::get(context, axis.name));
    isNamed |= axis.name != getShardAxisName(i);
  }
  if (shape.empty())
    return op.emitError() << "mesh @" << op.getSymName() << " has no axes, expected at least one: a grid has one";
  OpBuilder b(op);
  auto grid = shard::GridOp::create(b, op.getLoc(), op.getSymNameAttr(), b.getDenseI64ArrayAttr(shape));
  for (NamedAttribute attr : op->getDiscardableAttrs())
    grid->setAttr(attr.getName(), attr.getValue());
  if (isNamed)
    grid->setAttr(kShardAxesAttr, b.getArrayAttr(names));
  op.erase();
  return success();
}

struct ExportShardPass : public spmd::impl::SPMDExportShardPassBase<ExportShardPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    UnsupportedFeatures features(unsupported);
    if (failed(verifyInput(module, Phase::Annotated, getArgument())) || failed(ShardExporter(module, features).run()))
      signalPassFailure();
  }
};

} // namespace
