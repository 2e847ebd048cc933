//===- Collectives.cpp - Local-view ops of the spmd dialect ---------------===//

#include "OpSyntax.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "shardkit/Layout/KnownSizes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::spmd;

#define GET_OP_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDCollectives.cpp.inc"

//===----------------------------------------------------------------------===//
// Layouts of operand and result
//===----------------------------------------------------------------------===//

/// Reads the sharding of a value of `shape` with closed dims. Dims that the axes do not
/// divide have padded shards, except in an all_to_all, whose global shape is derived from
/// the shards.
static FailureOr<Sharding> readSharding(Operation *op, ShardingAttr attr, const Mesh &mesh, ArrayRef<int64_t> shape,
                                        const Twine &what, bool allowUneven) {
  auto emitError = [&] { return op->emitOpError(); };
  if (!attr.getUnreduced().empty()) {
    emitError() << "sharding of " << what << " is unreduced, expected a complete value";
    return failure();
  }
  FailureOr<Sharding> sharding = toSharding(attr, mesh, emitError);
  if (failed(sharding))
    return failure();
  auto type = RankedTensorType::get(shape, IntegerType::get(op->getContext(), 1)); // only the shape counts
  if (failed(verifyShardingOf(*sharding, type, mesh, what, emitError, allowUneven)))
    return failure();
  return sharding;
}

/// The layout of a value of `shape`, with `withKnownSizes` applied to unknown sizes.
static FailureOr<Layout> getLayout(Operation *op, ShardingAttr attr, const Mesh &mesh, ArrayRef<int64_t> shape,
                                   const Twine &what, bool allowUneven) {
  FailureOr<Sharding> sharding = readSharding(op, attr, mesh, shape, what, allowUneven);
  if (failed(sharding))
    return failure();
  return Layout::get(*sharding, mesh, withKnownSizes(shape, {&*sharding}));
}

/// A replicated value that is partial over `axes`.
static FailureOr<Layout> getPartialLayout(Operation *op, const DimEntries &axes, ReductionKind kind, const Mesh &mesh,
                                          ArrayRef<int64_t> shape) {
  Sharding sharding;
  sharding.dims.resize(shape.size());
  sharding.unreduced = axes;
  sharding.unreducedKind = kind;
  if (std::optional<ShardingError> error = verifySharding(sharding, mesh, shape, /*allowUneven=*/false)) {
    InFlightDiagnostic diag = op->emitOpError() << error->message;
    diag.attachNote() << "available axes: " << mesh.axesToString();
    return failure();
  }
  return Layout::get(sharding, mesh, withKnownSizes(shape, {&sharding}));
}

static LogicalResult verifyElementTypes(Operation *op, Type a, Type b) {
  if (getElementTypeOrSelf(a) == getElementTypeOrSelf(b))
    return success();
  return op->emitOpError() << "element types are " << getElementTypeOrSelf(a) << " and " << getElementTypeOrSelf(b)
                           << ", expected equal ones";
}

/// `type` with dynamic dims where `like` has dynamic dims.
static LogicalResult verifyLocalShape(Operation *op, Type type, const Layout &layout, ArrayRef<int64_t> like,
                                      const Twine &what) {
  SmallVector<int64_t, 4> expected = layout.localShape();
  if (expected.size() == like.size())
    for (auto [size, other] : llvm::zip_equal(expected, like))
      if (ShapedType::isDynamic(other))
        size = other;
  if (getShape(type) == ArrayRef<int64_t>(expected))
    return success();
  return op->emitOpError() << what << " has type " << type << ", expected " << getTypeWithShape(type, expected);
}

/// all_reduce_c2, reduce_scatter_c3
static LogicalResult verifyReduction(Operation *op, ReductionKind kind, Type type) {
  return verifyReductionOf(kind, type, [&] { return op->emitOpError(); });
}

