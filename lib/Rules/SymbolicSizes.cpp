//===- SymbolicSizes.cpp - Sizes that only the run knows ------------------===//

#include "shardkit/Rules/SymbolicSizes.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::spmd;

SmallVector<BlockArgument> spmd::getSizeArguments(func::FuncOp func) {
  SmallVector<BlockArgument> sizes;
  if (!func.isExternal())
    for (BlockArgument arg : func.getArguments())
      if (func.getArgAttr(arg.getArgNumber(), kSizeAttr))
        sizes.push_back(arg);
  return sizes;
}

std::pair<int64_t, int64_t> spmd::getSizeBounds(BlockArgument size) {
  auto func = cast<func::FuncOp>(size.getOwner()->getParentOp());
  auto bound = func.getArgAttrOfType<ArrayAttr>(size.getArgNumber(), kBoundAttr);
  if (!bound)
    return {0, kLargestSize};
  return {cast<IntegerAttr>(bound[0]).getInt(), cast<IntegerAttr>(bound[1]).getInt()};
}

SmallVector<int64_t> spmd::getLikelySizes(func::FuncOp func, int64_t otherwise, bool atBounds) {
  SmallVector<int64_t> sizes;
  for (BlockArgument arg : getSizeArguments(func)) {
    auto hint = func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kHintAttr);
    const int64_t most = getSizeBounds(arg).second;
    const bool isBounded = most < kLargestSize;
    sizes.push_back(hint && !(atBounds && isBounded) ? hint.getInt() : isBounded ? most : otherwise);
  }
  return sizes;
}

std::optional<int64_t> spmd::evaluateSize(AffineExpr expr, ArrayRef<int64_t> sizes) {
  if (!expr)
    return std::nullopt;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return sizes[symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs, rhs;
  if (binary) {
    lhs = evaluateSize(binary.getLHS(), sizes);
    rhs = evaluateSize(binary.getRHS(), sizes);
  }
  int64_t result = 0;
  if (!lhs || !rhs)
    return std::nullopt;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::FloorDiv:
    return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs)) : std::nullopt;
  case AffineExprKind::CeilDiv:
    return *rhs > 0 ? std::optional(llvm::divideCeilSigned(*lhs, *rhs)) : std::nullopt;
  case AffineExprKind::Mod:
    return *rhs > 0 ? std::optional(llvm::mod(*lhs, *rhs)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

SymbolicSizes::SymbolicSizes(func::FuncOp func) : context(func.getContext()) {
  for (BlockArgument size : getSizeArguments(func)) {
    symbols.try_emplace(size, symbols.size());
    bounds.push_back(getSizeBounds(size));
  }
  for (BlockArgument arg : func.getArguments())
    for (StringRef name : {kGlobalSizesAttr, kLocalSizesAttr}) // A shard has the latter.
      if (auto map = func.getArgAttrOfType<AffineMapAttr>(arg.getArgNumber(), name))
        argumentSizes[arg] = map.getValue();
}

AffineExpr SymbolicSizes::getMovedDim(CollectiveOpInterface op, int64_t d) {
  if (meshes.empty())
    meshes = MeshCache(op);
  const Mesh *fromMesh = meshes.lookup(op.getFromMesh()), *toMesh = meshes.lookup(op.getToMesh());
  AffineExpr size = getDim(op->getOperand(0), d);
  Layout from, to;
  if (!size || !fromMesh || !toMesh || failed(op.getLayouts(*fromMesh, *toMesh, from, to)))
    return {};
  // Shards of the smallest size that both layouts divide.
  const int64_t before = from.localShape()[d], after = to.localShape()[d];
  return before > 0 ? (size * after).floorDiv(before) : AffineExpr();
}

AffineExpr SymbolicSizes::getDim(Value tensor, int64_t d) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || d < 0 || d >= type.getRank())
    return {};
  if (!type.isDynamicDim(d))
    return getAffineConstantExpr(type.getDimSize(d), context);
  // Unknown while it is computed, for loops that carry it.
  auto [it, isNew] = dims.try_emplace({tensor, d}, AffineExpr());
  if (!isNew)
    return it->second;
  AffineExpr size = computeDim(tensor, d);
  return dims[{tensor, d}] = size;
}

