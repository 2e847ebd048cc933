//===- Windows.cpp - Windows of sharded dims ------------------------------===//

#include "shardkit/Partition/Windows.h"

#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Rules/IndexedBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

void Windows::collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding) {
  // Rules are expensive, and most have no windows.
  auto iface = dyn_cast<ShardingRuleOpInterface>(op);
  WindowForm form = iface ? iface.getWindowForm() : WindowForm::None;
  if (form == WindowForm::None)
    return;
  Plan plan{getShardingRule(op), form, {}, {}, {}};
  if (!plan.rule.hasWindows())
    return;
  bool isSharded = false;
  plan.axes.resize(plan.rule.numFactors());
  for (auto [f, axes] : llvm::enumerate(plan.axes)) {
    axes = findFactorAxes(plan.rule, f, getSharding);
    isSharded |= plan.rule.factor(f).hasWindows && !axes.empty();
  }
  if (!isSharded)
    return;
  for (unsigned t = op->getNumOperands(); t < plan.rule.numOperands(); ++t)
    if (Region *body = getIndexedBody(op))
      body->walk([&](tensor::ExtractOp extract) {
        if (extract.getTensor() == plan.rule.tensor(t).value)
          plan.reads.push_back({extract, t});
      });
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    plan.dropped = insert.getDroppedDims();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    plan.dropped = slice.getDroppedDims();
  plans.try_emplace(op, std::move(plan));
}

SmallVector<Windows::ShardedWindow, 2> Windows::getShardedWindows(const Plan &plan, unsigned t) const {
  SmallVector<ShardedWindow, 2> windows;
  for (const UnevenDim &dim : getWindows(plan.rule, t, plan.axes, meshes.getMesh()))
    windows.push_back({dim.dim, plan.axes[plan.rule.dimFactors(plan.rule.tensor(t), dim.dim).front()], *dim.window});
  return windows;
}

//===----------------------------------------------------------------------===//
// Windows of values
//===----------------------------------------------------------------------===//

Value Windows::getCoordinate(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries) {
  FunctionMeshes::AxesOnMesh axes = meshes.getAxesOnMesh(entries);
  return getChunkStart(b, loc, axes.entries, deviceFactor(entries), getCoordinates(b, loc, axes));
}

static Value makeConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

static bool isZero(Value value) { return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()); }

/// The first index of a window on this device.
static Value makeBegin(OpBuilder &b, Location loc, Value coordinate, const Window &window) {
  Value begin = coordinate;
  if (window.step != 1)
    begin = arith::MulIOp::create(b, loc, begin, makeConstant(b, loc, window.step));
  if (window.offset != 0)
    begin = arith::AddIOp::create(b, loc, begin, makeConstant(b, loc, window.offset));
  return begin;
}

/// True for indices in [low, high).
static Value isWithin(OpBuilder &b, Location loc, Value index, Value low, Value high) {
  Value above = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, low);
  Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, high);
  return arith::AndIOp::create(b, loc, above, below);
}

static linalg::GenericOp createElementwise(OpBuilder &b, Location loc, ValueRange inputs, ArrayRef<AffineMap> maps,
                                           Value init,
                                           llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, TypeRange{type}, inputs, ValueRange{init}, maps, loops,
                                   [&](OpBuilder &inner, Location loc, ValueRange args) {
                                     linalg::YieldOp::create(inner, loc, body(inner, loc, args));
                                   });
}

Value Windows::createFetch(OpBuilder &b, Location loc, Value value, const Sharding &sharding,
                           RankedTensorType globalType, ArrayRef<ShardedWindow> windows) {
  SmallVector<ShardedWindow, 2> moved, uneven;
  for (const ShardedWindow &window : windows) {
    if (!isShard(window, value, sharding, globalType))
      moved.push_back(window);
    else if (!divides(window.entries, globalType.getDimSize(window.dim)))
      uneven.push_back(window);
  }
  value = createExchange(b, loc, value, sharding, globalType, moved);
  if (uneven.empty())
    return value;
  // As after an exchange, lanes beyond the dim are zero.
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(getElementTypeOrSelf(value)));
  return createMasked(b, loc, value, uneven, globalType, zero);
}

bool Windows::isShard(const ShardedWindow &window, Value value, const Sharding &sharding, RankedTensorType globalType) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t chunk = type.getDimSize(window.dim), size = globalType.getDimSize(window.dim);
  return sharding.dims[window.dim].entries == window.entries && window.window.offset == 0 &&
         window.window.step == chunk && window.window.size == chunk &&
         (divides(window.entries, size) || isa<FloatType, IntegerType, IndexType>(type.getElementType()));
}

