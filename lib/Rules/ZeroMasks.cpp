//===- ZeroMasks.cpp - Where tensors are zero because of a mask -----------===//

#include "shardkit/Rules/ZeroMasks.h"

#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spmd;

std::optional<int64_t> spmd::getDimOfLoop(AffineMap map, unsigned loop) {
  int64_t dim = -1;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (!isa<AffineDimExpr>(expr) || dim >= 0)
      return std::nullopt;
    dim = d;
  }
  return dim;
}

static std::optional<unsigned> getLoopOfDim(AffineMap map, int64_t dim) {
  auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
  if (!expr || getDimOfLoop(map, expr.getPosition()) != dim)
    return std::nullopt;
  return expr.getPosition();
}

static AffineMap getResultMap(linalg::LinalgOp op, OpResult result) { return op.getIndexingMapMatchingResult(result); }

bool spmd::isInvariant(Value value, int64_t dim) {
  if (cast<RankedTensorType>(value.getType()).getDimSize(dim) == 1 || getFillElement(value))
    return true;
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || op.getNumReductionLoops() > 0)
    return false;
  std::optional<unsigned> loop = getLoopOfDim(getResultMap(op, cast<OpResult>(value)), dim);
  if (!loop)
    return false;
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
    if (index.getDim() == *loop)
      return false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()) || op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    std::optional<int64_t> read = getDimOfLoop(op.getMatchingIndexingMap(&operand), *loop);
    if (!read || (*read >= 0 && !isInvariant(operand.get(), *read)))
      return false;
  }
  // What the body reads elsewhere it reads at indices, which do not depend on the loop.
  return true;
}

namespace {

/// Where a scalar of a body is zero.
struct Zero {
  enum Kind : uint8_t { Unknown, Always, Masked } kind = Unknown;
  ZeroMask mask; ///< Null where several masks leave elements.
};

/// One structured op whose result has both dims.
class BodyMasks {
public:
  BodyMasks(ZeroMasks &masks, linalg::LinalgOp op, unsigned group, unsigned row)
      : masks(masks), op(op), group(group), row(row) {}

  Zero find(Value scalar);

private:
  /// The dims of an operand that the two loops read.
  std::optional<MaskedDims> getDims(OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::optional<int64_t> g = getDimOfLoop(map, group), r = getDimOfLoop(map, row);
    if (!g || !r || *g < 0 || *r < 0)
      return std::nullopt;
    return MaskedDims{*g, *r};
  }
  ZeroMask findCondition(Value condition);
  /// The same in all iterations.
  bool isConstant(Value scalar);
  /// A number of a group, made of its index in the body.
  bool isGroup(Value scalar);
  /// True of one group of each row: a comparison with the number of the group.
  bool isOneHot(Value condition);
  static Zero either(Zero a, Zero b) { return a.kind == Zero::Always || b.kind == Zero::Unknown ? a : b; }
  static Zero both(Zero a, Zero b) {
    if (a.kind == Zero::Always || b.kind == Zero::Unknown)
      return b;
    if (b.kind == Zero::Always || a.kind == Zero::Unknown || a.mask == b.mask)
      return a;
    return {Zero::Masked, {}};
  }

  ZeroMasks &masks;
  linalg::LinalgOp op;
  unsigned group, row;
};

} // namespace

ZeroMask spmd::resolveMask(ZeroMask mask) {
  if (!getElementTypeOrSelf(mask.value).isInteger(1))
    return {};
  while (auto op = mask.value.getDefiningOp<linalg::LinalgOp>()) {
    if (op.getNumDpsInputs() != 1 || op->getNumResults() != 1 ||
        !isa<RankedTensorType>(op.getDpsInputOperand(0)->get().getType()))
      break;
    Value yielded = op.getBlock()->getTerminator()->getOperand(0);
    if (auto any = yielded.getDefiningOp<arith::OrIOp>();
        any && op.getNumReductionLoops() > 0 && isNeutralFill(op.getDpsInits().front(), ReductionKind::Or))
      yielded = any->getOperand(any.getLhs() == op.getBlock()->getArgument(0) ? 0 : 1);
    else if (op.getNumReductionLoops() > 0)
      break;
    if (yielded != op.getBlock()->getArgument(0))
      break;
    AffineMap out = getResultMap(op, cast<OpResult>(mask.value));
    AffineMap in = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    std::optional<unsigned> group = getLoopOfDim(out, mask.dims.group), row = getLoopOfDim(out, mask.dims.row);
    if (!group || !row)
      break;
    std::optional<int64_t> g = getDimOfLoop(in, *group), r = getDimOfLoop(in, *row);
    if (!g || !r || *g < 0 || *r < 0)
      break;
    mask = {op.getDpsInputOperand(0)->get(), {*g, *r}};
  }
  // One that is the same for all groups leaves each of them the same rows.
  if (isInvariant(mask.value, mask.dims.group) || isInvariant(mask.value, mask.dims.row))
    return {};
  return mask;
}