static LogicalResult getMoveLayouts(Operation *op, Type globalType, ShardingAttr fromAttr, ShardingAttr toAttr,
                                    const Mesh &fromMesh, const Mesh &toMesh, Layout &from, Layout &to,
                                    bool allowUneven) {
  ArrayRef<int64_t> shape = getShape(globalType);
  FailureOr<Sharding> source = readSharding(op, fromAttr, fromMesh, shape, "the global value", allowUneven);
  if (failed(source))
    return failure();
  FailureOr<Sharding> target = readSharding(op, toAttr, toMesh, shape, "the global value", allowUneven);
  if (failed(target))
    return failure();
  SmallVector<int64_t, 4> known = withKnownSizes(shape, {&*source, &*target});
  from = Layout::get(*source, fromMesh, known);
  to = Layout::get(*target, toMesh, known);
  return success();
}

/// Derives both layouts from the meshes in the symbol table and compares the
/// types with their local shapes. `shape` is that of the global value or, if it is not
/// written, of a local one, for the dims of unknown size.
static LogicalResult verifyCollective(CollectiveOpInterface op, ArrayRef<int64_t> shape,
                                      SymbolTableCollection &symbolTable) {
  FailureOr<Mesh> fromMesh = getMeshOrEmit(op, op.getFromMesh(), symbolTable);
  if (failed(fromMesh))
    return failure();
  FailureOr<Mesh> toMesh = getMeshOrEmit(op, op.getToMesh(), symbolTable);
  if (failed(toMesh))
    return failure();
  Layout from, to;
  if (failed(op.getLayouts(*fromMesh, *toMesh, from, to)))
    return failure();
  Type operandType = op->getOperand(0).getType();
  Type resultType = op->getResult(0).getType();
  if (failed(verifyElementTypes(op, operandType, resultType)) ||
      failed(verifyLocalShape(op, operandType, from, shape, "operand")) ||
      failed(verifyLocalShape(op, resultType, to, shape, "result")))
    return failure();
  if (std::optional<ReductionKind> kind = op.getReduction())
    return verifyReduction(op, *kind, operandType);
  return success();
}

//===----------------------------------------------------------------------===//
// AllGatherOp: all_gather_c1 to all_gather_c3
//===----------------------------------------------------------------------===//

CollectiveKind AllGatherOp::getKind() { return CollectiveKind::AllGather; }
std::optional<ReductionKind> AllGatherOp::getReduction() { return {}; }
ShardingAttr AllGatherOp::getFromSharding() { return getSharding(); }
ShardingAttr AllGatherOp::getToSharding() { return {}; }
FlatSymbolRefAttr AllGatherOp::getFromMesh() { return getSharding().getMesh(); }
FlatSymbolRefAttr AllGatherOp::getToMesh() { return getSharding().getMesh(); }

LogicalResult AllGatherOp::getLayouts(const Mesh &fromMesh, const Mesh &, Layout &from, Layout &to) {
  ArrayRef<int64_t> shape = getType().getShape();
  FailureOr<Layout> layout = getLayout(getOperation(), getSharding(), fromMesh, shape, "the result", true);
  if (failed(layout))
    return failure();
  from = std::move(*layout);
  to = Layout::replicated(from.shape);
  return success();
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyCollective(*this, getType().getShape(), symbolTable);
}

//===----------------------------------------------------------------------===//
// AllSliceOp: all_slice_c1 to all_slice_c3
//===----------------------------------------------------------------------===//

CollectiveKind AllSliceOp::getKind() { return CollectiveKind::AllSlice; }
std::optional<ReductionKind> AllSliceOp::getReduction() { return {}; }
ShardingAttr AllSliceOp::getFromSharding() { return {}; }
ShardingAttr AllSliceOp::getToSharding() { return getSharding(); }
FlatSymbolRefAttr AllSliceOp::getFromMesh() { return getSharding().getMesh(); }
FlatSymbolRefAttr AllSliceOp::getToMesh() { return getSharding().getMesh(); }

LogicalResult AllSliceOp::getLayouts(const Mesh &, const Mesh &toMesh, Layout &from, Layout &to) {
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  FailureOr<Layout> layout = getLayout(getOperation(), getSharding(), toMesh, shape, "the operand", true);
  if (failed(layout))
    return failure();
  to = std::move(*layout);
  from = Layout::replicated(to.shape);
  return success();
}

