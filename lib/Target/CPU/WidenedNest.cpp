//===- WidenedNest.cpp - Loops that widen elements in registers ----------===//

#include "WidenedOperands.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::cpu;

/// Results of an innermost loop, which stay in the first cache.
static constexpr int64_t kRow = 256;
/// Numbers of a word that one iteration adds up; of several words, half as many.
static constexpr int64_t kMaxTerms = 8;

/// The loop of the contraction that a dim of the widened value belongs to.
unsigned WidenedProduct::loopOf(int64_t dim) const {
  for (auto [k, group] : llvm::enumerate(widened.groups))
    if (llvm::is_contained(group, dim))
      return own().getDimPosition(k);
  llvm_unreachable("each dim is in a group");
}

/// Loops over results, then those of sums, of rows, and innermost the last dim of the payload; a dim of results that
/// the payload lacks (numbers of a word) comes right before it.
void WidenedProduct::orderLoops() {
  unsigned payload = 0;
  for (unsigned i = 1; i < widened.inputs.size(); ++i)
    if (getTensorBytes(widened.inputs[i].getType()) > getTensorBytes(widened.inputs[payload].getType()))
      payload = i;
  AffineMap read = widened.maps[payload];
  const int64_t innermost = read.getNumResults() ? read.getDimPosition(read.getNumResults() - 1) : -1;
  SmallVector<Loop> results, sums, rows, last;
  int64_t words = 1;    // results that the innermost loop has for each element of the payload
  int64_t termDim = -1; // of terms that one iteration adds: those of a word, or of some words
  for (int64_t dim = 0; dim < int64_t(widened.shape().size()); ++dim) {
    const unsigned loop = loopOf(dim);
    if (dim == innermost)
      continue;
    const bool isInWord = !isSummed(loop) && !read.isFunctionOfDim(dim);
    words *= isInWord ? widened.shape()[dim] : 1;
    if (isSummed(loop) && !read.isFunctionOfDim(dim) && widened.shape()[dim] <= kMaxTerms)
      termDim = dim;
    (isSummed(loop) ? sums : isInWord ? last : results).push_back({loop, widened.shape()[dim], dim});
  }
  for (auto [loop, size] : llvm::enumerate(sizes))
    if (!own().isFunctionOfDim(loop))
      rows.push_back({unsigned(loop), size});
  if (innermost >= 0) {
    const unsigned loop = loopOf(innermost);
    const int64_t size = widened.shape()[innermost];
    if (isSummed(loop)) {
      sums.push_back({loop, size, innermost});
    } else {
      const int64_t limit = words > 1 ? kRow / 2 : kRow; // which makes several times as many results
      const int64_t inner = size > limit ? getLargestDivisor(size, limit) : size;
      if (inner < size)
        results.push_back({loop, size / inner, innermost});
      last.push_back({loop, inner, innermost});
    }
  }
  outer = results.size();
  loops = results;
  if (last.empty()) {
    std::swap(sums, rows);
    termDim = -1;
  } else if (termDim < 0 && !sums.empty()) {
    Loop &inner = sums.back();
    termDim = inner.dim;
    const int64_t terms = getLargestDivisor(inner.size, kMaxTerms / 2);
    inner.size /= terms;
    sums.push_back({inner.contracted, terms, inner.dim});
  }
  for (const auto &more : {sums, rows, last})
    loops.append(more);
  indexLoops();
  if (termDim >= 0)
    termLoop = byDim[termDim].back();
}

/// Loops by the dims of the widened value, and by the loops of the contraction.
void WidenedProduct::indexLoops() {
  byDim.assign(widened.shape().size(), {});
  byLoop.assign(sizes.size(), {});
  for (auto [k, loop] : llvm::enumerate(loops))
    (loop.dim < 0 ? byLoop[loop.contracted] : byDim[loop.dim]).push_back(k);
  for (auto [k, group] : llvm::enumerate(widened.groups))
    for (int64_t dim : group)
      byLoop[own().getDimPosition(k)].append(byDim[dim]);
}

