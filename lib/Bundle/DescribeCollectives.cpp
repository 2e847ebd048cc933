//===- DescribeCollectives.cpp - Collectives as moves in closed form ------===//

#include "Describe.h"
#include "shardkit/Cost/CostModel.h"
#include "shardkit/Dialect/SPMD/IR/ClosedForm.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/MeshViews.h"
#include "shardkit/Layout/ReshardPlan.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::spmd;
namespace rt = shardkit::rt;

SmallVector<CollectiveOpInterface> spmd::collectivesOf(func::FuncOp func) {
  SmallVector<CollectiveOpInterface> ops;
  func.walk([&](CollectiveOpInterface op) { ops.push_back(op); });
  return ops;
}

/// The layout of pairs: their last dim is unsharded.
static ShardingAttr withLastDim(ShardingAttr sharding) {
  SmallVector<DimShardingAttr> dims(sharding.getDims());
  dims.push_back(DimShardingAttr::get(sharding.getContext(), {}, /*open=*/false, /*priority=*/0));
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims, sharding.getReplicated(),
                           sharding.getUnreducedKind(), sharding.getUnreduced());
}

LogicalResult spmd::widenCollectives(func::FuncOp func) {
  OpBuilder b(func.getContext());
  for (CollectiveOpInterface op : collectivesOf(func)) {
    if (op->getNumOperands() == 0 || op->getNumResults() != 1)
      continue;
    Value in = op->getOperand(0);
    Type element = getElementTypeOrSelf(in.getType());
    const bool isComplex = isa<ComplexType>(element), isReduction = op.getReduction().has_value();
    if (!isComplex && !(isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8))
      continue;
    if (isComplex && isReduction && *op.getReduction() != ReductionKind::Sum)
      return op->emitOpError() << "combines complex numbers by " << stringifyReductionKind(*op.getReduction())
                               << ", which cannot be compiled, expected sum";
    auto widen = [&](Type type) -> Type {
      if (isComplex)
        return target::getPairedType(type);
      return cast<ShapedType>(type).clone(isReduction ? Type(b.getF32Type()) : b.getI8Type());
    };
    auto start = dyn_cast<StartOp>(op->getParentOp());
    Location loc = op.getLoc();
    auto convert = [&](Value value, Type type) -> Operation * {
      if (isComplex)
        return UnrealizedConversionCastOp::create(b, loc, type, value);
      if (!isReduction)
        return arith::BitcastOp::create(b, loc, type, value);
      if (getElementTypeOrSelf(type).isF32())
        return arith::ExtFOp::create(b, loc, type, value);
      return arith::TruncFOp::create(b, loc, type, value);
    };
    b.setInsertionPoint(start ? start.getOperation() : op.getOperation());
    op->setOperand(0, convert(in, widen(in.getType()))->getResult(0));
    if (auto global = op->getAttrOfType<TypeAttr>("global_type"))
      op->setAttr("global_type", TypeAttr::get(widen(global.getValue())));
    if (isComplex)
      for (NamedAttribute attribute : op->getAttrs())
        if (auto sharding = dyn_cast<ShardingAttr>(attribute.getValue()))
          op->setAttr(attribute.getName(), withLastDim(sharding));
    Value out = op->getResult(0);
    Type type = out.getType();
    out.setType(widen(type));
    b.setInsertionPointAfter(op);
    if (start) { // Its results are read after the op that waits for them.
      unsigned number = out.use_begin()->getOperandNumber();
      start.getResult(number).setType(out.getType());
      DoneOp done = start.getDone();
      out = done.getResult(number);
      out.setType(widen(type));
      b.setInsertionPointAfter(done);
    }
    Operation *back = convert(out, type);
    out.replaceAllUsesExcept(back->getResult(0), back);
  }
  return success();
}

void spmd::describeMove(const Transfer &transfer, rt::CollectiveInfo &out) {
  for (const TransferAtom &atom : transfer.atoms)
    out.atoms.push_back({atom.size, atom.srcIsRank, atom.srcStride, atom.dstIsRank, atom.dstStride});
  for (const TransferSegment &segment : transfer.segments) {
    rt::Segment &entry = out.segments.emplace_back();
    entry.size = segment.size;
    for (const TransferDigit &digit : segment.src)
      entry.source.push_back({digit.size, digit.isRank, digit.stride});
    for (const TransferDigit &digit : segment.dst)
      entry.destination.push_back({digit.size, digit.isRank, digit.stride});
    if (segment.window)
      entry.window = rt::Segment::Window{segment.window->step, segment.window->offset, segment.window->added};
  }
  for (const RankDigit &digit : transfer.spread)
    out.spread.push_back({digit.stride, digit.size});
}

