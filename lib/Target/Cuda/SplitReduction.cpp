//===- SplitReduction.cpp - Reductions by several threads -----------------===//

#include "SplitReduction.h"
#include "PieceEmitter.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace mlir::spmd::cuda;

/// Reductions with fewer terms are not split.
static constexpr int64_t kFewTerms = 32;
/// Blocks that keep a GPU busy.
static constexpr int64_t kManyBlocks = 512;
/// Terms of a thread in a chunk; and the number of chunks that justifies a second kernel.
static constexpr int64_t kTermsOfChunk = 32;
static constexpr int64_t kMinChunks = 4;

/// Combines the outputs with the result of another block or thread.
static SmallVector<Value> combineShares(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split, ValueRange mine,
                                        ValueRange theirs) {
  if (split.selection)
    return pickOne(b, op, *split.selection, mine, theirs);
  SmallVector<Value> values;
  for (auto [combiner, x, y] : llvm::zip_equal(split.combiners, mine, theirs))
    values.push_back(combine(b, combiner, x, y));
  return values;
}

std::optional<SplitReduction> spmd::cuda::getSplitReduction(linalg::LinalgOp op, int64_t threads) {
  SplitReduction split;
  SmallVector<unsigned> loops = getReductionLoops(op);
  if (loops.empty() || !isReducedInAllOutputs(op))
    return std::nullopt;
  // Unknown where a size is.
  std::optional<int64_t> terms = 1, results = 1;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    std::optional<int64_t> &count = llvm::is_contained(loops, loop) ? terms : results;
    count = ShapedType::isDynamic(size) || !count ? std::nullopt : std::optional(*count * size);
  }
  for (unsigned k = 0; k < op.getRegionOutputArgs().size(); ++k) {
    SmallVector<Operation *> found;
    if (!matchReduction(op.getRegionOutputArgs(), k, found) || found.size() != 1 || !getStart(found[0]))
      break;
    split.combiners.push_back(found[0]);
  }
  if (split.combiners.size() != op.getRegionOutputArgs().size()) {
    split.combiners.clear();
    split.fromFirst = isAssociativeSelection(op);
    // Threads without terms read one of others.
    if (!terms || (!split.fromFirst && !isSelection(op)))
      return std::nullopt;
    split.selection = getSelection(op);
  }
  split.pieces = getPieces(op);
  // Adjacent threads read operands that are contiguous along the terms.
  split.alongTerms = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return isa<MemRefType>(input->get().getType()) && map.getNumResults() &&
           map.getResults().back().isFunctionOfDim(loops.back());
  });
  // One thread per result suffices for many results with a column each.
  if (terms.value_or(kFewTerms) < kFewTerms || (!split.alongTerms && results.value_or(0) >= 64 * 1024))
    return std::nullopt;
  const bool isLong = terms ? *terms >= 8 * threads : results && *results < kManyBlocks;
  split.splits = split.alongTerms ? (isLong ? threads : 32) : threads / 32;
  if (!terms || !results)
    return split;
  // Depends on the sizes only, so that the order is deterministic.
  const int64_t blocks = llvm::divideCeil(*results, threads / split.splits);
  int64_t chunks = std::min(kManyBlocks / std::max<int64_t>(blocks, 1), *terms / (split.splits * kTermsOfChunk));
  if (chunks >= kMinChunks)
    split.chunks = llvm::divideCeil(*terms, llvm::divideCeil(*terms, chunks));
  return split;
}

OpFoldResult spmd::cuda::countBlocks(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split, int64_t threads) {
  AffineExpr results = b.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(b, op.getLoc(), results.ceilDiv(threads / split.splits) * split.chunks,
                                               {countPieces(b, op, split.pieces)});
}

linalg::LinalgOp spmd::cuda::emitPartials(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split,
                                          SmallVectorImpl<Value> &partials) {
  Location loc = op.getLoc();
  const unsigned rank = split.pieces.loops.size();
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> dims(op.getNumLoops(), b.getAffineConstantExpr(0));
  for (auto [i, loop] : llvm::enumerate(split.pieces.loops)) {
    shape.push_back(op.getStaticLoopRanges()[loop]);
    dims[loop] = b.getAffineDimExpr(i);
  }
  shape.push_back(split.chunks);
  SmallVector<Value> inits(op.getDpsInits());
  for (Value init : inits)
    partials.push_back(memref::AllocOp::create(b, loc, MemRefType::get(shape, getElementTypeOrSelf(init))));
  SmallVector<AffineMap> maps(inits.size(), b.getMultiDimIdentityMap(rank + 1));
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init).replaceDimsAndSymbols(dims, {}, rank + 1, 0));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(op);
  return linalg::GenericOp::create(b, loc, partials, inits, maps, iterators,
                                   [&](OpBuilder &b, Location loc, ValueRange arguments) {
                                     ValueRange theirs = arguments.take_front(inits.size());
                                     ValueRange mine = arguments.drop_front(inits.size());
                                     linalg::YieldOp::create(b, loc, combineShares(b, op, split, mine, theirs));
                                   });
}

