//===- PieceEmitter.h - Code for one piece ---------------------*- C++ -*--===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_PIECEEMITTER_H
#define SHARDKIT_LIB_TARGET_CUDA_PIECEEMITTER_H

#include "ThreadCode.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spmd::cuda {

SmallVector<unsigned> getReductionLoops(linalg::LinalgOp op);
SmallVector<OpFoldResult> getLoopSizes(OpBuilder &b, linalg::LinalgOp op);
/// The number of iterations of the reduction loops.
OpFoldResult countTerms(OpBuilder &b, linalg::LinalgOp op);

/// Emits the code of a thread for an op, at the current indices of its loops.
class PieceEmitter {
public:
  PieceEmitter(linalg::LinalgOp op, const Pieces &pieces)
      : op(op), pieces(pieces), loc(op.getLoc()), maps(op.getIndexingMapsArray()) {}

  void emit(OpBuilder &b, Value id) {
    choosePiece(b, id);
    SmallVector<unsigned> reductions = getReductionLoops(op);
    if (reductions.empty())
      return emitElements(b);
    if (!isReducedInAllOutputs(op))
      return emitEachTerm(b, reductions);
    SmallVector<Value> sums = loadInits(b);
    emitReduction(b, reductions, sums);
    storeAll(b, sums);
  }

  /// Sets the parallel `ivs` to those of piece `id`.
  void choosePiece(OpBuilder &b, Value id) {
    sizes = getLoopSizes(b, op);
    ivs.assign(sizes.size(), Value());
    for (size_t k = pieces.loops.size(); k-- > 0;) {
      unsigned loop = pieces.loops[k];
      bool isLast = k + 1 == pieces.loops.size();
      if (k == 0) {
        ivs[loop] = id;
      } else {
        AffineExpr s0 = b.getAffineSymbolExpr(0);
        Value size =
            value(b, isLast ? affine::makeComposedFoldedAffineApply(b, loc, s0.floorDiv(pieces.width), {sizes[loop]})
                            : sizes[loop]);
        ivs[loop] = arith::RemUIOp::create(b, loc, id, size);
        id = arith::DivUIOp::create(b, loc, id, size);
      }
      if (isLast && pieces.width > 1)
        ivs[loop] = arith::MulIOp::create(b, loc, ivs[loop], index(b, pieces.width));
    }
  }

  /// Terms `first`, `first + step`, ... before `end`, the last loop fastest.
  SmallVector<Value> emitTerms(OpBuilder &b, Value first, Value end, int64_t step, ValueRange starts) {
    auto loop = scf::ForOp::create(b, loc, first, end, index(b, step), starts);
    OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
    chooseTerm(inside, loop.getInductionVar());
    SmallVector<Value> sums(loop.getRegionIterArgs());
    emitReduction(inside, {}, sums);
    scf::YieldOp::create(inside, loc, sums);
    return SmallVector<Value>(loop.getResults());
  }

  /// Sets the `ivs` of reduction loops to those of a term.
  void chooseTerm(OpBuilder &b, Value term) {
    SmallVector<unsigned> loops = getReductionLoops(op);
    for (unsigned k = loops.size(); k-- > 0;) {
      Value size = value(b, sizes[loops[k]]);
      ivs[loops[k]] = k == 0 ? term : arith::RemUIOp::create(b, loc, term, size);
      if (k > 0)
        term = arith::DivUIOp::create(b, loc, term, size);
    }
  }

  /// Emits the body on the outputs at the current `ivs`; returns the yielded or other values.
  SmallVector<Value> emitTerm(OpBuilder &b, ValueRange held, ValueRange wanted = {}) {
    SmallVector<Value> arguments;
    for (OpOperand *input : op.getDpsInputOperands())
      arguments.push_back(load(b, *input));
    llvm::append_range(arguments, held);
    return emitPayload(b, op, arguments, ivs, {}, wanted);
  }

  SmallVector<Value> loadInits(OpBuilder &b) {
    SmallVector<Value> values;
    for (OpOperand &init : op.getDpsInitsMutable())
      values.push_back(load(b, init));
    return values;
  }
  void storeAll(OpBuilder &b, ValueRange values) {
    for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), values))
      memref::StoreOp::create(b, loc, value, init.get(), getIndices(b, init));
  }

  void emitElements(OpBuilder &b);
  Value load(OpBuilder &b, OpOperand &operand) {
    if (Value memory = turned.lookup(operand.getOperandNumber()))
      return memref::LoadOp::create(b, loc, memory, transposedIndices);
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(b, loc, operand.get(), getIndices(b, operand));
  }

private:
  static Value index(OpBuilder &b, int64_t i) { return arith::ConstantIndexOp::create(b, b.getUnknownLoc(), i); }
  Value value(OpBuilder &b, OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, loc, size); }

  /// The indices of an operand at the current `ivs`.
  SmallVector<Value> getIndices(OpBuilder &b, OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<Value> indices;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      indices.push_back(
          value(b, affine::makeComposedFoldedAffineApply(b, loc, map.getSubMap({i}), getAsOpFoldResult(ivs))));
    return indices;
  }

  void emitReduction(OpBuilder &b, ArrayRef<unsigned> loops, SmallVectorImpl<Value> &sums) {
    if (loops.empty()) {
      sums = emitTerm(b, sums);
      return;
    }
    auto loop = scf::ForOp::create(b, loc, index(b, 0), value(b, sizes[loops.front()]), index(b, 1), sums);
    OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
    ivs[loops.front()] = loop.getInductionVar();
    SmallVector<Value> inner(loop.getRegionIterArgs());
    emitReduction(inside, loops.drop_front(), inner);
    scf::YieldOp::create(inside, loc, inner);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }

  /// Loads and stores the outputs for each term.
  void emitEachTerm(OpBuilder &b, ArrayRef<unsigned> loops) {
    if (loops.empty())
      return emitElements(b);
    auto loop = scf::ForOp::create(b, loc, index(b, 0), value(b, sizes[loops.front()]), index(b, 1));
    OpBuilder inside(loop.getBody()->getTerminator());
    ivs[loops.front()] = loop.getInductionVar();
    emitEachTerm(inside, loops.drop_front());
  }

  VectorType vectorOf(OpOperand &operand) {
    return VectorType::get({pieces.width}, getElementTypeOrSelf(operand.get()));
  }

public:
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> ivs;
  /// Operands in shared memory, by number, with their indices there.
  DenseMap<unsigned, Value> turned;
  SmallVector<Value> transposedIndices;

private:
  linalg::LinalgOp op;
  const Pieces &pieces;
  Location loc;
  SmallVector<AffineMap> maps;
};

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_PIECEEMITTER_H
