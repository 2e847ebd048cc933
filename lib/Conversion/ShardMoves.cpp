//===- ShardMoves.cpp - Moves between processes of a grid -----------------===//
//
// Collectives without reductions that no op of blocks is: broadcasts, permutations of the devices, windows.
//
//===----------------------------------------------------------------------===//

#include "ShardEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

static shard::GridAxesAttr makeAxes(Builder &b, ArrayRef<int16_t> axes) {
  return shard::GridAxesAttr::get(b.getContext(), axes);
}

FailureOr<Value> ShardEmitter::emitBroadcast(RewriterBase &b, BroadcastOp op, ArrayRef<RankDigit> digits) {
  Grid &grid = getGrid(op);
  SmallVector<int16_t> axes;
  SmallVector<int64_t> root, shape = grid.axes.getShape();
  int64_t remaining = op.getRoot();
  for (const RankDigit &digit : llvm::reverse(digits)) { // minor to major
    std::optional<SmallVector<int16_t>> own = grid.axes.find(digit);
    if (!own)
      return Value();
    for (int16_t axis : llvm::reverse(*own)) {
      axes.push_back(axis);
      root.push_back(remaining % shape[axis]);
      remaining /= shape[axis];
    }
  }
  std::reverse(axes.begin(), axes.end());
  std::reverse(root.begin(), root.end());
  Location loc = op.getLoc();
  return shard::BroadcastOp::create(b, loc, op.getType(), getName(b, loc, grid), makeAxes(b, axes), op.getInput(),
                                    b.getDenseI64ArrayAttr(root), ValueRange())
      .getResult();
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

/// The rank whose whole operand each rank reads, in order; std::nullopt if that is not what a collective does.
static std::optional<SmallVector<int64_t>> getSenders(const ClosedForm &form) {
  const Transfer &transfer = form.transfer;
  bool isWhole = !form.reduction && transfer.segments.empty() && form.inElements == form.outElements &&
                 llvm::all_of(transfer.atoms, [](const TransferAtom &atom) {
                   return atom.srcIsRank == atom.dstIsRank && (atom.srcIsRank || atom.srcStride == atom.dstStride);
                 });
  if (!isWhole)
    return std::nullopt;
  SmallVector<int64_t> senders(form.devices);
  for (int64_t position = 0; position < form.devices; ++position) {
    int64_t sender = form.isReordered() ? 0 : position;
    auto setDigit = [&](const RankDigit &digit, int64_t value) {
      sender += (value - sender / digit.stride % digit.size) * digit.stride;
    };
    for (const TransferAtom &atom : transfer.atoms)
      if (atom.srcIsRank)
        setDigit({atom.srcStride, atom.size}, position / atom.dstStride % atom.size);
    for (const RankDigit &digit : transfer.spread)
      setDigit(digit, position / digit.stride % digit.size);
    senders[form.destinationOrder.empty() ? position : form.destinationOrder[position]] =
        form.sourceOrder.empty() ? sender : form.sourceOrder[sender];
  }
  return senders;
}

/// The inverse of a permutation; std::nullopt if two entries are equal.
static std::optional<SmallVector<int64_t>> invert(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size(), -1);
  for (auto [i, of] : llvm::enumerate(permutation)) {
    if (inverse[of] >= 0)
      return std::nullopt;
    inverse[of] = i;
  }
  return inverse;
}

namespace {
struct Rotation {
  int16_t axis;
  int64_t offset;
};
} // namespace

/// The axis of the grid along which all devices send to the one `offset` after them, around its end.
static std::optional<Rotation> findRotation(ArrayRef<int64_t> receivers, ArrayRef<int64_t> shape) {
  int64_t stride = 1;
  for (int16_t axis = shape.size() - 1; axis >= 0; stride *= shape[axis--]) {
    const int64_t size = shape[axis], offset = receivers[0] / stride % size;
    auto isRotated = [&](auto pair) {
      const int64_t rank = pair.index(), own = rank / stride % size;
      return pair.value() == rank + ((own + offset) % size - own) * stride;
    };
    if (offset != 0 && llvm::all_of(llvm::enumerate(receivers), isRotated))
      return Rotation{axis, offset};
  }
  return std::nullopt;
}

