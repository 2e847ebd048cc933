//===- Windows.cpp - Ops that read cut dims in windows --------------------===//

#include "shardkit/Partition/Windows.h"

#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Partition/ReshardLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

/// True for ops whose rule may have windows; most have none, and need not be asked.
static bool mayReadWindows(Operation *op) {
  if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::PadOp, tensor::ConcatOp,
          tosa::SliceOp, tosa::ReverseOp>(op))
    return true;
  if (getIndexedBody(op) && readsIndices(op) &&
      getIndexedBody(op)
          ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return true;
  // A named op builds its maps when asked.
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return isa<linalg::ConvolutionOpInterface>(op);
  return generic.hasPureTensorSemantics() &&
         llvm::any_of(generic.getIndexingMapsArray(), [](AffineMap map) {
           return llvm::any_of(map.getResults(), [](AffineExpr expr) {
             return isa<AffineBinaryOpExpr>(expr);
           });
         });
}

void Windows::collect(Operation *op,
                      llvm::function_ref<const Sharding *(Value)> getSharding) {
  if (!mayReadWindows(op))
    return;
  Plan plan{getShardingRule(op), {}, {}};
  if (!plan.rule.hasWindows())
    return;
  bool isCut = false;
  plan.axes.resize(plan.rule.numFactors());
  for (auto [f, axes] : llvm::enumerate(plan.axes)) {
    axes = findCut(plan.rule, f, getSharding);
    isCut |= plan.rule.factor(f).hasWindows && !axes.empty();
  }
  if (!isCut)
    return;
  for (unsigned t = op->getNumOperands(); t < plan.rule.numOperands(); ++t)
    if (Region *body = getIndexedBody(op))
      body->walk([&](tensor::ExtractOp extract) {
        if (extract.getTensor() == plan.rule.tensor(t).value)
          plan.reads.push_back({extract, t});
      });
  plans.try_emplace(op, std::move(plan));
}

SmallVector<Windows::CutWindow, 2> Windows::getCutWindows(const Plan &plan, unsigned t) const {
  SmallVector<CutWindow, 2> windows;
  for (const UnevenDim &dim : getWindows(plan.rule, t, plan.axes, meshes.getMesh()))
    windows.push_back({dim.dim,
                       plan.axes[plan.rule.dimFactors(plan.rule.tensor(t), dim.dim).front()],
                       *dim.window});
  return windows;
}

//===----------------------------------------------------------------------===//
// Windows of values
//===----------------------------------------------------------------------===//

Value Windows::getCoordinate(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries) {
  FunctionMeshes::Spelled axes = meshes.spell(entries);
  return getChunkStart(b, loc, axes.entries, deviceFactor(entries),
                       getCoordinates(b, loc, axes));
}

static Value makeConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// The first place of a window on this device.
static Value makeBegin(OpBuilder &b, Location loc, Value coordinate, const Window &window) {
  Value begin = coordinate;
  if (window.step != 1)
    begin = arith::MulIOp::create(b, loc, begin, makeConstant(b, loc, window.step));
  if (window.offset != 0)
    begin = arith::AddIOp::create(b, loc, begin, makeConstant(b, loc, window.offset));
  return begin;
}

/// True for places [low, high).
static Value isWithin(OpBuilder &b, Location loc, Value place, Value low, Value high) {
  Value above = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, place, low);
  Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, place, high);
  return arith::AndIOp::create(b, loc, above, below);
}

static linalg::GenericOp
createElementwise(OpBuilder &b, Location loc, ValueRange inputs, ArrayRef<AffineMap> maps,
                  Value init,
                  llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      b, loc, TypeRange{type}, inputs, ValueRange{init}, maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, body(inner, loc, args));
      });
}

Value Windows::createFetch(OpBuilder &b, Location loc, Value value, const Sharding &sharding,
                           RankedTensorType globalType, ArrayRef<CutWindow> windows) {
  if (windows.empty())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> global(type.getShape()), local(type.getShape());
  Sharding from, to;
  from.dims.resize(type.getRank());
  to.dims.resize(type.getRank());
  SmallVector<int64_t> dims, steps, offsets;
  for (const CutWindow &window : windows) {
    unsigned d = window.dim;
    global[d] = globalType.getDimSize(d);
    local[d] = window.window.size;
    from.dims[d].entries = sharding.dims[d].entries;
    to.dims[d].entries = window.entries;
    dims.push_back(d);
    steps.push_back(window.window.step);
    offsets.push_back(window.window.offset);
  }
  ShardingAttr target = meshes.getAttr(to);
  auto exchange = HaloExchangeOp::create(
      b, loc, type.clone(local), value, TypeAttr::get(type.clone(global)),
      meshes.getAttr(from, target.getMesh()), target, b.getDenseI64ArrayAttr(dims),
      b.getDenseI64ArrayAttr(steps), b.getDenseI64ArrayAttr(offsets), IntegerAttr());
  halos.push_back(exchange);
  return exchange.getResult();
}

