//===- Boundary.cpp - Arguments and results of both programs --------------===//

#include "shardkit/Proof/Boundary.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

//===----------------------------------------------------------------------===//
// Joined segments
//===----------------------------------------------------------------------===//

/// The local type of a segment of an argument, all of it without a sharding; null if that is not legal.
static RankedTensorType getShardType(DictionaryAttr segment, const MeshCache &meshes, func::FuncOp func) {
  auto type = segment.getAs<TypeAttr>(kGlobalTypeAttr);
  auto global = type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  auto sharding = segment.getAs<ShardingAttr>(kShardingAttr);
  if (!global || !sharding)
    return global;
  FailureOr<ShardingOnMesh> read = meshes.read(sharding, [&] { return func.emitError(); });
  if (failed(read) || verifySharding(read->sharding, *read->mesh, global.getShape(), /*allowUneven=*/true))
    return {};
  return global.clone(Layout::get(read->sharding, *read->mesh, global.getShape()).localShape());
}

namespace {
/// Divides what ops compute of a value that is the concatenation of parts along a dim.
///
///   matmul(x, concat(q, k))[0, n)    matmul(x, q)
class PartReaders {
public:
  PartReaders(Value joined, ArrayRef<Value> parts, int64_t dim) : joined(joined), parts(parts), dim(dim) {}

  /// Readers that cannot be divided read the concatenation.
  void divide();

private:
  bool divideSlice(tensor::ExtractSliceOp slice);
  /// An op with loops, one of which runs along the parts.
  bool divideLoops(linalg::LinalgOp op);

  Value joined;
  ArrayRef<Value> parts;
  int64_t dim;
};
} // namespace

static int64_t getSize(Value value, int64_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

/// Indices [begin, begin + size) of a dim.
static Value getPart(OpBuilder &b, Value value, int64_t dim, int64_t begin, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), steps(shape.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(begin);
  return tensor::ExtractSliceOp::create(b, value.getLoc(), type.clone(shape), value, offsets,
                                        getAsIndexOpFoldResult(b.getContext(), shape), steps);
}

bool PartReaders::divideSlice(tensor::ExtractSliceOp slice) {
  int64_t begin = slice.getStaticOffset(dim), size = slice.getStaticSize(dim);
  if (ShapedType::isDynamic(begin) || ShapedType::isDynamic(size))
    return false;
  for (Value part : parts) {
    if (begin >= 0 && begin + (size - 1) * slice.getStaticStride(dim) < getSize(part, dim)) {
      slice.getSourceMutable().assign(part);
      SmallVector<int64_t> offsets(slice.getStaticOffsets());
      offsets[dim] = begin;
      slice.setStaticOffsets(offsets);
      return true;
    }
    begin -= getSize(part, dim);
  }
  return false;
}

bool PartReaders::divideLoops(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) { return !map.isProjectedPermutation(); }) ||
      op.getBlock()->walk([](linalg::IndexOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return false;
  // The loop along the parts, and the dim of each operand that it runs along.
  std::optional<unsigned> loop;
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == joined)
      loop = cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(dim)).getPosition();
  if (!loop || op.getIteratorTypesArray()[*loop] != utils::IteratorType::parallel)
    return false;
  auto getDim = [&](OpOperand &operand) -> std::optional<int64_t> {
    for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == *loop)
        return int64_t(d);
    return std::nullopt;
  };
  std::optional<int64_t> resultDim = getDim(*op.getDpsInitOperand(0));
  if (!resultDim)
    return false;
  OpBuilder b(op);
  SmallVector<Value> results;
  int64_t begin = 0;
  for (Value part : parts) {
    int64_t size = getSize(part, dim);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<int64_t> along = getDim(operand);
      bool isPart = operand.get() == joined && along == dim;
      operands.push_back(isPart ? part : along ? getPart(b, operand.get(), *along, begin, size) : operand.get());
    }
    results.push_back(mlir::clone(b, op, TypeRange{operands.back().getType()}, operands)->getResult(0));
    begin += size;
  }
  PartReaders(op->getResult(0), results, *resultDim).divide();
  op.erase();
  return true;
}

void PartReaders::divide() {
  llvm::SetVector<Operation *> users(joined.user_begin(), joined.user_end());
  for (Operation *user : users) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user); slice && slice.getSource() == joined && divideSlice(slice))
      continue;
    if (auto loops = dyn_cast<linalg::LinalgOp>(user))
      divideLoops(loops);
  }
  if (joined.use_empty())
    return;
  OpBuilder b(joined.getContext());
  b.setInsertionPointAfterValue(parts.back());
  joined.replaceAllUsesWith(tensor::ConcatOp::create(b, joined.getLoc(), dim, parts));
}

