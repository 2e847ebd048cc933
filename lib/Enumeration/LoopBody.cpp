//===- LoopBody.cpp - Runs bodies of loops on numbers ---------------------===//

#include "Interpreter.h"

#include "shardkit/Proof/Terms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::enumeration;

static size_t getCount(ArrayRef<Column> columns) {
  size_t count = 1;
  for (const Column &column : columns)
    count = column->list.size() == 1 ? count : column->list.size();
  return count;
}

static int64_t evaluate(AffineExpr expr, ArrayRef<Column> dims, ArrayRef<Column> symbols, size_t i) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return (*dims[dim.getPosition()])[i].integer;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return (*symbols[symbol.getPosition()])[i].integer;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(binary.getLHS(), dims, symbols, i), b = evaluate(binary.getRHS(), dims, symbols, i);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return b ? llvm::divideFloorSigned(a, b) : 0;
  case AffineExprKind::CeilDiv:
    return b ? llvm::divideCeilSigned(a, b) : 0;
  default:
    return b ? llvm::mod(a, b) : 0;
  }
}

Column enumeration::evaluate(AffineExpr expr, ArrayRef<Column> dims, ArrayRef<Column> symbols) {
  Numbers result = getIndices(expr.getContext(), 0);
  SmallVector<Column> all(dims);
  all.append(symbols.begin(), symbols.end());
  result.list.resize(getCount(all));
  for (size_t i = 0; i < result.list.size(); ++i)
    result.list[i].integer = ::evaluate(expr, dims, symbols, i);
  return std::make_shared<Numbers>(std::move(result));
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Column LoopBody::get(Value value) const {
  auto known = scope.find(value);
  return known == scope.end() ? program.get(device, value) : known->second;
}

bool LoopBody::run(Block &block) {
  return llvm::all_of(block.without_terminator(), [&](Operation &op) {
    bool readsTensor = llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<ShapedType>(type); });
    if (readsTensor && !isa<tensor::ExtractOp>(op))
      return program.fail(op.getName().getStringRef() + " in a body is not computed");
    return run(op);
  });
}

bool LoopBody::run(Operation &op) {
  Attribute constant;
  if (matchPattern(&op, m_Constant(&constant)) && isNumeric(op.getResult(0).getType())) {
    set(op.getResult(0), std::make_shared<Numbers>(Numbers{op.getResult(0).getType(), {domain.getConstant(constant)}}));
    return true;
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    Numbers indices{index.getType(), {}};
    for (Number i : loops[index.getDim()]->list)
      indices.list.push_back(domain.getIndex(op.getContext(), i.integer));
    set(index, std::make_shared<Numbers>(std::move(indices)));
    return true;
  }
  if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op)) {
    std::optional<int64_t> known = program.getCoordinate(coordinate, device);
    set(coordinate, program.getIndexColumn(known.value_or(0)));
    return known || program.fail("a coordinate on other devices");
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return runExtract(extract);
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && op.getNumResults())
    return runBranch(branch);
  SmallVector<Column> operands;
  for (Value operand : op.getOperands())
    if (!operands.emplace_back(get(operand)))
      return program.fail("a value that was not computed");
  // Of what data give, an affine op is an op as any.
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op) && areIntegers(operands))
    return runAffine(op, operands);
  SmallVector<const Numbers *> numbers;
  for (const Column &operand : operands)
    numbers.push_back(operand.get());
  std::optional<Numbers> result = domain.compute(&op, numbers);
  if (!result)
    return program.fail(op.getName().getStringRef() + " in a body is not computed");
  if (proof::isIntegerDivision(op.getName()))
    for (size_t i = 0; i < result->list.size(); ++i)
      if (isTaken(i) != No && !program.addTrap(result->list[i], isTaken(i) == Yes))
        return false;
  int64_t count = result->list.size();
  set(op.getResult(0), std::make_shared<Numbers>(std::move(*result)));
  return program.spend(count);
}

/// Both sides of a branch run, each in the iterations in which it is taken.
bool LoopBody::runBranch(scf::IfOp op) {
  Column condition = get(op.getCondition()), outer = active;
  auto runSide = [&](Block &block, bool isSide) {
    Numbers mask{condition->type, std::vector<Number>(getCount(outer ? ArrayRef{condition, outer} : condition))};
    for (size_t i = 0; i < mask.list.size(); ++i) {
      std::optional<int64_t> known = domain.getInteger((*condition)[i]);
      Taken own = !known                    ? Maybe
                  : (*known != 0) == isSide ? Yes
                                            : No,
            around = outer ? Taken((*outer)[i].integer) : Yes;
      mask.list[i].integer = own == No || around == No ? No : own == Yes && around == Yes ? Yes : Maybe;
    }
    active = std::make_shared<Numbers>(std::move(mask));
    return run(block);
  };
  if (!runSide(*op.thenBlock(), true) || !runSide(*op.elseBlock(), false))
    return false;
  active = outer;
  for (auto [result, value, other] :
       llvm::zip_equal(op.getResults(), op.thenYield().getOperands(), op.elseYield().getOperands())) {
    Column a = get(value), b = get(other);
    Numbers chosen{a->type, std::vector<Number>(getCount({condition, a, b}))};
    for (size_t i = 0; i < chosen.list.size(); ++i)
      chosen.list[i] = domain.select((*condition)[i], (*a)[i], (*b)[i], a->type);
    set(result, std::make_shared<Numbers>(std::move(chosen)));
  }
  return true;
}

