//===- DynamicSizes.cpp - Global and local dynamic sizes ------------------===//

#include "shardkit/Partition/DynamicSizes.h"
#include "shardkit/Layout/KnownSizes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

void DynamicSizes::addValue(Value value, const Sharding &sharding) {
  auto type = cast<RankedTensorType>(value.getType());
  for (auto [d, dim] : llvm::enumerate(sharding.dims)) {
    int64_t factor = totalFactor(dim.entries);
    if (factor == 1 || !type.isDynamicDim(d))
      continue;
    AffineExpr size = sizes.getDim(value, d);
    if (!size || isMultipleOf(size, factor))
      continue;
    // 2 * b is a multiple of 4 if b is one of 2.
    if (auto product = dyn_cast<AffineBinaryOpExpr>(size); product && product.getKind() == AffineExprKind::Mul)
      if (auto times = dyn_cast<AffineConstantExpr>(product.getRHS())) {
        factor /= std::gcd(factor, times.getValue());
        size = product.getLHS();
      }
    if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
      multiples[symbol.getPosition()] = std::lcm(multiples[symbol.getPosition()], factor);
  }
}

bool DynamicSizes::isMultipleOf(AffineExpr size, int64_t factor) const {
  SmallVector<AffineExpr> symbols;
  for (auto [i, multiple] : llvm::enumerate(multiples))
    symbols.push_back(getAffineSymbolExpr(i, size.getContext()) * multiple);
  return size.replaceSymbols(symbols).isMultipleOf(factor);
}

AffineMap DynamicSizes::getLocalShape(AffineMap shape, const Sharding &sharding) const {
  SmallVector<AffineExpr> local;
  for (auto [size, dim] : llvm::zip_equal(shape.getResults(), sharding.dims)) {
    int64_t shards = deviceFactor(dim.entries);
    // Shards of a known size are as large as the largest.
    local.push_back(isa<AffineConstantExpr>(size) ? size.ceilDiv(shards) : size.floorDiv(shards));
  }
  return AffineMap::get(0, shape.getNumSymbols(), local, shape.getContext());
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
    if (AffineExpr global = sizes.getDim(op.getInput(), d); global && isMultipleOf(global, size))
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
  if (!(known && isMultipleOf(known, totalFactor(entries))) &&
      failed(check(op, size, totalFactor(entries), d, type, entries)))
    return failure();
  OpBuilder b(op);
  return Value(affine::AffineApplyOp::create(b, op->getLoc(), b.getAffineSymbolExpr(0).floorDiv(deviceFactor(entries)),
                                             ValueRange{size}));
}
