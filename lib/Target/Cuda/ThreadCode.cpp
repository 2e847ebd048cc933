//===- ThreadCode.cpp - What one thread does of a linalg op ---------------===//

#include "ThreadCode.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::spmd::cuda;

/// A thread moves this much at once.
static constexpr int64_t kVectorBytes = 16;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

bool spmd::cuda::isSideBySide(Value buffer, AffineMap map, unsigned loop, int64_t width) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || type.getRank() == 0 || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() < 8)
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset) ||
      offset % width || strides.back() != 1)
    return false;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    bool isLast = i + 1 == map.getNumResults();
    if (isLast) {
      if (expr != getAffineDimExpr(loop, map.getContext()))
        return false;
    } else if (expr.isFunctionOfDim(loop) || ShapedType::isDynamic(strides[i]) ||
               strides[i] % width) {
      return false;
    }
  }
  return true;
}

Pieces spmd::cuda::getPieces(linalg::LinalgOp op) {
  Pieces pieces;
  auto iterators = op.getIteratorTypesArray();
  auto maps = op.getIndexingMapsArray();
  AffineMap out = maps[op.getNumDpsInputs()];
  auto isParallel = [&](unsigned loop) {
    return iterators[loop] == utils::IteratorType::parallel;
  };
  for (AffineExpr expr : out.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      if (isParallel(dim.getPosition()) && !llvm::is_contained(pieces.loops, dim.getPosition()))
        pieces.loops.push_back(dim.getPosition());
  for (unsigned loop = 0; loop < iterators.size(); ++loop)
    if (isParallel(loop) && !llvm::is_contained(pieces.loops, loop))
      pieces.loops.insert(pieces.loops.begin(), loop);
  if (pieces.loops.empty() || op.getNumReductionLoops())
    return pieces;
  unsigned last = pieces.loops.back();
  int64_t size = op.getStaticLoopRanges()[last];
  if (ShapedType::isDynamic(size))
    return pieces;
  int64_t widest = 0;
  for (OpOperand &operand : op->getOpOperands())
    if (isSideBySide(operand.get(), op.getMatchingIndexingMap(&operand), last, 1))
      widest = std::max<int64_t>(
          widest, cast<MemRefType>(operand.get().getType()).getElementTypeBitWidth() / 8);
  if (widest == 0)
    return pieces;
  for (int64_t width = kVectorBytes / widest; width > 1; width /= 2) {
    if (size % width)
      continue;
    // Results above all are written at once.
    bool fits = llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
      return isSideBySide(init.get(), op.getMatchingIndexingMap(&init), last, width);
    });
    if (fits) {
      pieces.width = width;
      break;
    }
  }
  return pieces;
}

/// Sizes of all loops.
static SmallVector<OpFoldResult> loopSizes(OpBuilder &b, linalg::LinalgOp op) {
  SmallVector<OpFoldResult> sizes;
  for (Range range : op.createLoopRanges(b, op.getLoc()))
    sizes.push_back(range.size);
  return sizes;
}