LogicalResult spmd::describeCollective(CollectiveOpInterface op, const MeshCache &meshes, rt::CollectiveInfo &out) {
  FailureOr<ClosedForm> form = getClosedForm(op, meshes);
  if (failed(form))
    return failure();
  const Mesh *fromMesh = meshes.lookup(op.getFromMesh()), *toMesh = meshes.lookup(op.getToMesh());
  out.id = *op.getCollectiveId();
  out.kind = stringifyCollectiveKind(form->kind).str();
  if (form->reduction)
    out.reduction = *rt::parseReduction(std::string_view(stringifyReductionKind(*form->reduction)));
  auto inType = cast<RankedTensorType>(op->getOperand(0).getType());
  std::optional<rt::DType> dtype = getDType(inType.getElementType());
  if (!dtype)
    return op.emitError("element type ") << inType.getElementType() << " cannot be moved by the runtime";
  out.dtype = *dtype;
  if (auto start = dyn_cast<StartOp>(op->getParentOp()))
    out.startGroup = *(*start.getBody().getOps<CollectiveOpInterface>().begin()).getCollectiveId();
  out.loc = getLocationText(op.getLoc());
  out.inElements = form->inElements;
  out.outElements = form->outElements;
  llvm::append_range(out.sourceOrder, form->sourceOrder);
  llvm::append_range(out.destinationOrder, form->destinationOrder);
  describeMove(form->transfer, out);
  for (RankDigit digit : form->group)
    out.group.push_back({digit.stride, digit.size});
  PlanStep step{form->kind, form->from, form->to, getMovedRanks(form->from, form->to)};
  SmallVector<int64_t> order = getReordering(*fromMesh, *toMesh);
  if (!order.empty()) {
    step.group = form->group;
    step.order = order;
  }
  CostModel costs(*fromMesh);
  for (std::string &axis : costs.getAxes(step.group))
    out.axes.push_back(std::move(axis));
  out.bytes = costs.getCost(step, getElementBytes(inType.getElementType())).bytes;
  return success();
}

/// The tensors of one side of a collective on a value with unknown sizes. Each dim of unknown
/// size is a group of dims: `known` indices (`Layout`), times a count of contiguous elements.
struct Batched {
  Batched(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<int64_t> known, ArrayRef<Value> counts)
      : type(type) {
    SmallVector<int64_t> others;
    const Value *count = counts.begin();
    for (auto [d, size] : llvm::enumerate(known)) {
      groups.emplace_back();
      if (!type.isDynamicDim(d) || size != 1) {
        groups.back().push_back(sizes.size());
        others.push_back(sizes.size());
        sizes.push_back(b.getIndexAttr(size));
      }
      if (type.isDynamicDim(d)) {
        groups.back().push_back(sizes.size());
        order.push_back(sizes.size());
        sizes.push_back(*count++);
      }
    }
    order.append(others);
  }
  bool isReordered() const { return !llvm::is_sorted(order); }
  bool isExpanded() const { return int64_t(sizes.size()) != type.getRank(); }

  /// The counts come first.
  Value makeEmpty(OpBuilder &b, Location loc) const {
    SmallVector<OpFoldResult> shape;
    for (int64_t d : order)
      shape.push_back(sizes[d]);
    return tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  }
  Value to(OpBuilder &b, Location loc, Value value) const {
    if (isExpanded()) {
      SmallVector<int64_t> shape;
      for (OpFoldResult size : sizes)
        shape.push_back(isa<Attribute>(size) ? *getConstantIntValue(size) : ShapedType::kDynamic);
      value = tensor::ExpandShapeOp::create(b, loc, type.clone(shape), value, groups, sizes);
    }
    if (isReordered())
      value = linalg::TransposeOp::create(b, loc, value, makeEmpty(b, loc), order).getResult().front();
    return value;
  }
  Value from(OpBuilder &b, Location loc, Value value) const {
    if (isReordered()) {
      Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
      value = linalg::TransposeOp::create(b, loc, value, empty, invertPermutationVector(order)).getResult().front();
    }
    if (isExpanded())
      value = tensor::CollapseShapeOp::create(b, loc, type, value, groups);
    return value;
  }

  RankedTensorType type;
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> order;
};