ZeroMask BodyMasks::findCondition(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    ZeroMask left = findCondition(both.getLhs());
    return left ? left : findCondition(both.getRhs());
  }
  auto arg = dyn_cast<BlockArgument>(condition);
  if (!arg || arg.getOwner() != op.getBlock())
    return {};
  OpOperand *operand = op.getMatchingOpOperand(arg);
  std::optional<MaskedDims> dims = getDims(*operand);
  return dims && op.isDpsInput(operand) ? resolveMask({operand->get(), *dims}) : ZeroMask();
}

bool BodyMasks::isConstant(Value scalar) {
  if (scalar.getParentBlock() != op.getBlock())
    return true;
  Operation *def = scalar.getDefiningOp();
  return def && !isa<linalg::IndexOp>(def) && isPure(def) && def->getNumRegions() == 0 &&
         llvm::all_of(def->getOperands(), [&](Value operand) { return isConstant(operand); });
}

bool BodyMasks::isGroup(Value scalar) {
  while (Operation *def = scalar.getDefiningOp()) {
    if (auto index = dyn_cast<linalg::IndexOp>(def))
      return index->getBlock() == op.getBlock() && index.getDim() == group;
    // The first group of a shard.
    if (isa<arith::AddIOp>(def) && isConstant(def->getOperand(0)) != isConstant(def->getOperand(1))) {
      scalar = def->getOperand(isConstant(def->getOperand(0)) ? 1 : 0);
      continue;
    }
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp,
             arith::UIToFPOp>(def))
      return false;
    scalar = def->getOperand(0);
  }
  return false;
}

bool BodyMasks::isOneHot(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
         isGroup(compare.getLhs()) != isGroup(compare.getRhs());
}

Zero BodyMasks::find(Value scalar) {
  if (matchPattern(scalar, m_AnyZeroFloat()) || matchPattern(scalar, m_Zero()))
    return {Zero::Always, {}};
  auto isZeroFill = [](Value tensor) {
    Attribute fill = getFillElement(tensor);
    return fill && (matchPattern(fill, m_AnyZeroFloat()) || matchPattern(fill, m_Zero()));
  };
  if (auto extract = scalar.getDefiningOp<tensor::ExtractOp>(); extract && isZeroFill(extract.getTensor()))
    return {Zero::Always, {}};
  if (auto arg = dyn_cast<BlockArgument>(scalar)) {
    if (arg.getOwner() != op.getBlock())
      return {};
    OpOperand *operand = op.getMatchingOpOperand(arg);
    if (!isa<RankedTensorType>(operand->get().getType()))
      return {};
    if (isZeroFill(operand->get()))
      return {Zero::Always, {}};
    std::optional<MaskedDims> dims = getDims(*operand);
    ZeroMask mask = dims && op.isDpsInput(operand) ? masks.find(operand->get(), *dims) : ZeroMask();
    return mask ? Zero{Zero::Masked, mask} : Zero();
  }
  Operation *def = scalar.getDefiningOp();
  if (def->getBlock() != op.getBlock())
    return {};
  if (auto select = dyn_cast<arith::SelectOp>(def)) {
    Zero ifTrue = find(select.getTrueValue()), ifFalse = find(select.getFalseValue());
    if (ifFalse.kind == Zero::Always) {
      if (ZeroMask mask = findCondition(select.getCondition()))
        return {Zero::Masked, mask};
      if (isOneHot(select.getCondition()))
        return {Zero::Masked, {}};
    }
    return both(ifTrue, ifFalse);
  }
  if (isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(def))
    return either(find(def->getOperand(0)), find(def->getOperand(1)));
  if (isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(def))
    return both(find(def->getOperand(0)), find(def->getOperand(1)));
  if (isa<arith::UIToFPOp, arith::ExtUIOp>(def) && def->getOperand(0).getType().isInteger(1)) {
    if (ZeroMask mask = findCondition(def->getOperand(0)))
      return {Zero::Masked, mask};
    return isOneHot(def->getOperand(0)) ? Zero{Zero::Masked, {}} : Zero();
  }
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
          arith::SIToFPOp, arith::UIToFPOp, math::TanhOp, math::ErfOp, math::AbsFOp, math::AbsIOp>(def))
    return find(def->getOperand(0));
  return {};
}