Value Windows::createExchange(OpBuilder &b, Location loc, Value value, const Sharding &sharding,
                              RankedTensorType globalType, ArrayRef<ShardedWindow> windows) {
  if (windows.empty())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> global(type.getShape()), local(type.getShape());
  Sharding from, to;
  from.dims.resize(type.getRank());
  to.dims.resize(type.getRank());
  SmallVector<int64_t> dims, steps, offsets;
  SmallVector<Value> dynamicOffsets;
  for (const ShardedWindow &window : windows) {
    unsigned d = window.dim;
    global[d] = globalType.getDimSize(d);
    local[d] = window.window.size;
    from.dims[d].entries = sharding.dims[d].entries;
    to.dims[d].entries = window.entries;
    dims.push_back(d);
    steps.push_back(window.window.step);
    offsets.push_back(window.offset ? ShapedType::kDynamic : window.window.offset);
    if (window.offset)
      dynamicOffsets.push_back(window.offset);
  }
  ShardingAttr target = meshes.getAttr(to);
  auto exchange =
      HaloExchangeOp::create(b, loc, type.clone(local), value, dynamicOffsets, TypeAttr::get(type.clone(global)),
                             meshes.getAttrOn(from, global, target.getMesh()), target, b.getDenseI64ArrayAttr(dims),
                             b.getDenseI64ArrayAttr(steps), b.getDenseI64ArrayAttr(offsets), IntegerAttr());
  halos.push_back(exchange);
  return exchange.getResult();
}

Value Windows::createPadded(OpBuilder &b, Location loc, const Padded &padded, ArrayRef<ShardedWindow> asked) {
  int64_t rank = padded.resultType.getRank();
  SmallVector<ShardedWindow, 2> windows; // windows of the source
  SmallVector<OpFoldResult> low(rank, b.getIndexAttr(0)), high(rank, b.getIndexAttr(0));
  bool padsOthers = false;
  for (unsigned d = 0; d < rank; ++d) {
    const ShardedWindow *window = llvm::find_if(asked, [&](auto &w) { return w.dim == d; });
    if (window == asked.end()) {
      window = llvm::find_if(padded.windows, [&](auto &w) { return w.dim == d; });
      if (window == padded.windows.end())
        window = nullptr;
    }
    if (window) {
      windows.push_back(*window);
      windows.back().window.offset -= *getConstantIntValue(padded.low[d]);
      continue;
    }
    low[d] = padded.low[d];
    high[d] = padded.high[d];
    padsOthers |= !isZeroInteger(low[d]) || !isZeroInteger(high[d]);
  }
  Value value;
  if (auto it = insertedValues.find(padded.source); it != insertedValues.end() && !windows.empty())
    value = createInserted(b, loc, padded.source, it->second, windows);
  if (!value)
    value = createFetch(b, loc, padded.source, padded.sourceSharding, padded.sourceType, windows);
  if (padsOthers) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (unsigned d = 0; d < rank; ++d)
      if (!isZeroInteger(low[d]) || !isZeroInteger(high[d])) // unsharded
        shape[d] = padded.resultType.getDimSize(d);
    value = tensor::PadOp::create(b, loc, type.clone(shape), value, low, high, padded.padding);
    made.push_back(value.getDefiningOp());
  }
  // Lanes beyond the source are zero already.
  if (isZero(padded.padding))
    return value;
  llvm::erase_if(windows, [&](const ShardedWindow &window) {
    return isZeroInteger(padded.low[window.dim]) && isZeroInteger(padded.high[window.dim]);
  });
  return createMasked(b, loc, value, windows, padded.sourceType, padded.padding);
}

