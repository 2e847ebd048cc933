//===- ImportShardLocal.cpp - The local view of upstream's shard ----------===//

#include "ImportShardLocal.h"
#include "shardkit/Annotations/Shard.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<DimEntryAttr>> ShardLocalImporter::getAxes(Operation *op, FlatSymbolRefAttr grid,
                                                                 ArrayRef<int16_t> axes) {
  auto it = grids.find(grid.getValue());
  if (it == grids.end()) {
    op->emitError() << "unknown grid " << grid << ", expected a grid of the module";
    return failure();
  }
  for (int16_t axis : axes)
    if (axis < 0 || axis >= int64_t(it->second.names.size())) {
      op->emitError() << "names axis " << axis << " of grid " << grid << ", expected less than "
                      << it->second.names.size();
      return failure();
    }
  return toAxes(it->second, axes);
}

SmallVector<DimEntryAttr> ShardLocalImporter::toAxes(const ShardGrid &grid, ArrayRef<int16_t> axes) {
  return llvm::map_to_vector(
      axes, [&](int16_t axis) { return DimEntryAttr::fullAxis(module.getContext(), grid.names[axis]); });
}

static SmallVector<int16_t> getAllAxes(const ShardGrid &grid) {
  return llvm::to_vector(llvm::seq<int16_t>(0, grid.names.size()));
}

int64_t ShardLocalImporter::countProcesses(FlatSymbolRefAttr grid, ArrayRef<int16_t> axes) const {
  int64_t count = 1;
  shard::GridOp op = grids.find(grid.getValue())->second.op;
  for (int16_t axis : axes)
    count *= op.getShape()[axis];
  return count;
}

ShardingAttr ShardLocalImporter::shardAt(FlatSymbolRefAttr grid, int64_t rank, int64_t dim,
                                         ArrayRef<DimEntryAttr> axes) {
  MLIRContext *context = module.getContext();
  SmallVector<DimShardingAttr> dims(rank, DimShardingAttr::get(context, ArrayRef<DimEntryAttr>(), false, 0));
  dims[dim] = DimShardingAttr::get(context, axes, /*open=*/false, /*priority=*/0);
  return ShardingAttr::get(context, grid, dims);
}

static Value emitCoordinate(OpBuilder &b, Location loc, FlatSymbolRefAttr grid, DimEntryAttr axis) {
  return DeviceCoordinateOp::create(b, loc, b.getIndexType(), grid, b.getStringAttr(axis.getAxis()));
}

/// The row-major number of the coordinates on some axes of these sizes.
static Value emitLinearIndex(OpBuilder &b, Location loc, FlatSymbolRefAttr grid, ArrayRef<DimEntryAttr> axes,
                             ArrayRef<int64_t> sizes) {
  Value linear = emitCoordinate(b, loc, grid, axes.front());
  for (auto [axis, size] : llvm::drop_begin(llvm::zip(axes, sizes))) {
    Value scaled = arith::MulIOp::create(b, loc, linear, arith::ConstantIndexOp::create(b, loc, size));
    linear = arith::AddIOp::create(b, loc, scaled, emitCoordinate(b, loc, grid, axis));
  }
  return linear;
}

