//===- WidenedOperands.cpp - Products with weights that are stored narrow -===//

#include "WidenedOperands.h"
#include "shardkit/Target/CPU/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUWIDENEDOPERANDS
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::cpu;
using mlir::spmd::target::ContractOp;

/// Products of at most so many rows widen elements in registers.
static constexpr int64_t kMaxRows = 4;
/// Elements of an operand below which nothing is gained.
static constexpr int64_t kMinElements = 1 << 12;
/// Elements of a tile, which stay in the second cache.
static constexpr int64_t kTile = 1 << 18;

int64_t cpu::getTensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

int64_t cpu::getLargestDivisor(int64_t size, int64_t limit) {
  for (int64_t d = std::min(size, limit); d > 1; --d)
    if (size % d == 0)
      return d;
  return 1;
}

void WidenedProduct::makeTiles() {
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = widened.shape();
  // The first dim of results, and how many elements of the operand's dim one of its elements has.
  int64_t tiled = -1, operandDim = 0, inner = 1;
  for (auto [k, group] : llvm::enumerate(widened.groups)) {
    if (tiled >= 0 || isSummed(own().getDimPosition(k)))
      continue;
    for (int64_t dim : group) {
      if (tiled >= 0)
        inner *= shape[dim];
      else if (shape[dim] > 1)
        tiled = dim, operandDim = k;
    }
  }
  if (tiled < 0)
    return;
  const int64_t size = shape[tiled], slice = ShapedType::getNumElements(shape) / size;
  const int64_t step = getLargestDivisor(size, std::max<int64_t>(1, kTile / slice));
  if (step == size)
    return;
  const unsigned loopNumber = own().getDimPosition(operandDim);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(size), constant(step), op.getC());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar(), sums = loop.getRegionIterArgs().front();
  /// The part of a value that a tile has: along `dim`, from `first` on.
  auto slicesOf = [&](Value value, int64_t dim, OpFoldResult first, int64_t count) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1));
    SmallVector<OpFoldResult> extents = getAsIndexOpFoldResult(b.getContext(), type.getShape());
    offsets[dim] = first;
    extents[dim] = b.getIndexAttr(count);
    return std::tuple(offsets, extents, strides);
  };
  SmallVector<Value> inputs;
  for (auto [value, map] : llvm::zip_equal(widened.inputs, widened.maps)) {
    std::optional<unsigned> dim = map.getResultPosition(b.getAffineDimExpr(tiled));
    if (dim) {
      auto [offsets, extents, strides] = slicesOf(value, *dim, at, step);
      inputs.push_back(tensor::ExtractSliceOp::create(b, loc, value, offsets, extents, strides));
    } else {
      inputs.push_back(value);
    }
  }
  auto type = cast<RankedTensorType>(widened.value.getType());
  SmallVector<int64_t> tileShape(shape);
  tileShape[tiled] = step;
  Value tile = tensor::EmptyOp::create(b, loc, tileShape, type.getElementType());
  SmallVector<AffineMap> indexing = widened.maps;
  indexing.push_back(b.getMultiDimIdentityMap(tileShape.size()));
  SmallVector<utils::IteratorType> iterators(tileShape.size(), utils::IteratorType::parallel);
  tile = linalg::GenericOp::create(b, loc, tile.getType(), inputs, tile, indexing, iterators,
                                   [&](OpBuilder &inside, Location where, ValueRange args) {
                                     auto indexOf = [&](int64_t dim) {
                                       Value index = linalg::IndexOp::create(inside, where, dim);
                                       return dim == tiled ? arith::AddIOp::create(inside, where, index, at) : index;
                                     };
                                     linalg::YieldOp::create(inside, where, cloneBody(inside, where, args, indexOf));
                                   })
             .getResult(0);
  if (widened.groups.size() != tileShape.size())
    tile = tensor::CollapseShapeOp::create(b, loc, tile, widened.groups);
  unsigned resultDim = *maps[2].getResultPosition(b.getAffineDimExpr(loopNumber));
  Value first = arith::MulIOp::create(b, loc, at, constant(inner));
  auto [offsets, extents, strides] = slicesOf(sums, resultDim, first, step * inner);
  Value part = tensor::ExtractSliceOp::create(b, loc, sums, offsets, extents, strides);
  Value operands[2] = {op.getA(), op.getB()};
  operands[widened.operand] = tile;
  Value &other = operands[1 - widened.operand];
  if (std::optional<unsigned> dim = maps[1 - widened.operand].getResultPosition(b.getAffineDimExpr(loopNumber))) {
    auto [begins, sizes, steps] = slicesOf(other, *dim, first, step * inner); // a batch
    other = tensor::ExtractSliceOp::create(b, loc, other, begins, sizes, steps);
  }
  part = ContractOp::create(b, loc, TypeRange{part.getType()}, op.getIndexingMaps(), operands[0], operands[1], part,
                            ValueRange{}, op.getOverwriteAttr(), StringAttr())
             .getResult()
             .front();
  sums = tensor::InsertSliceOp::create(b, loc, part, sums, offsets, extents, strides);
  scf::YieldOp::create(b, loc, sums);
  op.getResult().front().replaceAllUsesWith(loop.getResult(0));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The operand as it is computed elementwise from tensors of fewer bytes; nullopt if it is not.