/// Each device sends the operand, of one dim, to another one.
Value ShardEmitter::emitSent(RewriterBase &b, Operation *op, Value flat, ArrayRef<int64_t> receivers) {
  Location loc = op->getLoc();
  Grid &grid = getGrid(op);
  SmallVector<int64_t> shape = grid.axes.getShape();
  FlatSymbolRefAttr name = getName(b, loc, grid);
  Type type = flat.getType();
  if (std::optional<Rotation> rotation = findRotation(receivers, shape))
    return shard::ShiftOp::create(b, loc, type, name, makeAxes(b, rotation->axis), flat, b.getIndexAttr(rotation->axis),
                                  b.getI64IntegerAttr(rotation->offset), b.getUnitAttr());
  // 1. The position of the process that this one sends to, or receives from.
  Value rank = emitRankOn(b, loc, grid);
  auto emitPosition = [&](ArrayRef<int64_t> others) {
    SmallVector<Value> position;
    int64_t stride = 1;
    for (int64_t size : llvm::reverse(shape)) {
      position.push_back(
          emitLookUp(b, loc, llvm::map_to_vector(others, [&](int64_t other) { return other / stride % size; }), rank));
      stride *= size;
    }
    std::reverse(position.begin(), position.end());
    return position;
  };
  const SmallVector<int64_t> dynamic(shape.size(), ShapedType::kDynamic);
  shard::GridAxesAttr axes = makeAxes(b, llvm::to_vector(llvm::seq<int16_t>(0, shape.size())));
  // 2. The receive takes the result of its send, whose place it has in the program.
  Value sent =
      shard::SendOp::create(b, loc, type, name, axes, flat, b.getDenseI64ArrayAttr(dynamic), emitPosition(receivers));
  return shard::RecvOp::create(b, loc, type, name, axes, sent, b.getDenseI64ArrayAttr(dynamic),
                               emitPosition(*invert(receivers)));
}