LogicalResult ShardLocalImporter::importIndex(Operation *op, const ShardGrid &grid, FlatSymbolRefAttr name) {
  OpBuilder b(op);
  auto multi = dyn_cast<shard::ProcessMultiIndexOp>(op);
  SmallVector<int16_t> numbers(multi ? multi.getAxes() : ArrayRef<int16_t>());
  if (numbers.empty())
    numbers = getAllAxes(grid);
  FailureOr<Axes> axes = getAxes(op, name, numbers);
  if (failed(axes))
    return failure();
  SmallVector<Value> values;
  if (multi)
    for (DimEntryAttr axis : *axes)
      values.push_back(emitCoordinate(b, op->getLoc(), name, axis));
  else
    values.push_back(emitLinearIndex(b, op->getLoc(), name, *axes, shard::GridOp(grid.op).getShape()));
  op->replaceAllUsesWith(values);
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives of groups
//===----------------------------------------------------------------------===//

static std::optional<ReductionKind> getReduction(shard::ReductionKind kind) {
  switch (kind) {
  case shard::ReductionKind::Sum:
    return ReductionKind::Sum;
  case shard::ReductionKind::Product:
    return ReductionKind::Prod;
  case shard::ReductionKind::Max:
    return ReductionKind::Max;
  case shard::ReductionKind::Min:
    return ReductionKind::Min;
  case shard::ReductionKind::BitwiseAnd:
    return ReductionKind::And;
  case shard::ReductionKind::BitwiseOr:
    return ReductionKind::Or;
  case shard::ReductionKind::BitwiseXor:
    return ReductionKind::Xor;
  default:
    return std::nullopt;
  }
}

FailureOr<Value> ShardLocalImporter::importBroadcast(Operation *op, Value input, FlatSymbolRefAttr grid,
                                                     ArrayRef<DimEntryAttr> axes) {
  auto numbers = op->getAttrOfType<shard::GridAxesAttr>("grid_axes").asArrayRef();
  auto root = op->getAttrOfType<DenseI64ArrayAttr>("root").asArrayRef();
  int64_t linear = 0;
  bool isKnown = root.size() == numbers.size() && op->getNumOperands() == 1;
  for (auto [axis, index] : llvm::zip(numbers, root)) {
    const int64_t size = countProcesses(grid, axis);
    isKnown &= index >= 0 && index < size;
    linear = linear * size + index;
  }
  if (!isKnown)
    return op->emitError() << "has a root that is not a position on its axes, expected " << numbers.size()
                           << " constants, each less than the size of its axis";
  OpBuilder b(op);
  return BroadcastOp::create(b, op->getLoc(), input.getType(), input, AxesAttr::get(op->getContext(), grid, axes),
                             linear, IntegerAttr())
      .getResult();
}

/// The root's value, then the slice of each process.
FailureOr<Value> ShardLocalImporter::importScatter(shard::ScatterOp op, Value input, ArrayRef<DimEntryAttr> axes) {
  FailureOr<Value> value = importBroadcast(op, input, op.getGridAttr(), axes);
  if (failed(value))
    return failure();
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(op.getType());
  return AllSliceOp::create(b, op.getLoc(), type, *value,
                            shardAt(op.getGridAttr(), type.getRank(), op.getScatterAxis().getSExtValue(), axes),
                            IntegerAttr())
      .getResult();
}

LogicalResult ShardLocalImporter::importCollective(Operation *op, TypedValue<RankedTensorType> input,
                                                   RankedTensorType type, FlatSymbolRefAttr grid,
                                                   ArrayRef<DimEntryAttr> axes) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto at = [&](StringRef name) {
    return shardAt(grid, type.getRank(), op->getAttrOfType<IntegerAttr>(name).getInt(), axes);
  };
  std::optional<ReductionKind> kind;
  if (auto reduction = op->getAttrOfType<shard::ReductionKindAttr>("reduction"))
    kind = getReduction(reduction.getValue());
  const bool combines = isa<shard::AllReduceOp, shard::ReduceOp, shard::ReduceScatterOp>(op);
  if (combines && !kind)
    return op->emitError()
           << "combines by a reduction without counterpart, expected sum, product, max, min or a bitwise "
              "one";
  FailureOr<Value> made;
  if (isa<shard::AllGatherOp, shard::GatherOp>(op))
    made = AllGatherOp::create(b, loc, type, input, at("gather_axis"), IntegerAttr()).getResult();
  else if (isa<shard::AllSliceOp>(op))
    made = AllSliceOp::create(b, loc, type, input, at("slice_axis"), IntegerAttr()).getResult();
  else if (auto exchange = dyn_cast<shard::AllToAllOp>(op)) {
    const int64_t dim = exchange.getSplitAxis().getSExtValue();
    if (dim == exchange.getConcatAxis().getSExtValue())
      return op->emitError() << "splits and concatenates dim " << dim
                             << ", expected two dims: a sharding moves from one to the other";
    made = AllToAllOp::create(b, loc, type, input, at("concat_axis"), at("split_axis"), IntegerAttr()).getResult();
  } else if (isa<shard::ReduceScatterOp>(op))
    made = ReduceScatterOp::create(b, loc, type, input, ReductionKindAttr::get(op->getContext(), *kind),
                                   at("scatter_axis"), IntegerAttr())
               .getResult();
  else if (combines)
    made = AllReduceOp::create(b, loc, type, input, ReductionKindAttr::get(op->getContext(), *kind),
                               AxesAttr::get(op->getContext(), grid, axes), IntegerAttr())
               .getResult();
  else if (auto scatter = dyn_cast<shard::ScatterOp>(op))
    made = importScatter(scatter, input, axes);
  else if (auto shift = dyn_cast<shard::ShiftOp>(op))
    made = importShift(shift);
  else if (auto recv = dyn_cast<shard::RecvOp>(op))
    made = importRecv(recv);
  else
    made = importBroadcast(op, input, grid, axes);
  if (failed(made))
    return failure();
  op->getResult(0).replaceAllUsesWith(*made);
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Moves between processes
//===----------------------------------------------------------------------===//

Value ShardLocalImporter::emitPermuted(OpBuilder &b, Location loc, TypedValue<RankedTensorType> input,
                                       const ShardGrid &grid, ArrayRef<int64_t> receivers) {
  if (llvm::equal(receivers, llvm::seq<int64_t>(0, receivers.size())))
    return input;
  shard::GridOp op = grid.op;
  auto ids = op->getAttrOfType<DenseI64ArrayAttr>(kShardDeviceIdsAttr);
  auto devices =
      b.getDenseI64ArrayAttr(llvm::map_to_vector(receivers, [&](int64_t rank) { return ids ? ids[rank] : rank; }));
  // 1. A mesh on which the receiver has the position of its sender.
  FlatSymbolRefAttr from = FlatSymbolRefAttr::get(op.getSymNameAttr());
  FlatSymbolRefAttr &to = permutedMeshes[b.getArrayAttr({from, devices})];
  if (!to) {
    std::string name = (op.getSymName() + "_permuted").str();
    for (unsigned i = 0; module.lookupSymbol(name); ++i)
      name = (op.getSymName() + "_permuted_" + Twine(i)).str();
    to = FlatSymbolRefAttr::get(b.getContext(), name);
    SmallVector<MeshAxisAttr> axes;
    for (auto [axis, size] : llvm::zip(grid.names, op.getShape()))
      axes.push_back(MeshAxisAttr::get(b.getContext(), axis, size));
    OpBuilder meshes(op);
    MeshOp::create(meshes, op.getLoc(), to.getAttr(), MeshAttr::get(b.getContext(), axes, devices), {}, {}, {}, {}, {});
  }
  // 2. The shards of all processes, one after the other.
  RankedTensorType type = input.getType();
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape[0]))
    shape[0] *= receivers.size();
  Axes all = toAxes(grid, getAllAxes(grid));
  return CollectivePermuteOp::create(b, loc, type, input, TypeAttr::get(type.clone(shape)),
                                     shardAt(from, type.getRank(), 0, all), shardAt(to, type.getRank(), 0, all),
                                     IntegerAttr());
}

