//===- Structured.cpp - Ops as loops around a term ------------------------===//

#include "shardkit/Proof/Structured.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// A linear affine expression over loops.
static std::optional<IndexForm> getForm(AffineExpr expr, ArrayRef<int64_t> extents) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexForm(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return IndexForm::ofLoop(dim.getPosition(), extents[dim.getPosition()]);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<IndexForm> lhs = getForm(binary.getLHS(), extents), rhs = getForm(binary.getRHS(), extents);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return lhs->plus(*rhs);
  if (expr.getKind() == AffineExprKind::Mul && rhs->isConstant())
    return lhs->times(rhs->getConstant());
  if (expr.getKind() == AffineExprKind::Mul && lhs->isConstant())
    return rhs->times(lhs->getConstant());
  return std::nullopt;
}

static std::optional<SmallVector<IndexForm, 4>> getForms(AffineMap map, ArrayRef<int64_t> extents) {
  SmallVector<IndexForm, 4> forms;
  for (AffineExpr expr : map.getResults()) {
    std::optional<IndexForm> form = getForm(expr, extents);
    if (!form)
      return std::nullopt;
    forms.push_back(*form);
  }
  return forms;
}

/// The loops of a linear expression.
static void findLoops(AffineExpr expr, int64_t factor, SmallVectorImpl<std::pair<unsigned, int64_t>> &loops) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    loops.push_back({dim.getPosition(), factor});
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return;
  auto lhs = dyn_cast<AffineConstantExpr>(binary.getLHS()), rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool isProduct = expr.getKind() == AffineExprKind::Mul;
  findLoops(binary.getLHS(), isProduct && rhs ? factor * rhs.getValue() : factor, loops);
  findLoops(binary.getRHS(), isProduct && lhs ? factor * lhs.getValue() : factor, loops);
}

static RankedTensorType getStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

/// Loops are the dims of the result.
static Structured overResult(RankedTensorType type) {
  Structured op;
  op.extents.assign(type.getShape().begin(), type.getShape().end());
  op.isReduction.assign(type.getRank(), false);
  SmallVector<IndexForm, 4> identity;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    identity.push_back(IndexForm::ofLoop(d, size));
  op.results.push_back(identity);
  op.resultLoops.emplace_back();
  llvm::append_range(op.resultLoops.back(), llvm::seq<int>(0, type.getRank()));
  return op;
}

/// `form` in [0, size): null if that always holds.
static std::optional<TermId> isInside(const IndexForm &form, int64_t size, TermTable &terms, Operation *op) {
  if (form.isInside(size))
    return std::nullopt;
  MLIRContext *context = op->getContext();
  std::optional<TermId> inside;
  auto add = [&](TermId term) { inside = inside ? terms.getAnd(*inside, term, context) : term; };
  // A number of the program may be anything.
  if (form.hasScalar() || form.getRange().first < 0)
    add(terms.getNot(terms.getLess(form), context));
  if (form.hasScalar() || isUnknownSize(size) || form.getRange().second >= size) {
    std::optional<IndexForm> beyond = form.plus(terms.sizes.getForm(size), -1);
    add(beyond ? terms.getLess(*beyond) : terms.getUnknown(op));
  }
  return inside;
}

/// True if an op writes each element of a result once: no other is left of the first value, or overwritten.
static bool writesAll(ArrayRef<int> loops, ArrayRef<IndexForm> map, RankedTensorType type, ArrayRef<bool> isReduction) {
  llvm::SmallDenseSet<int> written;
  for (auto [d, loop] : llvm::enumerate(loops)) {
    bool isLoop = loop >= 0 && !isReduction[loop] && written.insert(loop).second;
    if (!isLoop && !(loop < 0 && type.getDimSize(d) == 1 && map[d] == IndexForm(0)))
      return false;
  }
  return int64_t(written.size()) == llvm::count(isReduction, false);
}

namespace {
struct Reader {
  TermTable &terms;
  const ScalarReader &scalars;

