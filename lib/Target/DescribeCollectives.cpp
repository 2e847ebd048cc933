//===- DescribeCollectives.cpp - Collectives as moves in closed form ------===//

#include "Describe.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardkit/Target/CPU/CPUOps.h"

using namespace mlir;
using namespace mlir::spmd;
namespace manifest = shardkit::manifest;

std::string spmd::locationText(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  if (auto name = dyn_cast<NameLoc>(loc)) {
    std::string child = locationText(name.getChildLoc());
    return child.empty() ? name.getName().str() : child;
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return locationText(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string text = locationText(part); !text.empty())
        return text;
  return "";
}

SmallVector<CollectiveOpInterface> spmd::collectivesOf(func::FuncOp func) {
  SmallVector<CollectiveOpInterface> ops;
  func.walk([&](CollectiveOpInterface op) { ops.push_back(op); });
  return ops;
}

/// Rank digits as digits of mesh axes: the axes they belong to.
static std::vector<std::string> axesOf(ArrayRef<RankDigit> digits, const Mesh &mesh) {
  std::vector<std::string> names;
  for (auto [i, axis] : llvm::enumerate(mesh.axes)) {
    int64_t lo = mesh.axisStride(i), hi = lo * axis.size;
    if (llvm::any_of(digits, [&](RankDigit d) {
          return axis.size > 1 && d.stride < hi && d.stride * d.size > lo;
        }))
      names.push_back(axis.name);
  }
  return names;
}

LogicalResult spmd::describeCollective(CollectiveOpInterface op, const MeshCache &meshes,
                                       manifest::Collective &out) {
  auto emit = [&] { return op.emitError(); };
  const Mesh *fromMesh = meshes.lookupOrEmit(op.getFromMesh(), emit);
  const Mesh *toMesh = meshes.lookupOrEmit(op.getToMesh(), emit);
  if (!fromMesh || !toMesh)
    return failure();
  Layout from, to;
  if (failed(op.getLayouts(*fromMesh, *toMesh, from, to)))
    return failure();
  removeCommonDigits(from, to);
  std::optional<Transfer> transfer = computeTransfer(from, to);
  if (!transfer)
    return op.emitError("the layouts of this collective do not cut each other evenly, "
                        "expected sizes that the mesh axes divide");
  out.id = *op.getCollectiveId();
  out.kind = stringifyCollectiveKind(op.getKind()).str();
  if (auto reduction = op.getReduction())
    out.reduction = stringifyReductionKind(*reduction).str();
  auto inType = cast<RankedTensorType>(op->getOperand(0).getType());
  auto outType = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<std::string> dtype = dtypeName(inType.getElementType());
  if (!dtype)
    return op.emitError("element type ") << inType.getElementType() << " cannot be moved by the runtime";
  out.dtype = *dtype;
  out.inElements = inType.getNumElements();
  out.outElements = outType.getNumElements();
  SmallVector<RankDigit> moved;
  for (const TransferAtom &atom : transfer->atoms) {
    out.atoms.push_back({atom.size, atom.srcIsRank, atom.srcStride, atom.dstIsRank, atom.dstStride});
    if (atom.srcIsRank)
      moved.push_back({atom.srcStride, atom.size});
    if (atom.dstIsRank)
      moved.push_back({atom.dstStride, atom.size});
  }
  SmallVector<RankDigit> group;
  if (out.reduction) {
    group.assign(transfer->reduce.begin(), transfer->reduce.end());
    moved.append(group.begin(), group.end());
  } else {
    for (RankDigit digit : moved)
      if (!llvm::is_contained(group, digit))
        group.push_back(digit);
    llvm::sort(group, [](RankDigit a, RankDigit b) {
      return a.stride != b.stride ? a.stride > b.stride : a.size > b.size;
    });
  }
  for (RankDigit digit : group)
    out.group.push_back({digit.stride, digit.size});
  out.axes = axesOf(moved, *fromMesh);
  // B of the cost formulas: the group's whole value, the local buffer of a
  // reduction, what a device receives of a move.
  int64_t element = std::max<int64_t>(1, inType.getElementType().isIndex()
                                             ? 8
                                             : inType.getElementTypeBitWidth() / 8);
  int64_t groupSize = 1;
  for (RankDigit digit : group)
    groupSize *= digit.size;
  switch (op.getKind()) {
  case CollectiveKind::AllSlice:
    out.bytes = 0;
    break;
  case CollectiveKind::AllToAll:
    out.bytes = out.inElements * groupSize * element;
    break;
  case CollectiveKind::AllReduce:
  case CollectiveKind::ReduceScatter:
    out.bytes = out.inElements * element;
    break;
  default:
    out.bytes = out.outElements * element;
  }
  out.loc = locationText(op.getLoc());
  return success();
}

LogicalResult spmd::lowerCollectives(func::FuncOp func, const MeshCache &meshes) {
  OpBuilder builder(func.getContext());
  for (CollectiveOpInterface op : collectivesOf(func)) {
    builder.setInsertionPoint(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value init = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                         type.getElementType());
    auto lowered = cpu::CollectiveOp::create(
        builder, op.getLoc(), TypeRange{type},
        builder.getI64IntegerAttr(*op.getCollectiveId()), op->getOperand(0), init);
    op->getResult(0).replaceAllUsesWith(lowered.getResult().front());
    op->erase();
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
      Value value = cpu::CoordinateOp::create(
          builder, op->getLoc(), builder.getIndexType(),
          builder.getI64IntegerAttr(mesh->axisStride(*axis)),
          builder.getI64IntegerAttr(mesh->axes[*axis].size));
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    } else if (isa<BroadcastOp, SendOp, RecvOp>(op)) {
      op->emitError() << "'" << op->getName()
                      << "' is not supported by the cpu target yet, expected all_gather, "
                         "all_reduce, reduce_scatter, all_to_all, all_slice, "
                         "collective_permute or exchange";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