/// `value` with dims divided as the loops are; `by`: of each dim of `map`, its loops.
WidenedProduct::Indexed WidenedProduct::expand(Value value, AffineMap map, ArrayRef<SmallVector<unsigned>> by) {
  Indexed result{value, {}};
  SmallVector<ReassociationIndices> groups;
  for (AffineExpr expr : map.getResults()) {
    ReassociationIndices &group = groups.emplace_back();
    for (unsigned loop : by[cast<AffineDimExpr>(expr).getPosition()]) {
      group.push_back(result.loops.size());
      result.loops.push_back(loop);
    }
  }
  auto type = cast<RankedTensorType>(value.getType());
  if (int64_t(result.loops.size()) != type.getRank())
    result.value =
        tensor::ExpandShapeOp::create(b, op.getLoc(), type.clone(shapeOf(result.loops)), result.value, groups);
  return result;
}

SmallVector<int64_t> WidenedProduct::shapeOf(ArrayRef<unsigned> of) const {
  return llvm::map_to_vector(of, [&](unsigned loop) { return loops[loop].size; });
}

/// The map from the loops `in` of an op to dims that are the loops `of`.
AffineMap WidenedProduct::getMap(ArrayRef<unsigned> of, ArrayRef<unsigned> in) {
  MLIRContext *context = op.getContext();
  auto exprs = llvm::map_to_vector(
      of, [&](unsigned loop) { return getAffineDimExpr(llvm::find(in, loop) - in.begin(), context); });
  return AffineMap::get(in.size(), 0, exprs, context);
}

/// The index of a dim of the widened value, in an op with the loops `in`.
Value WidenedProduct::computeIndex(OpBuilder &inner, Location loc, int64_t dim, ArrayRef<unsigned> in) {
  Value index;
  for (unsigned loop : byDim[dim]) {
    Value next = linalg::IndexOp::create(inner, loc, llvm::find(in, loop) - in.begin());
    if (index) {
      Value size = arith::ConstantIndexOp::create(inner, loc, loops[loop].size);
      next = arith::AddIOp::create(inner, loc, arith::MulIOp::create(inner, loc, index, size), next);
    }
    index = next;
  }
  return index;
}

/// Clones the body of an elementwise op with one result; `indexOf` gives the index of a dim of that result.
static Value cloneElement(OpBuilder &b, linalg::GenericOp op, ValueRange args, function_ref<Value(int64_t)> indexOf) {
  IRMapping mapping;
  Block *body = op.getBlock();
  for (auto [old, arg] : llvm::zip(body->getArguments(), args))
    mapping.map(old, arg);
  AffineMap out = op.getIndexingMapsArray().back();
  for (Operation &each : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(each))
      mapping.map(index.getResult(), indexOf(*out.getResultPosition(b.getAffineDimExpr(index.getDim()))));
    else
      b.clone(each, mapping);
  }
  return mapping.lookupOrDefault(body->getTerminator()->getOperand(0));
}

/// An op that computes its elements from their indices, such as the shifts of the numbers in a word.
static linalg::GenericOp getIndexFunction(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  bool isFunction = generic && generic.getNumDpsInputs() == 0 && generic->getNumResults() == 1 &&
                    generic.getNumReductionLoops() == 0 && generic.getIndexingMapsArray().back().isPermutation() &&
                    !generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0));
  return isFunction ? generic : linalg::GenericOp();
}

/// What the producer computes from elements of its inputs; `indexOf` gives the index of a dim of its result.
Value WidenedProduct::cloneBody(OpBuilder &inner, Location loc, ValueRange args, function_ref<Value(int64_t)> indexOf) {
  if (!widened.producer)
    return args[0];
  SmallVector<Value> elements(args);
  for (unsigned i = 0; i < widened.inputs.size(); ++i)
    if (linalg::GenericOp function = getIndexFunction(widened.inputs[i]))
      elements[i] =
          cloneElement(inner, function, {}, [&](int64_t dim) { return indexOf(widened.maps[i].getDimPosition(dim)); });
  return cloneElement(inner, widened.producer, elements, indexOf);
}

static Value extendTo(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type ? value : arith::ExtFOp::create(b, loc, type, value).getResult();
}

/// A tensor of the elements of another one, rounded.
static Value roundTo(OpBuilder &b, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, empty.getType(), value, empty, maps, iterators,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     Value rounded = arith::TruncFOp::create(inner, at, element, args[0]);
                                     linalg::YieldOp::create(inner, at, rounded);
                                   })
      .getResult(0);
}

