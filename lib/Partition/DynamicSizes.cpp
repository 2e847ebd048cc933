//===- DynamicSizes.cpp - Global and local dynamic sizes ------------------===//

#include "shardkit/Partition/DynamicSizes.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Layout/KnownSizes.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::spmd;

DynamicSizes::DynamicSizes(func::FuncOp func, FunctionMeshes &meshes, bool allowChecks)
    : sizes(func), arguments(getSizeArguments(func)), multiples(arguments.size(), 1),
      allowsPadding(arguments.size(), true), meshes(meshes), allowChecks(allowChecks) {}

//===----------------------------------------------------------------------===//
// The global program
//===----------------------------------------------------------------------===//

void DynamicSizes::addValue(Value value, const Sharding &sharding) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineExpr> &shape = shapes[value];
  for (auto [d, dim] : llvm::enumerate(sharding.dims)) {
    AffineExpr size = shape.emplace_back(type.isDynamicDim(d) ? sizes.getDim(value, d) : AffineExpr());
    int64_t factor = totalFactor(dim.entries);
    if (factor == 1 || !size)
      continue;
    auto symbol = dyn_cast<AffineSymbolExpr>(size);
    if (symbol && !spmd::allowsPadding(dim.entries, meshes.getMesh()))
      forbidPadding(size, value.getLoc(), "a sharding by sub-axes or with strides has no padding");
    // 2 * s is a multiple of 4 if s is one of 2.
    if (auto product = dyn_cast<AffineBinaryOpExpr>(size); product && product.getKind() == AffineExprKind::Mul)
      if (auto times = dyn_cast<AffineConstantExpr>(product.getRHS())) {
        factor /= std::gcd(factor, times.getValue());
        symbol = dyn_cast<AffineSymbolExpr>(product.getLHS());
      }
    if (symbol)
      multiples[symbol.getPosition()] = std::lcm(multiples[symbol.getPosition()], factor);
  }
}

void DynamicSizes::addOp(Operation *op, GetSharding getSharding) {
  // What a function or a region has of a value does not know its size.
  if (isa<func::CallOp, ManualComputationOp>(op)) {
    for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values)
        for (AffineExpr size : shapes.lookup(value))
          forbidPadding(size, op->getLoc(), op->getName().getStringRef() + " does not know it");
    return;
  }
  if (isa<ReshardOp, FragmentOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return;
  ShardingRule rule = getShardingRule(op);
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f) {
    DimEntries entries = findFactorAxes(rule, f, getSharding);
    if (deviceFactor(entries) == 1 || rule.factor(f).kind == FactorKind::Replicated)
      continue;
    auto getSize = [&](Value value, unsigned d) { return getDim(value, d); };
    if (std::optional<std::string> reason = getReasonAgainstPadding(op, rule, f, getSize))
      for (AffineExpr size : getSizes(rule, f, getSize))
        forbidPadding(size, op->getLoc(), *reason);
  }
}

void DynamicSizes::forbidPadding(AffineExpr size, Location loc, const Twine &reason) {
  // Sums and products are never padded: they are of dims that are not sharded.
  auto symbol = dyn_cast_or_null<AffineSymbolExpr>(size);
  if (!symbol || !std::exchange(allowsPadding[symbol.getPosition()], false))
    return;
  BlockArgument argument = arguments[symbol.getPosition()];
  auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  StringRef name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kSizeAttr).getValue();
  remark::missed(loc, remark::RemarkOpts::name("multiple").category("spmd").function(func.getName()))
      << remark::add("size \"{0}\" has to be a multiple of its shards", name) << remark::reason("{0}", reason.str());
}

bool DynamicSizes::hasPadding() const {
  for (unsigned symbol = 0; symbol < multiples.size(); ++symbol)
    if (isPadded(symbol))
      return true;
  return false;
}

AffineExpr DynamicSizes::getDim(Value value, unsigned d) const {
  auto it = shapes.find(value);
  return it == shapes.end() ? AffineExpr() : it->second[d];
}

AffineExpr DynamicSizes::getPaddedSize(Value value, unsigned d) const {
  auto symbol = dyn_cast_or_null<AffineSymbolExpr>(getDim(value, d));
  return symbol && isPadded(symbol.getPosition()) ? AffineExpr(symbol) : AffineExpr();
}

//===----------------------------------------------------------------------===//
// Sizes of shards
//===----------------------------------------------------------------------===//