Value Windows::createPadded(OpBuilder &b, Location loc, const Padded &padded,
                            ArrayRef<CutWindow> asked) {
  int64_t rank = padded.resultType.getRank();
  SmallVector<CutWindow, 2> windows; // of the source
  SmallVector<OpFoldResult> low(rank, b.getIndexAttr(0)), high(rank, b.getIndexAttr(0));
  bool padsOthers = false;
  for (unsigned d = 0; d < rank; ++d) {
    const CutWindow *window = llvm::find_if(asked, [&](auto &w) { return w.dim == d; });
    if (window == asked.end()) {
      window = llvm::find_if(padded.windows, [&](auto &w) { return w.dim == d; });
      if (window == padded.windows.end())
        window = nullptr;
    }
    if (window) {
      windows.push_back(*window);
      windows.back().window.offset -= padded.low[d];
      continue;
    }
    low[d] = b.getIndexAttr(padded.low[d]);
    high[d] = b.getIndexAttr(padded.high[d]);
    padsOthers |= padded.low[d] != 0 || padded.high[d] != 0;
  }
  Value value = createFetch(b, loc, padded.source, padded.sourceSharding, padded.sourceType,
                            windows);
  if (padsOthers) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (unsigned d = 0; d < rank; ++d)
      shape[d] += *getConstantIntValue(low[d]) + *getConstantIntValue(high[d]);
    value = tensor::PadOp::create(b, loc, type.clone(shape), value, low, high, padded.padding);
    made.push_back(value.getDefiningOp());
  }
  // Lanes beyond the source are zero already.
  if (matchPattern(padded.padding, m_PosZeroFloat()) || matchPattern(padded.padding, m_Zero()))
    return value;
  SmallVector<CutWindow, 2> reaching;
  for (const CutWindow &window : windows) {
    int64_t last = (deviceFactor(window.entries) - 1) * window.window.step;
    bool reaches = window.window.offset + std::min<int64_t>(last, 0) < 0 ||
                   window.window.offset + std::max<int64_t>(last, 0) + window.window.size >
                       padded.sourceType.getDimSize(window.dim);
    if (reaches && (padded.low[window.dim] != 0 || padded.high[window.dim] != 0))
      reaching.push_back(window);
  }
  if (reaching.empty())
    return value;
  SmallVector<Value> begins, sizes;
  for (const CutWindow &window : reaching) {
    begins.push_back(
        makeBegin(b, loc, getCoordinate(b, loc, window.entries), window.window));
    sizes.push_back(makeConstant(b, loc, padded.sourceType.getDimSize(window.dim)));
  }
  Value zero = makeConstant(b, loc, 0);
  auto type = cast<RankedTensorType>(value.getType());
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto masked = createElementwise(
      b, loc, value, {identity, identity}, empty,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value kept = args[0];
        for (auto [window, begin, size] : llvm::zip(reaching, begins, sizes)) {
          Value lane = linalg::IndexOp::create(inner, loc, window.dim);
          Value place = arith::AddIOp::create(inner, loc, begin, lane);
          kept = arith::SelectOp::create(inner, loc, isWithin(inner, loc, place, zero, size),
                                         kept, padded.padding);
        }
        return kept;
      });
  made.push_back(masked);
  return masked.getResult(0);
}