/// Computes before the nest what depends on few of its loops, such as scales in f32: with these loops alone, in their
/// order. `body` computes an element of the widened value; it and `inputs` then begin with what was computed.
void WidenedProduct::hoist(SmallVectorImpl<Indexed> &inputs, Block &body) {
  const int64_t total = ShapedType::getNumElements(widened.shape());
  const unsigned innermost = loops.size() - 1;
  DenseMap<Value, llvm::SmallBitVector> uses; // loops
  auto isSmall = [&](Value value) {
    auto found = uses.find(value);
    int64_t count = 8;
    if (found != uses.end())
      for (unsigned loop : found->second.set_bits())
        count *= loops[loop].size;
    return found != uses.end() && count <= total;
  };
  for (auto [arg, input] : llvm::zip(body.getArguments(), inputs)) {
    llvm::SmallBitVector &bits = uses.try_emplace(arg, loops.size()).first->second;
    for (unsigned loop : input.loops)
      bits.set(loop);
  }
  DenseSet<Value> ofInputs(body.args_begin(), body.args_end());
  auto readsInput = [&](Value value) { return ofInputs.contains(value); };
  SmallVector<Value> small; // read by what is not
  auto visit = [&](Value value) {
    auto arg = dyn_cast<BlockArgument>(value);
    if (arg && arg.getOwner() != &body)
      return;
    // A tensor that is read in order stays as it is, and so does a function of indices alone.
    if (!arg && !readsInput(value))
      return;
    if (arg && (!uses.find(arg)->second.test(innermost) || inputs[arg.getArgNumber()].loops.back() == innermost))
      return;
    if (isSmall(value) && !llvm::is_contained(small, value))
      small.push_back(value);
  };
  for (Operation &each : body) {
    llvm::SmallBitVector bits(loops.size());
    bool isHoisted = each.getNumResults() == 1;
    if (auto index = dyn_cast<linalg::IndexOp>(each))
      bits.set(index.getDim());
    for (Value operand : each.getOperands()) {
      if (auto found = uses.find(operand); found != uses.end())
        bits |= found->second;
      else
        isHoisted &= operand.getParentBlock() != &body; // a constant of the function
    }
    if (isHoisted && bits.any())
      uses.try_emplace(each.getResult(0), bits);
    if (llvm::any_of(each.getOperands(), readsInput))
      ofInputs.insert(each.result_begin(), each.result_end());
    if (!isHoisted || !bits.any() || !isSmall(each.getResult(0)))
      llvm::for_each(each.getOperands(), visit);
  }
  for (Value value : small) {
    SmallVector<unsigned> in;
    for (unsigned loop : uses.find(value)->second.set_bits())
      in.push_back(loop);
    SmallVector<Value> operands;
    SmallVector<AffineMap> indexing;
    SmallVector<unsigned> numbers;
    for (auto [number, input] : llvm::enumerate(inputs))
      if (llvm::all_of(input.loops, [&](unsigned loop) { return llvm::is_contained(in, loop); })) {
        operands.push_back(input.value);
        indexing.push_back(getMap(input.loops, in));
        numbers.push_back(number);
      }
    indexing.push_back(b.getMultiDimIdentityMap(in.size()));
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), shapeOf(in), value.getType());
    SmallVector<utils::IteratorType> iterators(in.size(), utils::IteratorType::parallel);
    auto computed = linalg::GenericOp::create(
        b, op.getLoc(), empty.getType(), operands, empty, indexing, iterators,
        [&](OpBuilder &inner, Location at, ValueRange args) {
          IRMapping mapping;
          for (auto [number, arg] : llvm::zip(numbers, args))
            mapping.map(body.getArgument(number), arg);
          for (Operation &each : body.without_terminator()) {
            auto index = dyn_cast<linalg::IndexOp>(each);
            auto loop = index ? llvm::find(in, index.getDim()) : in.end();
            if (loop != in.end())
              mapping.map(index.getResult(), linalg::IndexOp::create(inner, at, loop - in.begin()).getResult());
            else if (!index && each.getNumResults() == 1 && llvm::all_of(each.getOperands(), [&](Value operand) {
                       return mapping.contains(operand) || operand.getParentBlock() != &body;
                     }))
              inner.clone(each, mapping);
          }
          linalg::YieldOp::create(inner, at, mapping.lookup(value));
        });
    inputs.push_back({computed.getResult(0), in});
    value.replaceAllUsesWith(body.addArgument(value.getType(), value.getLoc()));
  }
  auto ops = llvm::map_to_vector(body.without_terminator(), [](Operation &each) { return &each; });
  for (Operation *each : llvm::reverse(ops))
    if (each->use_empty())
      each->erase();
  for (int64_t i = int64_t(inputs.size()) - 1; i >= 0; --i)
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      inputs.erase(inputs.begin() + i);
    }
}