/// The value that the op adds to its accumulator, if that starts from zero.
static Value getAddedTerm(linalg::LinalgOp op, unsigned result) {
  Value yielded = op.getBlock()->getTerminator()->getOperand(result);
  if (op.getNumReductionLoops() == 0)
    return yielded;
  OpOperand *init = op.getDpsInitOperand(result);
  if (matchReduction(op, result) != ReductionKind::Sum || !isNeutralFill(init->get(), ReductionKind::Sum))
    return {};
  Operation *add = yielded.getDefiningOp();
  if (!add || add->getNumOperands() != 2)
    return {};
  Value accumulator = op.getMatchingBlockArgument(init);
  return add->getOperand(add->getOperand(0) == accumulator ? 1 : 0);
}

ZeroMask ZeroMasks::find(Value value, MaskedDims dims) {
  auto [it, isNew] = known_.try_emplace({value, {dims.group, dims.row}});
  if (!isNew)
    return it->second;
  ZeroMask mask;
  Value moved = getMoved_(value);
  if (moved && cast<ShapedType>(moved.getType()).getRank() == cast<ShapedType>(value.getType()).getRank()) {
    if (cast<ShapedType>(value.getType()).getRank() == 2 && find(moved, dims)) // shares of groups and rows
      mask = {value, dims};
  } else if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
    auto isWhole = [&](int64_t dim) {
      return slice.getSourceType().getDimSize(dim) == slice.getType().getDimSize(dim) &&
             !slice.getType().isDynamicDim(dim) && isZeroInteger(slice.getMixedOffsets()[dim]) &&
             isOneInteger(slice.getMixedStrides()[dim]);
    };
    if (slice.getSourceType().getRank() == slice.getType().getRank() && isWhole(dims.group) && isWhole(dims.row))
      mask = find(slice.getSource(), dims);
  } else if (auto op = value.getDefiningOp<linalg::LinalgOp>()) {
    AffineMap map = getResultMap(op, cast<OpResult>(value));
    std::optional<unsigned> group = getLoopOfDim(map, dims.group), row = getLoopOfDim(map, dims.row);
    if (group && row && *group != *row)
      if (Value term = getAddedTerm(op, cast<OpResult>(value).getResultNumber())) {
        Zero zero = BodyMasks(*this, op, *group, *row).find(term);
        if (zero.kind == Zero::Masked)
          mask = zero.mask;
        // Shares of groups and rows, of several masks, or of one that is made with them.
        if (zero.kind == Zero::Masked && !mask && cast<ShapedType>(value.getType()).getRank() == 2)
          mask = {value, dims};
      }
  }
  return known_[{value, {dims.group, dims.row}}] = mask;
}

//===----------------------------------------------------------------------===//
// How many groups a row has
//===----------------------------------------------------------------------===//

namespace {

/// A scalar of a body, and which loops of it are groups and rows, -1 where it has none.
struct Scalar {
  linalg::LinalgOp op;
  Value value;
  int64_t group, row;

  Scalar of(Value other) const { return {op, other, group, row}; }
  Operation *getDefiningOp() const { return value.getDefiningOp(); }
};

/// Counts the groups that have a row, by what a mask is made of.
class UsedGroups {
public:
  /// None if the mask does not tell.
  std::optional<int64_t> count(Value mask, MaskedDims dims);

private:
  std::optional<int64_t> count(Scalar scalar);
  /// What computes an element of a tensor: the scalar that its op yields.
  static std::optional<Scalar> enter(Value tensor, std::optional<int64_t> group, std::optional<int64_t> row);
  /// Through casts, and from elements of other tensors to what computes them.
  static Scalar resolve(Scalar scalar);
  static bool dependsOn(Scalar scalar, int64_t loop);
  static bool isGroupNumber(Scalar scalar);
  /// 1 if the condition holds from some row of a group on, -1 if up to one, else 0.
  static int getBoundKind(Scalar condition);
};

} // namespace

