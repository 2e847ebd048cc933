//===- RowCode.cpp - Rows that stay in registers --------------------------===//

#include "RowCode.h"
#include "ThreadCode.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::spmd::cuda;

static constexpr int64_t kWarp = 32;
/// More than one warp shares longer rows.
static constexpr int64_t kWarpRow = 1024;
static constexpr int64_t kElementsPerThread = 32;

/// The loops that select the row, and those along it.
static SmallVector<unsigned> outerLoops(linalg::LinalgOp op) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(kOuterAttr);
  return SmallVector<unsigned>(attr.asArrayRef().begin(), attr.asArrayRef().end());
}
static SmallVector<unsigned> innerLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> outer = outerLoops(op), inner;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(outer, loop))
      inner.push_back(loop);
  return inner;
}
static linalg::LinalgOp rootOf(RowsOp op) {
  return cast<YieldOp>(op.getBody().front().getTerminator()).getValue().getDefiningOp<linalg::LinalgOp>();
}

/// The sizes of the outer loops, which are dims of the result.
static SmallVector<OpFoldResult> getRowSizes(OpBuilder &b, RowsOp op) {
  linalg::LinalgOp root = rootOf(op);
  AffineMap map = root.getIndexingMapsArray()[root.getNumDpsInputs()];
  SmallVector<OpFoldResult> dims = memref::getMixedSizes(b, op.getLoc(), op.getInit()), sizes;
  for (unsigned loop : outerLoops(root))
    sizes.push_back(dims[*map.getResultPosition(b.getAffineDimExpr(loop))]);
  return sizes;
}

OpFoldResult spmd::cuda::countRows(OpBuilder &b, RowsOp op) {
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  OpFoldResult rows = b.getIndexAttr(1);
  for (OpFoldResult size : getRowSizes(b, op))
    rows = affine::makeComposedFoldedAffineApply(b, op.getLoc(), s0 * s1, {rows, size});
  return rows;
}

RowShape spmd::cuda::getRowShape(RowsOp op) {
  linalg::LinalgOp root = rootOf(op);
  RowShape shape;
  SmallVector<int64_t> sizes = root.getStaticLoopRanges();
  for (unsigned loop : innerLoops(root))
    shape.length *= sizes[loop];
  // Operands that vary along the row, not values computed from them.
  int64_t widest = 1;
  auto count = [&](Value buffer, AffineMap map, unsigned loop) {
    if (isSideBySide(buffer, map, loop, 1))
      widest = std::max<int64_t>(widest, cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8);
  };
  for (auto member : op.getBody().front().getOps<linalg::LinalgOp>()) {
    if (!member->hasAttr(kOuterAttr) || innerLoops(member).empty())
      continue;
    unsigned loop = innerLoops(member).back();
    for (OpOperand &operand : member->getOpOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand.get()))
        count(op.getInputs()[argument.getArgNumber()], member.getMatchingIndexingMap(&operand), loop);
    if (member == root)
      count(op.getInit(), member.getIndexingMapsArray()[member.getNumDpsInputs()], loop);
  }
  int64_t last = sizes[innerLoops(root).back()];
  for (shape.width = std::max<int64_t>(1, 16 / widest); last % shape.width; shape.width /= 2)
    ;
  int64_t vectors = shape.length / shape.width;
  if (shape.length <= kWarpRow) {
    shape.threads = std::min<int64_t>(kWarp, llvm::PowerOf2Ceil(vectors));
    shape.rowsPerBlock = 128 / shape.threads;
  } else {
    shape.threads =
        std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(shape.length, kElementsPerThread)), 128, 1024);
  }
  shape.rounds = llvm::divideCeil(vectors, shape.threads);
  return shape;
}

namespace {
/// The elements of a value in a thread: one scalar, or `rounds * width` elements of the row.
using Held = SmallVector<Value>;

/// Emits the kernel of a `spmd_cuda.rows`. A thread loads its elements of a row once, and
/// keeps all values of the row in registers. For example, for a softmax:
///
/// 1. Load the elements of %x.
/// 2. Reduce their maximum: in the thread, in the warp by shuffles, and between warps of the
///    row in shared memory.
/// 3. Compute exp(x - max), reduce the sum in the same way, and divide.
/// 4. Store the elements of the result.
class RowEmitter {
public:
  RowEmitter(OpBuilder &b, RowsOp op, const RowShape &shape, gpu::GPUFuncOp kernel)
      : b(b), op(op), shape(shape), kernel(kernel), loc(op.getLoc()) {}

