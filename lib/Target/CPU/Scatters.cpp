//===- Scatters.cpp - Updates of places that data say ---------------------===//
//
//   out[p, v] = sum over r of (p == at[r] ? update[r, v] : -0.0)
//
// is how a scatter stands on tensors, where any of its dims may be cut: every place
// looks at every update. Only one place is changed by each:
//
//   for r: out[at[r], v] += update[r, v], if at[r] is a place
//
// in the same order of r for each place, so that the bits are the same.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "shardkit/Target/CPU/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUSCATTERS
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

/// Whether `op` with a constant gives its other operand, bit by bit.
static bool isNeutral(Operation *op, Value constant) {
  APFloat real(0.0);
  if (matchPattern(constant, m_ConstantFloat(&real)))
    return isa<arith::AddFOp>(op) ? real.isNegZero() : isa<arith::MulFOp>(op) && real.isExactlyValue(1.0);
  APInt number;
  if (!matchPattern(constant, m_ConstantInt(&number)))
    return false;
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp>(op))
    return number.isZero();
  return isa<arith::MulIOp>(op) ? number.isOne() : isa<arith::AndIOp>(op) && number.isAllOnes();
}

/// The condition without which a body yields `old`, what was there.
static Value getCondition(Value yielded, Value old) {
  if (auto select = yielded.getDefiningOp<arith::SelectOp>())
    return select.getFalseValue() == old ? select.getCondition() : Value();
  Operation *op = yielded.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return {};
  unsigned other = op->getOperand(0) == old ? 1 : 0;
  auto select = op->getOperand(other).getDefiningOp<arith::SelectOp>();
  if (!select || op->getOperand(1 - other) != old)
    return {};
  bool isExtreme = isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp,
                       arith::MaxUIOp, arith::MinUIOp>(op);
  bool changesNothing = isExtreme ? select.getFalseValue() == old : isNeutral(op, select.getFalseValue());
  return changesNothing ? select.getCondition() : Value();
}

namespace {

/// A dim of the result whose place the others say: `loop + rest == place`.
struct Address {
  unsigned loop;
  Value place;
  SmallVector<Value> rest;
};

class Scatter {
public:
  explicit Scatter(linalg::GenericOp op)
      : op(op), body(*op.getBody()), maps(op.getIndexingMapsArray()),
        deciding(op.getNumLoops()) {}

  /// False where it is none.
  bool match() {
    if (op.getNumDpsInits() != 1 || op->getNumResults() != 1 || op.hasDynamicShape() ||
        op.getNumReductionLoops() == 0)
      return false;
    for (AffineMap map : maps)
      if (!map.isProjectedPermutation())
        return false;
    if (maps.back().getNumResults() != op.getNumParallelLoops())
      return false;
    SmallVector<Value> terms = {getCondition(body.getTerminator()->getOperand(0), body.getArguments().back())};
    if (!terms.front())
      return false;
    for (unsigned i = 0; i < terms.size(); ++i)
      if (auto both = terms[i].getDefiningOp<arith::AndIOp>())
        terms.append({both.getLhs(), both.getRhs()});
    for (Value term : terms)
      if (auto compare = term.getDefiningOp<arith::CmpIOp>();
          compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
          !addAddress(compare.getLhs(), compare.getRhs()))
        addAddress(compare.getRhs(), compare.getLhs());
    return !addresses.empty();
  }

  void lower() {
    OpBuilder b(op);
    Location loc = op.getLoc();
    // What the addresses depend on and is no sum comes first: each is on its own.
    SmallVector<unsigned> loops;
    for (bool reduces : {false, true})
      for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray()))
        if ((kind == utils::IteratorType::reduction) == reduces && (reduces || deciding.test(d)))
          loops.push_back(d);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    SmallVector<Value> low(loops.size(), zero), high, step(loops.size(), one);
    for (unsigned d : loops)
      high.push_back(arith::ConstantIndexOp::create(b, loc, ranges[d]));
    scf::LoopNest nest = scf::buildLoopNest(
        b, loc, low, high, step, ValueRange{op.getDpsInits().front()},
        [&](OpBuilder &b, Location loc, ValueRange indices, ValueRange carried) -> scf::ValueVector {
          SmallVector<Value> at(op.getNumLoops());
          for (auto [d, index] : llvm::zip(loops, indices))
            at[d] = index;
          IRMapping known;
          for (Address &address : addresses) {
            Value place = evaluate(b, address.place, at, known);
            for (Value value : address.rest)
              place = arith::SubIOp::create(b, loc, place, evaluate(b, value, at, known));
            // Elsewhere the body finds that it is not meant.
            Value size = arith::ConstantIndexOp::create(b, loc, ranges[address.loop]);
            Value isPlace = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, size);
            at[address.loop] = arith::SelectOp::create(b, loc, isPlace, place, zero);
          }
          return {update(b, loc, carried.front(), at, ranges)};
        });
    op->replaceAllUsesWith(nest.results);
    op->erase();
  }

