//===- ConvertToShard.cpp - Collectives as ops of upstream's dialect shard ===//

#include "ShardEmitter.h"
#include "shardkit/Annotations/Shard.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_CONVERTSPMDTOSHARDPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

std::optional<shard::ReductionKind> getReduction(ReductionKind kind, Type type) {
  using Kind = shard::ReductionKind;
  const bool isBool = type.isInteger(1);
  switch (kind) {
  case ReductionKind::Sum:
    return Kind::Sum;
  case ReductionKind::Prod:
    return Kind::Product;
  case ReductionKind::And:
    return Kind::BitwiseAnd;
  case ReductionKind::Or:
    return Kind::BitwiseOr;
  case ReductionKind::Xor:
    return Kind::BitwiseXor;
  case ReductionKind::Max:
    return isBool ? std::nullopt : std::optional(Kind::Max);
  case ReductionKind::Min:
    return isBool ? std::nullopt : std::optional(Kind::Min);
  default:
    return std::nullopt;
  }
}

} // namespace

ShardEmitter::Grid &ShardEmitter::findGrid(const Mesh &mesh) {
  for (std::unique_ptr<Grid> &grid : grids)
    if (grid->mesh->sameDevices(mesh))
      return *grid;
  grids.push_back(std::make_unique<Grid>(Grid{&mesh, GridAxes(mesh.numDevices()), {}}));
  return *grids.back();
}