AffineExpr SymbolicSizes::getIndex(Value index) {
  auto [it, isNew] = indices.try_emplace(index, AffineExpr());
  if (!isNew)
    return it->second;
  AffineExpr size = computeIndex(index);
  return indices[index] = size;
}

bool spmd::hasOneShape(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() > 0 &&
         (op->hasTrait<OpTrait::Elementwise>() || isa<WithShardingConstraintOp, ReshardOp, PropagationBarrierOp>(op));
}

AffineExpr SymbolicSizes::computeDim(Value tensor, int64_t d) {
  if (auto arg = dyn_cast<BlockArgument>(tensor)) {
    if (auto it = argumentSizes.find(arg); it != argumentSizes.end())
      return it->second.getResult(d);
    // A carried value has its type, and so its sizes, in all iterations.
    if (auto loop = dyn_cast<LoopLikeOpInterface>(arg.getOwner()->getParentOp()))
      if (OpOperand *init = loop.getTiedLoopInit(arg))
        return getDim(init->get(), d);
    return {};
  }
  Operation *op = tensor.getDefiningOp();
  auto result = cast<OpResult>(tensor);
  auto getFolded = [&](OpFoldResult size) -> AffineExpr {
    if (auto value = dyn_cast<Value>(size))
      return getIndex(value);
    return getAffineConstantExpr(*getConstantIntValue(size), context);
  };
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return getFolded(empty.getMixedSizes()[d]);
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return getIndex(splat.getDynamicSizes()[cast<RankedTensorType>(splat.getType()).getDynamicDimIndex(d)]);
  if (auto generate = dyn_cast<tensor::GenerateOp>(op))
    return getIndex(generate.getDynamicExtents()[cast<RankedTensorType>(generate.getType()).getDynamicDimIndex(d)]);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    int64_t kept = 0;
    for (auto [i, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(i) && kept++ == d)
        return getFolded(size);
    return {};
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    AffineExpr size = getAffineConstantExpr(1, context);
    for (int64_t from : ReassociationIndices(collapse.getReassociationIndices()[d])) {
      AffineExpr factor = getDim(collapse.getSrc(), from);
      if (!factor)
        return {};
      size = size * factor;
    }
    return size;
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return getFolded(expand.getMixedOutputShape()[d]);
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op)) {
    auto shape = reshape.getShape().getDefiningOp<tensor::FromElementsOp>();
    return shape ? getIndex(shape.getElements()[d]) : AffineExpr();
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    AffineExpr low = getFolded(pad.getMixedLowPad()[d]), high = getFolded(pad.getMixedHighPad()[d]);
    AffineExpr size = getDim(pad.getSource(), d);
    return low && high && size ? size + low + high : AffineExpr();
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    if (int64_t(concat.getDim()) != d)
      return getDim(concat.getInputs().front(), d);
    AffineExpr size = getAffineConstantExpr(0, context);
    for (Value input : concat.getInputs()) {
      AffineExpr part = getDim(input, d);
      if (!part)
        return {};
      size = size + part;
    }
    return size;
  }
  if (isa<SortOp>(op))
    return getDim(op->getOperand(result.getResultNumber()), d);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return getMovedDim(collective, d);
  if (isa<DoneOp>(op))
    return getDim(op->getOperand(result.getResultNumber()), d);
  if (auto start = dyn_cast<StartOp>(op))
    return getDim(start.getBody().front().getTerminator()->getOperand(result.getResultNumber()), d);
  if (auto dest = dyn_cast<DestinationStyleOpInterface>(op))
    return getDim(dest.getTiedOpOperand(result)->get(), d);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned i = result.getResultNumber();
    AffineExpr size = getDim(branch.thenYield().getOperand(i), d);
    return size && size == getDim(branch.elseYield().getOperand(i), d) ? size : AffineExpr();
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    if (OpOperand *init = loop.getTiedLoopInit(loop.getTiedLoopRegionIterArg(result)))
      return getDim(init->get(), d);
  if (hasOneShape(op) || isa<tensor::CastOp, tensor::BitcastOp>(op))
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.getType());
          type && type.getRank() == cast<RankedTensorType>(tensor.getType()).getRank())
        if (AffineExpr size = getDim(operand, d))
          return size;
  return {};
}

