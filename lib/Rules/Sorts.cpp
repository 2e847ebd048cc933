//===- Sorts.cpp - The rule of sorts, and sorts as other ops --------------===//

#include "shardkit/Rules/Sorts.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The sorted dim is a selection of as many candidates as the results have.
struct SortModel : ShardingRuleOpInterface::ExternalModel<SortModel, SortOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto sort = cast<SortOp>(op);
    ShardingRule rule;
    SmallVector<int32_t> factors;
    for (int64_t size : sort.getInputType().getShape())
      factors.push_back(rule.addFactor(size));
    int32_t &sorted = factors[sort.getDimension()];
    rule.setKind(sorted, FactorKind::Selection);
    if (!ShapedType::isDynamic(sort.getKeptSize()))
      rule.setMinShard(sorted, sort.getKeptSize());
    for (Value input : sort.getInputs()) {
      rule.addOperand(input);
      rule.addDims(factors);
    }
    sorted = -1;
    for (Value output : sort.getOutputs()) {
      rule.addResult(output);
      rule.addDims(factors);
    }
    return rule;
  }
  /// Pure; partition orders padding after all elements.
  std::optional<PaddingNeeds> getPaddingNeeds(Operation *, const ShardingRule &, int32_t) const {
    return PaddingNeeds();
  }
};

/// Dims up to this size are sorted by counting.
constexpr int64_t kMaxCounted = 128;

/// Expands one sort before it.
class Expansion {
public:
  explicit Expansion(SortOp op)
      : b(op), loc(op.getLoc()), op(op), rank(op.getInputType().getRank()), dim(op.getDimension()),
        size(op.getSortedSize()), kept(op.getKeptSize()), first(op.getLast() && kept != size ? size - kept : 0) {}

  SmallVector<Value> run() { return size <= kMaxCounted && size >= 0 ? pickByRank() : runNetwork(); }

private:
  SmallVector<Value> pickByRank();
  /// Per element the number of those that come before it.
  Value countBefore();
  SmallVector<Value> runNetwork();
  /// One round: elements i and i ^ mask are compared, and the lower index gets the one that comes first. Past the end
  /// elements would hold what comes last, which never moves.
  SmallVector<Value> runRound(ValueRange carried, Value mask);
  Value getIndices();
  Value getSize();
  /// The number of rounds.
  Value countRounds(int64_t known);
  /// The elements that are kept along the sorted dim.
  Value slice(Value value);

  /// Exactly one of two elements comes first: if the order does not decide, that with the earlier index.
  Value isFirst(OpBuilder &body, ValueRange x, ValueRange y, Value isEarlier) const;
  /// Of the sizes of a value: loops have those of what they carry.
  Value createEmpty(Type element, Value like);
  Value constant(OpBuilder &builder, int64_t value) const {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  OpBuilder b;
  Location loc;
  SortOp op;
  int64_t rank, dim, size, kept, first;
};

} // namespace

/// Rounds of the network by the mask that pairs indices. All comparators are upwards.
static SmallVector<int32_t> getMasks(int64_t size) {
  SmallVector<int32_t> masks;
  for (unsigned k = 1; k <= llvm::Log2_64_Ceil(size); ++k) {
    masks.push_back((1 << k) - 1);
    for (int j = int(k) - 2; j >= 0; --j)
      masks.push_back(1 << j);
  }
  return masks;
}

Value spmd::emitOrder(OpBuilder &b, SortOp op, ValueRange first, ValueRange second) {
  IRMapping map;
  Block &body = op.getOrder().front();
  for (auto [i, x, y] : llvm::enumerate(first, second)) {
    map.map(body.getArgument(2 * i), x);
    map.map(body.getArgument(2 * i + 1), y);
  }
  for (Operation &inner : body.without_terminator())
    b.clone(inner, map);
  return map.lookupOrDefault(cast<YieldOp>(body.back()).getBefore());
}

Value Expansion::isFirst(OpBuilder &body, ValueRange x, ValueRange y, Value isEarlier) const {
  Value before = emitOrder(body, op, x, y), after = emitOrder(body, op, y, x);
  Value decided = arith::XOrIOp::create(body, loc, before, after);
  return arith::SelectOp::create(body, loc, decided, before, isEarlier);
}