Value Windows::createWindow(OpBuilder &b, Location loc, Value value, const Sharding &sharding,
                            RankedTensorType globalType, ArrayRef<CutWindow> windows) {
  if (windows.empty())
    return value;
  // A convolution of a padded image: one exchange of the image's rows, not one to
  // pad it and one to convolve it.
  auto it = paddedValues.find(value);
  if (it != paddedValues.end() && value.getParentBlock() == b.getInsertionBlock())
    return createPadded(b, loc, it->second, windows);
  return createFetch(b, loc, value, sharding, globalType, windows);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Elements of a local chunk of factor `f`.
static int64_t getChunk(const ShardingRule &rule, int32_t f, ArrayRef<DimEntry> entries) {
  return llvm::divideCeil(rule.factor(f).size, deviceFactor(entries));
}

Value Windows::lowerPad(tensor::PadOp op, const Plan &plan, const ValueInfo &values) {
  Value source = op.getSource();
  Padded padded{source,
                {},
                op.getConstantPaddingValue(),
                {},
                {},
                values.getGlobalType(source),
                values.getGlobalType(op.getResult()),
                values.getSharding(source)};
  for (auto [d, low, high] : llvm::enumerate(op.getMixedLowPad(), op.getMixedHighPad())) {
    padded.low.push_back(*getConstantIntValue(low));
    padded.high.push_back(*getConstantIntValue(high));
    if (plan.axes[d].empty() || !plan.rule.getWindow(plan.rule.tensor(0), d))
      continue;
    int64_t chunk = getChunk(plan.rule, d, plan.axes[d]);
    padded.windows.push_back({unsigned(d), plan.axes[d], {chunk, 0, chunk}});
  }
  OpBuilder b(op);
  // A constant in the body stays where it is; it is made anew outside.
  if (Operation *constant = padded.padding.getDefiningOp();
      constant && op->isProperAncestor(constant))
    padded.padding = b.clone(*constant)->getResult(0);
  Value result = createPadded(b, op.getLoc(), padded, {});
  paddedValues.try_emplace(result, std::move(padded));
  return result;
}

Value Windows::lowerInsert(tensor::InsertSliceOp op, const Plan &plan, const ValueInfo &values) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value source = createWindow(b, loc, op.getSource(), values.getSharding(op.getSource()),
                              values.getGlobalType(op.getSource()), getCutWindows(plan, 0));
  auto type = cast<RankedTensorType>(op.getDest().getType());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(),
                            strides = op.getMixedStrides();
  SmallVector<AffineExpr> read; // the source at a place of the part that is written
  struct Cut {
    unsigned dim;
    Value begin, low, high;
  };
  SmallVector<Cut> cuts;
  bool isAll = true;
  SmallVector<int64_t> part;
  const ShardingRule &rule = plan.rule;
  const ShardingRule::Tensor &dest = rule.tensor(1);
  for (unsigned d = 0; d < dest.numDims; ++d) {
    ArrayRef<int32_t> factors = rule.dimFactors(dest, d);
    bool isCut = !factors.empty() && !plan.axes[factors.front()].empty();
    if (isCut && rule.factor(factors.front()).hasWindows) {
      const DimEntries &entries = plan.axes[factors.front()];
      int64_t chunk = type.getDimSize(d);
      Value low = getValueOrCreateConstantIndexOp(b, loc, offsets[d]);
      Value high = arith::AddIOp::create(b, loc, low,
                                         getValueOrCreateConstantIndexOp(b, loc, sizes[d]));
      cuts.push_back({d,
                      makeBegin(b, loc, getCoordinate(b, loc, entries), {chunk, 0, chunk}),
                      low, high});
      if (!dropped.test(d))
        read.push_back(getConstantIntValue(sizes[d]) == 1 ? b.getAffineConstantExpr(0)
                                                          : b.getAffineDimExpr(d));
      offsets[d] = b.getIndexAttr(0);
      sizes[d] = b.getIndexAttr(chunk);
    } else {
      if (isCut)
        sizes[d] = b.getIndexAttr(type.getDimSize(d));
      if (!dropped.test(d))
        read.push_back(b.getAffineDimExpr(d));
    }
    isAll &= getConstantIntValue(sizes[d]) == type.getDimSize(d) &&
             getConstantIntValue(offsets[d]) == 0;
    part.push_back(*getConstantIntValue(sizes[d]));
  }
  Value written = op.getDest();
  if (!isAll)
    written = tensor::ExtractSliceOp::create(b, loc, type.clone(part), written, offsets, sizes,
                                             strides);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  AffineMap map = AffineMap::get(type.getRank(), 0, read, b.getContext());
  written = createElementwise(b, loc, source, {map, identity}, written,
                              [&](OpBuilder &inner, Location loc, ValueRange args) {
                                Value kept = args[0];
                                for (const Cut &cut : cuts) {
                                  Value lane = linalg::IndexOp::create(inner, loc, cut.dim);
                                  Value place =
                                      arith::AddIOp::create(inner, loc, cut.begin, lane);
                                  kept = arith::SelectOp::create(
                                      inner, loc,
                                      isWithin(inner, loc, place, cut.low, cut.high), kept,
                                      args[1]);
                                }
                                return kept;
                              })
                .getResult(0);
  if (isAll)
    return written;
  return tensor::InsertSliceOp::create(b, loc, written, op.getDest(), offsets, sizes, strides);
}