LogicalResult AllSliceOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyCollective(*this, getType().getShape(), symbolTable);
}

//===----------------------------------------------------------------------===//
// AllReduceOp: all_reduce_c1, all_reduce_c2
//===----------------------------------------------------------------------===//

CollectiveKind AllReduceOp::getKind() { return CollectiveKind::AllReduce; }
std::optional<ReductionKind> AllReduceOp::getReduction() { return getReductionKind().getValue(); }
ShardingAttr AllReduceOp::getFromSharding() { return {}; }
ShardingAttr AllReduceOp::getToSharding() { return {}; }
FlatSymbolRefAttr AllReduceOp::getFromMesh() { return getAxes().getMesh(); }
FlatSymbolRefAttr AllReduceOp::getToMesh() { return getAxes().getMesh(); }

LogicalResult AllReduceOp::getLayouts(const Mesh &fromMesh, const Mesh &, Layout &from, Layout &to) {
  if (getAxes().getAxes().empty())
    return emitOpError() << "no axis is given, expected at least one";
  ArrayRef<int64_t> shape = getType().getShape();
  FailureOr<DimEntries> axes = toDimEntries(getAxes().getAxes(), fromMesh, [&] { return emitOpError(); });
  if (failed(axes))
    return failure();
  FailureOr<Layout> layout = getPartialLayout(getOperation(), *axes, getReductionKind().getValue(), fromMesh, shape);
  if (failed(layout))
    return failure();
  from = std::move(*layout);
  to = Layout::replicated(from.shape);
  return success();
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyCollective(*this, getType().getShape(), symbolTable);
}

//===----------------------------------------------------------------------===//
// ReduceScatterOp: reduce_scatter_c1 to reduce_scatter_c3
//===----------------------------------------------------------------------===//

CollectiveKind ReduceScatterOp::getKind() { return CollectiveKind::ReduceScatter; }
std::optional<ReductionKind> ReduceScatterOp::getReduction() { return getReductionKind().getValue(); }
ShardingAttr ReduceScatterOp::getFromSharding() { return {}; }
ShardingAttr ReduceScatterOp::getToSharding() { return getSharding(); }
FlatSymbolRefAttr ReduceScatterOp::getFromMesh() { return getSharding().getMesh(); }
FlatSymbolRefAttr ReduceScatterOp::getToMesh() { return getSharding().getMesh(); }

LogicalResult ReduceScatterOp::getLayouts(const Mesh &fromMesh, const Mesh &, Layout &from, Layout &to) {
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  FailureOr<Layout> target = getLayout(getOperation(), getSharding(), fromMesh, shape, "the operand", true);
  if (failed(target))
    return failure();
  FailureOr<Sharding> sharding = toSharding(getSharding(), fromMesh, [&] { return emitOpError(); });
  if (failed(sharding))
    return failure();
  DimEntries axes;
  for (const DimSharding &dim : sharding->dims)
    for (const DimEntry &entry : dim.entries)
      if (!entry.isStride())
        axes.push_back(entry);
  if (axes.empty())
    return emitOpError() << "no axis is given, expected at least one";
  FailureOr<Layout> source =
      getPartialLayout(getOperation(), axes, getReductionKind().getValue(), fromMesh, target->shape);
  if (failed(source))
    return failure();
  from = std::move(*source);
  to = std::move(*target);
  return success();
}

LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyCollective(*this, getType().getShape(), symbolTable);
}

//===----------------------------------------------------------------------===//
// AllToAllOp: all_to_all_c1 to all_to_all_c3
//===----------------------------------------------------------------------===//

CollectiveKind AllToAllOp::getKind() { return CollectiveKind::AllToAll; }
std::optional<ReductionKind> AllToAllOp::getReduction() { return {}; }
ShardingAttr AllToAllOp::getFromSharding() { return getFrom(); }
ShardingAttr AllToAllOp::getToSharding() { return getTo(); }
FlatSymbolRefAttr AllToAllOp::getFromMesh() { return getFrom().getMesh(); }
FlatSymbolRefAttr AllToAllOp::getToMesh() { return getTo().getMesh(); }