static FailureOr<Value> lowerCollective(OpBuilder &b, CollectiveOpInterface op, const MeshCache &meshes) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value input = op->getOperand(0);
  Layout from, to;
  SmallVector<Value> counts;
  if (!type.hasStaticShape()) {
    auto emit = [&] { return op.emitError(); };
    const Mesh *fromMesh = meshes.lookupOrEmit(op.getFromMesh(), emit);
    const Mesh *toMesh = meshes.lookupOrEmit(op.getToMesh(), emit);
    if (!fromMesh || !toMesh || failed(op.getLayouts(*fromMesh, *toMesh, from, to)))
      return failure();
    for (auto [d, known] : llvm::enumerate(from.localShape()))
      if (type.isDynamicDim(d)) {
        OpFoldResult size = tensor::DimOp::create(b, loc, input, d).getResult();
        // Bounds of sizes are found through affine expressions.
        OpFoldResult count =
            affine::makeComposedFoldedAffineApply(b, loc, b.getAffineSymbolExpr(0).floorDiv(known), {size});
        counts.push_back(getValueOrCreateConstantIndexOp(b, loc, count));
      }
  } else {
    from = Layout::replicated(cast<RankedTensorType>(input.getType()).getShape());
    to = Layout::replicated(type.getShape());
  }
  Batched in(b, loc, cast<RankedTensorType>(input.getType()), from.localShape(), counts);
  Batched out(b, loc, type, to.localShape(), counts);
  Value init = out.makeEmpty(b, loc);
  auto lowered = target::CollectiveOp::create(
      b, loc, TypeRange{init.getType()}, b.getI64IntegerAttr(*op.getCollectiveId()), b.getI64IntegerAttr(counts.size()),
      in.to(b, loc, input), init, op->getOperands().drop_front(), /*input_rows=*/Value(),
      /*output_rows=*/Value());
  return out.from(b, loc, lowered.getResult().front());
}

/// Lowers a group of started collectives. The runtime has their buffers from the start to the
/// done op. An output is allocated, not `tensor.empty`: bufferization would else reuse a buffer
/// that is written before then.
static void lowerStarted(OpBuilder &builder, StartOp start) {
  DoneOp done = start.getDone();
  SmallVector<CollectiveOpInterface> members(start.getBody().getOps<CollectiveOpInterface>());
  UnitAttr alone = members.size() == 1 ? builder.getUnitAttr() : UnitAttr();
  for (auto [i, member] : llvm::enumerate(members)) {
    auto id = builder.getI64IntegerAttr(*member.getCollectiveId());
    auto type = cast<RankedTensorType>(member->getResult(0).getType());
    Value input = member->getOperand(0);
    builder.setInsertionPoint(start);
    Value init = bufferization::AllocTensorOp::create(builder, member.getLoc(), type, ValueRange());
    auto started = target::StartOp::create(builder, member.getLoc(), type, id, alone, input, init);
    builder.setInsertionPoint(done);
    auto taken = target::DoneOp::create(builder, member.getLoc(), type, id, input, started.getBegun());
    done.getResult(i).replaceAllUsesWith(taken.getResult());
  }
  done.erase();
  start.erase();
}

LogicalResult spmd::lowerCollectives(func::FuncOp func, const MeshCache &meshes) {
  OpBuilder builder(func.getContext());
  SmallVector<StartOp> starts;
  func.walk([&](StartOp op) { starts.push_back(op); });
  for (StartOp start : starts) {
    for (auto member : start.getBody().getOps<CollectiveOpInterface>())
      if (!cast<RankedTensorType>(member->getResult(0).getType()).hasStaticShape())
        return member.emitError("is started asynchronously on a value of unknown size, expected "
                                "known sizes, or a collective outside of spmd.start");
      else if (member->getNumOperands() > 1)
        return member.emitError("is started asynchronously at an offset that is known at run time, expected a constant "
                                "offset, or a collective outside of spmd.start");
    lowerStarted(builder, start);
  }
  for (CollectiveOpInterface op : collectivesOf(func)) {
    builder.setInsertionPoint(op);
    FailureOr<Value> lowered = lowerCollective(builder, op, meshes);
    if (failed(lowered))
      return failure();
    op->getResult(0).replaceAllUsesWith(*lowered);
    op->erase();
  }
  for (ProbeOp probe : getProbes(func)) {
    builder.setInsertionPoint(probe);
    target::ProbeOp::create(builder, probe.getLoc(), probe.getIdAttr(), probe.getInput());
    probe.erase();
  }
  WalkResult result = func.walk([&](Operation *op) {
    if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op)) {
      const Mesh *mesh = meshes.lookupOrEmit(coordinate.getMeshAttr(), [&] { return op->emitError(); });
      if (!mesh)
        return WalkResult::interrupt();
      std::optional<unsigned> axis = mesh->findAxis(coordinate.getAxis());
      if (!axis) {
        op->emitError("unknown axis");
        return WalkResult::interrupt();
      }
      builder.setInsertionPoint(op);
      Value value = target::CoordinateOp::create(builder, op->getLoc(), builder.getIndexType(),
                                                 builder.getI64IntegerAttr(mesh->axisStride(*axis)),
                                                 builder.getI64IntegerAttr(mesh->axes[*axis].size));
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    } else if (isa<SendOp, RecvOp>(op)) {
      op->emitError() << "'" << op->getName()
                      << "' is in a function of one mesh, which no target compiles, expected a pipeline "
                         "(--pipeline), or all_gather, all_reduce, reduce_scatter, all_to_all, all_slice, "
                         "broadcast, collective_permute or exchange";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
