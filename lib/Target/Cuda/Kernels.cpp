//===- Kernels.cpp - Kernels of ops on buffers ----------------------------===//

#include "KernelModule.h"
#include "RowCode.h"
#include "ScatterCode.h"
#include "SplitReduction.h"
#include "TiledMove.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCUDAKERNELS
#include "shardkit/Target/Cuda/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::cuda;

static constexpr int64_t kThreads = 256;

namespace {
/// Makes kernels of the ops on buffers of a function, by the first rule that applies:
///
/// 1. A loop nest with small ops becomes a kernel of one block.
/// 2. A linalg op becomes a kernel on the full device: rows, a scatter, a transpose by
///    squares, a split reduction, or pieces.
/// 3. A store of the host becomes a kernel of one thread.
struct Kernels : spmd::impl::SpmdCudaKernelsBase<Kernels> {
  using Base::Base;

  //===--------------------------------------------------------------------===//
  // A linalg op on the full device
  //===--------------------------------------------------------------------===//

  void launchScatter(linalg::LinalgOp op, const DeviceScatter &scatter);
  void launchLinalg(linalg::LinalgOp op);
  void launchRows(RowsOp op);

  //===--------------------------------------------------------------------===//
  // A nest on one block
  //===--------------------------------------------------------------------===//

  bool isSmall(MemRefType type) const { return type.hasStaticShape() && type.getNumElements() <= blockIterations; }

  /// Whether a loop or a branch has no results and only small ops.
  bool isBlockNest(Operation *op);

  /// Emits `op` for a block; its threads share the iterations.
  void shareLinalg(OpBuilder &b, linalg::LinalgOp op);
  void emitNested(OpBuilder &b, Operation *op, IRMapping &mapping);
  void launchNest(Operation *op);
  void launchStore(memref::StoreOp op);

  //===--------------------------------------------------------------------===//
  // The host
  //===--------------------------------------------------------------------===//

  void processBlock(Block &block);
  void runOnOperation() override;

  KernelModule *kernels = nullptr;
};
} // namespace

void Kernels::launchScatter(linalg::LinalgOp op, const DeviceScatter &scatter) {
  OpBuilder b(op);
  SmallVector<linalg::LinalgOp> made;
  Value links = emitLinks(b, op, scatter, made);
  for (linalg::LinalgOp each : made)
    launchLinalg(each);
  SmallVector<unsigned> loops = scatter.getLoops();
  LaunchShape shape{affine::makeComposedFoldedAffineApply(b, op.getLoc(), b.getAffineSymbolExpr(0).ceilDiv(kThreads),
                                                          {countIterations(b, op, loops)}),
                    kThreads};
  auto body = [&](OpBuilder &b, IRMapping &mapping) {
    auto copy = cast<linalg::LinalgOp>(b.clone(*op.getOperation(), mapping));
    Location loc = copy.getLoc();
    Value id = getGlobalThread(b, loc, kThreads);
    Value size = getValueOrCreateConstantIndexOp(b, loc, countIterations(b, copy, loops));
    Value busy = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id, size);
    auto guard = scf::IfOp::create(b, loc, busy, /*withElseRegion=*/false);
    OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
    emitScatter(inside, copy, *getDeviceScatter(copy), mapping.lookup(links), id);
    copy->erase();
  };
  kernels->replace(op, "scatter", shape, body, links);
}