bool LoopBody::areIntegers(ArrayRef<Column> columns) {
  return llvm::all_of(columns, [&](const Column &column) {
    return llvm::all_of(column->list, [&](Number scalar) { return domain.getInteger(scalar).has_value(); });
  });
}

static AffineMap getMap(Operation &op) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return apply.getAffineMap();
  auto min = dyn_cast<affine::AffineMinOp>(op);
  return min ? min.getMap() : cast<affine::AffineMaxOp>(op).getMap();
}

bool LoopBody::runAffine(Operation &op, ArrayRef<Column> operands) {
  SmallVector<Column> integers;
  for (const Column &operand : operands) {
    Numbers known{operand->type, {}};
    for (Number scalar : operand->list)
      known.list.push_back({.integer = *domain.getInteger(scalar)});
    integers.push_back(std::make_shared<Numbers>(std::move(known)));
  }
  AffineMap map = getMap(op);
  ArrayRef<Column> all(integers);
  SmallVector<Column> values;
  for (AffineExpr expr : map.getResults())
    values.push_back(evaluate(expr, all.take_front(map.getNumDims()), all.drop_front(map.getNumDims())));
  Numbers indices{op.getResult(0).getType(), {}};
  for (size_t i = 0; i < values.front()->list.size(); ++i) {
    int64_t value = (*values.front())[i].integer;
    for (const Column &other : values)
      value =
          isa<affine::AffineMaxOp>(op) ? std::max(value, (*other)[i].integer) : std::min(value, (*other)[i].integer);
    indices.list.push_back(domain.getIndex(op.getContext(), value));
  }
  set(op.getResult(0), std::make_shared<Numbers>(std::move(indices)));
  return true;
}

std::optional<Number> LoopBody::readElement(const Tensor &tensor, ArrayRef<Column> indices, size_t i) {
  Index at;
  SmallVector<Number> scalars;
  bool isKnown = true, isInside = true;
  for (auto [column, size] : llvm::zip_equal(indices, tensor.shape)) {
    scalars.push_back((*column)[i]);
    std::optional<int64_t> index = domain.getInteger(scalars.back());
    isKnown &= index.has_value();
    at.push_back(index.value_or(0));
    isInside &= at.back() >= 0 && at.back() < size;
  }
  if (isKnown && isInside)
    return (*tensor.numbers)[getFlatIndex(at, tensor.shape)];
  if (isTaken(i) == No || (!isInside && program.failUndefined("a read outside of a tensor")))
    return domain.getUndefined(tensor.numbers->type);
  if (!isInside)
    return std::nullopt;
  int64_t count = ShapedType::getNumElements(tensor.shape);
  std::optional<Number> found = domain.lookUp(*tensor.numbers, tensor.shape, scalars);
  if (!found)
    program.fail("a look-up in a large tensor");
  return found && program.spend(count) && program.addTrap(*found, isTaken(i) == Yes) ? found : std::nullopt;
}

bool LoopBody::runExtract(tensor::ExtractOp op) {
  const Tensor *tensor = program.find(device, op.getTensor());
  SmallVector<Column> indices;
  for (Value index : op.getIndices())
    indices.push_back(get(index));
  if (!tensor || llvm::is_contained(indices, nullptr))
    return program.fail("a value that was not computed");
  Numbers result{tensor->numbers->type, {}};
  for (size_t i = 0, count = getCount(indices); i < count; ++i) {
    std::optional<Number> element = readElement(*tensor, indices, i);
    if (!element)
      return false;
    result.list.push_back(*element);
  }
  int64_t count = result.list.size();
  set(op, std::make_shared<Numbers>(std::move(result)));
  return program.spend(count);
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

namespace {
/// Runs a structured op: one iteration of the reduced loops after the other, each for all iterations of the others.
class StructuredRun {
public:
  StructuredRun(linalg::LinalgOp op, Interpreter &program, unsigned device)
      : op(op), program(program), device(device), extents(getExtents()) {}
  std::optional<SmallVector<Tensor, 1>> run();

private:
  SmallVector<int64_t> getExtents();
  /// The indices of the parallel loops in all iterations.
  void setLoops();
  bool runIteration();
  /// Where a map reads or writes a tensor, in row-major order; null if it is outside.
  Column getFlat(AffineMap map, ArrayRef<int64_t> shape);
  Column read(OpOperand &operand);

  linalg::LinalgOp op;
  Interpreter &program;
  unsigned device;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> reduced;
  SmallVector<Column> loops, outputs;
};
} // namespace

SmallVector<int64_t> StructuredRun::getExtents() {
  SmallVector<int64_t> sizes;
  for (Value operand : op->getOperands())
    llvm::append_range(sizes, program.find(device, operand)->shape);
  return op.getShapesToLoopsMap().compose(sizes);
}

void StructuredRun::setLoops() {
  SmallVector<int64_t> shape;
  SmallVector<unsigned> parallel;
  for (auto [l, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isReduced = type == utils::IteratorType::reduction;
    (isReduced ? reduced : parallel).push_back(l);
    if (!isReduced)
      shape.push_back(extents[l]);
  }
  std::vector<Numbers> indices(extents.size(), getIndices(op.getContext(), 0));
  for (unsigned l : parallel)
    indices[l].list.clear();
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    for (auto [l, i] : llvm::zip_equal(parallel, index))
      indices[l].list.push_back({.integer = i});
  });
  for (Numbers &numbers : indices)
    loops.push_back(std::make_shared<Numbers>(std::move(numbers)));
}