OpFoldResult spmd::cuda::countPieces(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces) {
  SmallVector<OpFoldResult> sizes = loopSizes(b, op);
  OpFoldResult count = b.getIndexAttr(1);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  for (unsigned loop : pieces.loops)
    count = affine::makeComposedFoldedAffineApply(b, op.getLoc(), s0 * s1, {count, sizes[loop]});
  return affine::makeComposedFoldedAffineApply(b, op.getLoc(), s0.floorDiv(pieces.width), {count});
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static SmallVector<unsigned> reductionLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  for (auto [i, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type != utils::IteratorType::parallel)
      loops.push_back(i);
  return loops;
}

namespace {
class PieceEmitter {
public:
  PieceEmitter(linalg::LinalgOp op, const Pieces &pieces)
      : op(op), pieces(pieces), loc(op.getLoc()), maps(op.getIndexingMapsArray()) {}

  void emit(OpBuilder &b, Value id) {
    choosePiece(b, id);
    SmallVector<unsigned> reductions = reductionLoops(op);
    if (reductions.empty())
      return emitElements(b);
    SmallVector<Value> sums = loadInits(b);
    emitReduction(b, reductions, sums);
    storeAll(b, sums);
  }

  /// Sets the parallel `ivs` to those of piece `id`.
  void choosePiece(OpBuilder &b, Value id) {
    sizes = loopSizes(b, op);
    ivs.assign(sizes.size(), Value());
    for (size_t k = pieces.loops.size(); k-- > 0;) {
      unsigned loop = pieces.loops[k];
      bool isLast = k + 1 == pieces.loops.size();
      if (k == 0) {
        ivs[loop] = id;
      } else {
        AffineExpr s0 = b.getAffineSymbolExpr(0);
        Value size = value(b, isLast ? affine::makeComposedFoldedAffineApply(
                                           b, loc, s0.floorDiv(pieces.width), {sizes[loop]})
                                     : sizes[loop]);
        ivs[loop] = arith::RemUIOp::create(b, loc, id, size);
        id = arith::DivUIOp::create(b, loc, id, size);
      }
      if (isLast && pieces.width > 1)
        ivs[loop] = arith::MulIOp::create(b, loc, ivs[loop], index(b, pieces.width));
    }
  }

  /// Terms `first`, `first + step`, ... of all, the last loop fastest.
  SmallVector<Value> emitTerms(OpBuilder &b, Value first, int64_t step, ValueRange starts) {
    SmallVector<unsigned> loops = reductionLoops(op);
    int64_t terms = 1;
    for (unsigned loop : loops)
      terms *= op.getStaticLoopRanges()[loop];
    auto loop = scf::ForOp::create(b, loc, first, index(b, terms), index(b, step), starts);
    OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
    Value left = loop.getInductionVar();
    for (unsigned k = loops.size(); k-- > 0;) {
      Value size = index(inside, op.getStaticLoopRanges()[loops[k]]);
      ivs[loops[k]] = k == 0 ? left : arith::RemUIOp::create(inside, loc, left, size);
      if (k > 0)
        left = arith::DivUIOp::create(inside, loc, left, size);
    }
    SmallVector<Value> sums(loop.getRegionIterArgs());
    emitReduction(inside, {}, sums);
    scf::YieldOp::create(inside, loc, sums);
    return SmallVector<Value>(loop.getResults());
  }

  SmallVector<Value> loadInits(OpBuilder &b) {
    SmallVector<Value> values;
    for (OpOperand &init : op.getDpsInitsMutable())
      values.push_back(load(b, init));
    return values;
  }
  void storeAll(OpBuilder &b, ValueRange values) {
    for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), values))
      memref::StoreOp::create(b, loc, value, init.get(), place(b, init));
  }

  void emitElements(OpBuilder &b);
  Value load(OpBuilder &b, OpOperand &operand) {
    if (Value memory = turned.lookup(operand.getOperandNumber()))
      return memref::LoadOp::create(b, loc, memory, turnedPlace);
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(b, loc, operand.get(), place(b, operand));
  }

private:
  static Value index(OpBuilder &b, int64_t i) {
    return arith::ConstantIndexOp::create(b, b.getUnknownLoc(), i);
  }
  Value value(OpBuilder &b, OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, loc, size);
  }

  /// Where an operand is read or written, at the current `ivs`.
  SmallVector<Value> place(OpBuilder &b, OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<Value> indices;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      indices.push_back(value(b, affine::makeComposedFoldedAffineApply(
                                     b, loc, map.getSubMap({i}), getAsOpFoldResult(ivs))));
    return indices;
  }

  /// The payload on one element of each operand.
  SmallVector<Value> emitBody(OpBuilder &b, ValueRange arguments) {
    IRMapping mapping;
    Block *body = op.getBlock();
    mapping.map(body->getArguments(), arguments);
    for (Operation &inner : body->without_terminator()) {
      if (auto at = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(at.getResult(), ivs[at.getDim()]);
      else
        cloneInner(b, inner, mapping);
    }
    SmallVector<Value> results;
    for (Value result : body->getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(result));
    return results;
  }
  void cloneInner(OpBuilder &b, Operation &inner, IRMapping &mapping) {
    Operation *copy = b.clone(inner, mapping);
    copy->walk([&](linalg::IndexOp at) {
      at.replaceAllUsesWith(ivs[at.getDim()]);
      at.erase();
    });
  }

  void emitReduction(OpBuilder &b, ArrayRef<unsigned> loops, SmallVectorImpl<Value> &sums) {
    if (loops.empty()) {
      SmallVector<Value> arguments;
      for (OpOperand *input : op.getDpsInputOperands())
        arguments.push_back(load(b, *input));
      arguments.append(sums.begin(), sums.end());
      SmallVector<Value> next = emitBody(b, arguments);
      sums.assign(next.begin(), next.end());
      return;
    }
    auto loop = scf::ForOp::create(b, loc, index(b, 0), value(b, sizes[loops.front()]),
                                   index(b, 1), sums);
    OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
    ivs[loops.front()] = loop.getInductionVar();
    SmallVector<Value> inner(loop.getRegionIterArgs());
    emitReduction(inside, loops.drop_front(), inner);
    scf::YieldOp::create(inside, loc, inner);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }

  VectorType vectorOf(OpOperand &operand) {
    return VectorType::get({pieces.width}, getElementTypeOrSelf(operand.get()));
  }

public:
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> ivs;
  /// Shared memory in which operands are, by number, and the place there.
  DenseMap<unsigned, Value> turned;
  SmallVector<Value> turnedPlace;

private:
  linalg::LinalgOp op;
  const Pieces &pieces;
  Location loc;
  SmallVector<AffineMap> maps;
};
} // namespace