Value Windows::lowerConcat(tensor::ConcatOp op, const Plan &plan, const ValueInfo &values) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  unsigned dim = op.getDim();
  const DimEntries &entries = plan.axes[dim];
  int64_t chunk = getChunk(plan.rule, dim, entries), end = 0;
  Value begin = makeBegin(b, loc, getCoordinate(b, loc, entries), {chunk, 0, chunk});
  SmallVector<Value> parts, ends;
  for (auto [t, operand] : llvm::enumerate(op->getOperands())) {
    RankedTensorType type = values.getGlobalType(operand);
    parts.push_back(createWindow(b, loc, operand, values.getSharding(operand), type,
                                 getCutWindows(plan, t)));
    end += type.getDimSize(dim);
    ends.push_back(makeConstant(b, loc, end));
  }
  auto type = cast<RankedTensorType>(parts.front().getType());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(parts.size() + 1, b.getMultiDimIdentityMap(type.getRank()));
  return createElementwise(b, loc, parts, maps, empty,
                           [&](OpBuilder &inner, Location loc, ValueRange args) {
                             Value lane = linalg::IndexOp::create(inner, loc, dim);
                             Value place = arith::AddIOp::create(inner, loc, begin, lane);
                             Value value = args[parts.size() - 1];
                             for (size_t i = parts.size() - 1; i-- > 0;) {
                               Value before = arith::CmpIOp::create(
                                   inner, loc, arith::CmpIPredicate::slt, place, ends[i]);
                               value = arith::SelectOp::create(inner, loc, before, args[i], value);
                             }
                             return value;
                           })
      .getResult(0);
}

/// The body goes on computing global places; what it reads begins at the window.
void Windows::lowerReads(Operation *op, const Plan &plan, const ValueInfo &values) {
  OpBuilder b(op);
  llvm::SmallDenseMap<unsigned, Value> fetched;
  for (auto [extract, t] : plan.reads) {
    Value tensor = extract.getTensor();
    const Sharding &sharding = values.getSharding(tensor);
    SmallVector<CutWindow, 2> windows = getCutWindows(plan, t);
    // A dim that is whole is read at the global place as it is.
    llvm::erase_if(windows, [&](const CutWindow &window) {
      return sharding.dims[window.dim].entries.empty();
    });
    if (windows.empty())
      continue;
    Value &value = fetched[t];
    b.setInsertionPoint(op);
    if (!value)
      value = createWindow(b, op->getLoc(), tensor, sharding, values.getGlobalType(tensor), windows);
    SmallVector<Value> begins;
    for (const CutWindow &window : windows)
      begins.push_back(makeBegin(b, op->getLoc(), getCoordinate(b, op->getLoc(), window.entries),
                                 window.window));
    b.setInsertionPoint(extract);
    for (auto [window, begin] : llvm::zip(windows, begins)) {
      OpOperand &index = extract.getIndicesMutable()[window.dim];
      index.set(arith::SubIOp::create(b, extract.getLoc(), index.get(), begin));
    }
    extract.getTensorMutable().set(value);
  }
}

