//===- Elements.cpp - What one element of a value is ----------------------===//

#include "Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

/// Iterations of reductions that are followed.
static constexpr int64_t kMaxIterations = 1 << 18;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

ExprId ExprTable::get(Expr expr) {
  auto pointer = [](const void *p) { return int64_t(intptr_t(p)); };
  SmallVector<int64_t, 12> key{int64_t(expr.kind),
                               pointer(expr.attribute.getAsOpaquePointer()),
                               pointer(expr.name),
                               pointer(expr.type.getAsOpaquePointer()),
                               pointer(expr.value.getAsOpaquePointer()),
                               int64_t(expr.index.size())};
  key.append(expr.index.begin(), expr.index.end());
  key.append(expr.children.begin(), expr.children.end());
  auto [it, isNew] = ids.try_emplace(key, exprs.size());
  if (isNew)
    exprs.push_back(std::move(expr));
  return it->second;
}

ExprId ExprTable::getOp(OperationName name, DictionaryAttr attributes, Type type, ArrayRef<ExprId> children) {
  MLIRContext *context = type.getContext();
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attr : attributes)
    if (!attr.getName().getValue().starts_with("spmd."))
      kept.push_back(attr);
  attributes = DictionaryAttr::get(context, kept);
  auto asConstant = [&](ExprId id) { return exprs[id].kind == Expr::Constant ? exprs[id].attribute : Attribute(); };
  SmallVector<Attribute> constants = llvm::map_to_vector(children, asConstant);
  // A selection by a constant, and ops of constants.
  if (name.getStringRef() == "arith.select")
    if (auto condition = dyn_cast_or_null<IntegerAttr>(constants[0]))
      return children[condition.getValue().isZero() ? 2 : 1];
  if (name.getStringRef() == "arith.select" && children[1] == children[2])
    return children[1];
  bool isConstant = !children.empty() && llvm::all_of(constants, [](Attribute attr) {
    return isa_and_nonnull<IntegerAttr, FloatAttr>(attr);
  });
  if (isConstant) {
    Block block;
    OperationState state(UnknownLoc::get(context), name);
    for (Attribute constant : constants)
      state.operands.push_back(block.addArgument(cast<TypedAttr>(constant).getType(), state.location));
    state.addTypes(type);
    state.addAttributes(attributes.getValue());
    Operation *op = Operation::create(state);
    SmallVector<OpFoldResult> results;
    Attribute value;
    if (succeeded(op->fold(constants, results)) && results.size() == 1) {
      value = dyn_cast<Attribute>(results[0]);
      if (!value) // an operand
        value = constants[cast<BlockArgument>(cast<Value>(results[0])).getArgNumber()];
    }
    op->destroy();
    if (value)
      return getConstant(value);
  }
  // What changes nothing, or gives zero.
  if (children.size() == 2) {
    for (unsigned i : {0, 1})
      if (isNeutralConstant(name.getAsOpaquePointer(), exprs[children[i]]))
        return children[1 - i];
    for (unsigned i : {0, 1})
      if (auto number = dyn_cast_or_null<IntegerAttr>(constants[i]);
          number && number.getValue().isZero() &&
          (name.getStringRef() == "arith.muli" || name.getStringRef() == "arith.andi"))
        return children[i];
  }
  Expr expr{Expr::Op, attributes, name.getAsOpaquePointer(), type};
  expr.children.assign(children.begin(), children.end());
  return get(expr);
}

bool spmd::isNeutralConstant(const void *name, const Expr &expr) {
  StringRef text = OperationName::getFromOpaquePointer(name).getStringRef();
  if (expr.kind != Expr::Constant)
    return false;
  if (auto number = dyn_cast<FloatAttr>(expr.attribute)) {
    const APFloat &value = number.getValue();
    return llvm::StringSwitch<bool>(text)
        .Case("arith.addf", value.isZero()) // either zero starts a sum
        .Case("arith.mulf", value.isExactlyValue(1.0))
        .Case("arith.maximumf", value.isInfinity() && value.isNegative())
        .Case("arith.minimumf", value.isInfinity() && !value.isNegative())
        .Cases("arith.maxnumf", "arith.minnumf", value.isNaN())
        .Default(false);
  }
  auto number = dyn_cast<IntegerAttr>(expr.attribute);
  if (!number)
    return false;
  APInt value = number.getValue();
  return llvm::StringSwitch<bool>(text)
      .Cases("arith.addi", "arith.ori", "arith.xori", "arith.maxui", value.isZero())
      .Case("arith.muli", value.isOne())
      .Cases("arith.andi", "arith.minui", value.isAllOnes())
      .Case("arith.maxsi", value.isMinSignedValue())
      .Case("arith.minsi", value.isMaxSignedValue())
      .Default(false);
}

