//===- ElementExpressions.cpp - Elements of loading functions ------------===//

#include "ElementExpressions.h"

#include "shardkit/Loading/LoadingFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;
using Kind = ElementNode::Kind;

/// Bounds of an expression.
static constexpr size_t kMaxNodes = 4096, kMaxClasses = 64, kMaxDepth = 16;

static Element makeNode(ElementNode node) { return std::make_shared<const ElementNode>(std::move(node)); }
static Element makeLeaf(Type type, std::optional<Copies> copies) {
  return copies ? makeNode({Kind::Leaf, type, std::move(copies)}) : Element();
}
static Element makeConstant(TypedAttr constant) {
  return makeNode({Kind::Constant, constant.getType(), std::nullopt, constant});
}
static Element makeOp(StringRef name, DictionaryAttr attrs, Type type, ArrayRef<Element> operands) {
  if (llvm::is_contained(operands, Element()))
    return {};
  return makeNode({Kind::Op,
                   type,
                   std::nullopt,
                   {},
                   OperationName(name, type.getContext()),
                   attrs,
                   SmallVector<Element, 2>(operands)});
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

using MoveFn = llvm::function_ref<std::optional<Copies>(const Copies &)>;
using MoveMemo = llvm::DenseMap<const ElementNode *, Element>;

/// The expression whose leaves are moved.
static Element moveLeaves(const Element &element, MoveFn move, MoveMemo &memo) {
  if (!element)
    return {};
  if (element->kind == Kind::Leaf || !element->operands.empty())
    if (auto it = memo.find(element.get()); it != memo.end())
      return it->second;
  Element result = element;
  if (element->kind == Kind::Leaf) {
    result = makeLeaf(element->type, move(*element->copies));
  } else if (!element->operands.empty()) {
    ElementNode node = *element;
    for (Element &operand : node.operands)
      operand = moveLeaves(operand, move, memo);
    result = llvm::is_contained(node.operands, Element()) ? Element() : makeNode(std::move(node));
  }
  memo[element.get()] = result;
  return result;
}
static Element moveLeaves(const Element &element, MoveFn move) {
  MoveMemo memo;
  return moveLeaves(element, move, memo);
}

namespace {
/// The union of values with disjoint elements, as in a concatenation.
class ElementMerge {
public:
  using CombineFn = llvm::function_ref<std::optional<Copies>(ArrayRef<Copies>)>;
  /// `shapes` are those of the inputs; `combine` makes one value of several.
  ElementMerge(ArrayRef<SmallVector<int64_t>> shapes, CombineFn combine) : shapes(shapes), combine(combine) {}
  Element get(ArrayRef<Element> inputs);

private:
  static bool isSameOp(const ElementNode &a, const ElementNode &b);
  /// Inputs of one class, or undefined.
  Element getClass(ArrayRef<Element> inputs);
  Element select(ArrayRef<Element> inputs, ArrayRef<int> classes, int numClasses);

  ArrayRef<SmallVector<int64_t>> shapes;
  CombineFn combine;
  std::map<SmallVector<const ElementNode *>, Element> memo;
};
} // namespace

bool ElementMerge::isSameOp(const ElementNode &a, const ElementNode &b) {
  if (a.kind != b.kind || a.type != b.type || a.constant != b.constant || a.name != b.name || a.attrs != b.attrs ||
      a.operands.size() != b.operands.size())
    return false;
  for (auto [x, y] : llvm::zip(a.operands, b.operands))
    if (x->type != y->type)
      return false;
  return true;
}

Element ElementMerge::get(ArrayRef<Element> inputs) {
  SmallVector<const ElementNode *> key;
  for (const Element &input : inputs) {
    if (!input)
      return {};
    key.push_back(input.get());
  }
  auto [it, isNew] = memo.try_emplace(key);
  if (!isNew)
    return it->second;
  SmallVector<int> classes;
  SmallVector<const ElementNode *> first;
  for (const Element &input : inputs) {
    classes.push_back(-1);
    if (input->kind == Kind::Undefined)
      continue;
    auto found = llvm::find_if(first, [&](const ElementNode *node) { return isSameOp(*node, *input); });
    classes.back() = found - first.begin();
    if (found == first.end())
      first.push_back(input.get());
  }
  Element result;
  if (first.empty())
    result = inputs.front();
  else if (first.size() == 1)
    result = getClass(inputs);
  else if (first.size() <= kMaxClasses)
    result = select(inputs, classes, first.size());
  memo[key] = result;
  return result;
}

Element ElementMerge::getClass(ArrayRef<Element> inputs) {
  const Element &first = *llvm::find_if(inputs, [](const Element &e) { return e->kind != Kind::Undefined; });
  if (first->kind == Kind::Constant)
    return first;
  if (first->kind == Kind::Leaf) {
    SmallVector<Copies> copies;
    for (auto [input, shape] : llvm::zip(inputs, shapes))
      copies.push_back(input->kind == Kind::Leaf ? *input->copies : Copies::undefined(shape));
    return makeLeaf(first->type, combine(copies));
  }
  ElementNode node = *first;
  for (auto [i, operand] : llvm::enumerate(node.operands)) {
    SmallVector<Element> operands;
    for (const Element &input : inputs)
      operands.push_back(input->kind == Kind::Undefined ? makeNode({Kind::Undefined, first->operands[i]->type})
                                                        : input->operands[i]);
    operand = get(operands);
    if (!operand)
      return {};
  }
  return makeNode(std::move(node));
}

Element ElementMerge::select(ArrayRef<Element> inputs, ArrayRef<int> classes, int numClasses) {
  MLIRContext *context = inputs.front()->type.getContext();
  Builder b(context);
  SmallVector<Copies> numbers;
  for (auto [number, shape] : llvm::zip(classes, shapes))
    numbers.push_back(number < 0 ? Copies::undefined(shape) : Copies::repeat(kNumbersSource, number, shape));
  Element number = makeLeaf(b.getI32Type(), combine(numbers)), result;
  DictionaryAttr isEqual = b.getDictionaryAttr(
      b.getNamedAttr("predicate", arith::CmpIPredicateAttr::get(context, arith::CmpIPredicate::eq)));
  for (int c = 0; c < numClasses && number; ++c) {
    SmallVector<Element> members(inputs);
    for (auto [member, at] : llvm::zip(members, classes))
      if (at != c)
        member = makeNode({Kind::Undefined, member->type});
    Element value = getClass(members);
    if (!value)
      return {};
    if (c > 0) {
      Element isClass = makeOp("arith.cmpi", isEqual, b.getI1Type(), {number, makeConstant(b.getI32IntegerAttr(c))});
      value = makeOp("arith.select", b.getDictionaryAttr({}), value->type, {isClass, value, result});
    }
    result = value;
  }
  return number ? result : Element();
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates the values of a function as expressions, from the result back.
class ElementEvaluator {
public:
  ElementEvaluator(func::FuncOp func, ArrayRef<Element> arguments, unsigned depth) : depth(depth) {
    for (auto [value, element] : llvm::zip(func.getArguments(), arguments))
      known[value] = element;
  }
  Element get(Value value);

private:
  Element evaluate(OpResult value, ArrayRef<int64_t> shape);
  Element evaluate(linalg::LinalgOp op, unsigned result, ArrayRef<int64_t> shape);
  Element evaluate(tensor::PadOp pad);
  Element evaluate(func::CallOp call, unsigned result);
  Element getConstant(arith::ConstantOp op);
  /// An op of scalars, or of tensors element by element.
  Element evaluateOp(Operation *op, llvm::function_ref<Element(Value)> operand);
  /// An operand in the space of the loops of an op.
  static std::optional<Copies> toLoops(const Copies &operand, AffineMap map, ArrayRef<int64_t> ranges);
  static bool isStatic(OffsetSizeAndStrideOpInterface slice);
  static Element moveTo(const Element &element, ArrayRef<int64_t> shape) {
    return moveLeaves(element, [&](const Copies &copies) { return copies.reshape(shape); });
  }
  static SmallVector<int64_t> shapeOf(Value value) {
    return SmallVector<int64_t>(cast<RankedTensorType>(value.getType()).getShape());
  }

  unsigned depth;
  llvm::DenseMap<Value, Element> known;
};
} // namespace

Element ElementEvaluator::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Element result;
  if (auto op = value.getDefiningOp()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.hasStaticShape())
      result = evaluate(cast<OpResult>(value), type.getShape());
    else if (value.getType().isIntOrIndexOrFloat())
      result = isa<arith::ConstantOp>(op) ? getConstant(cast<arith::ConstantOp>(op))
                                          : evaluateOp(op, [&](Value operand) { return get(operand); });
  }
  known[value] = result;
  return result;
}

