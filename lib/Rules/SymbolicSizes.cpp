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

SymbolicSizes::SymbolicSizes(func::FuncOp func) : context(func.getContext()) {
  for (BlockArgument size : getSizeArguments(func))
    symbols.try_emplace(size, symbols.size());
  for (BlockArgument arg : func.getArguments())
    if (auto map = func.getArgAttrOfType<AffineMapAttr>(arg.getArgNumber(), kGlobalSizesAttr))
      argumentSizes[arg] = map.getValue();
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
    for (int64_t from : collapse.getReassociationIndices()[d]) {
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

/// True if an expression of sizes is not negative, which no size is.
static bool isNotNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (isNotNegative(binary.getLHS()) && isNotNegative(binary.getRHS()));
}

std::optional<bool> SymbolicSizes::compareToZero(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  std::optional<int64_t> bound = compare ? getConstantIntValue(compare.getRhs()) : std::nullopt;
  AffineExpr size = bound && *bound <= 0 ? getIndex(compare.getLhs()) : AffineExpr();
  if (!size || !isNotNegative(size))
    return std::nullopt;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return false;
  case arith::CmpIPredicate::sge:
    return true;
  case arith::CmpIPredicate::eq:
    return *bound < 0 ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::ne:
    return *bound < 0 ? std::optional(true) : std::nullopt;
  default:
    return std::nullopt;
  }
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
  // Front ends infer a size that is given as a negative number.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<bool> condition = compareToZero(select.getCondition());
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
           arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
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
  auto divisor = dyn_cast<AffineConstantExpr>(b);
  if (!divisor || divisor.getValue() <= 0)
    return {};
  return isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op) ? a.ceilDiv(b) : a.floorDiv(b);
}