  std::optional<IndexForm> getIndex(OpFoldResult value);
  BodyReader getBody(Structured &result);
  /// What a body whose arguments are the indices of the result yields.
  TermId readAtIndices(Block &block, Structured &result);
  /// Each dim of the operand is a loop with the same number, or with the number of a list.
  static void setLoops(Structured::Argument &argument, ArrayRef<int> numbers = {}, int64_t factor = 1);
  std::optional<Structured> readLinalg(linalg::LinalgOp op);
  std::optional<Structured> readElementwise(Operation *op);
  /// The attributes of the op itself, without annotations.
  static DictionaryAttr getAttributes(Operation *op);
  std::optional<Structured> readSlice(tensor::ExtractSliceOp op);
  std::optional<Structured> readPad(tensor::PadOp op);
  std::optional<Structured> readConcat(tensor::ConcatOp op);
  std::optional<Structured> readInsert(tensor::InsertSliceOp op);
  std::optional<Structured> readGenerate(tensor::GenerateOp op);
  /// A reshape that only adds or drops dims of one element.
  std::optional<Structured> readUnitReshape(Operation *op);
};
} // namespace

std::optional<IndexForm> Reader::getIndex(OpFoldResult value) {
  if (auto attr = dyn_cast<Attribute>(value))
    return IndexForm(cast<IntegerAttr>(attr).getInt());
  const Term &term = terms[scalars.get(cast<Value>(value))];
  return term.kind == Term::Kind::Index ? std::optional(term.form) : std::nullopt;
}

BodyReader Reader::getBody(Structured &result) {
  BodyReader body(terms, scalars.get);
  body.getCoordinate = scalars.getCoordinate;
  body.getLookup = [&result, this](Value tensor, ArrayRef<TermId> indices) -> std::optional<TermId> {
    if (!getStaticTensor(tensor))
      return std::nullopt;
    // At indices of loops it is read as any operand.
    SmallVector<IndexForm, 4> map;
    for (TermId index : indices)
      if (terms[index].kind == Term::Kind::Index && !terms[index].form.hasData())
        map.push_back(terms[index].form);
    bool isLookup = map.size() != indices.size();
    if (isLookup)
      map.clear();
    bool isIndex = cast<RankedTensorType>(tensor.getType()).getElementType().isIndex();
    auto asIndex = [&](TermId element) { return isIndex ? terms.getIndex(IndexForm::ofData(element)) : element; };
    result.arguments.push_back({tensor, map, isLookup});
    for (const IndexForm &form : map) {
      result.arguments.back().loops.emplace_back();
      for (const IndexTerm &index : form.getTerms())
        if (index.kind == IndexTerm::Kind::Loop && index.lo == 1)
          result.arguments.back().loops.back().push_back({index.var, index.coef});
    }
    if (!isLookup)
      return asIndex(terms.getArgument(result.arguments.size() - 1));
    Term term{Term::Kind::Lookup};
    term.numbers.push_back(result.arguments.size() - 1);
    term.operands.assign(indices.begin(), indices.end());
    return asIndex(terms.get(term));
  };
  body.getLoopIndex = [&result](unsigned loop) { return IndexForm::ofLoop(loop, result.extents[loop]); };
  return body;
}

TermId Reader::readAtIndices(Block &block, Structured &result) {
  BodyReader body = getBody(result);
  for (auto [d, argument] : llvm::enumerate(block.getArguments()))
    body.set(argument, terms.getIndex(result.results[0][d]));
  body.read(block);
  result.traps = body.traps;
  return body.get(block.getTerminator()->getOperand(0));
}

void Reader::setLoops(Structured::Argument &argument, ArrayRef<int> numbers, int64_t factor) {
  for (auto [d, form] : llvm::enumerate(argument.map)) {
    int loop = numbers.empty() ? int(d) : numbers[d];
    argument.loops.emplace_back();
    if (loop >= 0)
      argument.loops.back().push_back({loop, factor});
  }
}