namespace {
/// The least and the largest value of an expression, both included; up to `kMax` on either side.
struct SizeRange {
  static constexpr int64_t kMax = int64_t(1) << 60;
  int64_t low = -kMax, high = kMax;

  static int64_t clamp(__int128 value) { return value > kMax ? kMax : value < -kMax ? -kMax : int64_t(value); }
  SizeRange operator+(SizeRange other) const {
    return {clamp(__int128(low) + other.low), clamp(__int128(high) + other.high)};
  }
  SizeRange operator*(SizeRange other) const {
    auto [least, most] = std::minmax({clamp(__int128(low) * other.low), clamp(__int128(low) * other.high),
                                      clamp(__int128(high) * other.low), clamp(__int128(high) * other.high)});
    return {least, most};
  }
};
} // namespace

static SizeRange getSizeRange(AffineExpr expr, ArrayRef<std::pair<int64_t, int64_t>> bounds) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {SizeRange::clamp(constant.getValue()), SizeRange::clamp(constant.getValue())};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return {bounds[symbol.getPosition()].first, bounds[symbol.getPosition()].second};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return {};
  SizeRange a = getSizeRange(binary.getLHS(), bounds), b = getSizeRange(binary.getRHS(), bounds);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv: {
    if (b.low <= 0 || b.low != b.high)
      return {};
    const bool isFloor = binary.getKind() == AffineExprKind::FloorDiv;
    auto divide = [&](int64_t n) {
      return isFloor ? llvm::divideFloorSigned(n, b.low) : llvm::divideCeilSigned(n, b.low);
    };
    return {divide(a.low), divide(a.high)};
  }
  case AffineExprKind::Mod:
    return b.low == b.high && b.low > 0 ? SizeRange{0, b.low - 1} : SizeRange();
  default:
    return {};
  }
}

/// A quotient in an expression, rounded down, by a number.
static AffineExpr findQuotient(AffineExpr expr) {
  AffineExpr found;
  expr.walk([&](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (binary && binary.getKind() == AffineExprKind::FloorDiv && isa<AffineConstantExpr>(binary.getRHS()))
      found = binary;
  });
  return found;
}

/// The number that a part of an expression is multiplied by in it, 0 if it does not appear; std::nullopt if the
/// expression is not linear in it.
static std::optional<int64_t> getFactor(AffineExpr expr, AffineExpr part) {
  if (expr == part)
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  std::optional<int64_t> a = getFactor(binary.getLHS(), part), b = getFactor(binary.getRHS(), part);
  int64_t factor = 0;
  if (!a || !b || (*a == 0 && *b == 0))
    return a && b ? std::optional<int64_t>(0) : std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return llvm::AddOverflow(*a, *b, factor) ? std::nullopt : std::optional(factor);
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !number || llvm::MulOverflow(*a, number.getValue(), factor))
    return std::nullopt;
  return factor;
}

/// The same as getSizeRange, and from n / k - 1 < floor(n / k) <= n / k: s0 - floor(s0 / 2) is at least s0 / 2.
static SizeRange getTightRange(AffineExpr expr, ArrayRef<std::pair<int64_t, int64_t>> bounds) {
  SizeRange range = getSizeRange(expr, bounds);
  auto quotient = dyn_cast_or_null<AffineBinaryOpExpr>(findQuotient(expr));
  std::optional<int64_t> factor = quotient ? getFactor(expr, quotient) : std::nullopt;
  const int64_t divisor = quotient ? cast<AffineConstantExpr>(quotient.getRHS()).getValue() : 0;
  if (!factor || divisor < 1)
    return range;
  AffineExpr rest = expr.replace(quotient, getAffineConstantExpr(0, expr.getContext()));
  // The expression times the divisor, with the quotient at its ends.
  auto getEnd = [&](AffineExpr dividend) {
    return getTightRange(simplifyAffineExpr(rest * divisor + dividend * *factor, 0, bounds.size()), bounds);
  };
  SizeRange below = getEnd(quotient.getLHS() - (divisor - 1)), above = getEnd(quotient.getLHS());
  if (*factor < 0)
    std::swap(below, above);
  return {std::max(range.low, llvm::divideCeilSigned(below.low, divisor)),
          std::min(range.high, llvm::divideFloorSigned(above.high, divisor))};
}

