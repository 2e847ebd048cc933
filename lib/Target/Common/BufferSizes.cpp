//===- BufferSizes.cpp - Sizes of buffers that only the run knows ---------===//

#include "BufferSizes.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::spmd::target;

/// Whether an expression has no smaller value where an operand, none of which is negative, is larger.
static bool isGrowing(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mul:
    return isGrowing(binary.getLHS()) && isGrowing(binary.getRHS());
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return isGrowing(binary.getLHS()) && isa<AffineConstantExpr>(binary.getRHS()) && isGrowing(binary.getRHS());
  default:
    return false;
  }
}

/// Only sums, products and quotients by a number are written to the manifest.
static bool hasModulo(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr inner) { found |= inner.getKind() == AffineExprKind::Mod; });
  return found;
}

BufferSizes::BufferSizes(func::FuncOp func) : context(func.getContext()), body(&func.getBody().front()) {
  auto sizes = func->getAttrOfType<DenseI64ArrayAttr>(kSizesAttr);
  for (size_t i = 0; sizes && i < size_t(sizes.size()); i += 3) {
    arguments.push_back(sizes[i]);
    least.push_back(sizes[i + 1]);
    most.push_back(sizes[i + 2]);
  }
}

BufferSizes::Size BufferSizes::join(Size a, Size b) {
  if (!a.expr || !b.expr)
    return {};
  if (a.expr == b.expr)
    return {a.expr, a.isExact && b.isExact};
  auto x = dyn_cast<AffineConstantExpr>(a.expr), y = dyn_cast<AffineConstantExpr>(b.expr);
  return x && y ? Size{x.getValue() > y.getValue() ? x : y, false} : Size{a.expr + b.expr, false};
}

BufferSizes::Size BufferSizes::apply(AffineMap map, ValueRange operands) {
  AffineExpr expr = map.getResult(0);
  bool isExact = true;
  SmallVector<AffineExpr> known;
  for (Value operand : operands) {
    Size size = get(operand);
    // An operand that is not used may be unknown.
    known.push_back(size.expr);
    const unsigned i = known.size() - 1;
    const bool isUsed = i < map.getNumDims() ? expr.isFunctionOfDim(i) : expr.isFunctionOfSymbol(i - map.getNumDims());
    if (!isUsed)
      known.back() = getAffineConstantExpr(0, context);
    else if (!size.expr)
      return {};
    else
      isExact &= size.isExact;
  }
  if (hasModulo(expr) || (!isExact && !isGrowing(expr)))
    return {};
  ArrayRef<AffineExpr> all(known);
  return {expr.replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims())), isExact};
}

BufferSizes::Size BufferSizes::getFolded(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return get(value);
  return getConstant(*getConstantIntValue(size));
}

BufferSizes::Size BufferSizes::get(Value index) {
  if (auto it = indices.find(index); it != indices.end())
    return it->second;
  Size size = compute(index);
  if (!size.isExact) {
    FailureOr<int64_t> bound =
        ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {index}, nullptr, /*closedUB=*/true);
    if (succeeded(bound))
      size = {getAffineConstantExpr(std::max<int64_t>(*bound, 0), context), false};
  }
  return indices[index] = size;
}

BufferSizes::Size BufferSizes::compute(Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getConstant(*constant);
  Operation *op = index.getDefiningOp();
  return op ? computeFrom(op) : Size{};
}