bool ElementEvaluator::isStatic(OffsetSizeAndStrideOpInterface slice) {
  return llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic) &&
         llvm::none_of(slice.getStaticSizes(), ShapedType::isDynamic) &&
         llvm::none_of(slice.getStaticStrides(), ShapedType::isDynamic) &&
         llvm::all_of(slice.getStaticStrides(), [](int64_t step) { return step > 0; });
}

Element ElementEvaluator::getConstant(arith::ConstantOp op) {
  if (!isa<TensorType>(op.getType()))
    return makeConstant(op.getValue());
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || elements.empty())
    return {};
  if (elements.isSplat()) {
    auto splat = dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
    return splat ? makeConstant(splat) : Element();
  }
  if (elements.getNumElements() > std::numeric_limits<int32_t>::max())
    return {};
  Element number =
      makeLeaf(IntegerType::get(op.getContext(), 32), Copies::ofSource(kNumbersSource, elements.getType().getShape()));
  auto list = elements.reshape(elements.getType().clone({elements.getNumElements()}));
  return makeNode({Kind::Lookup,
                   elements.getElementType(),
                   std::nullopt,
                   cast<TypedAttr>(Attribute(list)),
                   std::nullopt,
                   {},
                   {number}});
}

Element ElementEvaluator::evaluateOp(Operation *op, llvm::function_ref<Element(Value)> operand) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      op->getNumRegions() != 0 || op->getNumOperands() == 0 || !isMemoryEffectFree(op) || !isSpeculatable(op))
    return {};
  Type type = getElementTypeOrSelf(op->getResult(0));
  if (!type.isIntOrIndexOrFloat())
    return {};
  SmallVector<Element> operands;
  for (Value value : op->getOperands()) {
    operands.push_back(operand(value));
    if (!operands.back())
      return {};
  }
  NamedAttrList attrs(op->getAttrDictionary());
  for (NamedAttribute attr : op->getDiscardableAttrs())
    attrs.erase(attr.getName());
  return makeOp(op->getName().getStringRef(), attrs.getDictionary(op->getContext()), type, operands);
}