Value ShardLocalImporter::emitWindow(OpBuilder &b, Location loc, TypedValue<RankedTensorType> shard,
                                     FlatSymbolRefAttr grid, ArrayRef<int16_t> axes, int64_t d, int64_t offset,
                                     int64_t size) {
  RankedTensorType type = shard.getType();
  SmallVector<int64_t> global(type.getShape()), window(type.getShape());
  global[d] *= countProcesses(grid, axes);
  window[d] = size;
  ShardingAttr sharding = shardAt(grid, type.getRank(), d, toAxes(grids.find(grid.getValue())->second, axes));
  return HaloExchangeOp::create(b, loc, type.clone(window), shard, ValueRange(), TypeAttr::get(type.clone(global)),
                                sharding, sharding, b.getDenseI64ArrayAttr(d),
                                b.getDenseI64ArrayAttr(type.getDimSize(d)), b.getDenseI64ArrayAttr(offset),
                                IntegerAttr());
}

/// Around the end of the axis it is a permutation. Otherwise results without a source, which are undefined, are zero.
FailureOr<Value> ShardLocalImporter::importShift(shard::ShiftOp op) {
  OpBuilder b(op);
  auto input = cast<TypedValue<RankedTensorType>>(op.getInput());
  const ShardGrid &grid = grids.find(op.getGrid())->second;
  ArrayRef<int64_t> shape = shard::GridOp(grid.op).getShape();
  const int64_t axis = op.getShiftAxis().getSExtValue();
  const int64_t size = shape[axis], offset = op.getOffset();
  if (!op.getRotate()) {
    if (!input.getType().hasStaticShape())
      return op.emitError() << "shifts a value of unknown size, expected a static one";
    const int64_t length = input.getType().getDimSize(0);
    return emitWindow(b, op.getLoc(), input, op.getGridAttr(), axis, 0, -offset * length, length);
  }
  int64_t stride = 1;
  for (int64_t minor : shape.drop_front(axis + 1))
    stride *= minor;
  SmallVector<int64_t> receivers;
  for (int64_t rank = 0; rank < llvm::product_of(shape); ++rank) {
    const int64_t own = rank / stride % size, other = ((own + offset) % size + size) % size;
    receivers.push_back(rank + (other - own) * stride);
  }
  return emitPermuted(b, op.getLoc(), input, grid, receivers);
}