LogicalResult ShardEmitter::prepare() {
  // Axes come first, so that grids have them where collectives allow it.
  for (const MeshCache::Entry &entry : getMeshes().entries())
    for (unsigned i = 0; i < entry.mesh->axes.size(); ++i)
      findGrid(*entry.mesh).axes.add({entry.mesh->axisStride(i), entry.mesh->axes[i].size});
  WalkResult walk = getModule().walk([&](Operation *op) {
    auto func = op->getParentOfType<FunctionOpInterface>();
    // Ranks are those of the mesh of the function, or else of its first operand.
    auto setGrid = [&](FlatSymbolRefAttr name) {
      auto own = func ? func->getAttrOfType<FlatSymbolRefAttr>(kRankMeshAttr) : FlatSymbolRefAttr();
      if (const Mesh *mesh = getMeshes().lookup(own ? own : name))
        gridOf.try_emplace(func, &findGrid(*mesh));
    };
    if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op)) {
      setGrid(coordinate.getMeshAttr());
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      FailureOr<SmallVector<RankDigit>> digits = getBroadcastDigits(broadcast, getMeshes());
      if (failed(digits))
        return WalkResult::interrupt();
      setGrid(broadcast.getAxes().getMesh());
      for (const RankDigit &digit : *digits)
        gridOf.lookup(func)->axes.add(digit);
    } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      FailureOr<ClosedForm> form = getClosedForm(collective, getMeshes());
      if (failed(form))
        return WalkResult::interrupt();
      setGrid(collective.getFromMesh());
      for (const RankDigit &digit : form->getDigits())
        gridOf.lookup(func)->axes.add(digit);
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

FlatSymbolRefAttr ShardEmitter::getName(RewriterBase &b, Location loc, Grid &grid) {
  if (!grid.op) {
    RewriterBase::InsertionGuard guard(b);
    b.setInsertionPointToStart(getModule().getBody());
    grid.op = shard::GridOp::create(b, loc, b.getStringAttr("grid"), b.getDenseI64ArrayAttr(grid.axes.getShape()));
    if (!grid.mesh->deviceIds.empty())
      grid.op->setAttr(kShardDeviceIdsAttr, b.getDenseI64ArrayAttr(grid.mesh->deviceIds));
    symbols.insert(grid.op); // under an unused name
  }
  return FlatSymbolRefAttr::get(grid.op.getSymNameAttr());
}

static RankedTensorType makeRows(Value flat, int64_t rows) {
  auto type = cast<RankedTensorType>(flat.getType());
  return type.clone({rows, type.getNumElements() / rows});
}

/// The collective as one op on blocks, which are rows; std::nullopt if the dialect has no such op.
std::optional<Value> ShardEmitter::emitNamed(RewriterBase &b, CollectiveToEmit &collective, const BlockMove &move) {
  Location loc = collective.op.getLoc();
  const ClosedForm &form = collective.form;
  Grid &onGrid = getGrid(collective.op);
  auto axesOf = [&](ArrayRef<RankDigit> digits) { return onGrid.axes.find(digits); };
  auto attr = [&](ArrayRef<int16_t> axes) { return shard::GridAxesAttr::get(b.getContext(), axes); };
  FlatSymbolRefAttr grid = getName(b, loc, onGrid);
  auto gathered = axesOf(move.getGatheredDigits()), sliced = axesOf(move.getSlicedDigits()),
       reduced = axesOf(move.getReducedDigits());
  if (!gathered || !sliced || !reduced || move.isPermuted())
    return std::nullopt;
  std::optional<shard::ReductionKind> kind;
  if (form.reduction) {
    kind = getReduction(*form.reduction, collective.inputType.getElementType());
    const bool isWhole = sliced->empty() && collective.inputType == collective.resultType && move.isInOrder();
    if (!kind || !gathered->empty() || !(isWhole || *sliced == *reduced))
      return std::nullopt;
    auto kindAttr = shard::ReductionKindAttr::get(b.getContext(), *kind);
    if (isWhole)
      return shard::AllReduceOp::create(b, loc, collective.resultType, grid, attr(*reduced), collective.input, kindAttr)
          .getResult();
    Value packed = move.emitPacked(b, loc, collective.input);
    Value rows = emitShaped(b, loc, packed, makeRows(packed, move.numBlocks()));
    auto type = cast<RankedTensorType>(rows.getType()).clone({1, move.blockElements()});
    Value result =
        shard::ReduceScatterOp::create(b, loc, type, grid, attr(*reduced), rows, kindAttr, b.getIndexAttr(0));
    return move.emitUnpacked(b, loc, emitFlat(b, loc, result), collective.resultType);
  }
  const bool isExchange = !gathered->empty() && !sliced->empty();
  if (isExchange && *gathered != *sliced)
    return std::nullopt;
  Value packed = move.emitPacked(b, loc, collective.input);
  Value rows = emitShaped(b, loc, packed, makeRows(packed, move.numBlocks()));
  auto type = cast<RankedTensorType>(rows.getType()).clone({move.numSlots(), move.blockElements()});
  Value result = rows;
  if (isExchange) {
    rows = emitShaped(b, loc, packed, type.clone({1, move.numBlocks(), move.blockElements()}));
    auto slots = type.clone({move.numSlots(), 1, move.blockElements()});
    result =
        shard::AllToAllOp::create(b, loc, slots, grid, attr(*gathered), rows, b.getIndexAttr(1), b.getIndexAttr(0));
  } else if (!gathered->empty())
    result = shard::AllGatherOp::create(b, loc, type, grid, attr(*gathered), rows, b.getIndexAttr(0));
  else if (!sliced->empty())
    result = shard::AllSliceOp::create(b, loc, type, grid, attr(*sliced), rows, b.getIndexAttr(0));
  return move.emitUnpacked(b, loc, emitFlat(b, loc, result), collective.resultType);
}

/// Of the operands of all members of the group, of all devices if the group is not one of axes of the grid.
Value ShardEmitter::emitGathered(RewriterBase &b, CollectiveToEmit &collective) {
  Location loc = collective.op.getLoc();
  const ClosedForm &form = collective.form;
  SmallVector<RankDigit, 2> digits;
  if (readsOthers(form))
    digits = form.getDigits();
  Grid &grid = getGrid(collective.op);
  auto axes = grid.axes.find(digits);
  if (!axes) {
    digits.assign({{1, form.devices}});
    axes = grid.axes.find(digits);
  }
  Members members(digits);
  Value flat = emitFlat(b, loc, collective.input);
  Value rows = emitShaped(b, loc, flat, makeRows(flat, 1));
  if (members.size() > 1) {
    auto type = cast<RankedTensorType>(rows.getType()).clone({members.size(), collective.inputType.getNumElements()});
    rows = shard::AllGatherOp::create(b, loc, type, getName(b, loc, grid),
                                      shard::GridAxesAttr::get(b.getContext(), *axes), rows, b.getIndexAttr(0));
  }
  return emitFromGathered(b, collective, members, rows, emitRankOn(b, loc, grid));
}

FailureOr<Value> ShardEmitter::emit(RewriterBase &b, CollectiveToEmit &collective) {
  std::optional<BlockMove> move = BlockMove::get(collective.form);
  if (std::optional<Value> value = move ? emitNamed(b, collective, *move) : std::nullopt)
    return *value;
  if (std::optional<Value> value = emitPermuted(b, collective, move))
    return *value;
  if (auto halo = dyn_cast<HaloExchangeOp>(*collective.op))
    if (std::optional<Value> value = emitWindows(b, halo, collective))
      return *value;
  return emitGathered(b, collective);
}

namespace {

struct ConvertToShardPass : public spmd::impl::ConvertSPMDToShardPassBase<ConvertToShardPass> {
  using Base::Base;
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registry.insert<complex::ComplexDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyConvertible(module, getArgument())))
      return signalPassFailure();
    ShardEmitter emitter(module);
    if (failed(emitter.prepare()) || failed(convertCollectives(emitter)))
      signalPassFailure();
  }
};

} // namespace
