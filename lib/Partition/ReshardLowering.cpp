//===- ReshardLowering.cpp - A change of layout as collectives ------------===//

#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Layout/KnownSizes.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

SmallVector<Value> spmd::getCoordinates(OpBuilder &b, Location loc, const FunctionMeshes::AxesOnMesh &axes) {
  SmallVector<Value> coordinates;
  for (const DimEntry &entry : axes.entries) {
    if (entry.isStride())
      continue;
    const MeshAxis &axis = axes.mesh->axes[entry.axis];
    Value coordinate = DeviceCoordinateOp::create(b, loc, b.getIndexType(), axes.name, b.getStringAttr(axis.name));
    int64_t stride = axis.size / (entry.pre * entry.size);
    if (stride != 1)
      coordinate = arith::DivUIOp::create(b, loc, coordinate, arith::ConstantIndexOp::create(b, loc, stride));
    if (entry.pre != 1)
      coordinate = arith::RemUIOp::create(b, loc, coordinate, arith::ConstantIndexOp::create(b, loc, entry.size));
    coordinates.push_back(coordinate);
  }
  return coordinates;
}

/// Keeps the value on the shard with coordinate 0 over `axes`.
static Value maskPartial(OpBuilder &b, Location loc, Value value, const FunctionMeshes::AxesOnMesh &axes,
                         ReductionKind kind) {
  auto type = cast<RankedTensorType>(value.getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value first;
  for (Value coordinate : getCoordinates(b, loc, axes)) {
    Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, coordinate, zero);
    first = first ? Value(arith::AndIOp::create(b, loc, first, here)) : here;
  }
  Type element = type.getElementType();
  Value neutral;
  if (type.hasStaticShape() && !isa<ComplexType>(element)) {
    neutral =
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(getExactNeutral(kind, element))));
  } else {
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        sizes.push_back(tensor::DimOp::create(b, loc, value, d));
    neutral = tensor::SplatOp::create(b, loc, type, createExactNeutral(b, loc, kind, element), sizes);
  }
  return arith::SelectOp::create(b, loc, first, value, neutral);
}

/// Ranks as (sub-)axes.
static FailureOr<FunctionMeshes::AxesOnMesh> expressRanks(Location loc, ArrayRef<RankDigit> ranks,
                                                          FunctionMeshes &meshes) {
  Layout layout;
  layout.partial.assign(ranks.begin(), ranks.end());
  std::optional<Sharding> sharding = layout.toSharding(meshes.getMesh());
  if (!sharding)
    return emitError(loc) << "partial ranks are not (sub-)axes of mesh @" << meshes.getMesh().name;
  return meshes.getAxesOnMesh(sharding->unreduced);
}

static FailureOr<Value> emitStep(OpBuilder &b, Location loc, Value input, const PlanStep &step,
                                 FunctionMeshes &meshes) {
  MLIRContext *context = b.getContext();
  Layout from = step.from, to = step.to;
  removeCommonDigits(from, to);
  // Dynamic dims of the value are dynamic in the steps.
  auto inputType = cast<RankedTensorType>(input.getType());
  auto typeOf = [&](ArrayRef<int64_t> known) {
    SmallVector<int64_t> shape(known);
    for (auto [d, size] : llvm::enumerate(shape))
      if (inputType.isDynamicDim(d))
        size = ShapedType::kDynamic;
    return inputType.clone(shape);
  };
  RankedTensorType resultType = typeOf(step.to.localShape());

  auto express = [&](Layout layout) -> FailureOr<ShardingAttr> {
    layout.partial.clear();
    std::optional<Sharding> sharding = layout.toSharding(meshes.getMesh());
    if (!sharding)
      return emitError(loc) << "layout " << layout.toString() << " regroups axes of mesh @" << meshes.getMesh().name
                            << ", expected digits that are (sub-)axes; available axes: "
                            << meshes.getMesh().axesToString();
    return meshes.getAttr(*sharding);
  };
  FailureOr<ShardingAttr> source = express(from), target = express(to);
  if (failed(source) || failed(target))
    return failure();
  bool fromReplicated = from.digits.empty() && from.uneven.empty();
  bool toReplicated = to.digits.empty() && to.uneven.empty();
  auto reduction = ReductionKindAttr::get(context, from.partialKind);
  switch (step.kind) {
  case CollectiveKind::AllReduce: {
    FailureOr<FunctionMeshes::AxesOnMesh> ranks = expressRanks(loc, from.partial, meshes);
    if (failed(ranks))
      return failure();
    auto axes = AxesAttr::get(context, ranks->name, toAttrs(context, ranks->entries, *ranks->mesh));
    return AllReduceOp::create(b, loc, resultType, input, reduction, axes, IntegerAttr()).getResult();
  }
  case CollectiveKind::ReduceScatter:
    return ReduceScatterOp::create(b, loc, resultType, input, reduction, *target, IntegerAttr()).getResult();
  case CollectiveKind::AllSlice:
    if (fromReplicated)
      return AllSliceOp::create(b, loc, resultType, input, *target, IntegerAttr()).getResult();
    break;
  case CollectiveKind::AllGather:
    if (toReplicated)
      return AllGatherOp::create(b, loc, resultType, input, *source, IntegerAttr()).getResult();
    break;
  case CollectiveKind::AllToAll:
    return AllToAllOp::create(b, loc, resultType, input, *source, *target, IntegerAttr()).getResult();
  case CollectiveKind::CollectivePermute:
    return CollectivePermuteOp::create(b, loc, resultType, input, TypeAttr::get(typeOf(from.shape)), *source, *target,
                                       IntegerAttr())
        .getResult();
  case CollectiveKind::Exchange:
    break;
  }
  return ExchangeOp::create(b, loc, resultType, input, TypeAttr::get(typeOf(from.shape)), *source, *target,
                            IntegerAttr())
      .getResult();
}

FailureOr<Value> spmd::lowerReshard(OpBuilder &b, Location loc, Value input, RankedTensorType globalType, LayoutId from,
                                    LayoutId to, LayoutTable &table) {
  FunctionMeshes &meshes = table.getMeshes();
  Value value = input;
  for (const PlanStep &step : table.getPlan(from, to, globalType)) {
    FailureOr<Value> next = emitStep(b, loc, value, step, meshes);
    if (failed(next))
      return failure();
    value = *next;
  }
  const Sharding &target = table.get(to);
  SmallVector<int64_t, 4> shape = withKnownSizes(globalType.getShape(), {&table.get(from), &target});
  SmallVector<RankDigit, 2> added =
      addedPartial(Layout::get(table.get(from), meshes.getMesh(), shape), Layout::get(target, meshes.getMesh(), shape));
  if (added.empty())
    return value;
  FailureOr<FunctionMeshes::AxesOnMesh> axes = expressRanks(loc, added, meshes);
  if (failed(axes))
    return failure();
  return maskPartial(b, loc, value, *axes, target.unreducedKind);
}