namespace {

/// Index arithmetic on the coordinates of one process.
class ProcessIndices {
public:
  ProcessIndices(const ShardGrids &grids, int64_t rank) : grids(grids), rank(rank) {}
  /// Null if a value does not follow from the coordinates.
  Attribute evaluate(Value value);

private:
  Attribute compute(Operation *op);

  const ShardGrids &grids;
  int64_t rank;
  DenseMap<Operation *, Attribute> known; ///< Of ops with one result.
};

Attribute ProcessIndices::compute(Operation *op) {
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant)))
    return constant;
  if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op)) {
    const ShardGrid &grid = grids.find(coordinate.getMesh())->second;
    ArrayRef<int64_t> shape = shard::GridOp(grid.op).getShape();
    int64_t remaining = rank;
    for (auto [name, size] : llvm::reverse(llvm::zip(grid.names, shape))) {
      if (name == coordinate.getAxis())
        return Builder(op->getContext()).getIndexAttr(remaining % size);
      remaining /= size;
    }
    return {};
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    if (Attribute value = evaluate(operand))
      operands.push_back(value);
    else
      return {};
  SmallVector<OpFoldResult> results;
  if (op->getNumRegions() != 0 || failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  auto value = dyn_cast<Value>(results.front());
  return value ? evaluate(value) : cast<Attribute>(results.front());
}

Attribute ProcessIndices::evaluate(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1)
    return {};
  auto it = known.find(op);
  if (it != known.end())
    return it->second;
  Attribute result = compute(op);
  return known[op] = result;
}

} // namespace

/// The process at a position of the group of each process; std::nullopt if a position is not known or not in the grid.
static std::optional<SmallVector<int64_t>> getOthers(Operation *op, ArrayRef<int64_t> position, ValueRange dynamic,
                                                     const ShardGrids &grids) {
  const ShardGrid &grid = grids.find(op->getAttrOfType<FlatSymbolRefAttr>("grid").getValue())->second;
  ArrayRef<int64_t> shape = shard::GridOp(grid.op).getShape();
  auto axes = op->getAttrOfType<shard::GridAxesAttr>("grid_axes").asArrayRef();
  if (axes.size() != position.size())
    return std::nullopt;
  SmallVector<int64_t> others;
  for (int64_t rank = 0; rank < llvm::product_of(shape); ++rank) {
    ProcessIndices indices(grids, rank);
    int64_t other = rank, next = 0;
    for (auto [axis, given] : llvm::zip(axes, position)) {
      int64_t index = given;
      if (ShapedType::isDynamic(given)) {
        auto value = dyn_cast_or_null<IntegerAttr>(indices.evaluate(dynamic[next++]));
        if (!value)
          return std::nullopt;
        index = value.getInt();
      }
      const int64_t size = shape[axis], stride = llvm::product_of(shape.drop_front(axis + 1));
      if (index < 0 || index >= size)
        return std::nullopt;
      other += (index - rank / stride % size) * stride;
    }
    others.push_back(other);
  }
  return others;
}

LogicalResult ShardLocalImporter::importSend(shard::SendOp op) {
  if (op->hasOneUse() && isa<shard::RecvOp>(*op->user_begin()))
    return success(); // with its recv
  return op.emitError() << "is not the operand of one 'shard.recv', expected the receive of the message there: each "
                           "process sends one and receives one";
}

FailureOr<Value> ShardLocalImporter::importRecv(shard::RecvOp op) {
  auto send = op.getInput().getDefiningOp<shard::SendOp>();
  if (!send || send.getGrid() != op.getGrid() || !op.getSource())
    return op.emitError() << "receives what is not the result of a 'shard.send' on its grid, expected a send, and "
                             "the source of the message";
  auto receivers = getOthers(send, send.getDestination(), send.getDestinationDynamic(), grids),
       senders = getOthers(op, *op.getSource(), op.getSourceDynamic(), grids);
  auto arrives = [&](auto pair) { return (*senders)[pair.value()] == int64_t(pair.index()); };
  if (!receivers || !senders || !llvm::all_of(llvm::enumerate(*receivers), arrives))
    return op.emitError() << "does not receive from the process that sends to it, expected positions that follow from "
                             "constants and the index of the process, and each process once";
  OpBuilder b(op);
  Value moved = emitPermuted(b, op.getLoc(), cast<TypedValue<RankedTensorType>>(send.getInput()),
                             grids.find(op.getGrid())->second, *receivers);
  op.getInputMutable().assign(send.getInput());
  send.erase();
  return moved;
}