Value Windows::lower(Operation *op, const ValueInfo &values) {
  const Plan &plan = plans.find(op)->second;
  // Padding that is computed per place is on dims that stay whole.
  if (auto pad = dyn_cast<tensor::PadOp>(op); pad && pad.getConstantPaddingValue())
    return lowerPad(pad, plan, values);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return lowerInsert(insert, plan, values);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return lowerConcat(concat, plan, values);
  lowerReads(op, plan, values);
  OpBuilder b(op);
  for (unsigned t = 0; t < op->getNumOperands(); ++t) {
    if (!plan.rule.tensor(t).type)
      continue;
    SmallVector<CutWindow, 2> windows = getCutWindows(plan, t);
    Value operand = op->getOperand(t);
    op->setOperand(t, createWindow(b, op->getLoc(), operand, values.getSharding(operand),
                                   values.getGlobalType(operand), windows));
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      SmallVector<int64_t> offsets(slice.getStaticOffsets());
      for (const CutWindow &window : windows)
        offsets[window.dim] = 0;
      slice.setStaticOffsets(offsets);
    } else if (auto slice = dyn_cast<tosa::SliceOp>(op); slice && t == 0) {
      SmallVector<int64_t> start;
      auto constant = slice.getStart().getDefiningOp<tosa::ConstShapeOp>();
      for (const APInt &value : constant.getValues().getValues<APInt>())
        start.push_back(value.getSExtValue());
      for (const CutWindow &window : windows)
        start[window.dim] = 0;
      slice.getStartMutable().assign(tosa::ConstShapeOp::create(
          b, op->getLoc(), constant.getType(), b.getIndexTensorAttr(start)));
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The same halo once
//===----------------------------------------------------------------------===//

/// Joins exchanges of one value in one block whose windows overlap in every dim: the
/// first becomes the exchange of all, and each takes its part.
void Windows::joinHalos() {
  llvm::DenseMap<Value, SmallVector<HaloExchangeOp, 2>> byValue;
  for (HaloExchangeOp &halo : halos) {
    SmallVector<HaloExchangeOp, 2> &others = byValue[halo.getInput()];
    auto overlaps = [&](HaloExchangeOp other) {
      if (other->getBlock() != halo->getBlock() || other.getFrom() != halo.getFrom() ||
          other.getTo() != halo.getTo() || other.getDims() != halo.getDims() ||
          other.getSteps() != halo.getSteps())
        return false;
      for (auto [i, d] : llvm::enumerate(halo.getDims())) {
        int64_t a = halo.getOffsets()[i], b = other.getOffsets()[i];
        if (std::max(a, b) > std::min(a + halo.getType().getDimSize(d),
                                      b + other.getType().getDimSize(d)))
          return false;
      }
      return true;
    };
    auto known = llvm::find_if(others, overlaps);
    if (known == others.end()) {
      others.push_back(halo);
      continue;
    }
    HaloExchangeOp first = *known;
    SmallVector<int64_t> offsets(first.getOffsets()), shape(first.getType().getShape());
    SmallVector<int64_t> own[2] = {offsets, SmallVector<int64_t>(halo.getOffsets())};
    for (auto [i, d] : llvm::enumerate(halo.getDims())) {
      int64_t end = std::max(own[0][i] + shape[d], own[1][i] + halo.getType().getDimSize(d));
      offsets[i] = std::min(own[0][i], own[1][i]);
      shape[d] = end - offsets[i];
    }
    OpBuilder b(first);
    b.setInsertionPointAfter(first);
    auto firstType = first.getType();
    auto take = [&](RankedTensorType type, ArrayRef<int64_t> from) -> Value {
      if (type.getShape() == ArrayRef<int64_t>(shape))
        return first.getResult();
      SmallVector<OpFoldResult> begins(shape.size(), b.getIndexAttr(0)), sizes,
          strides(shape.size(), b.getIndexAttr(1));
      for (int64_t size : type.getShape())
        sizes.push_back(b.getIndexAttr(size));
      for (auto [i, d] : llvm::enumerate(halo.getDims()))
        begins[d] = b.getIndexAttr(from[i] - offsets[i]);
      return tensor::ExtractSliceOp::create(b, first.getLoc(), type, first.getResult(), begins,
                                            sizes, strides);
    };
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : first.getResult().getUses())
      uses.push_back(&use);
    first.getResult().setType(firstType.clone(shape));
    first.setOffsets(offsets);
    Value part = take(firstType, own[0]);
    for (OpOperand *use : uses)
      use->set(part);
    halo.getResult().replaceAllUsesWith(take(halo.getType(), own[1]));
    halo->erase();
    halo = nullptr;
  }
  llvm::erase(halos, nullptr);
}

void Windows::finish() {
  // Padded values that only their windows were read of.
  for (Operation *op : llvm::reverse(made))
    if (isOpTriviallyDead(op))
      op->erase();
  for (HaloExchangeOp &halo : llvm::reverse(halos))
    if (halo->use_empty()) {
      halo->erase();
      halo = nullptr;
    }
  llvm::erase(halos, nullptr);
  joinHalos();
}