std::optional<Structured> Reader::readLinalg(linalg::LinalgOp op) {
  Structured result;
  if (op.hasDynamicShape())
    return std::nullopt;
  SmallVector<int64_t, 4> ranges = op.getStaticLoopRanges();
  result.extents.assign(ranges.begin(), ranges.end());
  for (utils::IteratorType type : op.getIteratorTypesArray())
    result.isReduction.push_back(type == utils::IteratorType::reduction);
  Block *block = op.getBlock();
  // The region of a named op is not printed: that of a program that was simplified is as that of one that was read.
  Block named;
  if (isa<linalg::FillRng2DOp>(op)) {
    ImplicitLocOpBuilder b(op.getLoc(), op.getContext());
    b.setInsertionPointToEnd(&named);
    for (Value argument : block->getArguments())
      named.addArgument(argument.getType(), op.getLoc());
    op.getRegionBuilder()(b, named, op->getAttrs(), {});
    block = &named;
  }
  SmallVector<std::pair<Value, TermId>> set;
  for (OpOperand &operand : op->getOpOperands()) {
    if (op.isDpsInit(&operand) && result.numInputs == 0 && operand.getOperandNumber() == op.getNumDpsInputs())
      result.numInputs = result.arguments.size();
    Value argument = block->getArgument(operand.getOperandNumber());
    if (!isa<RankedTensorType>(operand.get().getType())) {
      if (isa<ShapedType>(operand.get().getType()))
        return std::nullopt;
      set.push_back({argument, scalars.get(operand.get())});
      continue;
    }
    std::optional<SmallVector<IndexForm, 4>> map = getForms(op.getMatchingIndexingMap(&operand), result.extents);
    if (!map)
      return std::nullopt;
    TermId element = terms.getArgument(result.arguments.size());
    if (argument.getType().isIndex())
      element = terms.getIndex(IndexForm::ofData(element));
    set.push_back({argument, element});
    result.arguments.push_back({operand.get(), *map});
    SmallVector<int, 4> plain;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      result.arguments.back().loops.emplace_back();
      findLoops(expr, 1, result.arguments.back().loops.back());
      auto dim = dyn_cast<AffineDimExpr>(expr);
      plain.push_back(dim ? int(dim.getPosition()) : -1);
    }
    if (op.isDpsInit(&operand)) {
      if (!writesAll(plain, *map, cast<RankedTensorType>(operand.get().getType()), result.isReduction))
        return std::nullopt;
      result.results.push_back(*map);
      result.resultLoops.push_back(plain);
    }
  }
  BodyReader body = getBody(result);
  for (auto [argument, term] : set)
    body.set(argument, term);
  body.read(*block);
  for (Value yielded : block->getTerminator()->getOperands())
    result.terms.push_back(body.get(yielded));
  result.traps = body.traps;
  if (op->getNumResults() != result.terms.size())
    return std::nullopt;
  return result;
}

std::optional<Structured> Reader::readElementwise(Operation *op) {
  if (op->getNumResults() == 0 || !getStaticTensor(op->getResult(0)) || op->getNumRegions() || !isMemoryEffectFree(op))
    return std::nullopt;
  RankedTensorType type = getStaticTensor(op->getResult(0));
  Structured result = overResult(type);
  for (Value other : op->getResults().drop_front()) {
    if (!getStaticTensor(other) || getStaticTensor(other).getShape() != type.getShape())
      return std::nullopt;
    result.results.push_back(SmallVector<IndexForm, 4>(result.results[0]));
    result.resultLoops.push_back(SmallVector<int, 4>(result.resultLoops[0]));
  }
  SmallVector<TermId> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<ShapedType>(operand.getType())) {
      operands.push_back(scalars.get(operand));
      continue;
    }
    RankedTensorType operandType = getStaticTensor(operand);
    if (!operandType || operandType.getShape() != type.getShape())
      return std::nullopt;
    operands.push_back(terms.getArgument(result.arguments.size()));
    result.arguments.push_back({operand, result.results[0]});
    setLoops(result.arguments.back());
  }
  result.numInputs = result.arguments.size();
  if (isIntegerDivision(op->getName()))
    result.traps.push_back({op, {}, {operands[1]}});
  if (isa<arith::SelectOp>(op))
    result.terms.push_back(terms.getSelect(operands[0], operands[1], operands[2]));
  else
    for (OpResult each : op->getResults())
      result.terms.push_back(terms.getOp(op->getName().getAsOpaquePointer(), op->getName().getStringRef(),
                                         getAttributes(op), cast<RankedTensorType>(each.getType()).getElementType(),
                                         operands, each.getResultNumber()));
  return result;
}

DictionaryAttr Reader::getAttributes(Operation *op) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().starts_with("spmd."))
      kept.push_back(attr);
  return DictionaryAttr::get(op->getContext(), kept);
}