Column StructuredRun::getFlat(AffineMap map, ArrayRef<int64_t> shape) {
  SmallVector<Column> indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(evaluate(expr, loops, {}));
  Numbers flat = getIndices(op.getContext(), 0);
  flat.list.resize(getCount(loops));
  for (size_t i = 0; i < flat.list.size(); ++i) {
    int64_t at = 0;
    for (auto [index, size] : llvm::zip_equal(indices, shape)) {
      int64_t in = (*index)[i].integer;
      if (in < 0 || in >= size)
        return nullptr;
      at = at * size + in;
    }
    flat.list[i].integer = at;
  }
  return std::make_shared<Numbers>(std::move(flat));
}

Column StructuredRun::read(OpOperand &operand) {
  const Tensor *tensor = program.find(device, operand.get());
  if (!tensor || tensor->shape.empty() || tensor->numbers->list.size() == 1)
    return tensor ? tensor->numbers : nullptr;
  Column flat = getFlat(op.getMatchingIndexingMap(&operand), tensor->shape);
  if (!flat)
    return nullptr;
  Numbers numbers{tensor->numbers->type, std::vector<Number>(flat->list.size())};
  for (size_t i = 0; i < numbers.list.size(); ++i)
    numbers.list[i] = (*tensor->numbers)[(*flat)[i].integer];
  return std::make_shared<Numbers>(std::move(numbers));
}

bool StructuredRun::runIteration() {
  LoopBody body(program, device);
  body.loops = loops;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isInit = op.isDpsInit(&operand);
    if (!isInit && !op.payloadUsesValueFromOperand(&operand))
      continue;
    Column column = isInit ? outputs[operand.getOperandNumber() - op.getNumDpsInputs()] : read(operand);
    if (!column)
      return program.fail("an operand is not read");
    body.set(op.getMatchingBlockArgument(&operand), column);
  }
  if (!body.run(*op.getBlock()))
    return false;
  for (auto [output, yielded] : llvm::zip_equal(outputs, op.getBlock()->getTerminator()->getOperands()))
    output = body.get(yielded);
  return true;
}

std::optional<SmallVector<Tensor, 1>> StructuredRun::run() {
  setLoops();
  SmallVector<int64_t> reducedExtents;
  for (unsigned l : reduced)
    reducedExtents.push_back(extents[l]);
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!outputs.emplace_back(read(init))) {
      program.fail("an output is not read");
      return std::nullopt;
    }
  bool isDone = true;
  forEachIndex(reducedExtents, [&](ArrayRef<int64_t> index) {
    for (auto [l, i] : llvm::zip_equal(reduced, index))
      loops[l] = std::make_shared<Numbers>(getIndices(op.getContext(), i));
    isDone = isDone && runIteration();
  });
  if (!isDone)
    return std::nullopt;
  SmallVector<Tensor, 1> results;
  for (auto [init, output] : llvm::zip_equal(op.getDpsInitsMutable(), outputs)) {
    const Tensor *first = program.find(device, init.get());
    Column flat = getFlat(op.getMatchingIndexingMap(&init), first->shape);
    Numbers written{first->numbers->type, {}};
    for (int64_t i = 0, e = ShapedType::getNumElements(first->shape); i < e; ++i)
      written.list.push_back((*first->numbers)[i]);
    for (size_t i = 0; flat && i < flat->list.size(); ++i)
      written.list[(*flat)[i].integer] = (*output)[i];
    results.push_back({first->shape, std::make_shared<Numbers>(std::move(written))});
  }
  return results;
}

std::optional<SmallVector<Tensor, 1>> enumeration::computeLoops(linalg::LinalgOp op, Interpreter &program,
                                                                unsigned device) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type) || isNumeric(type); };
  if (!op.getShapesToLoopsMap() || !llvm::all_of(op->getOperandTypes(), isTensor)) {
    program.fail("an op whose operands do not give the sizes of its loops");
    return std::nullopt;
  }
  return StructuredRun(op, program, device).run();
}