  void emit();

private:
  Value index(int64_t i) { return arith::ConstantIndexOp::create(b, loc, i); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value value(OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, loc, size); }
  Value less(Value x, Value y) { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y); }
  /// `number` as indices of an array of `sizes`.
  SmallVector<Value> digits(Value number, ArrayRef<OpFoldResult> sizes);
  void assignThread();
  Value getThread() { return gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x); }

  /// Values of the loops of `member` at an element of the row.
  SmallVector<Value> loops(linalg::LinalgOp member, int64_t element);
  SmallVector<Value> indicesOf(AffineMap map, ArrayRef<Value> ivs);

  /// The elements of an operand for `count` elements of this thread.
  Held fetch(linalg::LinalgOp member, OpOperand &operand, int64_t count);

  Value payload(linalg::LinalgOp member, ArrayRef<Value> arguments, ArrayRef<Value> ivs) {
    return emitPayload(b, member, arguments, ivs, scalars)[0];
  }

  SmallVector<Held> fetchAll(linalg::LinalgOp member, int64_t count);
  static Value elementOf(const Held &value, int64_t i) { return value.size() == 1 ? value[0] : value[i]; }

  Held map(linalg::LinalgOp member);
  Held reduce(linalg::LinalgOp member);

  /// The value of the lane whose index differs in one bit.
  Value fromLane(Value value, int64_t offset);

  /// The values of the warps of a row, in ascending order.
  Value acrossWarps(Operation *combiner, Value mine);
  void store();

  OpBuilder &b;
  RowsOp op;
  const RowShape &shape;
  gpu::GPUFuncOp kernel;
  Location loc;
  Value lane;                    ///< The index of the thread in its row.
  Value rowIsReal;               ///< Null if all rows exist.
  SmallVector<Value> rowIndices; ///< The indices of the outer loops.
  SmallVector<Value> roundIsReal;
  SmallVector<SmallVector<Value>> innerIndices; ///< The indices of the inner loops, for each round.
  IRMapping scalars;                            ///< From values of the region to those of the kernel.
  DenseMap<Value, Held> held;
};
} // namespace

void RowEmitter::emit() {
  assignThread();
  Block &body = op.getBody().front();
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), op.getInputs()))
    if (!isa<RankedTensorType>(argument.getType()))
      scalars.map(argument, input);
  for (Operation &inner : body.without_terminator()) {
    if (auto fill = dyn_cast<linalg::FillOp>(inner))
      held[fill.getResult(0)] = {scalars.lookup(fill.getInputs()[0])};
    else if (auto member = dyn_cast<linalg::LinalgOp>(inner))
      held[inner.getResult(0)] = member.getNumReductionLoops() ? reduce(member) : map(member);
    else if (!isa<RankedTensorType>(inner.getResult(0).getType()))
      b.clone(inner, scalars);
  }
  store();
}

SmallVector<Value> RowEmitter::digits(Value number, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t k = sizes.size(); k-- > 0;) {
    indices[k] = k == 0 ? number : arith::RemUIOp::create(b, loc, number, value(sizes[k])).getResult();
    if (k > 0)
      number = arith::DivUIOp::create(b, loc, number, value(sizes[k]));
  }
  return indices;
}

void RowEmitter::assignThread() {
  linalg::LinalgOp root = rootOf(op);
  SmallVector<OpFoldResult> outer = getRowSizes(b, op), inner;
  for (unsigned loop : innerLoops(root))
    inner.push_back(b.getIndexAttr(root.getStaticLoopRanges()[loop]));
  Value thread = getThread();
  lane = arith::RemUIOp::create(b, loc, thread, index(shape.threads));
  Value inBlock = arith::DivUIOp::create(b, loc, thread, index(shape.threads));
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value row = add(arith::MulIOp::create(b, loc, block, index(shape.rowsPerBlock)), inBlock);
  // Threads beyond the last row, or the end of a row, read valid elements and do not write.
  OpFoldResult rows = countRows(b, op);
  std::optional<int64_t> knownRows = getConstantIntValue(rows);
  if (!knownRows || *knownRows % shape.rowsPerBlock) {
    rowIsReal = less(row, value(rows));
    row = arith::SelectOp::create(b, loc, rowIsReal, row, index(0));
  }
  rowIndices = digits(row, outer);
  for (int64_t round = 0; round < shape.rounds; ++round) {
    Value vector = add(lane, index(round * shape.threads));
    Value first = arith::MulIOp::create(b, loc, vector, index(shape.width));
    Value isReal;
    if ((round + 1) * shape.threads * shape.width > shape.length) {
      isReal = less(first, index(shape.length));
      first = arith::SelectOp::create(b, loc, isReal, first, index(0));
    }
    roundIsReal.push_back(isReal);
    innerIndices.push_back(digits(first, inner));
  }
}