Value Windows::createInserted(OpBuilder &b, Location loc, Value result, const Inserted &inserted,
                              ArrayRef<ShardedWindow> asked) {
  auto type = cast<RankedTensorType>(result.getType());
  auto sourceType = cast<RankedTensorType>(inserted.source.getType());
  SmallVector<ShardedWindow, 2> windows; // of the source
  SmallVector<int64_t> shape(type.getShape()), sizes(sourceType.getShape());
  SmallVector<OpFoldResult> offsets, strides;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    int64_t offset = inserted.offsets[d], stride = inserted.strides[d];
    const ShardedWindow *window = llvm::find_if(asked, [&](auto &w) { return w.dim == d; });
    if (window == asked.end()) {
      window = llvm::find_if(inserted.windows, [&](auto &w) { return w.dim == d; });
      if (window == inserted.windows.end())
        window = nullptr;
    }
    if (window) {
      // Element e of the source is at offset + stride * e, on each device at the same lanes.
      const Window &wanted = window->window;
      if (wanted.step <= 0 || wanted.step % stride != 0)
        return {};
      int64_t first = llvm::divideCeilSigned(wanted.offset - offset, stride);
      int64_t last = llvm::divideFloorSigned(wanted.offset + wanted.size - 1 - offset, stride);
      if (last < first)
        return {};
      windows.push_back({d, window->entries, {wanted.step / stride, first, last - first + 1}});
      offset += stride * first - wanted.offset;
      shape[d] = wanted.size;
      sizes[d] = last - first + 1;
    }
    offsets.push_back(b.getIndexAttr(offset));
    strides.push_back(b.getIndexAttr(stride));
  }
  // Elements beyond the source are zero, as those between its elements are.
  Value source = createFetch(b, loc, inserted.source, inserted.sourceSharding, inserted.sourceType, windows);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  Value zeros = linalg::FillOp::create(b, loc, inserted.zero, empty).getResult(0);
  SmallVector<OpFoldResult> mixedSizes = getAsIndexOpFoldResult(b.getContext(), sizes);
  auto insert = tensor::InsertSliceOp::create(b, loc, source, zeros, offsets, mixedSizes, strides);
  made.push_back(insert);
  return insert.getResult();
}

Value Windows::createMasked(OpBuilder &b, Location loc, Value value, ArrayRef<ShardedWindow> windows,
                            RankedTensorType globalType, Value padding) {
  SmallVector<ShardedWindow, 2> reaching;
  for (const ShardedWindow &window : windows) {
    int64_t last = (deviceFactor(window.entries) - 1) * window.window.step;
    if (window.window.offset + std::min<int64_t>(last, 0) < 0 ||
        window.window.offset + std::max<int64_t>(last, 0) + window.window.size > globalType.getDimSize(window.dim))
      reaching.push_back(window);
  }
  if (reaching.empty())
    return value;
  SmallVector<Value> begins, sizes;
  for (const ShardedWindow &window : reaching) {
    begins.push_back(makeBegin(b, loc, getCoordinate(b, loc, window.entries), window.window));
    sizes.push_back(makeConstant(b, loc, globalType.getDimSize(window.dim)));
  }
  Value zero = makeConstant(b, loc, 0);
  auto type = cast<RankedTensorType>(value.getType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, value), type.getElementType());
  auto masked = createElementwise(
      b, loc, value, {identity, identity}, empty, [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value kept = args[0];
        for (auto [window, begin, size] : llvm::zip(reaching, begins, sizes)) {
          Value lane = linalg::IndexOp::create(inner, loc, window.dim);
          Value index = arith::AddIOp::create(inner, loc, begin, lane);
          kept = arith::SelectOp::create(inner, loc, isWithin(inner, loc, index, zero, size), kept, padding);
        }
        return kept;
      });
  made.push_back(masked);
  return masked.getResult(0);
}

