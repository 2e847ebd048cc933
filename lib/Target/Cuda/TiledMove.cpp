//===- TiledMove.cpp - Transposes by squares ------------------------------===//

#include "TiledMove.h"
#include "PieceEmitter.h"

using namespace mlir;
using namespace mlir::spmd::cuda;

/// Shared memory of a block without an explicit request.
static constexpr int64_t kSharedBytes = 48 * 1024;

/// The loop along which a buffer is contiguous.
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

/// One more column than needed, so that both directions avoid bank conflicts.
static constexpr int64_t kPitch = kTile + 1;
static int64_t bytesOfSquare(Type element) {
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return kTile * kPitch * llvm::divideCeil(bits, 8);
}

std::optional<TiledMove> spmd::cuda::getTiledMove(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() || op.getNumDpsInits() != 1)
    return std::nullopt;
  OpOperand *init = op.getDpsInitOperand(0);
  std::optional<unsigned> write = fastestLoop(init->get(), op.getMatchingIndexingMap(init));
  if (!write || !op.getMatchingIndexingMap(init).isPermutation())
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isSmall = [&](unsigned loop) { return !ShapedType::isDynamic(sizes[loop]) && sizes[loop] < kTile / 4; };
  std::optional<unsigned> read;
  TiledMove move;
  move.writeLoop = *write;
  int64_t bytes = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    std::optional<unsigned> fastest = fastestLoop(input->get(), map);
    // Reads along small dims hit the cache.
    if (!fastest || fastest == write || !map.isFunctionOfDim(*write) || (read && read != fastest) ||
        isSmall(*fastest) || isSmall(*write))
      continue;
    // Further operands are read through the cache, out of order.
    int64_t size = bytesOfSquare(getElementTypeOrSelf(input->get()));
    if (bytes + size > kSharedBytes)
      continue;
    bytes += size;
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

/// The number of squares along a loop of that size.
static OpFoldResult countAlong(OpBuilder &b, Location loc, OpFoldResult size) {
  return affine::makeComposedFoldedAffineApply(b, loc, b.getAffineSymbolExpr(0).ceilDiv(kTile), {size});
}

OpFoldResult spmd::cuda::countTiles(OpBuilder &b, linalg::LinalgOp op, const TiledMove &move) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = getLoopSizes(b, op);
  OpFoldResult tiles = countIterations(b, op, move.others);
  for (unsigned loop : {move.readLoop, move.writeLoop})
    tiles = affine::makeComposedFoldedAffineApply(b, loc, b.getAffineSymbolExpr(0) * b.getAffineSymbolExpr(1),
                                                  {tiles, countAlong(b, loc, sizes[loop])});
  return tiles;
}

void spmd::cuda::emitTiledMove(OpBuilder &b, linalg::LinalgOp op, const TiledMove &move, int64_t threads,
                               gpu::GPUFuncOp kernel) {
  Location loc = op.getLoc();
  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(b, loc, i); };
  auto mul = [&](Value x, int64_t y) { return arith::MulIOp::create(b, loc, x, index(y)); };
  Pieces pieces;
  PieceEmitter emitter(op, pieces);
  SmallVector<OpFoldResult> sizes = getLoopSizes(b, op);
  emitter.ivs.assign(sizes.size(), Value());
  auto value = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, loc, size); };
  Value sizeOfWrite = value(sizes[move.writeLoop]), sizeOfRead = value(sizes[move.readLoop]);
  Value left = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  auto take = [&](OpFoldResult size) -> Value {
    Value digit = arith::RemUIOp::create(b, loc, left, value(size));
    left = arith::DivUIOp::create(b, loc, left, value(size));
    return digit;
  };
  Value write = mul(take(countAlong(b, loc, sizes[move.writeLoop])), kTile);
  Value read = mul(take(countAlong(b, loc, sizes[move.readLoop])), kTile);
  for (unsigned loop : llvm::reverse(move.others))
    emitter.ivs[loop] = take(sizes[loop]);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value fast = arith::RemUIOp::create(b, loc, thread, index(kTile));
  Value slow = arith::DivUIOp::create(b, loc, thread, index(kTile));

  DenseMap<unsigned, Value> memory;
  for (unsigned operand : move.turned)
    memory[operand] = addShared(kernel, {kTile, kPitch}, getElementTypeOrSelf(op->getOperand(operand)));
  auto forEach = [&](bool alongRead, function_ref<void(OpBuilder &, Value, Value)> body) {
    for (int64_t row = 0; row < kTile; row += threads / kTile) {
      Value other = arith::AddIOp::create(b, loc, slow, index(row));
      Value inRead = alongRead ? fast : other, inWrite = alongRead ? other : fast;
      Value atRead = arith::AddIOp::create(b, loc, read, inRead);
      Value atWrite = arith::AddIOp::create(b, loc, write, inWrite);
      Value inside =
          arith::AndIOp::create(b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, atRead, sizeOfRead),
                                arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, atWrite, sizeOfWrite));
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
    emitter.transposedIndices = {inWrite, inRead};
    emitter.emitElements(b);
  });
}