std::optional<Structured> Reader::readSlice(tensor::ExtractSliceOp op) {
  RankedTensorType type = getStaticTensor(op.getResult());
  if (!type || !getStaticTensor(op.getSource()))
    return std::nullopt;
  Structured result = overResult(type);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<IndexForm, 4> map;
  SmallVector<SmallVector<std::pair<unsigned, int64_t>, 1>, 4> loops(op.getSourceType().getRank());
  unsigned loop = 0;
  for (auto [d, offset] : llvm::enumerate(op.getMixedOffsets())) {
    std::optional<IndexForm> form = getIndex(offset), step = getIndex(op.getMixedStrides()[d]);
    if (!form || !step || !step->isConstant())
      return std::nullopt;
    int64_t size = dropped[d] ? 1 : type.getDimSize(loop);
    result.ranges.push_back({unsigned(d), *form, form->plus((size - 1) * step->getConstant())});
    if (!dropped[d]) {
      form = form->plus(IndexForm::ofLoop(loop, type.getDimSize(loop)), step->getConstant());
      loops[d].push_back({loop, step->getConstant()});
      ++loop;
    }
    map.push_back(*form);
  }
  Trap read{op, {}, {}};
  for (auto [d, form, size] : llvm::enumerate(map, op.getSourceType().getShape()))
    if (form.hasRank() && !form.hasScalar()) {
      read.dims.push_back(d);
      read.operands.push_back(terms.getIndex(form));
      read.sizes.push_back(size);
    }
  if (!read.operands.empty())
    result.traps.push_back(read);
  result.arguments.push_back({op.getSource(), map, false, loops});
  result.numInputs = 1;
  result.terms.push_back(terms.getArgument(0));
  return result;
}

std::optional<Structured> Reader::readPad(tensor::PadOp op) {
  RankedTensorType type = getStaticTensor(op.getResult()), source = getStaticTensor(op.getSource());
  if (!type || !source)
    return std::nullopt;
  Structured result = overResult(type);
  SmallVector<IndexForm, 4> map;
  std::optional<TermId> inside;
  for (auto [d, low] : llvm::enumerate(op.getMixedLowPad())) {
    std::optional<IndexForm> offset = getIndex(low);
    if (!offset || offset->hasRank())
      return std::nullopt;
    IndexForm form = *IndexForm::ofLoop(d, type.getDimSize(d)).plus(*offset, -1);
    map.push_back(form);
    if (std::optional<TermId> dim = isInside(form, source.getDimSize(d), terms, op))
      inside = inside ? terms.getSelect(*inside, *dim, terms.getConstant(BoolAttr::get(op.getContext(), false))) : dim;
  }
  result.arguments.push_back({op.getSource(), map});
  setLoops(result.arguments.back());
  TermId term = terms.getArgument(0), padding = term;
  if (Value value = op.getConstantPaddingValue()) {
    padding = scalars.get(value);
  } else {
    padding = readAtIndices(op.getRegion().front(), result);
  }
  result.numInputs = result.arguments.size();
  result.terms.push_back(inside ? terms.getSelect(*inside, term, padding) : term);
  return result;
}

std::optional<Structured> Reader::readConcat(tensor::ConcatOp op) {
  RankedTensorType type = getStaticTensor(op.getResult());
  if (!type)
    return std::nullopt;
  Structured result = overResult(type);
  unsigned dim = op.getDim();
  int64_t offset = 0;
  SmallVector<std::pair<TermId, int64_t>> parts; // each with its end
  for (Value input : op.getInputs()) {
    RankedTensorType inputType = getStaticTensor(input);
    if (!inputType)
      return std::nullopt;
    SmallVector<IndexForm, 4> map = result.results[0];
    map[dim] = map[dim].plus(-offset);
    offset += inputType.getDimSize(dim);
    parts.push_back({terms.getArgument(result.arguments.size()), offset});
    result.arguments.push_back({input, map});
    setLoops(result.arguments.back());
  }
  result.numInputs = result.arguments.size();
  TermId term = parts.back().first;
  for (auto [part, end] : llvm::reverse(ArrayRef(parts).drop_back())) {
    Term compare{Term::Kind::Compare};
    compare.numbers.push_back(0);
    compare.form = result.results[0][dim].plus(-end);
    term = terms.getSelect(terms.get(compare), part, term);
  }
  result.terms.push_back(term);
  return result;
}