static std::optional<Widened> matchWidened(ContractOp op, unsigned operand) {
  Value value = operand ? op.getB() : op.getA();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() < kMinElements)
    return std::nullopt;
  Widened widened{operand, value, {}, {}, {}, {}};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    widened.groups.push_back({dim});
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>()) {
    widened.value = collapse.getSrc();
    widened.groups = collapse.getReassociationIndices();
  }
  auto producer = widened.value.getDefiningOp<linalg::GenericOp>();
  if (producer && producer.getNumReductionLoops() == 0 && producer.getNumDpsInits() == 1 &&
      producer->getNumResults() == 1 && producer.hasPureTensorSemantics() && producer.getNumDpsInputs() > 0 &&
      !producer.hasDynamicShape() && !target::hasAssertion(producer) &&
      !producer.payloadUsesValueFromOperand(producer.getDpsInitOperand(0))) {
    SmallVector<AffineMap> indexing = producer.getIndexingMapsArray();
    AffineMap out = indexing.pop_back_val();
    bool isSimple = out.isPermutation();
    int64_t bytes = 0;
    for (auto [input, map] : llvm::zip(producer.getDpsInputs(), indexing)) {
      isSimple &= map.isProjectedPermutation() && isa<RankedTensorType>(input.getType());
      if (!isSimple)
        break;
      bytes += getTensorBytes(input.getType());
      widened.inputs.push_back(input);
      widened.maps.push_back(map.compose(inversePermutation(out)));
    }
    if (isSimple && 2 * bytes <= getTensorBytes(type)) {
      widened.producer = producer;
      return widened;
    }
  }
  // A stored weight of 16 bits itself.
  if (type.getElementTypeBitWidth() != 16)
    return std::nullopt;
  widened = {operand, value, {}, {value}, {AffineMap::getMultiDimIdentityMap(type.getRank(), op.getContext())}, {}};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    widened.groups.push_back({dim});
  return widened;
}

namespace {
struct WidenedOperands : spmd::impl::SpmdCpuWidenedOperandsBase<WidenedOperands> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    // A change of type moves behind a reshape of its operand, to the op that it is fused with.
    RewritePatternSet set(context);
    linalg::populateFoldReshapeOpsByExpansionPatterns(set, [](OpOperand *operand) {
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      return producer && isa<tensor::ExpandShapeOp>(operand->getOwner()) && producer.getNumDpsInputs() == 1 &&
             producer->hasOneUse() && llvm::hasSingleElement(producer.getBlock()->without_terminator()) &&
             isa<arith::BitcastOp>(producer.getBlock()->front());
    });
    linalg::populateElementwiseOpsFusionPatterns(set, [](OpOperand *operand) {
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      return producer && producer->hasOneUse() && llvm::hasSingleElement(producer.getBlock()->without_terminator()) &&
             isa<arith::BitcastOp>(producer.getBlock()->front());
    });
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      return signalPassFailure();
    SmallVector<ContractOp> ops;
    getOperation().walk([&](ContractOp op) { ops.push_back(op); });
    for (ContractOp op : ops)
      rewrite(op);
  }

private:
  void rewrite(ContractOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getC().getType());
    if (!type || op.isFused() || op->getNumResults() != 1 || !op.getLoopSizes() ||
        (!op.getOverwrite() && type.getElementTypeBitWidth() == 16))
      return;
    std::optional<Widened> found = matchWidened(op, 0), second = matchWidened(op, 1);
    if (!found || (second && second->value.getType() != found->value.getType() &&
                   getTensorBytes(second->value.getType()) > getTensorBytes(found->value.getType())))
      found = second;
    if (!found)
      return;
    WidenedProduct product(op, *found);
    if (product.countRows() <= kMaxRows) {
      if (!product.makeRows())
        product.makeNest();
    } else if (found->producer) {
      product.makeTiles();
    }
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
