//===- ThreadCode.cpp - Code of one thread for a linalg op ----------------===//

#include "PieceEmitter.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::spmd::cuda;

/// The bytes of one access of a thread.
static constexpr int64_t kVectorBytes = 16;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

bool spmd::cuda::isSideBySide(Value buffer, AffineMap map, unsigned loop, int64_t width) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || type.getRank() == 0 || !type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() < 8)
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset) || offset % width ||
      strides.back() != 1)
    return false;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    bool isLast = i + 1 == map.getNumResults();
    if (isLast) {
      if (expr != getAffineDimExpr(loop, map.getContext()))
        return false;
    } else if (expr.isFunctionOfDim(loop) || ShapedType::isDynamic(strides[i]) || strides[i] % width) {
      return false;
    }
  }
  return true;
}

Pieces spmd::cuda::getPieces(linalg::LinalgOp op) {
  Pieces pieces;
  auto iterators = op.getIteratorTypesArray();
  auto maps = op.getIndexingMapsArray();
  // An op with only an assertion has no result.
  AffineMap out = op.getNumDpsInits() ? maps[op.getNumDpsInputs()] : AffineMap::get(op.getContext());
  auto isParallel = [&](unsigned loop) { return iterators[loop] == utils::IteratorType::parallel; };
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
      widest = std::max<int64_t>(widest, cast<MemRefType>(operand.get().getType()).getElementTypeBitWidth() / 8);
  if (widest == 0)
    return pieces;
  for (int64_t width = kVectorBytes / widest; width > 1; width /= 2) {
    if (size % width)
      continue;
    // Stores of vectors have priority.
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
SmallVector<OpFoldResult> spmd::cuda::getLoopSizes(OpBuilder &b, linalg::LinalgOp op) {
  SmallVector<OpFoldResult> sizes;
  for (Range range : op.createLoopRanges(b, op.getLoc()))
    sizes.push_back(range.size);
  return sizes;
}

OpFoldResult spmd::cuda::countIterations(OpBuilder &b, linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  SmallVector<OpFoldResult> sizes = getLoopSizes(b, op);
  OpFoldResult count = b.getIndexAttr(1);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  for (unsigned loop : loops)
    count = affine::makeComposedFoldedAffineApply(b, op.getLoc(), s0 * s1, {count, sizes[loop]});
  return count;
}

OpFoldResult spmd::cuda::countPieces(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces) {
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(b, op.getLoc(), s0.floorDiv(pieces.width),
                                               {countIterations(b, op, pieces.loops)});
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

SmallVector<unsigned> spmd::cuda::getReductionLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  for (auto [i, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type != utils::IteratorType::parallel)
      loops.push_back(i);
  return loops;
}

bool spmd::cuda::isReducedInAllOutputs(linalg::LinalgOp op) {
  SmallVector<unsigned> loops = getReductionLoops(op);
  return llvm::none_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return llvm::any_of(loops, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  });
}

OpFoldResult spmd::cuda::countTerms(OpBuilder &b, linalg::LinalgOp op) {
  return countIterations(b, op, getReductionLoops(op));
}

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
    } else if (width > 1 &&
               isSideBySide(operand.get(), op.getMatchingIndexingMap(&operand), pieces.loops.back(), width)) {
      Value vector = vector::LoadOp::create(b, loc, vectorOf(operand), operand.get(), getIndices(b, operand));
      for (int64_t lane = 0; lane < width; ++lane)
        lanes[lane].push_back(vector::ExtractOp::create(b, loc, vector, lane));
    } else if (width > 1 && !isa<MemRefType>(operand.get().getType())) {
      for (auto &lane : lanes)
        lane.push_back(operand.get());
    } else if (width > 1 && !op.getMatchingIndexingMap(&operand).isFunctionOfDim(pieces.loops.back())) {
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
    results.push_back(emitPayload(b, op, lanes[lane], ivs));
  }
  setLane(0);
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (width == 1) {
      memref::StoreOp::create(b, loc, results[0][k], init.get(), getIndices(b, init));
      continue;
    }
    SmallVector<Value> elements;
    for (auto &lane : results)
      elements.push_back(lane[k]);
    Value vector = vector::FromElementsOp::create(b, loc, vectorOf(init), elements);
    vector::StoreOp::create(b, loc, vector, init.get(), getIndices(b, init));
  }
}

void spmd::cuda::emitPiece(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces, Value id) {
  PieceEmitter(op, pieces).emit(b, id);
}

Value spmd::cuda::addShared(gpu::GPUFuncOp kernel, ArrayRef<int64_t> shape, Type element) {
  MLIRContext *context = kernel.getContext();
  auto space = gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  unsigned number = kernel.getNumWorkgroupAttributions();
  Value memory = kernel.addWorkgroupAttribution(type, kernel.getLoc());
  // Otherwise LLVM assumes a larger alignment.
  kernel.setWorkgroupAttributionAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                                     IntegerAttr::get(IntegerType::get(context, 64), kVectorBytes));
  return memory;
}

SmallVector<Value> spmd::cuda::emitPayload(OpBuilder &b, linalg::LinalgOp op, ValueRange elements,
                                           ArrayRef<Value> loops, IRMapping mapping, ValueRange wanted) {
  Block *body = op.getBlock();
  mapping.map(body->getArguments(), elements);
  for (Operation &inner : body->without_terminator()) {
    if (auto at = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(at.getResult(), loops[at.getDim()]);
      continue;
    }
    b.clone(inner, mapping)->walk([&](linalg::IndexOp at) {
      at.replaceAllUsesWith(loops[at.getDim()]);
      at.erase();
    });
  }
  SmallVector<Value> results;
  for (Value result : wanted.empty() ? ValueRange(body->getTerminator()->getOperands()) : wanted)
    results.push_back(mapping.lookupOrDefault(result));
  return results;
}

Value spmd::cuda::combine(OpBuilder &b, Operation *combiner, Value x, Value y) {
  IRMapping mapping;
  mapping.map(combiner->getOperand(0), x);
  mapping.map(combiner->getOperand(1), y);
  return b.clone(*combiner, mapping)->getResult(0);
}

TypedAttr spmd::cuda::getStart(Operation *combiner) {
  // 0 + -0 is 0.
  if (auto add = dyn_cast<arith::AddFOp>(combiner))
    return FloatAttr::get(add.getType(), -0.0);
  return arith::getNeutralElement(combiner).value_or(TypedAttr());
}