/// A collective by which each device reads the whole operand of one other; std::nullopt if it is not one.
std::optional<Value> ShardEmitter::emitPermuted(RewriterBase &b, CollectiveToEmit &collective,
                                                const std::optional<BlockMove> &move) {
  const ClosedForm &form = collective.form;
  Location loc = collective.op.getLoc();
  if (!readsOthers(form) || form.reduction)
    return std::nullopt;
  if (move && move->isPermuted() && move->numBlocks() == 1 && move->numSlots() == 1) {
    auto pairs = getPermutation(llvm::to_vector(move->getConditions()), form.devices);
    if (!pairs)
      return std::nullopt;
    SmallVector<int64_t> receivers(form.devices);
    for (auto [sender, receiver] : *pairs)
      receivers[sender] = receiver;
    Value moved = emitSent(b, collective.op, move->emitPacked(b, loc, collective.input), receivers);
    return move->emitUnpacked(b, loc, moved, collective.resultType);
  }
  std::optional<SmallVector<int64_t>> senders = getSenders(form);
  std::optional<SmallVector<int64_t>> receivers = senders ? invert(*senders) : std::nullopt;
  if (!receivers)
    return std::nullopt;
  Value moved = emitSent(b, collective.op, emitFlat(b, loc, collective.input), *receivers);
  return emitShaped(b, loc, moved, collective.resultType);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

static int64_t getDim(Value value, int64_t d) { return cast<RankedTensorType>(value.getType()).getDimSize(d); }

static Value emitZeros(OpBuilder &b, Location loc, RankedTensorType type) {
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
}

namespace {
/// Elements [begin, begin + size) of dim d.
struct Slab {
  Slab(OpBuilder &b, RankedTensorType type, int64_t d, int64_t begin, int64_t size)
      : offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)) {
    for (int64_t s : type.getShape())
      sizes.push_back(b.getIndexAttr(s));
    offsets[d] = b.getIndexAttr(begin);
    sizes[d] = b.getIndexAttr(size);
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// A window that has the shard of its device and elements of its two neighbors.
Value ShardEmitter::emitHalo(RewriterBase &b, Location loc, Value value, const WindowedDim &of, Grid &grid,
                             int16_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  const int64_t before = -of.window.offset, after = of.window.size - before - type.getDimSize(of.dim);
  SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
  low[of.dim] = b.getIndexAttr(before);
  high[of.dim] = b.getIndexAttr(after);
  Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  Value padded = tensor::PadOp::create(b, loc, withDim(value, of.dim, of.window.size), value, low, high, zero);
  SmallVector<shard::GridAxesAttr> splitAxes(of.dim + 1, makeAxes(b, {}));
  splitAxes[of.dim] = makeAxes(b, axis);
  return shard::UpdateHaloOp::create(b, loc, padded.getType(), padded, getName(b, loc, grid),
                                     shard::GridAxesArrayAttr::get(b.getContext(), splitAxes), ValueRange(),
                                     b.getDenseI64ArrayAttr({before, after}))
      .getResult();
}

/// A window of parts that are shifted along an axis; zeros where no device sends one.
Value ShardEmitter::emitShifts(RewriterBase &b, Operation *op, Value value, const WindowedDim &of, Grid &grid,
                               int16_t axis) {
  Location loc = op->getLoc();
  const RankDigit digit = grid.axes.getDigit(axis);
  auto windowType = withDim(value, of.dim, of.window.size);
  Value window = emitZeros(b, loc, windowType);
  int64_t begin = 0;
  for (const WindowPart &part : getWindowParts(of.window, getDim(value, of.dim))) {
    const int64_t size = part.end - part.begin, at = std::exchange(begin, begin + size);
    if (std::abs(part.shift) >= digit.size) // beyond the dim on all devices
      continue;
    Slab from(b, cast<RankedTensorType>(value.getType()), of.dim, part.begin, size);
    Value slice = tensor::ExtractSliceOp::create(b, loc, value, from.offsets, from.sizes, from.strides);
    if (part.shift != 0) {
      Value moved = shard::ShiftOp::create(b, loc, slice.getType(), getName(b, loc, grid), makeAxes(b, axis), slice,
                                           b.getIndexAttr(axis), b.getI64IntegerAttr(-part.shift), UnitAttr());
      Value sender = arith::AddIOp::create(b, loc, emitCoordinate(b, op, digit),
                                           arith::ConstantIndexOp::create(b, loc, part.shift));
      Value isDevice = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, sender,
                                             arith::ConstantIndexOp::create(b, loc, digit.size));
      slice =
          arith::SelectOp::create(b, loc, isDevice, moved, emitZeros(b, loc, cast<RankedTensorType>(slice.getType())));
    }
    Slab to(b, windowType, of.dim, at, size);
    window = tensor::InsertSliceOp::create(b, loc, slice, window, to.offsets, to.sizes, to.strides);
  }
  return window;
}

/// Windows of even shards along one axis of the grid each; std::nullopt if they are not that.
std::optional<Value> ShardEmitter::emitWindows(RewriterBase &b, HaloExchangeOp op, CollectiveToEmit &collective) {
  std::optional<SmallVector<WindowedDim>> windows = getWindows(op, collective.form, getMeshes());
  if (!windows)
    return std::nullopt;
  Grid &grid = getGrid(op);
  SmallVector<int16_t> axes;
  for (const WindowedDim &of : *windows) {
    std::optional<SmallVector<int16_t>> own = grid.axes.find(of.from);
    if (of.window.step != getDim(collective.input, of.dim) || !own || own->size() != 1)
      return std::nullopt;
    axes.push_back(own->front());
  }
  Value value = collective.input;
  for (auto [of, axis] : llvm::zip(*windows, axes)) {
    const int64_t shard = getDim(value, of.dim), before = -of.window.offset, after = of.window.size - before - shard;
    if (before == 0 && after == 0)
      continue;
    const bool isHalo = before >= 0 && after >= 0 && before <= shard && after <= shard;
    value = isHalo ? emitHalo(b, op.getLoc(), value, of, grid, axis) : emitShifts(b, op, value, of, grid, axis);
  }
  return value;
}