std::optional<std::pair<const void *, ExprId>> spmd::splitReduction(ExprId id, ExprId output, const ExprTable &exprs) {
  const Expr &expr = exprs[id];
  if (expr.kind != Expr::Op || expr.children.size() != 2)
    return std::nullopt;
  StringRef text = OperationName::getFromOpaquePointer(expr.name).getStringRef();
  bool commutes = llvm::is_contained({"arith.addf", "arith.addi", "arith.mulf", "arith.muli", "arith.maximumf",
                                      "arith.minimumf", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui",
                                      "arith.maxnumf", "arith.minnumf", "arith.andi", "arith.ori", "arith.xori"},
                                     text);
  for (unsigned i : {0, 1})
    if (commutes && expr.children[i] == output && expr.children[1 - i] != output)
      return std::pair(expr.name, expr.children[1 - i]);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

std::optional<ExprId> Elements::fail(const Twine &reason) {
  if (why.empty())
    why = reason.str();
  return std::nullopt;
}

std::optional<ExprId> Elements::getValue(Value value) {
  if (auto it = scope.find(value); it != scope.end())
    return it->second;
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return exprs.getConstant(constant);
  Operation *op = value.getDefiningOp();
  // Scalars of the function around the op.
  if (op && isa<arith::ArithDialect>(op->getDialect()) && op->getNumRegions() == 0 && op->getNumResults() == 1) {
    SmallVector<ExprId> operands;
    for (Value operand : op->getOperands()) {
      std::optional<ExprId> id = getValue(operand);
      if (!id)
        return std::nullopt;
      operands.push_back(*id);
    }
    return exprs.getOp(op->getName(), op->getAttrDictionary(), value.getType(), operands);
  }
  if (auto extract = dyn_cast_or_null<tensor::ExtractOp>(op)) {
    Index at;
    for (Value index : extract.getIndices()) {
      std::optional<int64_t> number = getNumber(index);
      if (!number)
        return std::nullopt;
      at.push_back(*number);
    }
    return getElement(extract.getTensor(), at);
  }
  return getScalar(value);
}

std::optional<int64_t> Elements::getNumber(OpFoldResult value) {
  if (auto attr = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attr).getInt();
  std::optional<ExprId> id = getValue(cast<Value>(value));
  auto number = id ? dyn_cast_or_null<IntegerAttr>(exprs[*id].attribute) : IntegerAttr();
  if (!id || exprs[*id].kind != Expr::Constant || !number) {
    (void)fail("an index that the program computes");
    return std::nullopt;
  }
  return number.getInt();
}

bool Elements::computeOp(Operation &op, ArrayRef<int64_t> loops) {
  auto set = [&](std::optional<ExprId> id) {
    if (id)
      scope[op.getResult(0)] = *id;
    return id.has_value();
  };
  Builder b(op.getContext());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return set(exprs.getConstant(constant.getValue()));
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return set(exprs.getConstant(b.getIndexAttr(loops[index.getDim()])));
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Index at;
    for (auto [value, size] : llvm::zip_equal(extract.getIndices(), extract.getTensor().getType().getShape())) {
      std::optional<int64_t> number = getNumber(value);
      if (!number)
        return false;
      if (*number < 0 || *number >= size)
        return fail("an index that is not in the tensor").has_value();
      at.push_back(*number);
    }
    return set(getElement(extract.getTensor(), at));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && op.getNumResults()) {
    std::optional<ExprId> condition = getValue(branch.getCondition());
    auto known = condition ? dyn_cast_or_null<IntegerAttr>(exprs[*condition].attribute) : IntegerAttr();
    if (!known || exprs[*condition].kind != Expr::Constant)
      return fail("a branch by a computed value").has_value();
    Block *block = known.getValue().isZero() ? branch.elseBlock() : branch.thenBlock();
    for (Operation &nested : block->without_terminator())
      if (!computeOp(nested, loops))
        return false;
    for (auto [result, value] : llvm::zip_equal(op.getResults(), block->getTerminator()->getOperands())) {
      std::optional<ExprId> id = getValue(value);
      if (!id)
        return false;
      scope[result] = *id;
    }
    return true;
  }
  if (op.getNumRegions() || op.getNumResults() != 1 || !isMemoryEffectFree(&op))
    return fail(op.getName().getStringRef() + " in a body").has_value();
  SmallVector<ExprId> operands;
  for (Value operand : op.getOperands()) {
    std::optional<ExprId> id = getValue(operand);
    if (!id)
      return false;
    operands.push_back(*id);
  }
  return set(exprs.getOp(op.getName(), op.getAttrDictionary(), op.getResult(0).getType(), operands));
}