//===----------------------------------------------------------------------===//
// Halos
//===----------------------------------------------------------------------===//

namespace {

/// The halo of one dim.
struct Halo {
  int64_t dim, before, after;
  ArrayRef<int16_t> axes;
};

/// A box of a tensor, in all dims.
struct Box {
  explicit Box(Builder &b, RankedTensorType type)
      : b(b), offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)) {
    for (int64_t size : type.getShape())
      sizes.push_back(b.getIndexAttr(size));
  }
  void set(int64_t d, int64_t begin, int64_t size) {
    offsets[d] = b.getIndexAttr(begin);
    sizes[d] = b.getIndexAttr(size);
  }
  Value emitSlice(OpBuilder &b, Location loc, Value of) const {
    return tensor::ExtractSliceOp::create(b, loc, of, offsets, sizes, strides);
  }
  Value emitInserted(OpBuilder &b, Location loc, Value value, Value into) const {
    return tensor::InsertSliceOp::create(b, loc, value, into, offsets, sizes, strides);
  }
  Builder &b;
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

} // namespace

/// The halos of an update; std::nullopt if their sizes are unknown or larger than a shard.
static std::optional<SmallVector<Halo>> getHalos(shard::UpdateHaloOp op, RankedTensorType type) {
  ArrayRef<shard::GridAxesAttr> splitAxes = op.getSplitAxes().getAxes();
  ArrayRef<int64_t> sizes = op.getStaticHaloSizes();
  if (!op.getHaloSizes().empty() || !type.hasStaticShape() || int64_t(splitAxes.size()) > type.getRank())
    return std::nullopt;
  SmallVector<Halo> halos;
  for (auto [dim, axes] : llvm::enumerate(splitAxes)) {
    if (axes.asArrayRef().empty())
      continue;
    if (sizes.size() < 2)
      return std::nullopt;
    Halo halo{int64_t(dim), sizes[0], sizes[1], axes.asArrayRef()};
    const int64_t shard = type.getDimSize(dim) - halo.before - halo.after;
    if (halo.before < 0 || halo.after < 0 || halo.before > shard || halo.after > shard)
      return std::nullopt;
    halos.push_back(halo);
    sizes = sizes.drop_front(2);
  }
  return sizes.empty() ? std::optional(halos) : std::nullopt;
}

/// Whether a halo is what a shard is padded with: zeros.
static tensor::PadOp getZeroPad(Value value, ArrayRef<Halo> halos) {
  auto pad = value.getDefiningOp<tensor::PadOp>();
  Value of = pad ? pad.getConstantPaddingValue() : Value();
  if (!of || halos.size() != 1 || !(matchPattern(of, m_Zero()) || matchPattern(of, m_PosZeroFloat())))
    return {};
  for (auto [dim, low, high] : llvm::enumerate(pad.getStaticLow(), pad.getStaticHigh())) {
    const bool isHalo = halos.front().dim == int64_t(dim);
    if (low != (isHalo ? halos.front().before : 0) || high != (isHalo ? halos.front().after : 0))
      return {};
  }
  return pad;
}