void PieceEmitter::emitElements(OpBuilder &b) {
  const int64_t width = pieces.width;
  SmallVector<SmallVector<Value>> lanes(width); // [lane][operand]
  Value first = pieces.loops.empty() ? Value() : ivs[pieces.loops.back()];
  SmallVector<Value> at(width, first);
  for (int64_t lane = 1; lane < width; ++lane)
    at[lane] = arith::AddIOp::create(b, loc, first, index(b, lane));
  auto setLane = [&](int64_t lane) {
    if (first)
      ivs[pieces.loops.back()] = at[lane];
  };
  for (OpOperand &operand : op->getOpOperands()) {
    bool unused = op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand);
    setLane(0);
    if (unused) {
      Type type = getElementTypeOrSelf(operand.get());
      Value poison = ub::PoisonOp::create(b, loc, type);
      for (auto &lane : lanes)
        lane.push_back(poison);
    } else if (width > 1 && isSideBySide(operand.get(), op.getMatchingIndexingMap(&operand),
                                         pieces.loops.back(), width)) {
      Value vector = vector::LoadOp::create(b, loc, vectorOf(operand), operand.get(),
                                            place(b, operand));
      for (int64_t lane = 0; lane < width; ++lane)
        lanes[lane].push_back(vector::ExtractOp::create(b, loc, vector, lane));
    } else if (width > 1 && !isa<MemRefType>(operand.get().getType())) {
      for (auto &lane : lanes)
        lane.push_back(operand.get());
    } else if (width > 1 && !op.getMatchingIndexingMap(&operand).isFunctionOfDim(
                                pieces.loops.back())) {
      Value same = load(b, operand);
      for (auto &lane : lanes)
        lane.push_back(same);
    } else {
      for (int64_t lane = 0; lane < width; ++lane) {
        setLane(lane);
        lanes[lane].push_back(load(b, operand));
      }
    }
  }
  SmallVector<SmallVector<Value>> results;
  for (int64_t lane = 0; lane < width; ++lane) {
    setLane(lane);
    results.push_back(emitBody(b, lanes[lane]));
  }
  setLane(0);
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (width == 1) {
      memref::StoreOp::create(b, loc, results[0][k], init.get(), place(b, init));
      continue;
    }
    SmallVector<Value> elements;
    for (auto &lane : results)
      elements.push_back(lane[k]);
    Value vector = vector::FromElementsOp::create(b, loc, vectorOf(init), elements);
    vector::StoreOp::create(b, loc, vector, init.get(), place(b, init));
  }
}

void spmd::cuda::emitPiece(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces, Value id) {
  PieceEmitter(op, pieces).emit(b, id);
}

Value spmd::cuda::combine(OpBuilder &b, Operation *combiner, Value x, Value y) {
  IRMapping mapping;
  mapping.map(combiner->getOperand(0), x);
  mapping.map(combiner->getOperand(1), y);
  return b.clone(*combiner, mapping)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Reductions by several threads
//===----------------------------------------------------------------------===//

/// Fewer terms than this are no work to share.
static constexpr int64_t kFewTerms = 32;

std::optional<SplitReduction> spmd::cuda::getSplitReduction(linalg::LinalgOp op,
                                                            int64_t threads) {
  SplitReduction split;
  int64_t terms = 1, results = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<unsigned> loops = reductionLoops(op);
  if (loops.empty() || llvm::any_of(ranges, ShapedType::isDynamic))
    return std::nullopt;
  for (auto [loop, size] : llvm::enumerate(ranges))
    (llvm::is_contained(loops, loop) ? terms : results) *= size;
  for (unsigned k = 0; k < op.getRegionOutputArgs().size(); ++k) {
    SmallVector<Operation *> found;
    if (!matchReduction(op.getRegionOutputArgs(), k, found) || found.size() != 1 ||
        !arith::getNeutralElement(found[0]))
      return std::nullopt;
    split.combiners.push_back(found[0]);
  }
  split.pieces = getPieces(op);
  // What is read along the terms is read by neighbours together.
  split.alongTerms = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return isa<MemRefType>(input->get().getType()) && map.getNumResults() &&
           map.getResults().back().isFunctionOfDim(loops.back());
  });
  // A thread for each result is enough where that is many, each with its own column.
  if (terms < kFewTerms || (!split.alongTerms && results >= 64 * 1024))
    return std::nullopt;
  split.splits = split.alongTerms ? (terms >= 8 * threads ? threads : 32) : threads / 32;
  return split;
}