std::optional<ExprId> Elements::computeBody(Block &block, unsigned yielded, ArrayRef<int64_t> loops) {
  for (Operation &op : block.without_terminator())
    if (!computeOp(op, loops))
      return std::nullopt;
  return getValue(block.getTerminator()->getOperand(yielded));
}

std::optional<ExprId> Elements::computeLinalg(linalg::LinalgOp op, unsigned result, ArrayRef<int64_t> index) {
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges(), loops(extents.size(), -1);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, at] : llvm::zip_equal(map.getResults(), index)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || loops[dim.getPosition()] >= 0)
      return fail("a result that is not written at loops");
    loops[dim.getPosition()] = at;
  }
  SmallVector<unsigned> reduced;
  int64_t iterations = 1;
  for (auto [l, type] : llvm::enumerate(types)) {
    if (type == utils::IteratorType::parallel && loops[l] < 0)
      return fail("a loop that no result has");
    if (type == utils::IteratorType::parallel)
      continue;
    reduced.push_back(l);
    loops[l] = 0;
    iterations *= extents[l];
  }
  if (iterations > kMaxIterations)
    return fail("a reduction of many elements");
  unsigned numInits = op.getNumDpsInits();
  if (!reduced.empty() && numInits > 1)
    return fail("a reduction of several values");
  ExprId output = exprs.get({Expr::Output});
  Expr sum{Expr::Reduce};
  std::optional<ExprId> first;
  Block *block = op.getBlock();
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    int64_t rest = iteration;
    for (unsigned l : llvm::reverse(reduced)) {
      loops[l] = rest % extents[l];
      rest /= extents[l];
    }
    for (OpOperand &operand : op->getOpOperands()) {
      Value argument = op.getMatchingBlockArgument(&operand);
      if (!isa<RankedTensorType>(operand.get().getType())) {
        std::optional<ExprId> scalar = getValue(operand.get());
        if (!scalar)
          return std::nullopt;
        scope[argument] = *scalar;
        continue;
      }
      bool isUsed = op.payloadUsesValueFromOperand(&operand);
      if (op.isDpsInit(&operand) && !reduced.empty() && (iteration > 0 || !isUsed)) {
        scope[argument] = output;
        continue;
      }
      SmallVector<int64_t, 4> at = op.getMatchingIndexingMap(&operand).compose(loops);
      std::optional<ExprId> element =
          isUsed ? getElement(operand.get(), at) : std::optional(exprs.get({Expr::Undefined}));
      if (!element)
        return std::nullopt;
      bool isFirst = op.isDpsInit(&operand) && !reduced.empty();
      if (isFirst)
        first = element;
      scope[argument] = isFirst ? output : *element;
    }
    std::optional<ExprId> yielded = computeBody(*block, result, loops);
    if (!yielded || reduced.empty())
      return yielded;
    if (*yielded == output)
      continue;
    std::optional<std::pair<const void *, ExprId>> combined = splitReduction(*yielded, output, exprs);
    if (!combined || (sum.name && sum.name != combined->first))
      return fail("a reduction that is not a sum of terms");
    sum.name = combined->first;
    sum.children.push_back(combined->second);
  }
  if (!first)
    return fail("a reduction without a first value");
  if (!sum.name)
    return first;
  llvm::sort(sum.children);
  sum.children.insert(sum.children.begin(), *first);
  return exprs.get(sum);
}