/// Halos are exchanged from the last dim to the first, so that corners have what the neighbors received. A halo without
/// a neighbor keeps what the destination has there.
LogicalResult ShardLocalImporter::importHalo(shard::UpdateHaloOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getDestination().getType());
  std::optional<SmallVector<Halo>> halos = type ? getHalos(op, type) : std::nullopt;
  if (!halos)
    return op.emitError() << "has a halo of unknown size or one larger than a shard, or no tensor, expected a tensor "
                             "and two constants for each dim that is split";
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value value = op.getDestination();
  FlatSymbolRefAttr grid = op.getGridAttr();
  for (const Halo &halo : *halos)
    if (failed(getAxes(op, grid, halo.axes)))
      return failure();
  auto exchange = [&](Value shard, const Halo &halo) {
    auto input = cast<TypedValue<RankedTensorType>>(shard);
    const int64_t size = input.getType().getDimSize(halo.dim);
    return emitWindow(b, loc, input, grid, halo.axes, halo.dim, -halo.before, halo.before + size + halo.after);
  };
  if (tensor::PadOp pad = getZeroPad(value, *halos)) {
    op->getResult(0).replaceAllUsesWith(exchange(pad.getSource(), halos->front()));
    op.erase();
    return success();
  }
  for (size_t i = halos->size(); i-- > 0;) {
    const Halo &halo = (*halos)[i];
    const int64_t shard = type.getDimSize(halo.dim) - halo.before - halo.after;
    Box window(b, type), own(b, type);
    for (const Halo &other : ArrayRef(*halos).take_front(i)) {
      const int64_t size = type.getDimSize(other.dim) - other.before - other.after;
      window.set(other.dim, other.before, size);
      own.set(other.dim, other.before, size);
    }
    own.set(halo.dim, halo.before, shard);
    Value received = exchange(own.emitSlice(b, loc, value), halo);
    Axes axes = toAxes(grids.find(op.getGrid())->second, halo.axes);
    SmallVector<int64_t> sizes =
        llvm::map_to_vector(halo.axes, [&](int16_t axis) { return countProcesses(grid, axis); });
    Value index = emitLinearIndex(b, loc, grid, axes, sizes);
    auto receivedType = cast<RankedTensorType>(received.getType());
    auto keepAt = [&](int64_t process, int64_t begin, int64_t size) {
      if (size == 0)
        return;
      Box inWindow(b, receivedType), inValue = window;
      inWindow.set(halo.dim, begin, size);
      inValue.set(halo.dim, begin, size);
      Value isEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index,
                                          arith::ConstantIndexOp::create(b, loc, process));
      Value kept = arith::SelectOp::create(b, loc, isEnd, inValue.emitSlice(b, loc, value),
                                           inWindow.emitSlice(b, loc, received));
      received = inWindow.emitInserted(b, loc, kept, received);
    };
    keepAt(0, 0, halo.before);
    keepAt(countProcesses(grid, halo.axes) - 1, halo.before + shard, halo.after);
    value = window.emitInserted(b, loc, received, value);
  }
  op->getResult(0).replaceAllUsesWith(value);
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// import
//===----------------------------------------------------------------------===//

LogicalResult ShardLocalImporter::import(Operation *op) {
  auto grid = op->getAttrOfType<FlatSymbolRefAttr>("grid");
  auto known = grid ? grids.find(grid.getValue()) : grids.end();
  if (isa<shard::ProcessMultiIndexOp, shard::ProcessLinearIndexOp>(op) && known != grids.end())
    return importIndex(op, known->second, grid);
  if (auto halo = dyn_cast<shard::UpdateHaloOp>(op); halo && known != grids.end())
    return importHalo(halo);
  auto axesAttr = op->getAttrOfType<shard::GridAxesAttr>("grid_axes");
  auto input = op->getNumOperands() >= 1 ? dyn_cast<TypedValue<RankedTensorType>>(op->getOperand(0))
                                         : TypedValue<RankedTensorType>();
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  const bool isKnown = isa<shard::AllGatherOp, shard::AllReduceOp, shard::AllSliceOp, shard::AllToAllOp,
                           shard::BroadcastOp, shard::GatherOp, shard::RecvOp, shard::ReduceOp, shard::ReduceScatterOp,
                           shard::ScatterOp, shard::SendOp, shard::ShiftOp>(op);
  if (!isKnown || !input || !type)
    return op->emitError() << "'" << op->getName()
                           << "' has no counterpart, expected grid, sharding and shard of the global view, or a "
                              "collective, update_halo, process_multi_index or process_linear_index of the local view "
                              "on tensors";
  FailureOr<Axes> axes = getAxes(op, grid, axesAttr ? ArrayRef<int16_t>(axesAttr.asArrayRef()) : ArrayRef<int16_t>());
  if (failed(axes))
    return failure();
  if (input.getType().getElementType() != type.getElementType())
    return op->emitError() << "converts elements of " << input.getType().getElementType() << " to "
                           << type.getElementType() << ", expected one element type";
  if (auto send = dyn_cast<shard::SendOp>(op))
    return importSend(send);
  if (axes->empty() && !isa<shard::RecvOp>(op)) {
    op->getResult(0).replaceAllUsesWith(input);
    op->erase();
    return success();
  }
  return importCollective(op, input, type, grid, *axes);
}