Element ElementEvaluator::evaluate(OpResult value, ArrayRef<int64_t> shape) {
  Operation *op = value.getOwner();
  Type type = getElementTypeOrSelf(value);
  if (isa<tensor::EmptyOp>(op))
    return makeNode({Kind::Undefined, type});
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return getConstant(constant);
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return get(splat.getInput());
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    SmallVector<Element> inputs;
    SmallVector<SmallVector<int64_t>> shapes;
    for (Value input : concat.getInputs()) {
      inputs.push_back(get(input));
      shapes.push_back(shapeOf(input));
    }
    return ElementMerge(shapes,
                        [&](ArrayRef<Copies> copies) { return std::optional(Copies::concat(copies, concat.getDim())); })
        .get(inputs);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!isStatic(slice))
      return {};
    return moveLeaves(get(slice.getSource()), [&](const Copies &copies) -> std::optional<Copies> {
      auto moved = copies.slice(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getStaticStrides());
      return moved ? moved->reshape(shape) : moved; // drops dims of size 1
    });
  }
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (!isStatic(slice))
      return {};
    SmallVector<SmallVector<int64_t>> shapes{SmallVector<int64_t>(shape), SmallVector<int64_t>(slice.getStaticSizes())};
    return ElementMerge(shapes,
                        [&](ArrayRef<Copies> copies) {
                          return copies[0].insert(copies[1], slice.getStaticOffsets(), slice.getStaticStrides());
                        })
        .get({get(slice.getDest()), moveTo(get(slice.getSource()), shapes[1])});
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return evaluate(pad);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp, tensor::CastOp>(op))
    return moveTo(get(op->getOperand(0)), shape);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return evaluate(linalgOp, value.getResultNumber(), shape);
  if (auto call = dyn_cast<func::CallOp>(op))
    return evaluate(call, value.getResultNumber());
  if (op->hasTrait<OpTrait::Elementwise>())
    return evaluateOp(op, [&](Value operand) { return get(operand); });
  return {};
}