Type WidenedProduct::getSumType() {
  Type element = getElementTypeOrSelf(op.getC());
  return element.isF64() ? element : Type(b.getF32Type());
}

/// Takes the last factor of the widened value from `body` if several terms of a sum have it in common: it multiplies
/// their sum. The loops of its sums then come before the others.
std::optional<WidenedProduct::Indexed> WidenedProduct::takeScale(SmallVectorImpl<Indexed> &inputs, Block &body) {
  if (isSummed(loops.back().contracted))
    return std::nullopt;
  Operation *terminator = body.getTerminator();
  auto product = terminator->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!product || product.getType() != getSumType())
    return std::nullopt;
  for (Value operand : product->getOperands()) {
    auto arg = dyn_cast<BlockArgument>(operand);
    if (!arg || arg.getOwner() != &body || !arg.hasOneUse())
      continue;
    Indexed factor = inputs[arg.getArgNumber()];
    int64_t terms = 1;
    bool isOuter = true; // the sums of the factor come first
    for (unsigned loop = outer; loop < loops.size(); ++loop) {
      if (!isSummed(loops[loop].contracted))
        continue;
      const bool isOwn = llvm::is_contained(factor.loops, loop);
      terms *= isOwn ? 1 : loops[loop].size;
      isOuter &= !isOwn || terms == 1;
    }
    if (terms < 8 || !isOuter)
      continue;
    terminator->setOperand(0, product.getLhs() == operand ? product.getRhs() : product.getLhs());
    product.erase();
    body.eraseArgument(arg.getArgNumber());
    inputs.erase(&inputs[arg.getArgNumber()]);
    return factor;
  }
  return std::nullopt;
}

/// The part of `input` at one index of a loop that it has.
WidenedProduct::Indexed WidenedProduct::sliceAt(const Indexed &input, unsigned loop, int64_t index) {
  auto type = cast<RankedTensorType>(input.value.getType());
  const unsigned dim = llvm::find(input.loops, loop) - input.loops.begin();
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
  offsets[dim] = b.getIndexAttr(index);
  sizes[dim] = b.getIndexAttr(1);
  Indexed part = input;
  part.loops.erase(part.loops.begin() + dim);
  auto partType = RankedTensorType::get(shapeOf(part.loops), type.getElementType());
  part.value = tensor::ExtractSliceOp::create(b, op.getLoc(), partType, input.value, offsets, sizes, strides);
  return part;
}