Value Windows::createWindow(OpBuilder &b, Location loc, Value value, const Sharding &sharding,
                            RankedTensorType globalType, ArrayRef<ShardedWindow> windows) {
  if (windows.empty())
    return value;
  bool isConstant = llvm::none_of(windows, [](const ShardedWindow &window) { return bool(window.offset); });
  bool mayReadSource = isConstant && value.getParentBlock() == b.getInsertionBlock();
  // A convolution of a padded image: one exchange of the image's rows, not one to
  // pad it and one to convolve it.
  auto it = paddedValues.find(value);
  if (it != paddedValues.end() && mayReadSource)
    return createPadded(b, loc, it->second, windows);
  auto inserted = insertedValues.find(value);
  if (inserted != insertedValues.end() && mayReadSource)
    if (Value made = createInserted(b, loc, value, inserted->second, windows))
      return made;
  return createFetch(b, loc, value, sharding, globalType, windows);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Elements of a local chunk of factor `f`.
static int64_t getChunk(const ShardingRule &rule, int32_t f, ArrayRef<DimEntry> entries) {
  return llvm::divideCeil(rule.factor(f).size, deviceFactor(entries));
}

Value Windows::lowerPad(Operation *op, const Plan &plan, const ValueInfo &values) {
  OpBuilder b(op);
  Value source = op->getOperand(0);
  Padded padded;
  padded.source = source;
  PadForm form = cast<ShardingRuleOpInterface>(op).getPadForm(b);
  padded.low = std::move(form.low);
  padded.high = std::move(form.high);
  padded.padding = form.padding;
  if (!padded.padding)
    padded.padding = arith::ConstantOp::create(b, op->getLoc(), b.getZeroAttr(getElementTypeOrSelf(source)));
  padded.sourceType = values.getGlobalType(source);
  padded.resultType = values.getGlobalType(op->getResult(0));
  padded.sourceSharding = values.getSharding(source);
  const ShardingRule &rule = plan.rule;
  for (unsigned d = 0; d < padded.low.size(); ++d) {
    if (!rule.getWindow(rule.tensor(0), d))
      continue;
    int32_t f = rule.dimFactors(rule.tensor(0), d).front();
    int64_t chunk = getChunk(rule, f, plan.axes[f]);
    if (!plan.axes[f].empty())
      padded.windows.push_back({d, plan.axes[f], {chunk, 0, chunk}});
  }
  Value result = createPadded(b, op->getLoc(), padded, {});
  // Windows of the result are windows of the source if all paddings are constant.
  auto isConstant = [](OpFoldResult size) { return getConstantIntValue(size).value_or(-1) >= 0; };
  if (llvm::all_of(padded.low, isConstant) && llvm::all_of(padded.high, isConstant))
    paddedValues.try_emplace(result, std::move(padded));
  return result;
}

/// An insertion into a sharded dim: it writes the indices low, low + stride, ... below high.
namespace {
struct InsertedDim {
  unsigned dim;
  int64_t stride;
  Value begin, low, high; ///< begin: the first index of this device
  Value sourceBegin;      ///< the first element of the source on this device
  /// Whether the source on this device has the elements of its lanes, or only one.
  bool isAtLane;
};
} // namespace

/// Whether a lane of the destination is written, and with which element of the source
/// (a valid one in any case); null where that is the element at the lane, or the only one.
static std::pair<Value, Value> getInserted(OpBuilder &b, Location loc, const InsertedDim &inserted) {
  Value lane = linalg::IndexOp::create(b, loc, inserted.dim);
  Value index = arith::AddIOp::create(b, loc, inserted.begin, lane);
  Value written = isWithin(b, loc, index, inserted.low, inserted.high);
  if (inserted.isAtLane)
    return {written, Value()};
  Value zero = makeConstant(b, loc, 0);
  Value element = arith::SelectOp::create(b, loc, written, arith::SubIOp::create(b, loc, index, inserted.low), zero);
  if (inserted.stride != 1) {
    Value stride = makeConstant(b, loc, inserted.stride);
    Value rest = arith::RemUIOp::create(b, loc, element, stride);
    Value hits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, zero);
    written = arith::AndIOp::create(b, loc, written, hits);
    element = arith::DivUIOp::create(b, loc, element, stride);
  }
  element = arith::SubIOp::create(b, loc, element, inserted.sourceBegin);
  return {written, arith::SelectOp::create(b, loc, written, element, zero)};
}

