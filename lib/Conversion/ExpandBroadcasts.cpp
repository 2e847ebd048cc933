//===- ExpandBroadcasts.cpp - Broadcasts as sums --------------------------===//

#include "shardkit/Conversion/CollectiveConversion.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Partition/ReshardLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::spmd;

FailureOr<SmallVector<RankDigit>> spmd::getBroadcastDigits(BroadcastOp op, const MeshCache &meshes) {
  auto emit = [&] { return op.emitError(); };
  const Mesh *mesh = meshes.lookupOrEmit(op.getAxes().getMesh(), emit);
  if (!mesh)
    return failure();
  FailureOr<DimEntries> axes = toDimEntries(op.getAxes().getAxes(), *mesh, emit);
  if (failed(axes))
    return failure();
  return llvm::map_to_vector(*axes, [&](const DimEntry &entry) { return getRankDigit(entry, *mesh); });
}

LogicalResult spmd::expandBroadcasts(Operation *root, const MeshCache &meshes) {
  SmallVector<BroadcastOp> broadcasts;
  root->walk([&](BroadcastOp op) { broadcasts.push_back(op); });
  for (BroadcastOp op : broadcasts) {
    auto emit = [&] { return op.emitError(); };
    const Mesh *mesh = meshes.lookupOrEmit(op.getAxes().getMesh(), emit);
    if (!mesh)
      return failure();
    FailureOr<DimEntries> axes = toDimEntries(op.getAxes().getAxes(), *mesh, emit);
    if (failed(axes))
      return failure();
    Location loc = op.getLoc();
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(op.getType());
    Type element = type.getElementType();
    if (!element.isIntOrFloat())
      return op.emitError() << "broadcasts elements of " << element << ", expected integers or floats; broadcast the "
                            << "real and the imaginary components of complex numbers";
    // 1. The coordinate of this device on the axes, row-major.
    SmallVector<Value> coordinates = getCoordinates(b, loc, {op.getAxes().getMesh(), mesh, *axes});
    Value coordinate = arith::ConstantIndexOp::create(b, loc, 0);
    for (auto [entry, digit] : llvm::zip(*axes, coordinates)) {
      Value size = arith::ConstantIndexOp::create(b, loc, entry.size);
      coordinate = arith::MulIOp::create(b, loc, coordinate, size);
      coordinate = arith::AddIOp::create(b, loc, coordinate, digit);
    }
    Value root = arith::ConstantIndexOp::create(b, loc, op.getRoot());
    Value isRoot = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, coordinate, root);
    // 2. The bits, as integers of at least a byte.
    unsigned width = element.getIntOrFloatBitWidth();
    Type bits = b.getIntegerType(std::max(8u, width));
    Value value = op.getInput();
    if (isa<FloatType>(element))
      value = arith::BitcastOp::create(b, loc, type.clone(bits), value);
    else if (width < 8)
      value = arith::ExtUIOp::create(b, loc, type.clone(bits), value);
    // 3. The sum of the value and zeros.
    auto bitsType = cast<RankedTensorType>(value.getType());
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
    Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, value), bits);
    value = linalg::GenericOp::create(b, loc, bitsType, value, empty, maps, loops,
                                      [&](OpBuilder &body, Location at, ValueRange args) {
                                        Value zero = arith::ConstantOp::create(body, at, body.getIntegerAttr(bits, 0));
                                        Value kept = arith::SelectOp::create(body, at, isRoot, args[0], zero);
                                        linalg::YieldOp::create(body, at, kept);
                                      })
                .getResult(0);
    value = AllReduceOp::create(b, loc, bitsType, value, ReductionKindAttr::get(b.getContext(), ReductionKind::Sum),
                                op.getAxes(), op.getIdAttr());
    if (isa<FloatType>(element))
      value = arith::BitcastOp::create(b, loc, type, value);
    else if (width < 8)
      value = arith::TruncIOp::create(b, loc, type, value);
    op.replaceAllUsesWith(value);
    op.erase();
  }
  return success();
}