void spmd::cuda::emitSplitReduction(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split, int64_t threads,
                                    gpu::GPUFuncOp kernel, ValueRange partials) {
  Location loc = op.getLoc();
  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(b, loc, i); };
  const int64_t results = threads / split.splits;
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value fast = arith::RemUIOp::create(b, loc, thread, index(split.alongTerms ? split.splits : results));
  Value slow = arith::DivUIOp::create(b, loc, thread, index(split.alongTerms ? split.splits : results));
  Value threadOfResult = split.alongTerms ? fast : slow, lane = split.alongTerms ? slow : fast;
  // The terms of the block.
  OpFoldResult terms = countTerms(b, op);
  Value begin = index(0), end = getValueOrCreateConstantIndexOp(b, loc, terms), chunk;
  int64_t chunkSize = getConstantIntValue(terms).value_or(0); // If it is known.
  if (split.chunks > 1) {
    chunkSize = llvm::divideCeil(chunkSize, split.chunks);
    chunk = arith::RemUIOp::create(b, loc, block, index(split.chunks));
    block = arith::DivUIOp::create(b, loc, block, index(split.chunks));
    begin = arith::MulIOp::create(b, loc, chunk, index(chunkSize));
    end = arith::MinUIOp::create(b, loc, arith::AddIOp::create(b, loc, begin, index(chunkSize)), end);
  }
  Value firstResult = arith::MulIOp::create(b, loc, block, index(results));
  Value id = arith::AddIOp::create(b, loc, firstResult, lane);
  Value count = getValueOrCreateConstantIndexOp(b, loc, countPieces(b, op, split.pieces));
  Value isReal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id, count);

  // Threads without a result participate with a result of this block, as other blocks may write theirs.
  PieceEmitter emitter(op, split.pieces);
  Value safe = arith::SelectOp::create(b, loc, isReal, id, firstResult);
  emitter.choosePiece(b, safe);
  SmallVector<Value> sums;
  Value first = arith::AddIOp::create(b, loc, begin, threadOfResult);
  Value busy = index(split.splits); // threads of a result with terms
  if (split.selection) {
    const int64_t ofThread = llvm::divideCeil(chunkSize, split.splits);
    Value each = index(ofThread), last = arith::SubIOp::create(b, loc, end, index(1));
    Value count = arith::SubIOp::create(b, loc, end, begin);
    busy = arith::DivUIOp::create(b, loc, arith::AddIOp::create(b, loc, count, index(ofThread - 1)), each);
    // Threads without terms read a term of others, and are not combined.
    first = arith::AddIOp::create(b, loc, begin, arith::MulIOp::create(b, loc, threadOfResult, each));
    first = arith::MinUIOp::create(b, loc, first, last);
    end = arith::MinUIOp::create(b, loc, arith::AddIOp::create(b, loc, first, each), end);
    sums = emitter.loadInits(b);
    if (split.fromFirst) {
      emitter.chooseTerm(b, first);
      sums = emitter.emitTerm(b, sums, split.selection->candidate);
      first = arith::AddIOp::create(b, loc, first, index(1));
    }
  }
  for (Operation *combiner : split.combiners)
    sums.push_back(arith::ConstantOp::create(b, loc, getStart(combiner)));
  sums = emitter.emitTerms(b, first, end, split.selection ? 1 : split.splits, sums);

  SmallVector<Value> shared;
  for (Value sum : sums) {
    shared.push_back(addShared(kernel, {threads}, sum.getType()));
    memref::StoreOp::create(b, loc, sum, shared.back(), thread);
  }
  gpu::BarrierOp::create(b, loc);
  auto loadAll = [&](OpBuilder &b, Value at) {
    SmallVector<Value> values;
    for (Value memory : shared)
      values.push_back(memref::LoadOp::create(b, loc, memory, at));
    return values;
  };
  // A tree of halves, in a deterministic order. Selections must be in the order of the
  // terms.
  const int64_t stride = split.alongTerms ? 1 : results;
  for (int64_t step = 1; step < split.splits; step *= 2) {
    int64_t distance = split.selection ? step : split.splits / 2 / step;
    Value partner = arith::AddIOp::create(b, loc, threadOfResult, index(distance));
    Value adds = split.selection
                     ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, partner, busy)
                     : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, threadOfResult, index(distance));
    if (split.selection)
      adds = arith::AndIOp::create(
          b, loc, adds,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                arith::AndIOp::create(b, loc, threadOfResult, index(2 * step - 1)), index(0)));
    auto guard = scf::IfOp::create(b, loc, adds, /*withElseRegion=*/false);
    OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
    Value other =
        arith::AddIOp::create(inside, loc, thread, arith::ConstantIndexOp::create(inside, loc, distance * stride));
    SmallVector<Value> both = combineShares(inside, op, split, loadAll(inside, thread), loadAll(inside, other));
    for (auto [value, memory] : llvm::zip_equal(both, shared))
      memref::StoreOp::create(inside, loc, value, memory, thread);
    gpu::BarrierOp::create(b, loc);
  }
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, threadOfResult, index(0));
  auto guard = scf::IfOp::create(b, loc, arith::AndIOp::create(b, loc, isFirst, isReal),
                                 /*withElseRegion=*/false);
  OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
  SmallVector<Value> totals = loadAll(inside, thread);
  if (split.chunks == 1)
    return emitter.storeAll(inside, combineShares(inside, op, split, emitter.loadInits(inside), totals));
  SmallVector<Value> indices;
  for (unsigned loop : split.pieces.loops)
    indices.push_back(emitter.ivs[loop]);
  indices.push_back(chunk);
  for (auto [total, memory] : llvm::zip_equal(totals, partials))
    memref::StoreOp::create(inside, loc, total, memory, indices);
}