Value Windows::lowerInsert(tensor::InsertSliceOp op, const Plan &plan, const ValueInfo &values) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<ShardedWindow, 2> windows = getShardedWindows(plan, 0);
  Value source = createWindow(b, loc, op.getSource(), values.getSharding(op.getSource()),
                              values.getGlobalType(op.getSource()), windows);
  auto type = cast<RankedTensorType>(op.getDest().getType());
  const llvm::SmallBitVector &dropped = plan.dropped;
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(), strides = op.getMixedStrides();
  SmallVector<InsertedDim> insertedDims;
  // Per dim of the source: the index expression if all are affine, the index into insertedDims (-1: none), and the dim
  // of the destination.
  SmallVector<AffineExpr> read;
  SmallVector<int> insertedOf;
  SmallVector<unsigned> laneOf;
  bool isAffine = true;
  SmallVector<int64_t> sliceShape;
  bool isAll = true;
  const ShardingRule &rule = plan.rule;
  const ShardingRule::Tensor &dest = rule.tensor(1);
  for (unsigned d = 0; d < dest.numDims; ++d) {
    ArrayRef<int32_t> factors = rule.dimFactors(dest, d);
    bool isSharded = !factors.empty() && !plan.axes[factors.front()].empty();
    bool isWindow = isSharded && rule.factor(factors.front()).hasWindows;
    if (!dropped.test(d)) {
      laneOf.push_back(d);
      insertedOf.push_back(isWindow ? int(insertedDims.size()) : -1);
      read.push_back(isWindow && getConstantIntValue(sizes[d]) == 1 ? b.getAffineConstantExpr(0)
                                                                    : b.getAffineDimExpr(d));
    }
    if (isWindow) {
      const DimEntries &entries = plan.axes[factors.front()];
      int64_t chunk = type.getDimSize(d), stride = *getConstantIntValue(strides[d]);
      Value coordinate = getCoordinate(b, loc, entries);
      InsertedDim inserted{d,
                           stride,
                           makeBegin(b, loc, coordinate, {chunk, 0, chunk}),
                           getValueOrCreateConstantIndexOp(b, loc, offsets[d]),
                           Value(),
                           makeConstant(b, loc, 0),
                           getConstantIntValue(sizes[d]) == 1};
      int64_t reach = (*getConstantIntValue(sizes[d]) - 1) * stride + 1;
      inserted.high = arith::AddIOp::create(b, loc, inserted.low, makeConstant(b, loc, reach));
      for (const ShardedWindow &window : windows)
        if (!dropped.test(d) && window.dim == insertedOf.size() - 1) {
          inserted.sourceBegin = makeBegin(b, loc, coordinate, window.window);
          inserted.isAtLane |= stride == 1;
        }
      isAffine &= inserted.isAtLane;
      insertedDims.push_back(inserted);
      offsets[d] = b.getIndexAttr(0);
      sizes[d] = b.getIndexAttr(chunk);
      strides[d] = b.getIndexAttr(1);
    } else if (isSharded) {
      sizes[d] = tensor::getMixedSize(b, loc, op.getDest(), d);
    }
    isAll &= getConstantIntValue(sizes[d]) == type.getDimSize(d) && getConstantIntValue(offsets[d]) == 0;
    sliceShape.push_back(getConstantIntValue(sizes[d]).value_or(ShapedType::kDynamic));
  }
  Value written = op.getDest();
  if (!isAll)
    written = tensor::ExtractSliceOp::create(b, loc, type.clone(sliceShape), written, offsets, sizes, strides);
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(type.getRank())};
  if (isAffine)
    maps.insert(maps.begin(), AffineMap::get(type.getRank(), 0, read, b.getContext()));
  written = createElementwise(b, loc, isAffine ? ValueRange(source) : ValueRange(), maps, written,
                              [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                                Value all;
                                SmallVector<Value> elements, at;
                                for (const InsertedDim &inserted : insertedDims) {
                                  auto [one, element] = getInserted(inner, loc, inserted);
                                  all = all ? Value(arith::AndIOp::create(inner, loc, all, one)) : one;
                                  elements.push_back(element);
                                }
                                if (isAffine)
                                  return arith::SelectOp::create(inner, loc, all, args[0], args[1]);
                                for (auto [d, inserted] : llvm::enumerate(insertedOf))
                                  if (inserted >= 0 && elements[inserted])
                                    at.push_back(elements[inserted]);
                                  else if (inserted >= 0 && isa<AffineConstantExpr>(read[d]))
                                    at.push_back(makeConstant(inner, loc, 0));
                                  else
                                    at.push_back(linalg::IndexOp::create(inner, loc, laneOf[d]));
                                Value element = tensor::ExtractOp::create(inner, loc, source, at);
                                return arith::SelectOp::create(inner, loc, all, element, args[0]);
                              })
                .getResult(0);
  made.push_back(written.getDefiningOp());
  if (!isAll) {
    written = tensor::InsertSliceOp::create(b, loc, written, op.getDest(), offsets, sizes, strides);
    made.push_back(written.getDefiningOp());
  }
  recordInserted(op, written, plan, values);
  return written;
}

