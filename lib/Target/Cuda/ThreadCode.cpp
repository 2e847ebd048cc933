//===- ThreadCode.cpp - What one thread does of a linalg op ---------------===//

#include "ThreadCode.h"
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

/// Whether an operand is read or written side by side as `loop` runs, from places that
/// are aligned to `width` elements.
static bool isSideBySide(Value buffer, AffineMap map, unsigned loop, int64_t width) {
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

namespace {
class PieceEmitter {
public:
  PieceEmitter(linalg::LinalgOp op, const Pieces &pieces)
      : op(op), pieces(pieces), loc(op.getLoc()), maps(op.getIndexingMapsArray()) {}

  void emit(OpBuilder &b, Value id) {
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
    SmallVector<unsigned> reductions;
    for (auto [i, type] : llvm::enumerate(op.getIteratorTypesArray()))
      if (type != utils::IteratorType::parallel)
        reductions.push_back(i);
    if (reductions.empty())
      return emitElements(b);
    SmallVector<Value> sums;
    for (OpOperand &init : op.getDpsInitsMutable())
      sums.push_back(load(b, init));
    emitReduction(b, reductions, sums);
    for (auto [init, sum] : llvm::zip_equal(op.getDpsInitsMutable(), sums))
      memref::StoreOp::create(b, loc, sum, init.get(), place(b, init));
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
  Value load(OpBuilder &b, OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(b, loc, operand.get(), place(b, operand));
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

  void emitElements(OpBuilder &b) {
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
  VectorType vectorOf(OpOperand &operand) {
    return VectorType::get({pieces.width}, getElementTypeOrSelf(operand.get()));
  }

  linalg::LinalgOp op;
  const Pieces &pieces;
  Location loc;
  SmallVector<AffineMap> maps;
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> ivs;
};
} // namespace

void spmd::cuda::emitPiece(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces, Value id) {
  PieceEmitter(op, pieces).emit(b, id);
}