bool DynamicSizes::isMultipleOf(AffineExpr size, int64_t factor) const {
  SmallVector<AffineExpr> symbols;
  for (auto [i, multiple] : llvm::enumerate(multiples))
    symbols.push_back(getAffineSymbolExpr(i, size.getContext()) * (isPadded(i) ? 1 : multiple));
  return size.replaceSymbols(symbols).isMultipleOf(factor);
}

AffineExpr DynamicSizes::getShardSize(AffineExpr size, int64_t shards) const {
  // Shards of a known size are as large as the largest.
  if (shards == 1 || isa<AffineConstantExpr>(size))
    return size.ceilDiv(shards);
  auto symbol = dyn_cast<AffineSymbolExpr>(size);
  if (!symbol || !isPadded(symbol.getPosition()))
    return size.floorDiv(shards);
  int64_t multiple = multiples[symbol.getPosition()];
  return size.ceilDiv(multiple) * (multiple / shards);
}

AffineMap DynamicSizes::getLocalShape(AffineMap shape, const Sharding &sharding) const {
  SmallVector<AffineExpr> local;
  for (auto [size, dim] : llvm::zip_equal(shape.getResults(), sharding.dims))
    local.push_back(getShardSize(size, deviceFactor(dim.entries)));
  return AffineMap::get(0, shape.getNumSymbols(), local, shape.getContext());
}

Value DynamicSizes::createSize(OpBuilder &b, Location loc, AffineExpr size) const {
  SmallVector<OpFoldResult> operands(arguments.begin(), arguments.end());
  return getValueOrCreateConstantIndexOp(
      b, loc, affine::makeComposedFoldedAffineApply(b, loc, AffineMap::get(0, arguments.size(), size), operands));
}

Value DynamicSizes::createShardSize(OpBuilder &b, Location loc, AffineExpr size, int64_t shards) const {
  return createSize(b, loc, getShardSize(size, shards));
}

//===----------------------------------------------------------------------===//
// The local program
//===----------------------------------------------------------------------===//

void DynamicSizes::replace(Value value, Value local) {
  // `value` is erased: what is created later may have its address.
  SmallVector<AffineExpr> shape = shapes.lookup(value);
  shapes.erase(value);
  if (shape.empty())
    shapes.erase(local);
  else
    shapes[local] = std::move(shape);
}

Value DynamicSizes::pad(OpBuilder &b, ReshardOp op, Value input, const Sharding &from, const Sharding &to) const {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
  bool hasPadding = false;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    AffineExpr size = getPaddedSize(op.getInput(), d);
    if (!size || deviceFactor(from.dims[d].entries) > 1 || deviceFactor(to.dims[d].entries) == 1)
      continue;
    hasPadding = true;
    high[d] = createSize(
        b, op.getLoc(), getShardSize(size, deviceFactor(to.dims[d].entries)) * deviceFactor(to.dims[d].entries) - size);
  }
  if (!hasPadding)
    return input;
  Value zero = createExactNeutral(b, op.getLoc(), ReductionKind::Sum, type.getElementType());
  return tensor::PadOp::create(b, op.getLoc(), type, input, low, high, zero);
}

Value DynamicSizes::trimPadding(OpBuilder &b, ReshardOp op, Value result, const Sharding &from,
                                const Sharding &to) const {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), result);
  bool hasPadding = false;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    AffineExpr size = getPaddedSize(op.getResult(), d);
    if (!size || deviceFactor(from.dims[d].entries) == 1 || deviceFactor(to.dims[d].entries) > 1)
      continue;
    hasPadding = true;
    sizes[d] = createSize(b, op.getLoc(), size);
  }
  if (!hasPadding)
    return result;
  SmallVector<OpFoldResult> zeros(type.getRank(), b.getIndexAttr(0)), ones(type.getRank(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, op.getLoc(), type, result, zeros, sizes, ones);
}