static bool isCast(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp,
             arith::UIToFPOp, arith::IndexCastOp, arith::IndexCastUIOp>(op);
}

std::optional<Scalar> UsedGroups::enter(Value tensor, std::optional<int64_t> group, std::optional<int64_t> row) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op || !group || !row)
    return std::nullopt;
  AffineMap map = getResultMap(op, cast<OpResult>(tensor));
  auto getLoop = [&](int64_t dim) -> std::optional<int64_t> {
    if (dim < 0)
      return -1;
    std::optional<unsigned> loop = getLoopOfDim(map, dim);
    return loop ? std::optional<int64_t>(*loop) : std::nullopt;
  };
  std::optional<int64_t> groupLoop = getLoop(*group), rowLoop = getLoop(*row);
  const unsigned result = cast<OpResult>(tensor).getResultNumber();
  Value term = op.getBlock()->getTerminator()->getOperand(result);
  if (op.getNumReductionLoops() > 0) {
    OpOperand *init = op.getDpsInitOperand(result);
    std::optional<ReductionKind> kind = matchReduction(op, result);
    Operation *combine = term.getDefiningOp();
    if ((kind != ReductionKind::Sum && kind != ReductionKind::Or) || !isNeutralFill(init->get(), *kind) || !combine ||
        combine->getNumOperands() != 2)
      return std::nullopt;
    term = combine->getOperand(combine->getOperand(0) == op.getMatchingBlockArgument(init) ? 1 : 0);
  }
  if (!groupLoop || !rowLoop)
    return std::nullopt;
  return Scalar{op, term, *groupLoop, *rowLoop};
}

Scalar UsedGroups::resolve(Scalar scalar) {
  while (true) {
    if (Operation *def = scalar.getDefiningOp(); def && isCast(def)) {
      scalar.value = def->getOperand(0);
      continue;
    }
    auto arg = dyn_cast<BlockArgument>(scalar.value);
    if (!arg || arg.getOwner() != scalar.op.getBlock())
      return scalar;
    OpOperand *operand = scalar.op.getMatchingOpOperand(arg);
    AffineMap map = scalar.op.getMatchingIndexingMap(operand);
    auto getDim = [&](int64_t loop) { return loop < 0 ? std::optional<int64_t>(-1) : getDimOfLoop(map, loop); };
    std::optional<Scalar> inside = enter(operand->get(), getDim(scalar.group), getDim(scalar.row));
    if (!inside || inside->op.getNumReductionLoops() > 0)
      return scalar;
    scalar = *inside;
  }
}

bool UsedGroups::dependsOn(Scalar scalar, int64_t loop) {
  if (loop < 0 || scalar.value.getParentBlock() != scalar.op.getBlock())
    return false;
  if (auto arg = dyn_cast<BlockArgument>(scalar.value)) {
    OpOperand *operand = scalar.op.getMatchingOpOperand(arg);
    std::optional<int64_t> dim = getDimOfLoop(scalar.op.getMatchingIndexingMap(operand), loop);
    return !dim || (*dim >= 0 && !isInvariant(operand->get(), *dim));
  }
  Operation *def = scalar.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(def))
    return int64_t(index.getDim()) == loop;
  return llvm::any_of(def->getOperands(), [&](Value operand) { return dependsOn(scalar.of(operand), loop); });
}

bool UsedGroups::isGroupNumber(Scalar scalar) {
  scalar = resolve(scalar);
  Operation *def = scalar.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(def))
    return int64_t(index.getDim()) == scalar.group;
  // The first group of a shard.
  return isa_and_nonnull<arith::AddIOp>(def) && llvm::any_of(llvm::seq(2), [&](int i) {
           return isGroupNumber(scalar.of(def->getOperand(i))) &&
                  !dependsOn(scalar.of(def->getOperand(1 - i)), scalar.group);
         });
}