std::optional<Structured> Reader::readInsert(tensor::InsertSliceOp op) {
  RankedTensorType type = getStaticTensor(op.getResult()), source = getStaticTensor(op.getSource());
  if (!type || !source)
    return std::nullopt;
  Structured result = overResult(type);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<IndexForm, 4> map;
  SmallVector<int> numbers;
  std::optional<TermId> inside;
  SmallVector<TermId> indices;
  unsigned sourceDim = 0;
  bool isStrided = false;
  for (auto [d, mixed] : llvm::enumerate(op.getMixedOffsets())) {
    std::optional<IndexForm> offset = getIndex(mixed), step = getIndex(op.getMixedStrides()[d]);
    int64_t size = dropped[d] ? 1 : source.getDimSize(sourceDim);
    if (!offset || offset->hasRank() || !step || !step->isConstant() || step->getConstant() < 1)
      return std::nullopt;
    int64_t stride = size == 1 ? 1 : step->getConstant();
    isStrided |= stride != 1;
    int64_t last = (size - 1) * stride;
    result.ranges.push_back({unsigned(d), *offset, offset->plus(last)});
    IndexForm form = *result.results[0][d].plus(*offset, -1);
    TermId index = terms.getIndex(form);
    auto add = [&](TermId condition) {
      inside = inside ? terms.getAnd(*inside, condition, op.getContext()) : condition;
    };
    if (std::optional<TermId> dim = isInside(form, isUnknownSize(size) ? size : last + 1, terms, op))
      add(*dim);
    if (stride != 1) {
      add(terms.getEqual(terms.getForm(terms.getIndexOp("arith.remui", index, stride))));
      index = terms.getIndexOp("arith.divui", index, stride);
    }
    if (!dropped[d]) {
      map.push_back(form);
      indices.push_back(index);
      numbers.push_back(d);
      ++sourceDim;
    }
  }
  // At indices with a step it is read as by a body.
  TermId element = terms.getArgument(0);
  if (isStrided) {
    result.arguments.push_back({op.getSource(), {}, /*isLookup=*/true});
    Term lookup{Term::Kind::Lookup};
    lookup.numbers.push_back(0);
    lookup.operands.assign(indices.begin(), indices.end());
    element = terms.get(lookup);
  } else {
    result.arguments.push_back({op.getSource(), map});
    setLoops(result.arguments.back(), numbers);
  }
  result.arguments.push_back({op.getDest(), result.results[0]});
  setLoops(result.arguments.back());
  result.numInputs = 2;
  result.terms.push_back(inside ? terms.getSelect(*inside, element, terms.getArgument(1)) : element);
  return result;
}

std::optional<Structured> Reader::readUnitReshape(Operation *op) {
  RankedTensorType from = getStaticTensor(op->getOperand(0)), to = getStaticTensor(op->getResult(0));
  if (!from || !to)
    return std::nullopt;
  auto getDims = [](RankedTensorType type) {
    SmallVector<int> dims; // those of several elements
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      if (size != 1)
        dims.push_back(d);
    return dims;
  };
  SmallVector<int> dimsFrom = getDims(from), dimsTo = getDims(to);
  if (dimsFrom.size() != dimsTo.size())
    return std::nullopt;
  Structured result = overResult(to);
  SmallVector<IndexForm, 4> map(from.getRank(), IndexForm(0));
  SmallVector<int> loops(from.getRank(), -1);
  for (auto [a, b] : llvm::zip_equal(dimsFrom, dimsTo)) {
    if (from.getDimSize(a) != to.getDimSize(b))
      return std::nullopt;
    map[a] = result.results[0][b];
    loops[a] = b;
  }
  result.arguments.push_back({op->getOperand(0), map});
  setLoops(result.arguments.back(), loops);
  result.numInputs = 1;
  result.terms.push_back(terms.getArgument(0));
  return result;
}

std::optional<Structured> Reader::readGenerate(tensor::GenerateOp op) {
  RankedTensorType type = getStaticTensor(op.getResult());
  if (!type)
    return std::nullopt;
  Structured result = overResult(type);
  result.terms.push_back(readAtIndices(op.getBody().front(), result));
  return result;
}

static std::optional<Structured> read(Operation *op, TermTable &terms, const ScalarReader &scalars) {
  Reader reader{terms, scalars};
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return reader.readLinalg(linalgOp);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return reader.readSlice(slice);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return reader.readPad(pad);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return reader.readConcat(concat);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return reader.readInsert(insert);
  if (auto generate = dyn_cast<tensor::GenerateOp>(op))
    return reader.readGenerate(generate);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(op))
    return reader.readUnitReshape(op);
  if (auto splat = dyn_cast<tensor::SplatOp>(op); splat && getStaticTensor(splat.getResult())) {
    Structured result = overResult(getStaticTensor(splat.getResult()));
    result.terms.push_back(scalars.get(splat.getInput()));
    return result;
  }
  if (op->hasTrait<OpTrait::Elementwise>() || isa<tensor::BitcastOp>(op))
    return reader.readElementwise(op);
  return std::nullopt;
}

std::optional<Structured> proof::readStructured(Operation *op, TermTable &terms, const ScalarReader &scalars) {
  std::optional<Structured> structured = read(op, terms, scalars);
  if (structured)
    for (TermId &term : structured->terms)
      term = simplify(term, terms, op->getContext());
  return structured;
}