SmallVector<Value> RowEmitter::loops(linalg::LinalgOp member, int64_t element) {
  SmallVector<Value> ivs(member.getNumLoops());
  for (auto [loop, iv] : llvm::zip_equal(outerLoops(member), rowIndices))
    ivs[loop] = iv;
  SmallVector<unsigned> inner = innerLoops(member);
  if (inner.empty())
    return ivs;
  SmallVector<Value> along = innerIndices[element / shape.width];
  for (auto [loop, iv] : llvm::zip_equal(inner, along))
    ivs[loop] = iv;
  if (int64_t in = element % shape.width)
    ivs[inner.back()] = add(ivs[inner.back()], index(in));
  return ivs;
}

SmallVector<Value> RowEmitter::indicesOf(AffineMap map, ArrayRef<Value> ivs) {
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(ivs[cast<AffineDimExpr>(expr).getPosition()]);
  return indices;
}

Held RowEmitter::fetch(linalg::LinalgOp member, OpOperand &operand, int64_t count) {
  Value value = operand.get();
  if (!isa<RankedTensorType>(value.getType()))
    return {scalars.lookup(value)};
  if (auto it = held.find(value); it != held.end())
    return it->second;
  AffineMap map = member.getMatchingIndexingMap(&operand);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) // a tensor that stands for its type
    return {ub::PoisonOp::create(b, loc, getElementTypeOrSelf(value))};
  Value buffer = op.getInputs()[argument.getArgNumber()];
  SmallVector<unsigned> inner = innerLoops(member);
  bool alongRow = llvm::any_of(inner, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  if (!alongRow || count == 1)
    return {memref::LoadOp::create(b, loc, buffer, indicesOf(map, loops(member, 0)))};
  Held elements;
  bool vectors = shape.width > 1 && isSideBySide(buffer, map, inner.back(), shape.width);
  for (int64_t i = 0; i < count; i += vectors ? shape.width : 1) {
    SmallVector<Value> indices = indicesOf(map, loops(member, i));
    if (!vectors) {
      elements.push_back(memref::LoadOp::create(b, loc, buffer, indices));
      continue;
    }
    auto type = VectorType::get({shape.width}, getElementTypeOrSelf(buffer));
    Value vector = vector::LoadOp::create(b, loc, type, buffer, indices);
    for (int64_t k = 0; k < shape.width; ++k)
      elements.push_back(vector::ExtractOp::create(b, loc, vector, k));
  }
  return elements;
}

SmallVector<Held> RowEmitter::fetchAll(linalg::LinalgOp member, int64_t count) {
  SmallVector<Held> operands;
  for (OpOperand &operand : member->getOpOperands()) {
    bool unread = member.isDpsInit(&operand) && !member.payloadUsesValueFromOperand(&operand);
    if (unread)
      operands.push_back({ub::PoisonOp::create(b, loc, getElementTypeOrSelf(operand.get()))});
    else
      operands.push_back(
          fetch(member, operand, member.isDpsInit(&operand) && member.getNumReductionLoops() ? 1 : count));
  }
  return operands;
}

Held RowEmitter::map(linalg::LinalgOp member) {
  int64_t count = innerLoops(member).empty() ? 1 : shape.rounds * shape.width;
  SmallVector<Held> operands = fetchAll(member, count);
  Held results;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> arguments;
    for (const Held &operand : operands)
      arguments.push_back(elementOf(operand, i));
    results.push_back(payload(member, arguments, loops(member, i)));
  }
  return results;
}