void spmd::cuda::emitSplitReduction(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split,
                                    int64_t threads, gpu::GPUFuncOp kernel) {
  Location loc = op.getLoc();
  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(b, loc, i); };
  const int64_t results = threads / split.splits;
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value fast = arith::RemUIOp::create(b, loc, thread, index(split.alongTerms ? split.splits : results));
  Value slow = arith::DivUIOp::create(b, loc, thread, index(split.alongTerms ? split.splits : results));
  Value part = split.alongTerms ? fast : slow, lane = split.alongTerms ? slow : fast;
  Value id = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, block, index(results)), lane);
  Value count = getValueOrCreateConstantIndexOp(b, loc, countPieces(b, op, split.pieces));
  Value isReal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id, count);

  // Threads without a result take no terms, but meet the others.
  PieceEmitter emitter(op, split.pieces);
  Value safe = arith::SelectOp::create(b, loc, isReal, id, index(0));
  emitter.choosePiece(b, safe);
  SmallVector<Value> sums;
  for (Operation *combiner : split.combiners)
    sums.push_back(arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner)));
  sums = emitter.emitTerms(b, part, split.splits, sums);

  SmallVector<Value> shared;
  for (Value sum : sums) {
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    shared.push_back(kernel.addWorkgroupAttribution(
        MemRefType::get({threads}, sum.getType(), MemRefLayoutAttrInterface(), space), loc));
    memref::StoreOp::create(b, loc, sum, shared.back(), thread);
  }
  gpu::BarrierOp::create(b, loc);
  // Halves are added to halves: the same order every time.
  const int64_t stride = split.alongTerms ? 1 : results;
  for (int64_t half = split.splits / 2; half > 0; half /= 2) {
    Value adds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, part, index(half));
    auto guard = scf::IfOp::create(b, loc, adds, /*withElseRegion=*/false);
    OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
    Value other = arith::AddIOp::create(
        inside, loc, thread, arith::ConstantIndexOp::create(inside, loc, half * stride));
    for (auto [combiner, memory] : llvm::zip_equal(split.combiners, shared)) {
      Value mine = memref::LoadOp::create(inside, loc, memory, thread);
      Value theirs = memref::LoadOp::create(inside, loc, memory, other);
      memref::StoreOp::create(inside, loc, combine(inside, combiner, mine, theirs), memory, thread);
    }
    gpu::BarrierOp::create(b, loc);
  }
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, index(0));
  auto guard = scf::IfOp::create(b, loc, arith::AndIOp::create(b, loc, isFirst, isReal),
                                 /*withElseRegion=*/false);
  OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
  SmallVector<Value> totals;
  for (auto [combiner, memory, init] :
       llvm::zip_equal(split.combiners, shared, emitter.loadInits(inside)))
    totals.push_back(combine(inside, combiner, init,
                             memref::LoadOp::create(inside, loc, memory, thread)));
  emitter.storeAll(inside, totals);
}

//===----------------------------------------------------------------------===//
// Squares
//===----------------------------------------------------------------------===//

/// The loop along which neighbouring elements of a buffer are visited.
static std::optional<unsigned> fastestLoop(Value buffer, AffineMap map) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || type.getRank() == 0 || !map.isProjectedPermutation())
    return std::nullopt;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return std::nullopt;
  return cast<AffineDimExpr>(map.getResults().back()).getPosition();
}