private:
  /// The loops that a value of the body depends on; nothing where it is not to be
  /// known before.
  bool addLoops(Value value, llvm::SmallBitVector &loops) {
    if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == &body) {
      if (arg.getArgNumber() == op.getNumDpsInputs())
        return false;
      for (AffineExpr expr : maps[arg.getArgNumber()].getResults())
        loops.set(cast<AffineDimExpr>(expr).getPosition());
      return true;
    }
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &body)
      return true;
    if (auto index = dyn_cast<linalg::IndexOp>(def)) {
      loops.set(index.getDim());
      return true;
    }
    return def->getNumRegions() == 0 && isMemoryEffectFree(def) &&
           llvm::all_of(def->getOperands(), [&](Value operand) { return addLoops(operand, loops); });
  }

  /// `sum` holds the index of a dim of the result, and nothing else depends on it.
  bool addAddress(Value sum, Value place) {
    SmallVector<Value> addends = {sum}, rest;
    std::optional<unsigned> loop;
    for (unsigned i = 0; i < addends.size(); ++i) {
      auto index = addends[i].getDefiningOp<linalg::IndexOp>();
      if (auto add = addends[i].getDefiningOp<arith::AddIOp>())
        addends.append({add.getLhs(), add.getRhs()});
      else if (index && !loop && maps.back().isFunctionOfDim(index.getDim()))
        loop = index.getDim();
      else
        rest.push_back(addends[i]);
    }
    llvm::SmallBitVector loops = deciding;
    if (!loop || !addLoops(place, loops) ||
        !llvm::all_of(rest, [&](Value value) { return addLoops(value, loops); }) || loops.test(*loop) ||
        llvm::any_of(addresses, [&](Address &a) { return a.loop == *loop || loops.test(a.loop); }))
      return false;
    deciding = loops;
    addresses.push_back({*loop, place, rest});
    return true;
  }

  /// A value of the body that depends on loops whose index is known.
  Value evaluate(OpBuilder &b, Value value, ArrayRef<Value> at, IRMapping &known) {
    if (Value found = known.lookupOrNull(value))
      return found;
    Value made = value;
    if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == &body) {
      made = op.getDpsInputs()[arg.getArgNumber()];
      SmallVector<Value> indices;
      for (AffineExpr expr : maps[arg.getArgNumber()].getResults())
        indices.push_back(at[cast<AffineDimExpr>(expr).getPosition()]);
      if (isa<TensorType>(made.getType()))
        made = tensor::ExtractOp::create(b, op.getLoc(), made, indices);
    } else if (Operation *def = value.getDefiningOp(); def && def->getBlock() == &body) {
      if (auto index = dyn_cast<linalg::IndexOp>(def)) {
        made = at[index.getDim()];
      } else {
        for (Value operand : def->getOperands())
          evaluate(b, operand, at, known);
        made = b.clone(*def, known)->getResult(cast<OpResult>(value).getResultNumber());
      }
    }
    known.map(value, made);
    return made;
  }

  /// The body at these indices, over the loops that have none, of what `result` has there.
  Value update(OpBuilder &b, Location loc, Value result, ArrayRef<Value> at, ArrayRef<int64_t> ranges) {
    SmallVector<unsigned> number(at.size());
    unsigned rank = 0;
    for (auto [d, index] : llvm::enumerate(at))
      if (!index)
        number[d] = rank++;
    SmallVector<OpFoldResult> offsets, sizes, strides;
    SmallVector<AffineMap> ownMaps;
    auto cut = [&](Value value, AffineMap map) -> Value {
      SmallVector<AffineExpr> exprs;
      SmallVector<int64_t> shape;
      offsets.clear(), sizes.clear();
      for (AffineExpr expr : map.getResults()) {
        unsigned d = cast<AffineDimExpr>(expr).getPosition();
        offsets.push_back(at[d] ? OpFoldResult(at[d]) : b.getIndexAttr(0));
        sizes.push_back(b.getIndexAttr(at[d] ? 1 : ranges[d]));
        if (at[d])
          continue;
        exprs.push_back(b.getAffineDimExpr(number[d]));
        shape.push_back(ranges[d]);
      }
      strides.assign(offsets.size(), b.getIndexAttr(1));
      ownMaps.push_back(AffineMap::get(rank, 0, exprs, b.getContext()));
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        return value;
      return tensor::ExtractSliceOp::create(b, loc, type.clone(shape), value, offsets, sizes, strides);
    };
    SmallVector<Value> ins;
    for (auto [value, map] : llvm::zip(op.getDpsInputs(), maps))
      ins.push_back(cut(value, map));
    Value row = cut(result, maps.back());
    auto generic = linalg::GenericOp::create(
        b, loc, row.getType(), ins, row, ownMaps,
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
  Block &body;
  SmallVector<AffineMap> maps;
  SmallVector<Address> addresses;
  llvm::SmallBitVector deciding; ///< Loops that the addresses depend on.
};

struct Scatters : spmd::impl::SpmdCpuScattersBase<Scatters> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      if (Scatter scatter(op); scatter.match())
        scatter.lower();
  }
};

} // namespace
