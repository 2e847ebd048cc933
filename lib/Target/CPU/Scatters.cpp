//===- Scatters.cpp - Scatters as loops over the updates ------------------===//
//
// Replaces the visit of all elements for each update (`Common/ScatterMatch.h`) by:
//
//   for r: out[at[r], v] += update[r, v], if at[r] is an index of the result
//
// in the same order of r for each element, so that the results are bitwise equal.
//
//===----------------------------------------------------------------------===//

#include "../Common/ScatterMatch.h"
#include "shardkit/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUSCATTERS
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using mlir::spmd::target::Scatter;

namespace {

class Lowering {
public:
  Lowering(linalg::GenericOp op, const Scatter &scatter)
      : op(op), scatter(scatter), body(*op.getBody()), maps(op.getIndexingMapsArray()) {}

  void lower() {
    OpBuilder b(op);
    Location loc = op.getLoc();
    // The loops that the addresses depend on, and that are not summed, come first.
    SmallVector<unsigned> loops;
    for (bool reduces : {false, true})
      for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray()))
        if ((kind == utils::IteratorType::reduction) == reduces && (reduces || scatter.isDeciding(d)))
          loops.push_back(d);
    SmallVector<OpFoldResult> ranges;
    for (Range range : cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc))
      ranges.push_back(range.size);
    auto value = [&](OpBuilder &b, OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, loc, size); };
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    SmallVector<Value> low(loops.size(), zero), high, step(loops.size(), one);
    for (unsigned d : loops)
      high.push_back(value(b, ranges[d]));
    // A result without elements has none to read.
    for (const Scatter::Address &address : scatter.getAddresses())
      if (auto size = dyn_cast<Value>(ranges[address.loop]))
        high.front() = arith::SelectOp::create(
            b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size, zero), zero, high.front());
    scf::LoopNest nest =
        scf::buildLoopNest(b, loc, low, high, step, ValueRange{op.getDpsInits().front()},
                           [&](OpBuilder &b, Location loc, ValueRange indices, ValueRange carried) -> scf::ValueVector {
                             SmallVector<Value> at(op.getNumLoops());
                             for (auto [d, index] : llvm::zip(loops, indices))
                               at[d] = index;
                             // No address depends on the loop of another one.
                             SmallVector<Value> addressed = scatter.emitIndices(
                                 b, at, [&](OpBuilder &b, OpOperand &operand) { return read(b, operand, at); });
                             for (auto [address, index] : llvm::zip_equal(scatter.getAddresses(), addressed)) {
                               // At other elements the condition of the body is false.
                               Value size = value(b, ranges[address.loop]);
                               Value isInBounds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
                               at[address.loop] = arith::SelectOp::create(b, loc, isInBounds, index, zero);
                             }
                             return {update(b, loc, carried.front(), at, ranges)};
                           });
    op->replaceAllUsesWith(nest.results);
    op->erase();
  }

private:
  /// An element of an operand at loops with known indices.
  Value read(OpBuilder &b, OpOperand &operand, ArrayRef<Value> at) {
    if (!isa<TensorType>(operand.get().getType()))
      return operand.get();
    SmallVector<Value> indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      indices.push_back(at[cast<AffineDimExpr>(expr).getPosition()]);
    return tensor::ExtractOp::create(b, op.getLoc(), operand.get(), indices);
  }

  /// The body at these indices, over the other loops, applied to the element of `result`.
  Value update(OpBuilder &b, Location loc, Value result, ArrayRef<Value> at, ArrayRef<OpFoldResult> ranges) {
    SmallVector<unsigned> number(at.size());
    unsigned rank = 0;
    for (auto [d, index] : llvm::enumerate(at))
      if (!index)
        number[d] = rank++;
    SmallVector<OpFoldResult> offsets, sizes, strides;
    SmallVector<AffineMap> localMaps;
    auto slice = [&](Value value, AffineMap map) -> Value {
      SmallVector<AffineExpr> exprs;
      SmallVector<int64_t> shape;
      offsets.clear(), sizes.clear();
      for (AffineExpr expr : map.getResults()) {
        unsigned d = cast<AffineDimExpr>(expr).getPosition();
        offsets.push_back(at[d] ? OpFoldResult(at[d]) : b.getIndexAttr(0));
        sizes.push_back(at[d] ? b.getIndexAttr(1) : ranges[d]);
        if (at[d])
          continue;
        exprs.push_back(b.getAffineDimExpr(number[d]));
        shape.push_back(getConstantIntValue(ranges[d]).value_or(ShapedType::kDynamic));
      }
      strides.assign(offsets.size(), b.getIndexAttr(1));
      localMaps.push_back(AffineMap::get(rank, 0, exprs, b.getContext()));
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        return value;
      return tensor::ExtractSliceOp::create(b, loc, type.clone(shape), value, offsets, sizes, strides);
    };
    SmallVector<Value> ins;
    for (auto [value, map] : llvm::zip(op.getDpsInputs(), maps))
      ins.push_back(slice(value, map));
    Value row = slice(result, maps.back());
    auto generic = linalg::GenericOp::create(b, loc, row.getType(), ins, row, localMaps,
                                             SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel));
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&generic.getRegion(), {}, body.getArgumentTypes(),
                                 SmallVector<Location>(body.getNumArguments(), loc));
    IRMapping known;
    known.map(body.getArguments(), block->getArguments());
    for (Operation &inner : body) {
      auto index = dyn_cast<linalg::IndexOp>(inner);
      if (index && at[index.getDim()])
        known.map(index.getResult(), at[index.getDim()]);
      else if (index)
        known.map(index.getResult(), linalg::IndexOp::create(b, loc, number[index.getDim()]).getResult());
      else
        b.clone(inner, known);
    }
    b.setInsertionPointAfter(generic);
    return tensor::InsertSliceOp::create(b, loc, generic.getResult(0), result, offsets, sizes, strides);
  }

  linalg::GenericOp op;
  const Scatter &scatter;
  Block &body;
  SmallVector<AffineMap> maps;
};

struct Scatters : spmd::impl::SpmdCpuScattersBase<Scatters> {
  void runOnOperation() override {
    getOperation().walk([&](tensor::ScatterOp op) { spmd::target::expandScatter(op); });
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      if (std::optional<Scatter> scatter = Scatter::match(op))
        Lowering(op, *scatter).lower();
  }
};

} // namespace
