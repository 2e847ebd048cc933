//===- StableHLOWindows.cpp - Windows of shards in StableHLO --------------===//

#include "StableHLOEmitter.h"
#include "StableHLOOps.h"
#include "WindowParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

/// Digits of a dim, major to minor: the coordinate is their number.
using Coordinate = SmallVector<RankDigit>;

static int64_t getCoordinate(ArrayRef<RankDigit> digits, int64_t rank) {
  int64_t k = 0;
  for (const RankDigit &digit : digits)
    k = k * digit.size + rank / digit.stride % digit.size;
  return k;
}

/// The rank with another coordinate.
static int64_t withCoordinate(ArrayRef<RankDigit> digits, int64_t rank, int64_t k) {
  for (const RankDigit &digit : llvm::reverse(digits)) {
    rank += (k % digit.size - rank / digit.stride % digit.size) * digit.stride;
    k /= digit.size;
  }
  return rank;
}

static Value emitSlice(OpBuilder &b, Location loc, Value value, int64_t d, int64_t begin, int64_t end) {
  auto type = cast<RankedTensorType>(value.getType());
  if (begin == 0 && end == type.getDimSize(d))
    return value;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
  starts[d] = begin;
  limits[d] = end;
  return emitStableHLO(b, loc, "slice", withDim(value, d, end - begin), value,
                       {b.getNamedAttr("start_indices", b.getDenseI64ArrayAttr(starts)),
                        b.getNamedAttr("limit_indices", b.getDenseI64ArrayAttr(limits)),
                        b.getNamedAttr("strides", b.getDenseI64ArrayAttr(strides))});
}

/// Pads a dim with zeros.
static Value emitPadded(OpBuilder &b, Location loc, Value value, int64_t d, int64_t before, int64_t after) {
  if (before == 0 && after == 0)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero =
      emitStableHLO(b, loc, "constant", scalar, {}, b.getNamedAttr("value", cast<TypedAttr>(b.getZeroAttr(scalar))));
  SmallVector<int64_t> low(type.getRank(), 0), high(low), interior(low);
  low[d] = before;
  high[d] = after;
  return emitStableHLO(b, loc, "pad", withDim(value, d, type.getDimSize(d) + before + after), {value, zero},
                       {b.getNamedAttr("edge_padding_low", b.getDenseI64ArrayAttr(low)),
                        b.getNamedAttr("edge_padding_high", b.getDenseI64ArrayAttr(high)),
                        b.getNamedAttr("interior_padding", b.getDenseI64ArrayAttr(interior))});
}

/// Each device has shard k of `chunk` elements and receives the window at chunk * k + offset: a part of each neighbor's
/// shard, and zeros where there is none.
Value StableHLOEmitter::emitHalo(RewriterBase &b, Location loc, Value value, int64_t d, const Window &window,
                                 ArrayRef<RankDigit> digits, int64_t devices) {
  const int64_t chunk = cast<RankedTensorType>(value.getType()).getDimSize(d);
  int64_t count = 1;
  for (const RankDigit &digit : digits)
    count *= digit.size;
  SmallVector<Value> parts;
  for (const auto &[shift, begin, end] : getWindowParts(window, chunk)) {
    Value part = emitSlice(b, loc, value, d, begin, end);
    SmallVector<std::pair<int64_t, int64_t>> pairs;
    for (int64_t rank = 0; rank < devices; ++rank)
      if (int64_t k = getCoordinate(digits, rank) + shift; k >= 0 && k < count)
        pairs.emplace_back(withCoordinate(digits, rank, k), rank);
    if (pairs.empty()) // beyond the dim on all devices
      part = emitPadded(b, loc, emitSlice(b, loc, value, d, 0, 0), d, end - begin, 0);
    else if (shift != 0)
      part = emitPermuted(b, loc, part, pairs);
    parts.push_back(part);
  }
  if (parts.size() == 1)
    return parts.front();
  return emitStableHLO(b, loc, "concatenate", withDim(value, d, window.size), parts,
                       b.getNamedAttr("dimension", b.getI64IntegerAttr(d)));
}