/// The index of an element in row-major order, and back.
static int64_t flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape))
    flat = flat * size + i;
  return flat;
}
static Index unflatten(int64_t flat, ArrayRef<int64_t> shape) {
  Index index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

std::optional<ExprId> Elements::compute(OpResult result, ArrayRef<int64_t> index) {
  Operation *op = result.getOwner();
  scope.clear();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
  auto isStatic = [](Type type) { return !isa<ShapedType>(type) || cast<ShapedType>(type).hasStaticShape(); };
  if (!llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()), isStatic))
    return fail("a size that only the run knows");
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return computeLinalg(linalgOp, result.getResultNumber(), index);
  if (isa<tensor::EmptyOp>(op))
    return exprs.get({Expr::Undefined});
  DenseElementsAttr elements;
  if (matchPattern(op, m_Constant(&elements)))
    return exprs.getConstant(elements.isSplat() ? elements.getSplatValue<Attribute>()
                                                : elements.getValues<Attribute>()[flatten(index, shape)]);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(op))
    return getElement(op->getOperand(0),
                      unflatten(flatten(index, shape), cast<RankedTensorType>(op->getOperand(0).getType()).getShape()));
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return getValue(splat.getInput());
  if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    Block &body = generate.getBody().front();
    for (auto [argument, at] : llvm::zip_equal(body.getArguments(), index))
      scope[argument] = exprs.getConstant(Builder(op->getContext()).getIndexAttr(at));
    return computeBody(body, 0, {});
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op); cast && cast.getSource().getType() == cast.getType())
    return getElement(cast.getSource(), index);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    Index at;
    unsigned next = 0;
    for (auto [d, offset, stride] : llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
      std::optional<int64_t> begin = getNumber(offset), step = getNumber(stride);
      if (!begin || !step)
        return std::nullopt;
      at.push_back(*begin + (dropped[d] ? 0 : *step * index[next++]));
      if (at.back() < 0 || at.back() >= slice.getSourceType().getDimSize(d))
        return fail("a slice that is not in the tensor");
    }
    return getElement(slice.getSource(), at);
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    Index at;
    bool isInside = true;
    for (auto [d, offset, stride] : llvm::enumerate(insert.getMixedOffsets(), insert.getMixedStrides())) {
      std::optional<int64_t> begin = getNumber(offset), step = getNumber(stride);
      if (!begin || !step)
        return std::nullopt;
      int64_t size = dropped[d] ? 1 : insert.getSourceType().getDimSize(at.size()), from = index[d] - *begin;
      isInside &= from >= 0 && from % *step == 0 && from / *step < size;
      if (!dropped[d])
        at.push_back(from / *step);
    }
    return isInside ? getElement(insert.getSource(), at) : getElement(insert.getDest(), index);
  }
  if (auto list = dyn_cast<tensor::FromElementsOp>(op))
    return getValue(list.getElements()[flatten(index, shape)]);
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Index at(index);
    bool isInside = true;
    for (auto [d, low] : llvm::enumerate(pad.getMixedLowPad())) {
      std::optional<int64_t> number = getNumber(low);
      if (!number)
        return std::nullopt;
      at[d] -= *number;
      isInside &= at[d] >= 0 && at[d] < pad.getSourceType().getDimSize(d);
    }
    Value padding = pad.getConstantPaddingValue();
    if (!padding)
      return fail("a padding that is computed");
    return isInside ? getElement(pad.getSource(), at) : getValue(padding);
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    Index at(index);
    for (Value input : concat.getInputs()) {
      int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim());
      if (at[concat.getDim()] < size)
        return getElement(input, at);
      at[concat.getDim()] -= size;
    }
  }
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && op->getNumRegions() == 0) {
    SmallVector<ExprId> operands;
    for (Value operand : op->getOperands()) {
      std::optional<ExprId> id = isa<ShapedType>(operand.getType()) ? getElement(operand, index) : getValue(operand);
      if (!id)
        return std::nullopt;
      operands.push_back(*id);
    }
    return exprs.getOp(op->getName(), op->getAttrDictionary(), getElementTypeOrSelf(result.getType()), operands);
  }
  return fail(op->getName().getStringRef() + " is not read");
}