/// The nest: sums of products of the last of the inputs with what `body` computes from the others. Its result has
/// the loops `results` as dims. Several terms are those of one iteration, in their order: it reads the word that they
/// are in, if they are in one, and the sum once.
Value WidenedProduct::sum(ArrayRef<Indexed> inputs, Block &body, ArrayRef<unsigned> results, Value init) {
  std::optional<unsigned> unrolled = termLoop;
  if (unrolled && llvm::is_contained(results, *unrolled))
    unrolled.reset();
  auto all = llvm::to_vector(
      llvm::make_filter_range(llvm::seq<unsigned>(loops.size()), [&](unsigned loop) { return loop != unrolled; }));
  const int64_t terms = unrolled ? loops[*unrolled].size : 1;
  Type sums = getSumType();
  SmallVector<Value> operands;
  SmallVector<AffineMap> indexing;
  SmallVector<SmallVector<unsigned>> numbers(terms); // of operands, by terms
  for (const Indexed &input : inputs) {
    const bool isOfTerm = unrolled && llvm::is_contained(input.loops, *unrolled);
    for (int64_t term = 0; term < terms; ++term) {
      if (isOfTerm || term == 0) {
        const Indexed part = isOfTerm ? sliceAt(input, *unrolled, term) : input;
        operands.push_back(part.value);
        indexing.push_back(getMap(part.loops, all));
      }
      numbers[term].push_back(operands.size() - 1);
    }
  }
  indexing.push_back(getMap(results, all));
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop : all)
    iterators.push_back(llvm::is_contained(results, loop) ? utils::IteratorType::parallel
                                                          : utils::IteratorType::reduction);
  auto addTerm = [&](OpBuilder &inner, Location at, ValueRange args, int64_t term, Value total) -> Value {
    IRMapping mapping;
    for (auto [old, number] : llvm::zip(body.getArguments(), numbers[term]))
      mapping.map(old, args[number]);
    for (Operation &each : body.without_terminator()) {
      auto index = dyn_cast<linalg::IndexOp>(each);
      if (index && index.getDim() == unrolled)
        mapping.map(index.getResult(), arith::ConstantIndexOp::create(inner, at, term).getResult());
      else if (index)
        mapping.map(index.getResult(),
                    linalg::IndexOp::create(inner, at, llvm::find(all, index.getDim()) - all.begin()).getResult());
      else
        inner.clone(each, mapping);
    }
    Value x = extendTo(inner, at, mapping.lookupOrDefault(body.getTerminator()->getOperand(0)), sums);
    Value other = extendTo(inner, at, args[numbers[term].back()], sums);
    auto fused = arith::FastMathFlags::contract;
    return arith::AddFOp::create(inner, at, total, arith::MulFOp::create(inner, at, x, other, fused), fused);
  };
  return linalg::GenericOp::create(b, op.getLoc(), init.getType(), operands, init, indexing, iterators,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     Value total = args.back();
                                     for (int64_t term = 0; term < terms; ++term)
                                       total = addTerm(inner, at, args, term, total);
                                     linalg::YieldOp::create(inner, at, total);
                                   })
      .getResult(0);
}

/// Sums of partial sums, which have the loops `of` as dims, times a factor.
Value WidenedProduct::scale(Value partial, ArrayRef<unsigned> of, const Indexed &factor, ArrayRef<unsigned> results,
                            Value init) {
  SmallVector<AffineMap> indexing{getMap(of, of), getMap(factor.loops, of), getMap(results, of)};
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop : of)
    iterators.push_back(llvm::is_contained(results, loop) ? utils::IteratorType::parallel
                                                          : utils::IteratorType::reduction);
  return linalg::GenericOp::create(b, op.getLoc(), init.getType(), ValueRange{partial, factor.value}, init, indexing,
                                   iterators,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     auto fused = arith::FastMathFlags::contract;
                                     Value product = arith::MulFOp::create(inner, at, args[0], args[1], fused);
                                     Value next = arith::AddFOp::create(inner, at, args[2], product, fused);
                                     linalg::YieldOp::create(inner, at, next);
                                   })
      .getResult(0);
}

/// The outermost loops of a nest become loops of their own, which threads share; what computes its operands moves
/// there.
static FailureOr<Value> tileOuter(Value nest, unsigned outer) {
  auto generic = nest.getDefiningOp<linalg::GenericOp>();
  IRRewriter rewriter(generic.getContext());
  rewriter.setInsertionPoint(generic);
  SmallVector<OpFoldResult> steps(generic.getNumLoops(), rewriter.getIndexAttr(0));
  std::fill_n(steps.begin(), outer, rewriter.getIndexAttr(1));
  const Value start = generic.getDpsInitOperand(0)->get();
  const bool addsUp =
      llvm::any_of(ArrayRef(generic.getIteratorTypesArray()).take_front(outer), linalg::isReductionIterator);
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(steps);
  options.fusionControlFn = [&](tensor::ExtractSliceOp, OpResult producer,
                                bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
    auto sums = dyn_cast<linalg::GenericOp>(producer.getOwner());
    if (!isa<linalg::FillOp>(producer.getOwner()) && !(sums && sums.getNumReductionLoops() > 0))
      return std::nullopt;
    if (producer == start && addsUp) // Loops of sums go on with what is there.
      return std::nullopt;
    return scf::SCFTileAndFuseOptions::ControlFnResult{};
  };
  auto tiled =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(generic.getOperation()), options);
  if (failed(tiled))
    return failure();
  Value result = tiled->replacements.lookup(nest);
  rewriter.replaceOp(generic, result);
  return result;
}