LogicalResult AllToAllOp::getLayouts(const Mesh &fromMesh, const Mesh &toMesh, Layout &from, Layout &to) {
  if (!fromMesh.sameDevices(toMesh))
    return emitOpError() << "meshes " << getFromMesh() << " and " << getToMesh()
                         << " have different devices, expected two views of "
                            "one device list";
  auto type = getInput().getType();
  if (getFrom().getRank() != type.getRank())
    return emitOpError() << "sharding of the operand has " << getFrom().getRank() << " dimensions, expected "
                         << type.getRank();
  FailureOr<Sharding> sharding = toSharding(getFrom(), fromMesh, [&] { return emitOpError(); });
  if (failed(sharding))
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, sharding->dims))
    if (!ShapedType::isDynamic(size))
      size *= deviceFactor(dim.entries);
  return getMoveLayouts(getOperation(), getTypeWithShape(type, shape), getFrom(), getTo(), fromMesh, toMesh, from, to,
                        /*allowUneven=*/false);
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyCollective(*this, getType().getShape(), symbolTable);
}

//===----------------------------------------------------------------------===//
// CollectivePermuteOp: collective_permute_c1 to collective_permute_c3
//===----------------------------------------------------------------------===//

CollectiveKind CollectivePermuteOp::getKind() { return CollectiveKind::CollectivePermute; }
std::optional<ReductionKind> CollectivePermuteOp::getReduction() { return {}; }
ShardingAttr CollectivePermuteOp::getFromSharding() { return getFrom(); }
ShardingAttr CollectivePermuteOp::getToSharding() { return getTo(); }
FlatSymbolRefAttr CollectivePermuteOp::getFromMesh() { return getFrom().getMesh(); }
FlatSymbolRefAttr CollectivePermuteOp::getToMesh() { return getTo().getMesh(); }

LogicalResult CollectivePermuteOp::getLayouts(const Mesh &fromMesh, const Mesh &toMesh, Layout &from, Layout &to) {
  return getMoveLayouts(getOperation(), getGlobalType(), getFrom(), getTo(), fromMesh, toMesh, from, to,
                        /*allowUneven=*/true);
}

LogicalResult CollectivePermuteOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (failed(verifyElementTypes(getOperation(), getGlobalType(), getInput().getType())) ||
      failed(verifyCollective(*this, getShape(getGlobalType()), symbolTable)))
    return failure();
  if (getInput().getType() != getType())
    return emitOpError() << "operand has type " << getInput().getType() << " and result " << getType()
                         << ", expected equal types, since each device sends its full shard";
  return success();
}

//===----------------------------------------------------------------------===//
// ExchangeOp: exchange_c1 to exchange_c3
//===----------------------------------------------------------------------===//

CollectiveKind ExchangeOp::getKind() { return CollectiveKind::Exchange; }
std::optional<ReductionKind> ExchangeOp::getReduction() { return {}; }
ShardingAttr ExchangeOp::getFromSharding() { return getFrom(); }
ShardingAttr ExchangeOp::getToSharding() { return getTo(); }
FlatSymbolRefAttr ExchangeOp::getFromMesh() { return getFrom().getMesh(); }
FlatSymbolRefAttr ExchangeOp::getToMesh() { return getTo().getMesh(); }

LogicalResult ExchangeOp::getLayouts(const Mesh &fromMesh, const Mesh &toMesh, Layout &from, Layout &to) {
  return getMoveLayouts(getOperation(), getGlobalType(), getFrom(), getTo(), fromMesh, toMesh, from, to,
                        /*allowUneven=*/true);
}

LogicalResult ExchangeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (failed(verifyElementTypes(getOperation(), getGlobalType(), getInput().getType())))
    return failure();
  return verifyCollective(*this, getShape(getGlobalType()), symbolTable);
}