/// Divides an argument that joins the shards of several segments.
static LogicalResult divideArgument(func::FuncOp func, unsigned i, ArrayAttr segments, const MeshCache &meshes) {
  BlockArgument joined = func.getArgument(i);
  SmallVector<Value> parts;
  int64_t dim = 0;
  for (auto [k, attr] : llvm::enumerate(segments)) {
    auto segment = cast<DictionaryAttr>(attr);
    RankedTensorType type = getShardType(segment, meshes, func);
    auto slice = segment.getAs<SegmentAttr>(kSegmentAttr);
    if (!type || !slice)
      return func.emitError() << "argument #" << i
                              << " has a segment without a type, or with a sharding that is not legal";
    dim = slice.getDim();
    if (failed(func.insertArgument(i + 1 + k, type, segment, joined.getLoc())))
      return failure();
  }
  for (unsigned k = 0; k < segments.size(); ++k)
    parts.push_back(func.getArgument(i + 1 + k));
  PartReaders(joined, parts, dim).divide();
  return func.eraseArgument(i);
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// The segment of a stored tensor. Its units may have a dim of their own.
static Value sliceSegment(OpBuilder &b, Value stored, SegmentAttr segment, RankedTensorType type) {
  SmallVector<OpFoldResult> offsets(segment.getStored().getRank(), b.getIndexAttr(0)),
      steps(offsets.size(), b.getIndexAttr(1));
  offsets[segment.getDim()] = b.getIndexAttr(segment.getOffset());
  RankedTensorType slice = segment.getSliceType(type);
  Value value = tensor::ExtractSliceOp::create(b, stored.getLoc(), slice, stored, offsets,
                                               getAsIndexOpFoldResult(b.getContext(), slice.getShape()), steps);
  if (!segment.isInUnits(type))
    return value;
  SmallVector<ReassociationIndices> groups;
  for (ArrayRef<int64_t> group : segment.getUnitGroups())
    groups.emplace_back(group.begin(), group.end());
  return tensor::ExpandShapeOp::create(b, stored.getLoc(), type, value, groups);
}

/// Pairs one side of the signatures: `unsharded` are the values of the global function, and the local one has `count`.
static LogicalResult pairSide(func::FuncOp local, StringRef noun, unsigned count, ValueRange unsharded, OpBuilder &b,
                              llvm::function_ref<DictionaryAttr(unsigned)> getAttrs, SmallVectorImpl<Value> &pairs) {
  int64_t last = -1;
  for (unsigned i = 0; i < count; ++i) {
    DictionaryAttr attrs = getAttrs(i);
    auto segment = attrs ? attrs.getAs<SegmentAttr>(kSegmentAttr) : SegmentAttr();
    int64_t number = segment ? segment.getArgument() : last + 1;
    if (number >= int64_t(unsharded.size()) || number < last || number > last + 1)
      return local.emitError() << noun << " #" << i << " of @" << local.getName()
                               << " has no counterpart: the unsharded function has " << unsharded.size();
    last = number;
    Value value = unsharded[number];
    if (segment) {
      auto type = attrs.getAs<TypeAttr>(kGlobalTypeAttr);
      auto segmentType = type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
      if (segment.getStored() != value.getType() || !segmentType)
        return local.emitError() << noun << " #" << i << " is a segment of " << segment.getStored()
                                 << ", but the unsharded function has " << value.getType();
      value = sliceSegment(b, value, segment, segmentType);
    }
    pairs.push_back(value);
  }
  if (last + 1 != int64_t(unsharded.size()))
    return local.emitError() << "@" << local.getName() << " has no " << noun << " for #" << last + 1
                             << " of the unsharded function";
  return success();
}

FailureOr<Boundary> proof::pairBoundary(func::FuncOp global, func::FuncOp local) {
  MeshCache meshes(local->getParentOp());
  for (unsigned i = 0; i < local.getNumArguments(); ++i)
    if (auto segments = local.getArgAttrOfType<ArrayAttr>(i, kSegmentsOfAttr)) {
      if (failed(divideArgument(local, i, segments, meshes)))
        return failure();
      i += segments.size() - 1;
    }
  Boundary boundary;
  Block &body = global.getBody().front();
  OpBuilder atBegin = OpBuilder::atBlockBegin(&body), atEnd(body.getTerminator());
  if (failed(pairSide(
          local, "argument", local.getNumArguments(), body.getArguments(), atBegin,
          [&](unsigned i) { return local.getArgAttrDict(i); }, boundary.arguments)) ||
      failed(pairSide(
          local, "result", local.getNumResults(), body.getTerminator()->getOperands(), atEnd,
          [&](unsigned i) { return local.getResultAttrDict(i); }, boundary.results)))
    return failure();
  return boundary;
}