BufferSizes::Size BufferSizes::computeFrom(Operation *op) {
  AffineExpr s0 = getAffineSymbolExpr(0, context), s1 = getAffineSymbolExpr(1, context);
  auto compose = [&](AffineExpr expr) { return apply(AffineMap::get(0, 2, expr), op->getOperands()); };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    auto arg = dyn_cast<BlockArgument>(load.getMemRef());
    auto *known = arg && arg.getOwner() == body ? llvm::find(arguments, arg.getArgNumber()) : arguments.end();
    return known == arguments.end() ? Size{} : Size{getAffineSymbolExpr(known - arguments.begin(), context), true};
  }
  if (isa<arith::AddIOp>(op))
    return compose(s0 + s1);
  if (isa<arith::SubIOp>(op))
    return compose(s0 - s1);
  if (isa<arith::MulIOp>(op))
    return compose(s0 * s1);
  if (isa<arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    std::optional<int64_t> by = getConstantIntValue(op->getOperand(1));
    if (!by || *by <= 0)
      return {};
    const bool isFloor = isa<arith::DivUIOp, arith::FloorDivSIOp>(op);
    return compose(isFloor ? s0.floorDiv(*by) : s0.ceilDiv(*by));
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return get(op->getOperand(0));
  if (auto affineApply = dyn_cast<affine::AffineApplyOp>(op))
    return apply(affineApply.getAffineMap(), affineApply.getMapOperands());
  if (auto min = dyn_cast<affine::AffineMinOp>(op)) {
    // The smallest of several is at most any of them. A size is at most its bound.
    Size first;
    for (AffineExpr each : min.getAffineMap().getResults()) {
      AffineMap map = min.getAffineMap();
      Size size = apply(AffineMap::get(map.getNumDims(), map.getNumSymbols(), each), min.getMapOperands());
      auto symbol = dyn_cast_or_null<AffineSymbolExpr>(size.expr);
      if (symbol && size.isExact && llvm::all_of(map.getResults(), [&](AffineExpr other) {
            auto constant = dyn_cast<AffineConstantExpr>(other);
            return other == each || (constant && constant.getValue() >= most[symbol.getPosition()]);
          }))
        return size;
      if (size.expr && (!first.expr || isa<AffineConstantExpr>(size.expr)))
        first = size;
    }
    return {first.expr, false};
  }
  if (auto dim = dyn_cast<memref::DimOp>(op); dim && dim.getConstantIndex())
    return getDim(dim.getSource(), *dim.getConstantIndex());
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return join(get(select.getTrueValue()), get(select.getFalseValue()));
  return {};
}

BufferSizes::Size BufferSizes::getDim(Value buffer, int64_t d) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return {};
  if (!type.isDynamicDim(d))
    return getConstant(type.getDimSize(d));
  // Unknown while it is computed.
  auto [it, isNew] = dims.try_emplace({buffer, d}, Size());
  if (!isNew)
    return it->second;
  Size size = computeDim(buffer, d);
  if (!size.isExact) {
    FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {buffer, d},
                                                                              nullptr, /*closedUB=*/true);
    if (succeeded(bound))
      size = {getAffineConstantExpr(std::max<int64_t>(*bound, 0), context), false};
  }
  return dims[{buffer, d}] = size;
}

BufferSizes::Size BufferSizes::computeDim(Value buffer, int64_t d) {
  auto type = cast<MemRefType>(buffer.getType());
  auto arg = dyn_cast<BlockArgument>(buffer);
  Operation *op = arg ? arg.getOwner()->getParentOp() : buffer.getDefiningOp();
  // What a loop carries has one size.
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    OpOperand *init =
        arg ? loop.getTiedLoopInit(arg) : loop.getTiedLoopInit(loop.getTiedLoopRegionIterArg(cast<OpResult>(buffer)));
    return init ? getDim(init->get(), d) : Size{};
  }
  if (arg)
    return {};
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return get(alloc.getDynamicSizes()[type.getDynamicDimIndex(d)]);
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    return getFolded(cast.getMixedSizes()[d]);
  if (auto cast = dyn_cast<memref::CastOp>(op))
    return getDim(cast.getSource(), d);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return getFolded(expand.getMixedOutputShape()[d]);
  if (auto view = dyn_cast<memref::SubViewOp>(op); view && view.getDroppedDims().none())
    return getFolded(view.getMixedSizes()[d]);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    Size product = getConstant(1);
    for (int64_t from : ReassociationIndices(collapse.getReassociationIndices()[d])) {
      Size size = getDim(collapse.getSrc(), from);
      if (!size.expr)
        return {};
      product = {product.expr * size.expr, product.isExact && size.isExact};
    }
    return product;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return join(getDim(select.getTrueValue(), d), getDim(select.getFalseValue(), d));
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned i = cast<OpResult>(buffer).getResultNumber();
    return join(getDim(branch.thenYield().getOperand(i), d), getDim(branch.elseYield().getOperand(i), d));
  }
  return {};
}