Value Expansion::createEmpty(Type element, Value like) {
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, like), element);
}

Value Expansion::slice(Value value) {
  if (kept == size)
    return value;
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), steps(rank, b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  offsets[dim] = b.getIndexAttr(first);
  sizes[dim] = b.getIndexAttr(kept);
  return tensor::ExtractSliceOp::create(b, loc, value, offsets, sizes, steps);
}

Value Expansion::countBefore() {
  Type count = b.getI32Type();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(count));
  Value zeros = linalg::FillOp::create(b, loc, zero, createEmpty(count, op.getInputs().front())).getResult(0);
  AffineMap own = b.getMultiDimIdentityMap(rank + 1).dropResult(rank);
  AffineMap other = own.dropResult(dim).insertResult(b.getAffineDimExpr(rank), dim);
  unsigned numInputs = op.getInputs().size();
  SmallVector<Value> inputs(op.getInputs());
  llvm::append_range(inputs, op.getInputs());
  SmallVector<AffineMap> maps(numInputs, own);
  maps.append(numInputs, other);
  maps.push_back(own);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{zeros.getType()}, inputs, ValueRange{zeros}, maps, loops,
      [&](OpBuilder &body, Location loc, ValueRange args) {
        Value isEarlier =
            arith::CmpIOp::create(body, loc, arith::CmpIPredicate::ult, linalg::IndexOp::create(body, loc, rank),
                                  linalg::IndexOp::create(body, loc, dim));
        Value before = isFirst(body, args.slice(numInputs, numInputs), args.take_front(numInputs), isEarlier);
        Value one = arith::ExtUIOp::create(body, loc, count, before);
        linalg::YieldOp::create(body, loc, ValueRange{arith::AddIOp::create(body, loc, args.back(), one)});
      });
  return generic.getResult(0);
}

SmallVector<Value> Expansion::pickByRank() {
  Value ranks = countBefore();
  AffineMap own = b.getMultiDimIdentityMap(rank + 1).dropResult(rank);
  AffineMap other = own.dropResult(dim).insertResult(b.getAffineDimExpr(rank), dim);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  SmallVector<Value> picked;
  for (Value input : op.getInputs()) {
    Value init = slice(input);
    auto generic = linalg::GenericOp::create(
        b, loc, TypeRange{init.getType()}, ValueRange{ranks, input}, ValueRange{init}, {other, other, own}, loops,
        [&](OpBuilder &body, Location loc, ValueRange args) {
          Value at = linalg::IndexOp::create(body, loc, dim);
          if (first > 0)
            at = arith::AddIOp::create(body, loc, at, constant(body, first));
          at = arith::IndexCastOp::create(body, loc, args[0].getType(), at);
          Value isHere = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq, args[0], at);
          linalg::YieldOp::create(body, loc, ValueRange{arith::SelectOp::create(body, loc, isHere, args[1], args[2])});
        });
    picked.push_back(generic.getResult(0));
  }
  return picked;
}

Value Expansion::getIndices() {
  Value empty = createEmpty(b.getI32Type(), op.getInputs().front());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{empty.getType()}, ValueRange(), ValueRange{empty}, {b.getMultiDimIdentityMap(rank)}, loops,
      [&](OpBuilder &body, Location loc, ValueRange args) {
        Value index = linalg::IndexOp::create(body, loc, dim);
        linalg::YieldOp::create(body, loc, ValueRange{arith::IndexCastOp::create(body, loc, args[0].getType(), index)});
      });
  return generic.getResult(0);
}

Value Expansion::getSize() {
  return getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, op.getInputs().front(), dim));
}