//===----------------------------------------------------------------------===//
// HaloExchangeOp: halo_exchange_c1 to halo_exchange_c5
//===----------------------------------------------------------------------===//

CollectiveKind HaloExchangeOp::getKind() {
  bool moves = llvm::any_of(getFrom().getDims(), [](DimShardingAttr dim) { return !dim.getEntries().empty(); });
  return moves ? CollectiveKind::Exchange : CollectiveKind::AllSlice;
}
std::optional<ReductionKind> HaloExchangeOp::getReduction() { return {}; }
ShardingAttr HaloExchangeOp::getFromSharding() { return getFrom(); }
ShardingAttr HaloExchangeOp::getToSharding() { return getTo(); }
FlatSymbolRefAttr HaloExchangeOp::getFromMesh() { return getFrom().getMesh(); }
FlatSymbolRefAttr HaloExchangeOp::getToMesh() { return getTo().getMesh(); }

LogicalResult HaloExchangeOp::getLayouts(const Mesh &fromMesh, const Mesh &toMesh, Layout &from, Layout &to) {
  // halo_exchange_c1
  ArrayRef<int64_t> shape = getShape(getGlobalType()), result = getType().getShape();
  FailureOr<Layout> operandLayout =
      getLayout(getOperation(), getFrom(), fromMesh, shape, "the global value", /*allowUneven=*/true);
  if (failed(operandLayout))
    return failure();
  from = std::move(*operandLayout);
  if (!getTo().getUnreduced().empty() || getTo().getRank() != int64_t(shape.size()))
    return emitOpError() << "sharding of the result has " << getTo().getRank()
                         << " dimensions, expected a complete one of " << shape.size();
  if (getFrom().getMesh() != getTo().getMesh())
    return emitOpError() << "shardings name meshes " << getFrom().getMesh() << " and " << getTo().getMesh()
                         << ", expected one mesh";
  if (result.size() != shape.size())
    return emitOpError() << "result has " << result.size() << " dimensions, expected " << shape.size();
  // halo_exchange_c2
  ArrayRef<int64_t> dims = getDims();
  if (dims.empty() || getSteps().size() != dims.size() || getOffsets().size() != dims.size())
    return emitOpError() << "has " << dims.size() << " dims, " << getSteps().size() << " steps and "
                         << getOffsets().size() << " offsets, expected one of each per window";
  if (size_t unknown = llvm::count(getOffsets(), ShapedType::kDynamic); unknown != getDynamicOffsets().size())
    return emitOpError() << "has " << getDynamicOffsets().size() << " values of offsets, expected " << unknown
                         << ", one of each that is known at run time";
  for (auto [i, d] : llvm::enumerate(dims))
    if (d < 0 || d >= int64_t(shape.size()) || (i > 0 && d <= dims[i - 1]))
      return emitOpError() << "dims are [" << dims << "], expected rising numbers of the " << shape.size()
                           << " dimensions";
  for (int64_t d : dims)
    if (ShapedType::isDynamic(shape[d]) || ShapedType::isDynamic(result[d]))
      return emitOpError() << "dimension " << d
                           << " has a window and an unknown size, expected "
                              "sizes that are known";
  FailureOr<Sharding> source = toSharding(getFrom(), fromMesh, [&] { return emitOpError(); });
  FailureOr<Sharding> target = toSharding(getTo(), toMesh, [&] { return emitOpError(); });
  if (failed(source) || failed(target))
    return failure();
  to = Layout::replicated(from.shape);
  int64_t added = 0;
  for (auto [d, size] : llvm::enumerate(shape)) {
    const DimEntries &operandEntries = source->dims[d].entries, &entries = target->dims[d].entries;
    bool hasWindow = llvm::is_contained(dims, int64_t(d));
    unsigned i = llvm::find(dims, int64_t(d)) - dims.begin();
    bool isSame = hasWindow && getSteps()[i] == 0; // on all devices, whatever their coordinates
    bool hasStride = llvm::any_of(entries, [](const DimEntry &entry) { return entry.isStride(); });
    if (hasWindow == entries.empty() || (hasStride && !isSame))
      return emitOpError() << "dimension " << d << " has " << (hasWindow ? "a" : "no")
                           << " window, expected the result's sharding to have "
                           << (hasWindow ? "axes and no stride" : "no axis") << " there";
    // halo_exchange_c3
    if (operandEntries != entries && !(operandEntries.empty() && hasWindow))
      return emitOpError() << "dimension " << d
                           << " is sharded by different axes in operand and result, expected the "
                              "same, or none in the operand";
    if (!hasWindow)
      continue;
    UnevenDim &window = to.uneven.emplace_back();
    window.dim = d;
    for (const DimEntry &entry : entries)
      if (!entry.isStride())
        window.ranks.push_back(getRankDigit(entry, toMesh));
    int64_t offset = getOffsets()[i];
    if (ShapedType::isDynamic(offset))
      window.window = {getSteps()[i], 0, result[d], added++};
    else
      window.window = {getSteps()[i], offset, result[d]};
  }
  return success();
}

