//===- ReshardLowering.cpp - A change of layout as collectives ------------===//

#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::spmd;

Value spmd::getCoordinate(OpBuilder &b, Location loc, const DimEntry &entry,
                          const Mesh &mesh, FlatSymbolRefAttr meshRef) {
  const MeshAxis &axis = mesh.axes[entry.axis];
  Value coordinate = DeviceCoordinateOp::create(
      b, loc, b.getIndexType(), meshRef, b.getStringAttr(axis.name));
  int64_t stride = axis.size / (entry.pre * entry.size);
  if (stride != 1)
    coordinate = arith::DivUIOp::create(
        b, loc, coordinate, arith::ConstantIndexOp::create(b, loc, stride));
  if (entry.pre != 1)
    coordinate = arith::RemUIOp::create(
        b, loc, coordinate, arith::ConstantIndexOp::create(b, loc, entry.size));
  return coordinate;
}

/// Keeps the value on the shard with coordinate 0 over `axes`.
static Value maskPartial(OpBuilder &b, Location loc, Value value,
                         ArrayRef<DimEntry> axes, ReductionKind kind,
                         const Mesh &mesh, FlatSymbolRefAttr meshRef) {
  auto type = cast<RankedTensorType>(value.getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value first;
  for (const DimEntry &entry : axes) {
    Value here = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        getCoordinate(b, loc, entry, mesh, meshRef), zero);
    first = first ? Value(arith::AndIOp::create(b, loc, first, here)) : here;
  }
  Value neutral = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(type, Attribute(getNeutralElement(kind, type.getElementType()))));
  return arith::SelectOp::create(b, loc, first, value, neutral);
}

/// Ranks as (sub-)axes.
static FailureOr<SmallVector<DimEntry>>
spellRanks(Location loc, ArrayRef<RankDigit> ranks, const Mesh &mesh) {
  Layout layout;
  layout.partial.assign(ranks.begin(), ranks.end());
  std::optional<Sharding> sharding = layout.toSharding(mesh);
  if (!sharding)
    return emitError(loc) << "partial ranks are no (sub-)axes of mesh @" << mesh.name;
  return SmallVector<DimEntry>(sharding->unreduced);
}

static FailureOr<Value> emitStep(OpBuilder &b, Location loc, Value input,
                                 const PlanStep &step, const Mesh &mesh,
                                 FlatSymbolRefAttr meshRef) {
  MLIRContext *context = b.getContext();
  Layout from = step.from, to = step.to;
  removeCommonDigits(from, to);
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  auto resultType = RankedTensorType::get(step.to.localShape(), element);

  auto spell = [&](Layout layout) -> FailureOr<ShardingAttr> {
    layout.partial.clear();
    std::optional<Sharding> sharding = layout.toSharding(mesh);
    if (!sharding)
      return emitError(loc) << "layout " << layout.toString()
                            << " regroups axes of mesh @" << mesh.name
                            << ", expected digits that are (sub-)axes; available axes: "
                            << mesh.axesToString();
    return toAttr(context, meshRef, *sharding, mesh);
  };
  FailureOr<ShardingAttr> source = spell(from), target = spell(to);
  if (failed(source) || failed(target))
    return failure();
  bool fromWhole = from.digits.empty() && from.uneven.empty();
  bool toWhole = to.digits.empty() && to.uneven.empty();
  auto reduction = ReductionKindAttr::get(context, from.partialKind);
  switch (step.kind) {
  case CollectiveKind::AllReduce: {
    FailureOr<SmallVector<DimEntry>> ranks = spellRanks(loc, from.partial, mesh);
    if (failed(ranks))
      return failure();
    auto axes = AxesAttr::get(context, meshRef, toAttrs(context, *ranks, mesh));
    return AllReduceOp::create(b, loc, resultType, input, reduction, axes, IntegerAttr())
        .getResult();
  }
  case CollectiveKind::ReduceScatter:
    return ReduceScatterOp::create(b, loc, resultType, input, reduction, *target,
                                   IntegerAttr())
        .getResult();
  case CollectiveKind::AllSlice:
    if (fromWhole)
      return AllSliceOp::create(b, loc, resultType, input, *target, IntegerAttr())
          .getResult();
    break;
  case CollectiveKind::AllGather:
    if (toWhole)
      return AllGatherOp::create(b, loc, resultType, input, *source, IntegerAttr())
          .getResult();
    break;
  case CollectiveKind::AllToAll:
    return AllToAllOp::create(b, loc, resultType, input, *source, *target,
                              IntegerAttr())
        .getResult();
  case CollectiveKind::CollectivePermute:
    return CollectivePermuteOp::create(
               b, loc, resultType, input,
               TypeAttr::get(RankedTensorType::get(from.shape, element)),
               *source, *target, IntegerAttr())
        .getResult();
  case CollectiveKind::Exchange:
    break;
  }
  return ExchangeOp::create(b, loc, resultType, input,
                            TypeAttr::get(RankedTensorType::get(from.shape, element)),
                            *source, *target, IntegerAttr())
      .getResult();
}

FailureOr<Value> spmd::lowerReshard(OpBuilder &b, Location loc, Value input,
                                    RankedTensorType globalType,
                                    const Sharding &from, const Sharding &to,
                                    const Mesh &mesh,
                                    FlatSymbolRefAttr meshRef) {
  Layout source = Layout::get(from, mesh, globalType.getShape());
  Layout target = Layout::get(to, mesh, globalType.getShape());
  Value value = input;
  for (const PlanStep &step : planReshard(source, target, &mesh)) {
    FailureOr<Value> next = emitStep(b, loc, value, step, mesh, meshRef);
    if (failed(next))
      return failure();
    value = *next;
  }
  SmallVector<RankDigit, 2> added = addedPartial(source, target);
  if (added.empty())
    return value;
  FailureOr<SmallVector<DimEntry>> axes = spellRanks(loc, added, mesh);
  if (failed(axes))
    return failure();
  return maskPartial(b, loc, value, *axes, to.unreducedKind, mesh, meshRef);
}