LogicalResult DynamicSizes::makeLocal(Operation *op, llvm::function_ref<RankedTensorType(Value)> getGlobal,
                                      llvm::function_ref<const Sharding &(Value)> getSharding) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> d = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (!type || !d || *d < 0 || *d >= type.getRank() || !getGlobal(dim.getSource()).isDynamicDim(*d))
      return success();
    const DimEntries &entries = getSharding(dim.getSource()).dims[*d].entries;
    int64_t shards = deviceFactor(entries);
    if (shards == 1)
      return success();
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    if (AffineExpr size = getPaddedSize(dim.getSource(), *d)) {
      dim.getResult().replaceAllUsesWith(createSize(b, op->getLoc(), size));
      return success();
    }
    Value count = arith::ConstantIndexOp::create(b, op->getLoc(), shards);
    Value size = arith::MulIOp::create(b, op->getLoc(), dim.getResult(), count);
    dim.getResult().replaceAllUsesExcept(size, size.getDefiningOp());
    knownSizes[size] = {dim.getResult(), entries};
    return success();
  }
  if (!isa<tensor::EmptyOp, tensor::SplatOp, tensor::ExpandShapeOp>(op))
    return success();
  Value result = op->getResult(0);
  RankedTensorType type = getGlobal(result);
  // Sizes of the dynamic dims in order, after the value of a splat or the source of an expansion.
  unsigned operand = isa<tensor::EmptyOp>(op) ? 0 : 1;
  for (auto [d, dim] : llvm::enumerate(getSharding(result).dims)) {
    if (!type.isDynamicDim(d))
      continue;
    OpOperand &size = op->getOpOperand(operand++);
    if (deviceFactor(dim.entries) == 1)
      continue;
    FailureOr<Value> local = getLocal(op, size.get(), d, type, dim.entries);
    if (failed(local))
      return failure();
    size.set(*local);
  }
  return success();
}

LogicalResult DynamicSizes::checkMove(ReshardOp op, RankedTensorType type, const Sharding &from, const Sharding &to) {
  SmallVector<int64_t, 4> known = withKnownSizes(type.getShape(), {&from, &to});
  for (auto [d, size] : llvm::enumerate(known)) {
    // Known to be a multiple of the present shards.
    if (!type.isDynamicDim(d) || size == totalFactor(from.dims[d].entries))
      continue;
    if (AffineExpr global = getDim(op.getResult(), d);
        global && (isMultipleOf(global, size) || getPaddedSize(op.getResult(), d)))
      continue;
    OpBuilder b(op);
    Value local = tensor::DimOp::create(b, op.getLoc(), op.getInput(), d);
    if (failed(check(op, local, size / deviceFactor(from.dims[d].entries), d, type, to.dims[d].entries)))
      return failure();
  }
  return success();
}

LogicalResult DynamicSizes::check(Operation *op, Value size, int64_t factor, unsigned d, RankedTensorType type,
                                  ArrayRef<DimEntry> entries) {
  int64_t total = totalFactor(entries);
  if (!allowChecks) {
    InFlightDiagnostic diag = op->emitError()
                              << "dim " << d << " of " << type << " is sharded by {" << meshes.toString(entries)
                              << "}, but its size is not known to be a multiple of " << total
                              << ", expected the size of a dim that is sharded equally, or dynamic-checks";
    if (Operation *def = size.getDefiningOp(); def && def->getLoc() != op->getLoc())
      diag.attachNote(def->getLoc()) << "the size is computed here";
    return diag;
  }
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value rest = arith::RemUIOp::create(b, loc, size, arith::ConstantIndexOp::create(b, loc, factor));
  Value even = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, arith::ConstantIndexOp::create(b, loc, 0));
  std::string message;
  llvm::raw_string_ostream(message) << "size of dim " << d << " of " << type << " is not a multiple of " << total
                                    << ", as its sharding {" << meshes.toString(entries) << "} requires";
  cf::AssertOp::create(b, loc, even, b.getStringAttr(message));
  return success();
}

FailureOr<Value> DynamicSizes::getLocal(Operation *op, Value size, unsigned d, RankedTensorType type,
                                        ArrayRef<DimEntry> entries) {
  auto it = knownSizes.find(size);
  if (it != knownSizes.end() && ArrayRef(it->second.entries) == entries)
    return it->second.local;
  AffineExpr known = sizes.getIndex(size);
  if (auto symbol = dyn_cast_or_null<AffineSymbolExpr>(known); symbol && isPadded(symbol.getPosition())) {
    OpBuilder b(op);
    return createShardSize(b, op->getLoc(), known, deviceFactor(entries));
  }
  if (!(known && isMultipleOf(known, totalFactor(entries))) &&
      failed(check(op, size, totalFactor(entries), d, type, entries)))
    return failure();
  OpBuilder b(op);
  return Value(affine::AffineApplyOp::create(b, op->getLoc(), b.getAffineSymbolExpr(0).floorDiv(deviceFactor(entries)),
                                             ValueRange{size}));
}