LogicalResult HaloExchangeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (failed(verifyElementTypes(getOperation(), getGlobalType(), getInput().getType())))
    return failure();
  return verifyCollective(*this, getShape(getGlobalType()), symbolTable);
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<Mesh> mesh = getMeshOrEmit(getOperation(), getAxes().getMesh(), symbolTable);
  if (failed(mesh))
    return failure();
  // broadcast_c1
  if (getAxes().getAxes().empty())
    return emitOpError() << "no axis is given, expected at least one";
  FailureOr<DimEntries> axes = toDimEntries(getAxes().getAxes(), *mesh, [&] { return emitOpError(); });
  if (failed(axes) || failed(getPartialLayout(getOperation(), *axes, ReductionKind::Sum, *mesh, {})))
    return failure();
  // broadcast_c2
  int64_t devices = deviceFactor(*axes);
  int64_t root = getRoot();
  if (root < 0 || root >= devices)
    return emitOpError() << "root is " << root << ", expected 0 to " << devices - 1;
  return success();
}

//===----------------------------------------------------------------------===//
// SendOp, RecvOp
//===----------------------------------------------------------------------===//

template <typename OpTy>
static LogicalResult verifyTransfer(OpTy op, Type localType, bool isSend, SymbolTableCollection &symbolTable) {
  // send_c1, recv_c1
  FailureOr<Mesh> fromMesh = getMeshOrEmit(op, op.getFrom().getMesh(), symbolTable);
  if (failed(fromMesh))
    return failure();
  FailureOr<Mesh> toMesh = getMeshOrEmit(op, op.getTo().getMesh(), symbolTable);
  if (failed(toMesh))
    return failure();
  Layout from, to;
  if (failed(getMoveLayouts(op, op.getGlobalType(), op.getFrom(), op.getTo(), *fromMesh, *toMesh, from, to,
                            /*allowUneven=*/true)))
    return failure();
  // send_c2, recv_c2, send_c3, recv_c3
  if (failed(verifyElementTypes(op, op.getGlobalType(), localType)) ||
      failed(verifyLocalShape(op, localType, isSend ? from : to, getShape(op.getGlobalType()),
                              isSend ? "operand" : "result")))
    return failure();
  // send_c4, recv_c4
  int64_t channel = op.getChannel();
  if (channel < 0)
    return op.emitOpError() << "channel is " << channel << ", expected 0 or more";
  return success();
}

LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyTransfer(*this, getInput().getType(), true, symbolTable);
}

LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyTransfer(*this, getResult().getType(), false, symbolTable);
}

//===----------------------------------------------------------------------===//
// DeviceCoordinateOp
//===----------------------------------------------------------------------===//

LogicalResult DeviceCoordinateOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<Mesh> mesh = getMeshOrEmit(getOperation(), getMeshAttr(), symbolTable);
  if (failed(mesh))
    return failure();
  // device_coordinate_c1
  if (!mesh->findAxis(getAxis())) {
    emitUnknownAxis(getAxis(), *mesh, [&] { return emitOpError(); });
    return failure();
  }
  return success();
}