std::optional<bool> SymbolicSizes::isAtLeast(AffineExpr a, AffineExpr b) {
  SizeRange difference = getTightRange(simplifyAffineExpr(a - b, 0, symbols.size()), bounds);
  if (difference.low >= 0)
    return true;
  return difference.high < 0 ? std::optional(false) : std::nullopt;
}

bool SymbolicSizes::areNotNegative(AffineExpr a, AffineExpr b) {
  AffineExpr zero = getAffineConstantExpr(0, context);
  return isAtLeast(a, zero) == true && isAtLeast(b, zero) == true;
}

std::optional<bool> SymbolicSizes::compare(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  AffineExpr a = compare ? getIndex(compare.getLhs()) : AffineExpr();
  AffineExpr b = a ? getIndex(compare.getRhs()) : AffineExpr();
  if (!b)
    return std::nullopt;
  auto negate = [](std::optional<bool> flag) { return flag ? std::optional(!*flag) : std::nullopt; };
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (predicate >= arith::CmpIPredicate::ult && !areNotNegative(a, b))
    return std::nullopt;
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return negate(isAtLeast(a, b));
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return isAtLeast(a, b);
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return negate(isAtLeast(b, a));
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return isAtLeast(b, a);
  case arith::CmpIPredicate::eq:
  case arith::CmpIPredicate::ne: {
    std::optional<bool> above = isAtLeast(a, b), below = isAtLeast(b, a);
    std::optional<bool> equal;
    if (above == false || below == false)
      equal = false;
    else if (above == true && below == true)
      equal = true;
    return predicate == arith::CmpIPredicate::eq ? equal : negate(equal);
  }
  }
  return std::nullopt;
}

AffineExpr SymbolicSizes::chooseBound(Operation *op, AffineExpr a, AffineExpr b) {
  if (isa<arith::MinUIOp, arith::MaxUIOp>(op) && !areNotNegative(a, b))
    return {};
  const bool isMax = isa<arith::MaxSIOp, arith::MaxUIOp>(op);
  if (isAtLeast(a, b) == true)
    return isMax ? a : b;
  return isAtLeast(b, a) == true ? (isMax ? b : a) : AffineExpr();
}

AffineExpr SymbolicSizes::computeIndex(Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getAffineConstantExpr(*constant, context);
  if (auto it = symbols.find(index); it != symbols.end())
    return getAffineSymbolExpr(it->second, context);
  Operation *op = index.getDefiningOp();
  if (!op)
    return {};
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> d = dim.getConstantIndex();
    return d ? getDim(dim.getSource(), *d) : AffineExpr();
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return getIndex(op->getOperand(0));
  // Front ends infer a size that is given as a negative number, and limit what is sliced.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<bool> condition = compare(select.getCondition());
    return condition ? getIndex(*condition ? select.getTrueValue() : select.getFalseValue()) : AffineExpr();
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    SmallVector<AffineExpr> operands;
    for (Value operand : apply.getOperands()) {
      operands.push_back(getIndex(operand));
      if (!operands.back())
        return {};
    }
    ArrayRef<AffineExpr> all(operands);
    return map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
           arith::CeilDivSIOp, arith::CeilDivUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp>(op))
    return {};
  AffineExpr a = getIndex(op->getOperand(0)), b = getIndex(op->getOperand(1));
  if (!a || !b)
    return {};
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  if (isa<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp>(op))
    return chooseBound(op, a, b);
  auto divisor = dyn_cast<AffineConstantExpr>(b);
  if (!divisor || divisor.getValue() <= 0)
    return {};
  return isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op) ? a.ceilDiv(b) : a.floorDiv(b);
}