void Windows::recordInserted(tensor::InsertSliceOp op, Value result, const Plan &plan, const ValueInfo &values) {
  if (plan.dropped.any() || !cast<RankedTensorType>(result.getType()).hasStaticShape() ||
      llvm::any_of(llvm::concat<const int64_t>(op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides()),
                   ShapedType::isDynamic))
    return;
  OpBuilder b(op);
  Inserted inserted;
  DenseElementsAttr constant;
  if (auto fill = op.getDest().getDefiningOp<linalg::FillOp>()) {
    inserted.zero = fill.getInputs().front();
  } else if (matchPattern(op.getDest(), m_Constant(&constant)) && constant.isSplat()) {
    inserted.zero = arith::ConstantOp::create(b, op.getLoc(), constant.getSplatValue<TypedAttr>());
    made.push_back(inserted.zero.getDefiningOp());
  }
  if (!inserted.zero || !isZero(inserted.zero))
    return;
  const ShardingRule &rule = plan.rule;
  inserted.source = op.getSource();
  inserted.sourceType = values.getGlobalType(op.getSource());
  inserted.sourceSharding = values.getSharding(op.getSource());
  llvm::append_range(inserted.offsets, op.getStaticOffsets());
  llvm::append_range(inserted.strides, op.getStaticStrides());
  const ShardingRule::Tensor &dest = rule.tensor(1);
  for (unsigned d = 0; d < dest.numDims; ++d) {
    ArrayRef<int32_t> factors = rule.dimFactors(dest, d);
    if (factors.empty() || plan.axes[factors.front()].empty() || !rule.factor(factors.front()).hasWindows)
      continue;
    // A source of one element is not read in windows.
    if (!rule.getWindow(rule.tensor(0), d))
      return;
    int64_t chunk = getChunk(rule, factors.front(), plan.axes[factors.front()]);
    inserted.windows.push_back({d, plan.axes[factors.front()], {chunk, 0, chunk}});
  }
  insertedValues.try_emplace(result, std::move(inserted));
}

Value Windows::lowerConcat(Operation *op, const Plan &plan, const ValueInfo &values) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  const ShardingRule::Tensor &result = plan.rule.results().front();
  unsigned dim = 0; // that of the windows
  while (!plan.rule.getWindow(plan.rule.tensor(0), dim))
    ++dim;
  int32_t f = plan.rule.dimFactors(result, dim).front();
  const DimEntries &entries = plan.axes[f];
  int64_t chunk = getChunk(plan.rule, f, entries), end = 0;
  Value begin = makeBegin(b, loc, getCoordinate(b, loc, entries), {chunk, 0, chunk});
  SmallVector<Value> operands, ends;
  for (auto [t, operand] : llvm::enumerate(op->getOperands())) {
    RankedTensorType type = values.getGlobalType(operand);
    operands.push_back(createWindow(b, loc, operand, values.getSharding(operand), type, getShardedWindows(plan, t)));
    end += type.getDimSize(dim);
    ends.push_back(makeConstant(b, loc, end));
  }
  auto type = cast<RankedTensorType>(operands.front().getType());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, operands.front()), type.getElementType());
  SmallVector<AffineMap> maps(operands.size() + 1, b.getMultiDimIdentityMap(type.getRank()));
  return createElementwise(b, loc, operands, maps, empty,
                           [&](OpBuilder &inner, Location loc, ValueRange args) {
                             Value lane = linalg::IndexOp::create(inner, loc, dim);
                             Value index = arith::AddIOp::create(inner, loc, begin, lane);
                             Value value = args[operands.size() - 1];
                             for (size_t i = operands.size() - 1; i-- > 0;) {
                               Value before =
                                   arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, index, ends[i]);
                               value = arith::SelectOp::create(inner, loc, before, args[i], value);
                             }
                             return value;
                           })
      .getResult(0);
}

/// The body still computes global indices; reads subtract the begin of the window.
void Windows::lowerReads(Operation *op, const Plan &plan, const ValueInfo &values) {
  OpBuilder b(op);
  llvm::SmallDenseMap<unsigned, Value> fetched;
  for (auto [extract, t] : plan.reads) {
    Value tensor = extract.getTensor();
    const Sharding &sharding = values.getSharding(tensor);
    SmallVector<ShardedWindow, 2> windows = getShardedWindows(plan, t);
    // An unsharded dim is read at the global index.
    llvm::erase_if(windows, [&](const ShardedWindow &window) { return sharding.dims[window.dim].entries.empty(); });
    if (windows.empty())
      continue;
    Value &value = fetched[t];
    b.setInsertionPoint(op);
    if (!value)
      value = createWindow(b, op->getLoc(), tensor, sharding, values.getGlobalType(tensor), windows);
    SmallVector<Value> begins;
    for (const ShardedWindow &window : windows)
      begins.push_back(makeBegin(b, op->getLoc(), getCoordinate(b, op->getLoc(), window.entries), window.window));
    b.setInsertionPoint(extract);
    for (auto [window, begin] : llvm::zip(windows, begins)) {
      OpOperand &index = extract.getIndicesMutable()[window.dim];
      index.set(arith::SubIOp::create(b, extract.getLoc(), index.get(), begin));
    }
    extract.getTensorMutable().set(value);
  }
}