Element ElementEvaluator::evaluate(tensor::PadOp pad) {
  Value padding = pad.getConstantPaddingValue();
  auto isFixed = [](ArrayRef<int64_t> sizes) { return llvm::all_of(sizes, [](int64_t n) { return n >= 0; }); };
  if (!padding || !isFixed(pad.getStaticLow()) || !isFixed(pad.getStaticHigh()))
    return {};
  SmallVector<int64_t> ones(pad.getStaticLow().size(), 1);
  SmallVector<SmallVector<int64_t>> shapes{shapeOf(pad.getResult()), shapeOf(pad.getSource())};
  return ElementMerge(shapes,
                      [&](ArrayRef<Copies> copies) { return copies[0].insert(copies[1], pad.getStaticLow(), ones); })
      .get({get(padding), get(pad.getSource())});
}

std::optional<Copies> ElementEvaluator::toLoops(const Copies &operand, AffineMap map, ArrayRef<int64_t> ranges) {
  Copies copies = operand;
  // Replaces dim d by a dim of `size` whose index i is `outer` or `inner` copies of it.
  auto repeat = [&](unsigned d, int64_t outer, int64_t inner, int64_t size) {
    SmallVector<int64_t> shape(copies.getShape()), wide, dims, steps(shape.size(), 1), offsets(shape.size(), 0);
    for (auto [k, n] : llvm::enumerate(shape)) {
      if (k == d && outer > 1) {
        wide.push_back(outer);
        dims.push_back(-1);
      }
      wide.push_back(n);
      dims.push_back(k);
      if (k == d && inner > 1) {
        wide.push_back(inner);
        dims.push_back(-1);
      }
    }
    shape[d] *= outer * inner;
    std::optional<Copies> joined = copies.remap(wide, dims).reshape(shape);
    shape[d] = size;
    joined = joined ? joined->slice(offsets, shape, steps) : joined;
    if (joined)
      copies = std::move(*joined);
    return bool(joined);
  };
  SmallVector<int64_t> loopDims(ranges.size(), -1);
  SmallVector<int64_t> kept;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    auto along = dyn_cast<AffineDimExpr>(expr);
    int64_t size = copies.getShape()[d];
    if (auto constant = dyn_cast<AffineConstantExpr>(expr); constant && constant.getValue() == 0 && size == 1)
      continue; // dropped below
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
      along = dyn_cast<AffineDimExpr>(binary.getLHS());
      auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (!along || !factor || factor.getValue() < 1)
        return std::nullopt;
      int64_t range = ranges[along.getPosition()], c = factor.getValue();
      bool isDiv = binary.getKind() == AffineExprKind::FloorDiv;
      if (range == 0 || (!isDiv && binary.getKind() != AffineExprKind::Mod))
        return std::nullopt;
      int64_t reached = isDiv ? (range - 1) / c + 1 : std::min(range, c);
      if (reached > size || (!isDiv && range > c && size != c) ||
          !(isDiv ? repeat(d, 1, c, range) : repeat(d, llvm::divideCeil(range, c), 1, range)))
        return std::nullopt;
      size = range;
    }
    if (!along || size != ranges[along.getPosition()] || loopDims[along.getPosition()] >= 0)
      return std::nullopt;
    loopDims[along.getPosition()] = kept.size();
    kept.push_back(size);
  }
  std::optional<Copies> result = copies.reshape(kept);
  return result ? std::optional(result->remap(ranges, loopDims)) : result;
}