void Kernels::launchLinalg(linalg::LinalgOp op) {
  if (std::optional<DeviceScatter> scatter = getDeviceScatter(op))
    return launchScatter(op, *scatter);
  OpBuilder b(op);
  Location loc = op.getLoc();
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  if (std::optional<SplitReduction> split = getSplitReduction(op, kThreads)) {
    LaunchShape shape{countBlocks(b, op, *split, kThreads), kThreads};
    SmallVector<Value> partials;
    linalg::LinalgOp ofPartials;
    if (split->chunks > 1)
      ofPartials = emitPartials(b, op, *split, partials);
    auto body = [&](OpBuilder &b, IRMapping &mapping) {
      auto copy = cast<linalg::LinalgOp>(b.clone(*op.getOperation(), mapping));
      auto kernel = cast<gpu::GPUFuncOp>(b.getInsertionBlock()->getParentOp());
      SmallVector<Value> inside;
      for (Value memory : partials)
        inside.push_back(mapping.lookup(memory));
      emitSplitReduction(b, copy, *getSplitReduction(copy, kThreads), kThreads, kernel, inside);
      copy->erase();
    };
    kernels->replace(op, "reduction", shape, body, partials);
    if (ofPartials)
      launchLinalg(ofPartials);
    return;
  }
  if (std::optional<TiledMove> move = getTiledMove(op)) {
    LaunchShape shape{countTiles(b, op, *move), kThreads};
    kernels->replace(op, "transpose", shape, [&](OpBuilder &b, IRMapping &mapping) {
      auto copy = cast<linalg::LinalgOp>(b.clone(*op.getOperation(), mapping));
      auto kernel = cast<gpu::GPUFuncOp>(b.getInsertionBlock()->getParentOp());
      emitTiledMove(b, copy, *move, kThreads, kernel);
      copy->erase();
    });
    return;
  }
  Pieces pieces = getPieces(op);
  OpFoldResult count = countPieces(b, op, pieces);
  LaunchShape shape{affine::makeComposedFoldedAffineApply(b, loc, s0.ceilDiv(kThreads), {count}), kThreads};
  // A block that is not full: no more threads than iterations, in full warps.
  if (std::optional<int64_t> known = getConstantIntValue(count); known && *known < kThreads)
    shape.threads = std::max<int64_t>(32, llvm::alignTo(*known, 32));
  kernels->replace(op, "linalg", shape, [&](OpBuilder &b, IRMapping &mapping) {
    auto copy = cast<linalg::LinalgOp>(b.clone(*op.getOperation(), mapping));
    Value id = getGlobalThread(b, loc, shape.threads);
    Value size = getValueOrCreateConstantIndexOp(b, loc, countPieces(b, copy, pieces));
    Value busy = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id, size);
    auto guard = scf::IfOp::create(b, loc, busy, /*withElseRegion=*/false);
    OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
    emitPiece(inside, copy, pieces, id);
    copy->erase();
  });
}

void Kernels::launchRows(RowsOp op) {
  RowShape shape = getRowShape(op);
  OpBuilder b(op);
  OpFoldResult blocks = affine::makeComposedFoldedAffineApply(
      b, op.getLoc(), b.getAffineSymbolExpr(0).ceilDiv(shape.rowsPerBlock), {countRows(b, op)});
  kernels->replace(op, "rows", {blocks, shape.blockThreads()}, [&](OpBuilder &b, IRMapping &mapping) {
    auto copy = cast<RowsOp>(b.clone(*op, mapping));
    auto kernel = cast<gpu::GPUFuncOp>(b.getInsertionBlock()->getParentOp());
    emitRows(b, copy, shape, kernel);
    copy->erase();
  });
}

bool Kernels::isBlockNest(Operation *op) {
  if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>(op) || op->getNumResults())
    return false;
  return !op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
              if (inner == op)
                return WalkResult::advance();
              bool fits;
              if (auto linalgOp = dyn_cast<linalg::LinalgOp>(inner)) {
                int64_t iterations = 1;
                for (int64_t size : linalgOp.getStaticLoopRanges())
                  iterations = ShapedType::isDynamic(size) ? blockIterations + 1 : iterations * size;
                fits = iterations <= blockIterations;
                return fits ? WalkResult::skip() : WalkResult::interrupt();
              }
              if (auto copy = dyn_cast<memref::CopyOp>(inner))
                fits = isSmall(cast<MemRefType>(copy.getSource().getType()));
              else if (auto alloc = dyn_cast<memref::AllocOp>(inner))
                fits = alloc.getType().hasStaticShape();
              else
                fits = isa<memref::LoadOp, memref::StoreOp, memref::GetGlobalOp, memref::DimOp, ViewLikeOpInterface>(
                           inner) ||
                       isa<arith::ArithDialect, math::MathDialect, index::IndexDialect, affine::AffineDialect,
                           scf::SCFDialect, ub::UBDialect>(inner->getDialect());
              return fits ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