/// Adjusts an op to the windows of operand `t`, which have been elements of `value`.
void Windows::lowerInPlace(Operation *op, const Plan &plan, unsigned t, Value value, RankedTensorType type,
                           ArrayRef<ShardedWindow> windows) {
  auto iface = cast<ShardingRuleOpInterface>(op);
  SmallVector<ShardedWindow, 2> padded;
  TypedAttr content;
  for (const ShardedWindow &window : windows) {
    if (TypedAttr padding = iface.getWindowPadding(t, window.dim)) {
      padded.push_back(window);
      content = padding;
    }
    int32_t f = plan.rule.dimFactors(plan.rule.tensor(t), window.dim).front();
    iface.makeWindowLocal({t, window.dim, window.window, getChunk(plan.rule, f, plan.axes[f])});
  }
  if (padded.empty())
    return;
  OpBuilder b(op);
  Value padding = arith::ConstantOp::create(b, op->getLoc(), content);
  // Elements beyond the dim are zero, or the padding of a padded operand.
  auto it = paddedValues.find(value);
  if (isZero(padding) && (it == paddedValues.end() || isZero(it->second.padding)))
    padding.getDefiningOp()->erase();
  else
    op->setOperand(t, createMasked(b, op->getLoc(), op->getOperand(t), padded, type, padding));
}

/// The value without dims of one element.
static Value withoutDims(OpBuilder &b, Location loc, Value value, const llvm::SmallBitVector &dropped) {
  if (dropped.none())
    return value;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  ReassociationIndices group;
  for (auto [d, size] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape())) {
    if (!dropped.test(d) && !shape.empty())
      groups.push_back(std::exchange(group, {}));
    group.push_back(d);
    if (!dropped.test(d))
      shape.push_back(size);
  }
  if (!shape.empty())
    groups.push_back(std::move(group));
  Type type = cast<RankedTensorType>(value.getType()).clone(shape);
  return tensor::CollapseShapeOp::create(b, loc, type, value, groups);
}

Value Windows::lowerSlice(tensor::ExtractSliceOp op, const Plan &plan, const ValueInfo &values) {
  OpBuilder b(op);
  Value source = op.getSource();
  const Sharding &sharding = values.getSharding(source);
  SmallVector<OpFoldResult> mixed = op.getMixedOffsets();
  SmallVector<ShardedWindow, 2> windows = getShardedWindows(plan, 0);
  for (ShardedWindow &window : windows)
    window.offset = dyn_cast<Value>(mixed[window.dim]);
  // An unsharded dim is read at the global index.
  llvm::erase_if(
      windows, [&](const ShardedWindow &window) { return window.offset && sharding.dims[window.dim].entries.empty(); });
  bool atRunTime = llvm::any_of(windows, [](const ShardedWindow &window) { return bool(window.offset); });
  op.getSourceMutable().set(createWindow(b, op.getLoc(), source, sharding, values.getGlobalType(source), windows));
  SmallVector<int64_t> offsets(op.getStaticOffsets());
  for (const ShardedWindow &window : windows)
    offsets[window.dim] = 0;
  SmallVector<Value> dynamicOffsets;
  for (auto [offset, known] : llvm::zip(mixed, offsets))
    if (ShapedType::isDynamic(known))
      dynamicOffsets.push_back(cast<Value>(offset));
  op.setStaticOffsets(offsets);
  op.getOffsetsMutable().assign(dynamicOffsets);
  bool takesAll = op.getStaticSizes() == cast<RankedTensorType>(op.getSource().getType()).getShape() &&
                  !ShapedType::isDynamicShape(op.getStaticSizes()) &&
                  llvm::all_of(op.getStaticStrides(), [](int64_t stride) { return stride == 1; });
  // A dim at an index that data give is looked up in the shard, however small that is.
  bool isLookedUp = llvm::any_of(llvm::seq<int32_t>(0, plan.rule.numFactors()), [&](int32_t f) {
    const Factor &factor = plan.rule.factor(f);
    return factor.kind == FactorKind::Indexed && !factor.hasWindows && !plan.axes[f].empty();
  });
  return atRunTime && takesAll && !isLookedUp ? withoutDims(b, op.getLoc(), op.getSource(), plan.dropped) : Value();
}