Held RowEmitter::reduce(linalg::LinalgOp member) {
  SmallVector<Operation *> combiners;
  (void)matchReduction(member.getRegionOutputArgs(), 0, combiners);
  Operation *combiner = combiners[0];
  const int64_t count = shape.rounds * shape.width;
  SmallVector<Held> operands = fetchAll(member, count);
  Value total = arith::ConstantOp::create(b, loc, getStart(combiner));
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> arguments;
    for (const Held &operand : ArrayRef(operands).drop_back())
      arguments.push_back(elementOf(operand, i));
    arguments.push_back(total);
    Value next = payload(member, arguments, loops(member, i));
    if (Value isReal = roundIsReal[i / shape.width])
      next = arith::SelectOp::create(b, loc, isReal, next, total);
    total = next;
  }
  for (int64_t offset = 1; offset < std::min(shape.threads, kWarp); offset *= 2)
    total = combine(b, combiner, total, fromLane(total, offset));
  if (shape.threads > kWarp)
    total = acrossWarps(combiner, total);
  return {combine(b, combiner, operands.back()[0], total)};
}

Value RowEmitter::fromLane(Value value, int64_t offset) {
  Type type = value.getType();
  Value bits = value;
  auto toInteger = [&](unsigned width) {
    return isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, b.getIntegerType(width), value).getResult() : value;
  };
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (type.isIndex())
    bits = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  else if (width < 32)
    bits = arith::ExtUIOp::create(b, loc, b.getI32Type(), toInteger(width));
  bits =
      gpu::ShuffleOp::create(b, loc, bits, int32_t(offset), int32_t(kWarp), gpu::ShuffleMode::XOR).getShuffleResult();
  if (type.isIndex())
    return arith::IndexCastOp::create(b, loc, type, bits);
  if (width >= 32)
    return bits;
  Value narrow = arith::TruncIOp::create(b, loc, b.getIntegerType(width), bits);
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, type, narrow).getResult() : narrow;
}

Value RowEmitter::acrossWarps(Operation *combiner, Value mine) {
  const int64_t warps = shape.threads / kWarp;
  Value memory = addShared(kernel, {warps}, mine.getType());
  Value warp = arith::DivUIOp::create(b, loc, lane, index(kWarp));
  Value inWarp = arith::RemUIOp::create(b, loc, lane, index(kWarp));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, inWarp, index(0));
  auto guard = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
  memref::StoreOp::create(inside, loc, mine, memory, warp);
  gpu::BarrierOp::create(b, loc);
  Value total = memref::LoadOp::create(b, loc, memory, index(0));
  for (int64_t i = 1; i < warps; ++i)
    total = combine(b, combiner, total, memref::LoadOp::create(b, loc, memory, index(i)));
  return total;
}

void RowEmitter::store() {
  linalg::LinalgOp root = rootOf(op);
  AffineMap map = root.getIndexingMapsArray()[root.getNumDpsInputs()];
  const Held &result = held[root->getResult(0)];
  Value buffer = op.getInit();
  auto guarded = [&](Value condition, function_ref<void(OpBuilder &)> body) {
    if (rowIsReal)
      condition = condition ? arith::AndIOp::create(b, loc, condition, rowIsReal).getResult() : rowIsReal;
    if (!condition)
      return body(b);
    auto guard = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
    body(inside);
  };
  if (root.getNumReductionLoops()) {
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, index(0));
    SmallVector<Value> indices = indicesOf(map, loops(root, 0));
    guarded(isFirst, [&](OpBuilder &b) { memref::StoreOp::create(b, loc, result[0], buffer, indices); });
    return;
  }
  bool vectors = shape.width > 1 && isSideBySide(buffer, map, innerLoops(root).back(), shape.width);
  for (int64_t round = 0; round < shape.rounds; ++round) {
    SmallVector<SmallVector<Value>> indices;
    for (int64_t k = 0; k < (vectors ? 1 : shape.width); ++k)
      indices.push_back(indicesOf(map, loops(root, round * shape.width + k)));
    ArrayRef<Value> elements = ArrayRef(result).slice(round * shape.width, shape.width);
    guarded(roundIsReal[round], [&](OpBuilder &b) {
      if (!vectors) {
        for (auto [element, at] : llvm::zip_equal(elements, indices))
          memref::StoreOp::create(b, loc, element, buffer, at);
        return;
      }
      auto type = VectorType::get({shape.width}, getElementTypeOrSelf(buffer));
      vector::StoreOp::create(b, loc, vector::FromElementsOp::create(b, loc, type, elements), buffer, indices[0]);
    });
  }
}

void spmd::cuda::emitRows(OpBuilder &b, RowsOp op, const RowShape &shape, gpu::GPUFuncOp kernel) {
  RowEmitter(b, op, shape, kernel).emit();
}