/// Each device has the full dim, and takes the window at stride * k + offset.
Value StableHLOEmitter::emitWindow(RewriterBase &b, Operation *op, Value value, int64_t d, const Window &window,
                                   ArrayRef<RankDigit> digits) {
  Location loc = op->getLoc();
  int64_t count = 1;
  for (const RankDigit &digit : digits)
    count *= digit.size;
  const int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(d),
                last = window.step * (count - 1) + window.offset + window.size;
  const int64_t before = std::max<int64_t>(-window.offset, 0);
  value = emitPadded(b, loc, value, d, before, std::max<int64_t>(last - size, 0));
  Value k = arith::ConstantIndexOp::create(b, loc, 0), rank = emitRank(b, op);
  auto constant = [&](int64_t number) { return arith::ConstantIndexOp::create(b, loc, number); };
  for (const RankDigit &digit : digits) {
    Value own = arith::RemUIOp::create(b, loc, arith::DivUIOp::create(b, loc, rank, constant(digit.stride)),
                                       constant(digit.size));
    k = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, k, constant(digit.size)), own);
  }
  auto type = withDim(value, d, window.size);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)),
      sizes;
  Value start = arith::MulIOp::create(b, loc, k, constant(window.step));
  offsets[d] = arith::AddIOp::create(b, loc, start, constant(window.offset + before)).getResult();
  for (int64_t s : type.getShape())
    sizes.push_back(b.getIndexAttr(s));
  return tensor::ExtractSliceOp::create(b, loc, value, offsets, sizes, strides);
}

/// The shards of a dim, in the order of the coordinate.
Value StableHLOEmitter::emitFullDim(RewriterBase &b, Location loc, Value value, int64_t d, ArrayRef<RankDigit> digits,
                                    int64_t devices) {
  SmallVector<SmallVector<int64_t>> groups = spmd::getDeviceGroups(digits, devices);
  for (SmallVector<int64_t> &group : groups)
    llvm::sort(group, [&](int64_t x, int64_t y) { return getCoordinate(digits, x) < getCoordinate(digits, y); });
  const int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(d) * int64_t(groups.front().size());
  return emitGroups(b, loc, "all_gather", withDim(value, d, size), value, groups,
                    {b.getNamedAttr("all_gather_dim", b.getI64IntegerAttr(d))});
}

/// Whether devices divide each dim, in one block each.
static bool isBlocked(const ShardingOnMesh &on, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(on.sharding.dims, shape), [](auto pair) {
    const DimEntries &entries = std::get<0>(pair).entries;
    return divides(entries, std::get<1>(pair)) &&
           llvm::none_of(entries, [](const DimEntry &entry) { return entry.isStride(); });
  });
}

/// Dims that change are gathered, then sliced.
FailureOr<Value> StableHLOEmitter::emitThroughFullDims(RewriterBase &b, ExchangeOp op, CollectiveToEmit &collective) {
  auto emit = [&] { return op.emitError(); };
  FailureOr<ShardingOnMesh> from = getMeshes().read(op.getFrom(), emit), to = getMeshes().read(op.getTo(), emit);
  if (failed(from) || failed(to))
    return failure();
  ArrayRef<int64_t> global = cast<RankedTensorType>(op.getGlobalType()).getShape();
  if (collective.form.isReordered() || !isBlocked(*from, global) || !isBlocked(*to, global))
    return emitError(collective);
  Value value = collective.input;
  for (unsigned d = 0; d < global.size(); ++d)
    if (Coordinate own = getDimDigits(*from, d); !own.empty() && own != getDimDigits(*to, d))
      value = emitFullDim(b, op.getLoc(), value, d, own, collective.form.devices);
  for (auto [d, size] : llvm::enumerate(collective.resultType.getShape()))
    if (Coordinate wanted = getDimDigits(*to, d); !wanted.empty() && wanted != getDimDigits(*from, d))
      value = emitWindow(b, op, value, d, Window{size, 0, size}, wanted);
  return value;
}

FailureOr<Value> StableHLOEmitter::emitWindows(RewriterBase &b, HaloExchangeOp op, CollectiveToEmit &collective) {
  std::optional<SmallVector<WindowedDim>> windows = getWindows(op, collective.form, getMeshes());
  if (!windows)
    return emitError(collective);
  Value value = collective.input;
  for (const WindowedDim &of : *windows) {
    const int64_t d = of.dim, chunk = cast<RankedTensorType>(value.getType()).getDimSize(d);
    if (!of.from.empty() && of.window.step == chunk) {
      value = emitHalo(b, op.getLoc(), value, d, of.window, of.from, collective.form.devices);
      continue;
    }
    if (!of.from.empty())
      value = emitFullDim(b, op.getLoc(), value, d, of.from, collective.form.devices);
    value = emitWindow(b, op, value, d, of.window, of.to);
  }
  return value;
}