/// The element of the widened value as a function of those of the inputs, which are the arguments of `body`.
SmallVector<WidenedProduct::Indexed> WidenedProduct::makeElement(Block &body) {
  Location loc = op.getLoc();
  SmallVector<Indexed> inputs;
  for (auto [value, map] : llvm::zip_equal(widened.inputs, widened.maps))
    inputs.push_back(expand(value, map, byDim));
  for (const Indexed &input : inputs)
    body.addArgument(getElementTypeOrSelf(input.value), loc);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&body);
    auto all = llvm::to_vector(llvm::seq<unsigned>(loops.size()));
    Value element = cloneBody(b, loc, body.getArguments(), [&](int64_t dim) { return computeIndex(b, loc, dim, all); });
    linalg::YieldOp::create(b, loc, element);
  }
  if (widened.producer)
    hoist(inputs, body);
  return inputs;
}

/// The op by a result with loops as dims.
void WidenedProduct::replace(Value value) {
  auto type = cast<RankedTensorType>(op.getC().getType());
  if (cast<RankedTensorType>(value.getType()).getRank() != type.getRank()) {
    SmallVector<ReassociationIndices> groups;
    int64_t dim = 0;
    for (AffineExpr expr : maps[2].getResults()) {
      ReassociationIndices &group = groups.emplace_back();
      for (size_t i = 0; i < byLoop[cast<AffineDimExpr>(expr).getPosition()].size(); ++i)
        group.push_back(dim++);
    }
    value = tensor::CollapseShapeOp::create(b, op.getLoc(), type, value, groups);
  }
  op.getResult().front().replaceAllUsesWith(value);
  op.erase();
}

void WidenedProduct::makeNest() {
  Location loc = op.getLoc();
  loops.clear();
  orderLoops();
  Block body;
  SmallVector<Indexed> inputs = makeElement(body);
  SmallVector<unsigned> results, ordered; // loops as dims: of the result of the op, and of the nest
  for (AffineExpr expr : maps[2].getResults())
    results.append(byLoop[cast<AffineDimExpr>(expr).getPosition()]);
  ordered = results;
  if (op.getOverwrite() && !isSummed(loops.back().contracted))
    llvm::sort(ordered);
  auto fill = [&](ArrayRef<unsigned> of) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(getSumType()));
    Value empty = tensor::EmptyOp::create(b, loc, shapeOf(of), getSumType());
    return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  };
  Value init = op.getOverwrite() ? fill(ordered) : expand(op.getC(), maps[2], byLoop).value;
  std::optional<Indexed> factor = takeScale(inputs, body);
  inputs.push_back(expand(widened.operand == 0 ? op.getB() : op.getA(), other(), byLoop));
  Value value;
  if (factor) {
    SmallVector<unsigned> of; // of partial sums
    for (unsigned loop = 0; loop < loops.size(); ++loop)
      if (!isSummed(loops[loop].contracted) || llvm::is_contained(factor->loops, loop))
        of.push_back(loop);
    value = scale(sum(inputs, body, of, fill(of)), of, *factor, ordered, init);
    outer = llvm::count_if(of, [&](unsigned loop) { return loop < outer || isSummed(loops[loop].contracted); });
  } else {
    value = sum(inputs, body, ordered, init);
  }
  if (outer > 0) {
    FailureOr<Value> tiled = tileOuter(value, outer);
    if (succeeded(tiled))
      value = *tiled;
  }
  auto type = cast<RankedTensorType>(op.getC().getType());
  value = roundTo(b, loc, value, type.getElementType());
  if (ordered != results) {
    Value empty = tensor::EmptyOp::create(b, loc, shapeOf(results), type.getElementType());
    auto order = llvm::map_to_vector(
        results, [&](unsigned loop) -> int64_t { return llvm::find(ordered, loop) - ordered.begin(); });
    value = linalg::TransposeOp::create(b, loc, value, empty, order).getResults().front();
  }
  replace(value);
}
