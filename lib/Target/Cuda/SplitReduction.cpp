//===- SplitReduction.cpp - Reductions by several threads -----------------===//

#include "SplitReduction.h"
#include "PieceEmitter.h"
#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace mlir::spmd::cuda;

/// Fewer terms than this are no work to share.
static constexpr int64_t kFewTerms = 32;

std::optional<SplitReduction> spmd::cuda::getSplitReduction(linalg::LinalgOp op,
                                                            int64_t threads) {
  SplitReduction split;
  int64_t terms = 1, results = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<unsigned> loops = getReductionLoops(op);
  if (loops.empty() || llvm::any_of(ranges, ShapedType::isDynamic))
    return std::nullopt;
  for (auto [loop, size] : llvm::enumerate(ranges))
    (llvm::is_contained(loops, loop) ? terms : results) *= size;
  for (unsigned k = 0; k < op.getRegionOutputArgs().size(); ++k) {
    SmallVector<Operation *> found;
    if (!matchReduction(op.getRegionOutputArgs(), k, found) || found.size() != 1 ||
        !getStart(found[0]))
      break;
    split.combiners.push_back(found[0]);
  }
  if (split.combiners.size() != op.getRegionOutputArgs().size()) {
    split.combiners.clear();
    split.fromFirst = isAssociativeSelection(op);
    if (!split.fromFirst && !isSelection(op))
      return std::nullopt;
    split.selection = getSelection(op);
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
  const int64_t results = threads / split.splits, terms = countTerms(op);
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
  Value first = part, end = index(terms);
  int64_t parts = split.splits; // that have terms
  if (split.selection) {
    int64_t share = llvm::divideCeil(terms, parts);
    parts = llvm::divideCeil(terms, share);
    // Threads without terms look at one that others have, and meet nobody.
    first = arith::MinUIOp::create(b, loc, arith::MulIOp::create(b, loc, part, index(share)),
                                   index(terms - 1));
    end = arith::MinUIOp::create(b, loc, arith::AddIOp::create(b, loc, first, index(share)), end);
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
  auto combineAll = [&](OpBuilder &b, ValueRange mine, ValueRange theirs) {
    if (split.selection)
      return pickOne(b, op, *split.selection, mine, theirs);
    SmallVector<Value> values;
    for (auto [combiner, x, y] : llvm::zip_equal(split.combiners, mine, theirs))
      values.push_back(combine(b, combiner, x, y));
    return values;
  };
  // Halves are added to halves, the same order every time; what is picked must stay in the
  // order of the terms.
  const int64_t stride = split.alongTerms ? 1 : results;
  for (int64_t step = 1; step < split.splits; step *= 2) {
    int64_t distance = split.selection ? step : split.splits / 2 / step;
    Value adds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, part,
                                       index(split.selection ? std::max<int64_t>(parts - distance, 0) : distance));
    if (split.selection)
      adds = arith::AndIOp::create(
          b, loc, adds,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                arith::AndIOp::create(b, loc, part, index(2 * step - 1)), index(0)));
    auto guard = scf::IfOp::create(b, loc, adds, /*withElseRegion=*/false);
    OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
    Value other = arith::AddIOp::create(
        inside, loc, thread, arith::ConstantIndexOp::create(inside, loc, distance * stride));
    SmallVector<Value> both = combineAll(inside, loadAll(inside, thread), loadAll(inside, other));
    for (auto [value, memory] : llvm::zip_equal(both, shared))
      memref::StoreOp::create(inside, loc, value, memory, thread);
    gpu::BarrierOp::create(b, loc);
  }
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, index(0));
  auto guard = scf::IfOp::create(b, loc, arith::AndIOp::create(b, loc, isFirst, isReal),
                                 /*withElseRegion=*/false);
  OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
  SmallVector<Value> totals =
      combineAll(inside, emitter.loadInits(inside), loadAll(inside, thread));
  emitter.storeAll(inside, totals);
}