Value Expansion::countRounds(int64_t known) {
  if (!ShapedType::isDynamic(size))
    return constant(b, known);
  // 1 + 2 + ... + log2(size), rounded up: the rounds of larger sizes follow those of smaller ones.
  Type i64 = b.getI64Type();
  auto number = [&](int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  Value last = arith::IndexCastOp::create(b, loc, i64, arith::SubIOp::create(b, loc, getSize(), constant(b, 1)));
  last = arith::MaxSIOp::create(b, loc, last, number(0));
  Value digits = arith::SubIOp::create(b, loc, number(64), math::CountLeadingZerosOp::create(b, loc, last));
  Value rounds = arith::MulIOp::create(b, loc, digits, arith::AddIOp::create(b, loc, digits, number(1)));
  rounds = arith::ShRUIOp::create(b, loc, rounds, number(1));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), rounds);
}

SmallVector<Value> Expansion::runNetwork() {
  constexpr int64_t largest = int64_t(1) << 31; // Indices are i32.
  SmallVector<int32_t> masks = getMasks(ShapedType::isDynamic(size) ? largest : size);
  auto tableType = RankedTensorType::get({int64_t(masks.size())}, b.getI32Type());
  Value table = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(tableType, ArrayRef<int32_t>(masks)));
  SmallVector<Value> inits(op.getInputs());
  inits.push_back(getIndices());
  auto loop = scf::ForOp::create(b, loc, constant(b, 0), countRounds(masks.size()), constant(b, 1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value mask = tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get({}, b.getI32Type()), table, ArrayRef<OpFoldResult>(loop.getInductionVar()),
      ArrayRef<OpFoldResult>(b.getIndexAttr(1)), ArrayRef<OpFoldResult>(b.getIndexAttr(1)));
  scf::YieldOp::create(b, loc, runRound(loop.getRegionIterArgs(), mask));
  b.setInsertionPointAfter(loop);
  SmallVector<Value> sorted;
  for (Value value : loop.getResults().drop_back())
    sorted.push_back(slice(value));
  return sorted;
}

SmallVector<Value> Expansion::runRound(ValueRange carried, Value mask) {
  SmallVector<Value> inputs(carried), empty;
  inputs.push_back(mask);
  for (Value value : carried)
    empty.push_back(createEmpty(cast<RankedTensorType>(value.getType()).getElementType(), value));
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(2 * carried.size() + 1, identity);
  maps[carried.size()] = AffineMap::get(rank, 0, b.getContext());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Value end = getSize();
  auto generic = linalg::GenericOp::create(
      b, loc, carried.getTypes(), inputs, empty, maps, loops, [&](OpBuilder &body, Location loc, ValueRange args) {
        ValueRange own = args.take_front(carried.size());
        SmallVector<Value> at, other;
        for (int64_t d = 0; d < rank; ++d)
          at.push_back(linalg::IndexOp::create(body, loc, d));
        Value index = at[dim];
        Value bits = arith::IndexCastOp::create(body, loc, body.getIndexType(), args[carried.size()]);
        Value paired = arith::XOrIOp::create(body, loc, index, bits);
        auto isLess = [&](Value x, Value y) -> Value {
          return arith::CmpIOp::create(body, loc, arith::CmpIPredicate::ult, x, y);
        };
        at[dim] = arith::SelectOp::create(body, loc, isLess(paired, end), paired, index);
        for (Value value : carried)
          other.push_back(tensor::ExtractOp::create(body, loc, value, at));
        Value isFirstHere =
            isFirst(body, own.drop_back(), ValueRange(other).drop_back(), isLess(own.back(), other.back()));
        Value swaps = arith::XOrIOp::create(body, loc, isLess(index, paired), isFirstHere);
        SmallVector<Value> result;
        for (auto [mine, theirs] : llvm::zip(own, other))
          result.push_back(arith::SelectOp::create(body, loc, swaps, theirs, mine));
        linalg::YieldOp::create(body, loc, result);
      });
  return SmallVector<Value>(generic.getResults());
}

void spmd::expandSorts(Operation *root) {
  SmallVector<SortOp> sorts;
  root->walk([&](SortOp op) { sorts.push_back(op); });
  for (SortOp op : sorts) {
    op->replaceAllUsesWith(Expansion(op).run());
    op.erase();
  }
}

void spmd::registerSortShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, SPMDDialect *) { SortOp::attachInterface<SortModel>(*context); });
}