void Kernels::shareLinalg(OpBuilder &b, linalg::LinalgOp op) {
  Location loc = op.getLoc();
  Pieces pieces = getPieces(op);
  Value count = getValueOrCreateConstantIndexOp(b, loc, countPieces(b, op, pieces));
  // Other threads may still read the overwritten elements.
  gpu::BarrierOp::create(b, loc);
  auto loop = scf::ForOp::create(b, loc, getThread(b, loc), count, arith::ConstantIndexOp::create(b, loc, kThreads));
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  emitPiece(inside, op, pieces, loop.getInductionVar());
  op->erase();
  gpu::BarrierOp::create(b, loc);
}

void Kernels::emitNested(OpBuilder &b, Operation *op, IRMapping &mapping) {
  Location loc = op->getLoc();
  if (isa<linalg::LinalgOp>(op)) {
    shareLinalg(b, cast<linalg::LinalgOp>(b.clone(*op, mapping)));
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    Value from = mapping.lookupOrDefault(copy.getSource());
    Value to = mapping.lookupOrDefault(copy.getTarget());
    shareLinalg(b, linalg::makeMemRefCopyOp(b, loc, from, to));
  } else if (isa<memref::StoreOp>(op)) {
    // Other threads may still read the overwritten elements.
    gpu::BarrierOp::create(b, loc);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, getThread(b, loc),
                                          arith::ConstantIndexOp::create(b, loc, 0));
    auto guard = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
    OpBuilder inside = OpBuilder::atBlockBegin(guard.thenBlock());
    inside.clone(*op, mapping);
    gpu::BarrierOp::create(b, loc);
  } else if (op->getNumRegions()) {
    Operation *copy = op->cloneWithoutRegions(mapping);
    b.insert(copy);
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
      for (Block &block : from) {
        Block *inner = &to.emplaceBlock();
        for (BlockArgument arg : block.getArguments())
          mapping.map(arg, inner->addArgument(arg.getType(), arg.getLoc()));
        OpBuilder inside = OpBuilder::atBlockEnd(inner);
        for (Operation &nested : block)
          emitNested(inside, &nested, mapping);
      }
  } else {
    b.clone(*op, mapping);
  }
}

void Kernels::launchNest(Operation *op) {
  // Its buffers are on the host.
  op->walk([&](Operation *inner) {
    if (isa<memref::AllocOp, memref::GetGlobalOp>(inner))
      inner->moveBefore(op);
  });
  kernels->replace(op, "nest", {OpBuilder(op).getIndexAttr(1), kThreads, /*communicates=*/true},
                   [&](OpBuilder &b, IRMapping &mapping) { emitNested(b, op, mapping); });
}

void Kernels::launchStore(memref::StoreOp op) {
  Location loc = op.getLoc();
  kernels->replace(op, "store", {OpBuilder(op).getIndexAttr(1), 1},
                   [&](OpBuilder &b, IRMapping &mapping) { b.clone(*op, mapping); });
  (void)loc;
}

void Kernels::processBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      launchLinalg(linalgOp);
    } else if (auto copy = dyn_cast<memref::CopyOp>(op); copy && copy.getSource() == copy.getTarget()) {
      copy.erase(); // copies of views, which became trivial by the mapping
    } else if (auto rows = dyn_cast<RowsOp>(op)) {
      launchRows(rows);
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      launchStore(store);
    } else if (isBlockNest(&op)) {
      launchNest(&op);
    } else {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          processBlock(inner);
    }
  }
}

void Kernels::runOnOperation() {
  ModuleOp module = getOperation();
  KernelModule all(module);
  kernels = &all;
  for (auto func : llvm::to_vector(module.getOps<func::FuncOp>()))
    for (Block &block : func.getBody())
      processBlock(block);
}