std::optional<TiledMove> spmd::cuda::getTiledMove(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() || op.getNumDpsInits() != 1 ||
      llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
    return std::nullopt;
  OpOperand *init = op.getDpsInitOperand(0);
  std::optional<unsigned> write = fastestLoop(init->get(), op.getMatchingIndexingMap(init));
  if (!write || !op.getMatchingIndexingMap(init).isPermutation())
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  std::optional<unsigned> read;
  TiledMove move;
  move.writeLoop = *write;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    std::optional<unsigned> fastest = fastestLoop(input->get(), map);
    // Small dims are as well read from the cache.
    if (!fastest || fastest == write || !map.isFunctionOfDim(*write) || (read && read != fastest) ||
        sizes[*fastest] < kTile / 4 || sizes[*write] < kTile / 4)
      continue;
    read = fastest;
    move.turned.push_back(input->getOperandNumber());
  }
  if (!read)
    return std::nullopt;
  move.readLoop = *read;
  for (AffineExpr expr : op.getMatchingIndexingMap(init).getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (loop != move.readLoop && loop != move.writeLoop)
      move.others.push_back(loop);
  }
  return move;
}

int64_t spmd::cuda::countTiles(linalg::LinalgOp op, const TiledMove &move) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t tiles = llvm::divideCeil(sizes[move.readLoop], kTile) *
                  llvm::divideCeil(sizes[move.writeLoop], kTile);
  for (unsigned loop : move.others)
    tiles *= sizes[loop];
  return tiles;
}

void spmd::cuda::emitTiledMove(OpBuilder &b, linalg::LinalgOp op, const TiledMove &move,
                               int64_t threads, gpu::GPUFuncOp kernel) {
  Location loc = op.getLoc();
  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(b, loc, i); };
  auto mul = [&](Value x, int64_t y) { return arith::MulIOp::create(b, loc, x, index(y)); };
  Pieces pieces;
  PieceEmitter emitter(op, pieces);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  emitter.ivs.assign(sizes.size(), Value());
  Value left = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  auto take = [&](int64_t size) -> Value {
    Value digit = arith::RemUIOp::create(b, loc, left, index(size));
    left = arith::DivUIOp::create(b, loc, left, index(size));
    return digit;
  };
  Value write = mul(take(llvm::divideCeil(sizes[move.writeLoop], kTile)), kTile);
  Value read = mul(take(llvm::divideCeil(sizes[move.readLoop], kTile)), kTile);
  for (unsigned loop : llvm::reverse(move.others))
    emitter.ivs[loop] = take(sizes[loop]);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value fast = arith::RemUIOp::create(b, loc, thread, index(kTile));
  Value slow = arith::DivUIOp::create(b, loc, thread, index(kTile));

  // A column more than needed, so that neither way of reading meets in one bank.
  DenseMap<unsigned, Value> memory;
  for (unsigned operand : move.turned) {
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    auto type = MemRefType::get({kTile, kTile + 1}, getElementTypeOrSelf(op->getOperand(operand)),
                                MemRefLayoutAttrInterface(), space);
    memory[operand] = kernel.addWorkgroupAttribution(type, loc);
  }
  auto forEach = [&](bool alongRead, function_ref<void(OpBuilder &, Value, Value)> body) {
    for (int64_t row = 0; row < kTile; row += threads / kTile) {
      Value other = arith::AddIOp::create(b, loc, slow, index(row));
      Value inRead = alongRead ? fast : other, inWrite = alongRead ? other : fast;
      Value atRead = arith::AddIOp::create(b, loc, read, inRead);
      Value atWrite = arith::AddIOp::create(b, loc, write, inWrite);
      Value inside = arith::AndIOp::create(
          b, loc,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, atRead, index(sizes[move.readLoop])),
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, atWrite,
                                index(sizes[move.writeLoop])));
      auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
      OpBuilder then = OpBuilder::atBlockBegin(guard.thenBlock());
      emitter.ivs[move.readLoop] = atRead;
      emitter.ivs[move.writeLoop] = atWrite;
      body(then, inWrite, inRead);
    }
  };
  forEach(/*alongRead=*/true, [&](OpBuilder &b, Value inWrite, Value inRead) {
    for (unsigned operand : move.turned) {
      Value value = emitter.load(b, op->getOpOperand(operand));
      memref::StoreOp::create(b, loc, value, memory[operand], ValueRange{inWrite, inRead});
    }
  });
  gpu::BarrierOp::create(b, loc);
  emitter.turned = memory;
  forEach(/*alongRead=*/false, [&](OpBuilder &b, Value inWrite, Value inRead) {
    emitter.turnedPlace = {inWrite, inRead};
    emitter.emitElements(b);
  });
}