Element ElementEvaluator::evaluate(linalg::LinalgOp op, unsigned result, ArrayRef<int64_t> shape) {
  AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (op.getNumReductionLoops() != 0 || !to.isPermutation() || llvm::any_of(ranges, ShapedType::isDynamic))
    return {};
  llvm::DenseMap<Value, Element> scalars;
  Block *body = op.getBlock();
  std::function<Element(Value)> scalar = [&](Value value) -> Element {
    if (auto it = scalars.find(value); it != scalars.end())
      return it->second;
    Element element;
    if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == body) {
      OpOperand &operand = op->getOpOperand(arg.getArgNumber());
      element = get(operand.get());
      if (isa<TensorType>(operand.get().getType()))
        element = moveLeaves(element, [&](const Copies &copies) {
          return toLoops(copies, op.getMatchingIndexingMap(&operand), ranges);
        });
    } else if (Operation *def = value.getDefiningOp(); def && def->getBlock() == body) {
      if (auto index = dyn_cast<linalg::IndexOp>(def)) {
        SmallVector<int64_t> dims(ranges.size(), -1);
        dims[index.getDim()] = 0;
        int64_t size = ranges[index.getDim()];
        if (size <= std::numeric_limits<int32_t>::max())
          element = makeOp("arith.index_cast", DictionaryAttr::get(op.getContext()), value.getType(),
                           {makeLeaf(IntegerType::get(op.getContext(), 32),
                                     Copies::ofSource(kNumbersSource, {size}).remap(ranges, dims))});
      } else {
        element = isa<arith::ConstantOp>(def) ? getConstant(cast<arith::ConstantOp>(def)) : evaluateOp(def, scalar);
      }
    } else {
      element = get(value);
    }
    scalars[value] = element;
    return element;
  };
  SmallVector<int64_t> dims;
  for (unsigned r = 0; r < to.getNumResults(); ++r)
    dims.push_back(to.getDimPosition(r));
  return moveLeaves(scalar(body->getTerminator()->getOperand(result)),
                    [&](const Copies &copies) { return std::optional(copies.remap(shape, dims)); });
}

Element ElementEvaluator::evaluate(func::CallOp call, unsigned result) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  // The depth limit also stops at recursive calls.
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() || depth > kMaxDepth)
    return {};
  SmallVector<Element> arguments;
  for (Value operand : call.getOperands())
    arguments.push_back(get(operand));
  return ElementEvaluator(callee, arguments, depth + 1)
      .get(callee.getBody().front().getTerminator()->getOperand(result));
}

Element spmd::getElements(func::FuncOp load) {
  if (load.isExternal() || !load.getBody().hasOneBlock())
    return {};
  SmallVector<Element> arguments;
  for (auto [i, type] : llvm::enumerate(load.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    arguments.push_back(tensor.getElementType().isIntOrFloat()
                            ? makeLeaf(tensor.getElementType(), Copies::ofSource(i, tensor.getShape()))
                            : Element());
  }
  Element result = ElementEvaluator(load, arguments, 0).get(load.getBody().front().getTerminator()->getOperand(0));
  // Calls evaluate their operands once, but merges and moves can multiply nodes.
  llvm::DenseSet<const ElementNode *> seen;
  SmallVector<const ElementNode *> pending;
  if (result)
    pending.push_back(result.get());
  while (!pending.empty() && seen.size() <= kMaxNodes) {
    const ElementNode *node = pending.pop_back_val();
    if (seen.insert(node).second)
      for (const Element &operand : node->operands)
        pending.push_back(operand.get());
  }
  return seen.size() <= kMaxNodes ? result : Element();
}