Value Windows::lower(Operation *op, const ValueInfo &values) {
  const Plan &plan = plans.find(op)->second;
  switch (plan.form) {
  case WindowForm::Pad:
    return lowerPad(op, plan, values);
  case WindowForm::Insert:
    return lowerInsert(cast<tensor::InsertSliceOp>(op), plan, values);
  case WindowForm::Slice:
    return lowerSlice(cast<tensor::ExtractSliceOp>(op), plan, values);
  case WindowForm::Concat:
    return lowerConcat(op, plan, values);
  case WindowForm::None:
  case WindowForm::InPlace:
    break;
  }
  lowerReads(op, plan, values);
  OpBuilder b(op);
  for (unsigned t = 0; t < op->getNumOperands(); ++t) {
    if (!plan.rule.tensor(t).type)
      continue;
    SmallVector<ShardedWindow, 2> windows = getShardedWindows(plan, t);
    Value operand = op->getOperand(t);
    RankedTensorType type = values.getGlobalType(operand);
    op->setOperand(t, createWindow(b, op->getLoc(), operand, values.getSharding(operand), type, windows));
    if (!windows.empty())
      lowerInPlace(op, plan, t, operand, type, windows);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The same halo once
//===----------------------------------------------------------------------===//

/// Joins exchanges of one value in one block whose windows overlap in every dim: the first becomes the exchange of all,
/// and each becomes a slice of it.
void Windows::joinHalos() {
  llvm::DenseMap<Value, SmallVector<HaloExchangeOp, 2>> byValue;
  for (HaloExchangeOp &halo : halos) {
    if (!halo.getDynamicOffsets().empty())
      continue;
    SmallVector<HaloExchangeOp, 2> &others = byValue[halo.getInput()];
    auto overlaps = [&](HaloExchangeOp other) {
      if (other->getBlock() != halo->getBlock() || other.getFrom() != halo.getFrom() || other.getTo() != halo.getTo() ||
          other.getDims() != halo.getDims() || other.getSteps() != halo.getSteps())
        return false;
      for (auto [i, d] : llvm::enumerate(halo.getDims())) {
        int64_t a = halo.getOffsets()[i], b = other.getOffsets()[i];
        if (std::max(a, b) > std::min(a + halo.getType().getDimSize(d), b + other.getType().getDimSize(d)))
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
    SmallVector<int64_t> oldOffsets[2] = {offsets, SmallVector<int64_t>(halo.getOffsets())};
    for (auto [i, d] : llvm::enumerate(halo.getDims())) {
      int64_t end = std::max(oldOffsets[0][i] + shape[d], oldOffsets[1][i] + halo.getType().getDimSize(d));
      offsets[i] = std::min(oldOffsets[0][i], oldOffsets[1][i]);
      shape[d] = end - offsets[i];
    }
    OpBuilder b(first);
    b.setInsertionPointAfter(first);
    auto firstType = first.getType();
    auto take = [&](RankedTensorType type, ArrayRef<int64_t> from) -> Value {
      if (type.getShape() == ArrayRef<int64_t>(shape))
        return first.getResult();
      SmallVector<OpFoldResult> begins(shape.size(), b.getIndexAttr(0)), strides(shape.size(), b.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, first.getLoc(), first.getResult());
      for (auto [i, d] : llvm::enumerate(halo.getDims())) {
        begins[d] = b.getIndexAttr(from[i] - offsets[i]);
        sizes[d] = b.getIndexAttr(type.getDimSize(d));
      }
      return tensor::ExtractSliceOp::create(b, first.getLoc(), type, first.getResult(), begins, sizes, strides);
    };
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : first.getResult().getUses())
      uses.push_back(&use);
    first.getResult().setType(firstType.clone(shape));
    first.setOffsets(offsets);
    Value slice = take(firstType, oldOffsets[0]);
    for (OpOperand *use : uses)
      use->set(slice);
    halo.getResult().replaceAllUsesWith(take(halo.getType(), oldOffsets[1]));
    halo->erase();
    halo = nullptr;
  }
  llvm::erase(halos, nullptr);
}

void Windows::finish() {
  // Padded values and insertions of which only windows are read, and what only they read.
  auto eraseDead = [&] {
    bool isErased = false;
    for (Operation *&op : llvm::reverse(made))
      if (op && isOpTriviallyDead(op)) {
        op->erase();
        op = nullptr;
        isErased = true;
      }
    for (HaloExchangeOp &halo : llvm::reverse(halos))
      if (halo && halo->use_empty()) {
        halo->erase();
        halo = nullptr;
        isErased = true;
      }
    return isErased;
  };
  while (eraseDead())
    ;
  llvm::erase(halos, nullptr);
  joinHalos();
}
