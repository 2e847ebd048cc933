//===- ImportSorts.cpp - Sorts of StableHLO -------------------------------===//

#include "ImportSorts.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spmd;

static bool isScalarTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

namespace {
/// Emits ops on tensors of rank 0 as ops on scalars.
class Scalars {
public:
  Scalars(Operation *sort, OpBuilder b) : sort(sort), b(b) {}

  void set(Value tensor, Value scalar) { map.map(tensor, scalar); }
  /// The scalar of a tensor; one from outside of the region is extracted before the sort.
  Value get(Value value);
  LogicalResult emit(Operation *op);

private:
  void emitStructured(linalg::LinalgOp op);
  void emitElementwise(Operation *op);

  Operation *sort;
  OpBuilder b;
  IRMapping map;
};
} // namespace

Value Scalars::get(Value value) {
  if (map.contains(value) || !isScalarTensor(value.getType()))
    return map.lookupOrDefault(value);
  OpBuilder before(sort);
  map.map(value, tensor::ExtractOp::create(before, value.getLoc(), value, ValueRange()));
  return map.lookup(value);
}

void Scalars::emitStructured(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  for (auto [arg, operand] : llvm::zip(body->getArguments(), op->getOperands()))
    if (!arg.use_empty())
      map.map(arg, get(operand));
  for (Operation &inner : body->without_terminator())
    b.clone(inner, map);
  for (auto [result, yielded] : llvm::zip(op->getResults(), body->getTerminator()->getOperands()))
    map.map(result, map.lookupOrDefault(yielded));
}

void Scalars::emitElementwise(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(getElementTypeOrSelf(type));
  Operation *made =
      b.create(op->getLoc(), op->getName().getIdentifier(), operands, types, op->getAttrDictionary().getValue());
  map.map(op->getResults(), made->getResults());
}

LogicalResult Scalars::emit(Operation *op) {
  auto isScalar = [](Type type) { return isScalarTensor(type) || !isa<ShapedType>(type); };
  bool isHandled = llvm::all_of(op->getOperandTypes(), isScalar) && llvm::all_of(op->getResultTypes(), isScalar);
  DenseElementsAttr constant;
  if (isHandled && isa<tensor::EmptyOp>(op))
    return success(); // not read
  if (isHandled && matchPattern(op, m_Constant(&constant)) && isa<IntegerType, FloatType>(constant.getElementType())) {
    auto value = constant.getSplatValue<TypedAttr>();
    map.map(op->getResult(0), arith::ConstantOp::create(b, op->getLoc(), value));
  } else if (isHandled && isa<tensor::ExtractOp, tensor::FromElementsOp>(op)) {
    map.map(op->getResult(0), get(op->getOperand(0)));
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op); structured && isHandled) {
    emitStructured(structured);
  } else if (isHandled && (op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<OpTrait::ConstantLike>())) {
    emitElementwise(op);
  } else {
    return op->emitError() << "'" << op->getName() << "' is in the region of stablehlo.sort, expected elementwise ops";
  }
  return success();
}

static LogicalResult importSort(Operation *op) {
  auto dimension = op->getAttrOfType<IntegerAttr>("dimension");
  bool isTensors = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) && op->getNumOperands() > 0 &&
                   op->getOperandTypes() == op->getResultTypes();
  if (!dimension || !isTensors || op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock() ||
      op->getRegion(0).getNumArguments() != 2 * op->getNumOperands() || op->getRegion(0).front().empty())
    return op->emitError() << "'stablehlo.sort' is not well formed, expected a dimension, tensors, results of their "
                              "types, and a region with two arguments for each";
  Block &from = op->getRegion(0).front();
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  OpBuilder b(op);
  int64_t dim = dimension.getInt() + (dimension.getInt() < 0 ? rank : 0);
  auto sort = SortOp::create(b, op->getLoc(), op->getResultTypes(), op->getOperands(), uint64_t(dim), /*last=*/false);
  Block &to = sort.getOrder().emplaceBlock();
  Scalars scalars(sort, OpBuilder::atBlockEnd(&to));
  for (BlockArgument arg : from.getArguments())
    scalars.set(arg, to.addArgument(getElementTypeOrSelf(arg.getType()), arg.getLoc()));
  Operation *end = &from.back(); // unregistered: not known to be a terminator
  for (Operation &inner : llvm::make_range(from.begin(), end->getIterator()))
    if (failed(scalars.emit(&inner)))
      return failure();
  if (end->getNumOperands() != 1 || !isScalarTensor(end->getOperand(0).getType()))
    return op->emitError() << "the region of 'stablehlo.sort' ends in '" << end->getName()
                           << "', expected one tensor<i1> to be returned";
  b.setInsertionPointToEnd(&to);
  YieldOp::create(b, end->getLoc(), scalars.get(end->getOperand(0)));
  op->replaceAllUsesWith(sort.getOutputs());
  op->erase();
  return success();
}

/// Whether the region has StableHLO's ops next to its end: a program of StableHLO, which has not been lowered.
static bool hasOriginalRegion(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        StringRef name = inner->getName().getStringRef();
        return inner != op && name.starts_with("stablehlo.") && name != "stablehlo.return" ? WalkResult::interrupt()
                                                                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult spmd::importSorts(ModuleOp module) {
  SmallVector<Operation *> sorts;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() == "stablehlo.sort" && !hasOriginalRegion(op))
      sorts.push_back(op);
  });
  for (Operation *op : sorts)
    if (failed(importSort(op)))
      return failure();
  return success();
}