int UsedGroups::getBoundKind(Scalar condition) {
  condition = resolve(condition);
  auto compare = dyn_cast_or_null<arith::CmpIOp>(condition.getDefiningOp());
  if (!compare)
    return 0;
  using P = arith::CmpIPredicate;
  const P predicate = compare.getPredicate();
  const bool isLess = llvm::is_contained({P::slt, P::sle, P::ult, P::ule}, predicate);
  if (!isLess && !llvm::is_contained({P::sgt, P::sge, P::ugt, P::uge}, predicate))
    return 0;
  auto isOfRow = [&](Value side) {
    return dependsOn(condition.of(side), condition.row) && !dependsOn(condition.of(side), condition.group);
  };
  auto isOfGroup = [&](Value side) {
    return dependsOn(condition.of(side), condition.group) && !dependsOn(condition.of(side), condition.row);
  };
  if (isOfRow(compare.getLhs()) && isOfGroup(compare.getRhs()))
    return isLess ? -1 : 1;
  if (isOfGroup(compare.getLhs()) && isOfRow(compare.getRhs()))
    return isLess ? 1 : -1;
  return 0;
}

std::optional<int64_t> UsedGroups::count(Scalar scalar) {
  scalar = resolve(scalar);
  if (auto arg = dyn_cast<BlockArgument>(scalar.value)) {
    OpOperand *operand = scalar.op.getMatchingOpOperand(arg);
    AffineMap map = scalar.op.getMatchingIndexingMap(operand);
    std::optional<int64_t> group, row;
    if (arg.getOwner() != scalar.op.getBlock() || scalar.group < 0 || scalar.row < 0 ||
        !(group = getDimOfLoop(map, scalar.group)) || !(row = getDimOfLoop(map, scalar.row)) || *group < 0 || *row < 0)
      return std::nullopt;
    return count(operand->get(), {*group, *row});
  }
  Operation *def = scalar.getDefiningOp();
  auto countOf = [&](unsigned i) { return count(scalar.of(def->getOperand(i))); };
  auto least = [](std::optional<int64_t> a, std::optional<int64_t> b) { return a && b ? std::min(a, b) : a ? a : b; };
  if (auto compare = dyn_cast<arith::CmpIOp>(def)) {
    if (compare.getPredicate() != arith::CmpIPredicate::eq)
      return std::nullopt;
    for (unsigned i : {0, 1}) {
      const Scalar chosen = scalar.of(def->getOperand(1 - i));
      if (!isGroupNumber(scalar.of(def->getOperand(i))) || dependsOn(chosen, scalar.group))
        continue;
      // One for each index of the other loops.
      int64_t used = 1;
      for (auto [loop, range] : llvm::enumerate(scalar.op.getStaticLoopRanges()))
        if (int64_t(loop) != scalar.row && dependsOn(chosen, loop)) {
          if (ShapedType::isDynamic(range))
            return std::nullopt;
          used *= range;
        }
      return used;
    }
    return std::nullopt;
  }
  if (isa<arith::AndIOp>(def)) {
    const int first = getBoundKind(scalar.of(def->getOperand(0))), second = getBoundKind(scalar.of(def->getOperand(1)));
    if (first * second < 0) // Rows from one to another.
      return 1;
    return least(countOf(0), countOf(1));
  }
  if (auto select = dyn_cast<arith::SelectOp>(def)) {
    if (matchPattern(select.getFalseValue(), m_AnyZeroFloat()) || matchPattern(select.getFalseValue(), m_Zero()))
      return least(countOf(0), countOf(1));
    return std::nullopt;
  }
  if (isa<arith::MulFOp, arith::MulIOp>(def))
    return least(countOf(0), countOf(1));
  if (isa<arith::AddFOp, arith::AddIOp, arith::OrIOp>(def)) {
    std::optional<int64_t> a = countOf(0), b = countOf(1);
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> UsedGroups::count(Value mask, MaskedDims dims) {
  std::optional<Scalar> scalar = enter(mask, dims.group, dims.row);
  return scalar ? count(*scalar) : std::nullopt;
}

std::optional<int64_t> spmd::getUsedGroups(const ZeroMask &mask) { return UsedGroups().count(mask.value, mask.dims); }
