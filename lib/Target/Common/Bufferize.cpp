//===- Bufferize.cpp - From tensors to memrefs inside functions -----------===//

#include "shardkit/Target/Common/Passes.h"
#include "shardkit/Target/IR/CudaOps.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETBUFFERIZE
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

/// memref.copy of strided memrefs lowers to a call of a library that programs lack: a copy
/// other than memcpy becomes loops. Canonicalization folds casts away.
static bool isMemcpy(memref::CopyOp copy) {
  return llvm::all_of(copy->getOperands(), [](Value buffer) {
    while (true) {
      if (!cast<MemRefType>(buffer.getType()).getLayout().isIdentity())
        return false;
      auto cast = buffer.getDefiningOp<memref::CastOp>();
      if (!cast)
        return true;
      buffer = cast.getSource();
    }
  });
}

/// The buffer of the caller that `buffer` is, with or without sizes (DestinationPassing.cpp); null for others.
static BlockArgument getArgument(Value buffer) {
  while (isa_and_nonnull<memref::ReinterpretCastOp, memref::CastOp>(buffer.getDefiningOp()))
    buffer = buffer.getDefiningOp()->getOperand(0);
  return dyn_cast<BlockArgument>(buffer);
}

/// Whether two buffers of the caller may alias: those of tied pairs.
static bool mayShare(Value a, Value b) {
  auto isShared = [](Value value) {
    auto arg = dyn_cast<BlockArgument>(value);
    auto func = arg ? dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp()) : func::FuncOp();
    return func && !func.getArgAttr(arg.getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName());
  };
  return a == b || (isShared(a) && isShared(b));
}

/// The stores of results at the end of a function are simultaneous: one store may
/// overwrite a buffer that another one reads, as other values may be computed in the
/// buffer of a result or an argument. One-shot analysis ignores writes to memrefs.
static void orderStores(func::FuncOp func) {
  Block &body = func.getBody().front();
  Operation *terminator = body.getTerminator();
  SmallVector<memref::CopyOp> stores;
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    auto copy = dyn_cast<memref::CopyOp>(op);
    if (copy && getArgument(copy.getTarget()))
      stores.push_back(copy);
    else if (!isMemoryEffectFree(&op) && !isa<memref::StoreOp>(op))
      break;
  }
  BufferViewFlowAnalysis views(func);
  auto reads = [&](memref::CopyOp copy, Value buffer) {
    return llvm::any_of(views.resolveReverse(copy.getSource()),
                        [&](Value root) { return mayShare(root, getArgument(buffer)); });
  };
  std::reverse(stores.begin(), stores.end());
  llvm::erase_if(stores, [](memref::CopyOp copy) { return copy.getSource() == copy.getTarget(); });
  while (!stores.empty()) {
    auto *next = llvm::find_if(stores, [&](memref::CopyOp copy) {
      return llvm::none_of(stores,
                           [&](memref::CopyOp other) { return other != copy && reads(other, copy.getTarget()); });
    });
    if (next == stores.end()) { // they go round in a circle
      next = stores.begin();
      OpBuilder b(stores.front());
      for (memref::CopyOp other : stores) {
        if (other == *next || !reads(other, next->getTarget()))
          continue;
        b.setInsertionPoint(terminator);
        auto type = cast<MemRefType>(other.getTarget().getType());
        SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, other.getLoc(), other.getTarget());
        Value saved = memref::AllocOp::create(b, other.getLoc(), sizes, type.getElementType());
        memref::CopyOp::create(b, other.getLoc(), other.getSource(), saved);
        other.getSourceMutable().assign(saved);
      }
    }
    (*next)->moveBefore(terminator);
    stores.erase(next);
  }
}

/// SubViewOp::getDroppedDims only considers the strides of the source: a view that drops
/// dims and has steps becomes two views.
static void splitSteppingView(IRRewriter &rewriter, memref::SubViewOp view) {
  MemRefType source = view.getSourceType(), type = view.getType();
  if (source.getRank() == type.getRank() ||
      llvm::all_of(view.getStaticStrides(), [](int64_t stride) { return stride == 1; }))
    return;
  rewriter.setInsertionPoint(view);
  auto full = memref::SubViewOp::create(rewriter, view.getLoc(), view.getSource(), view.getMixedOffsets(),
                                        view.getMixedSizes(), view.getMixedStrides());
  std::optional<SmallVector<ReassociationIndices>> groups =
      getReassociationIndicesForCollapse(full.getType().getShape(), type.getShape());
  if (!groups)
    return;
  Value reduced = memref::CollapseShapeOp::create(rewriter, view.getLoc(), full, *groups);
  if (reduced.getType() != type)
    reduced = memref::CastOp::create(rewriter, view.getLoc(), type, reduced);
  rewriter.replaceOp(view, reduced);
}

/// Upstream allocates one buffer for an empty tensor that several ops write. If a loop
/// starts from it and its body writes it too, that write destroys the results of earlier
/// iterations. The analysis misses the conflict, as the initial contents are undefined.
/// Each use gets a separate empty tensor, with the views in between.
static void splitEmptyTensors(IRRewriter &rewriter, func::FuncOp func) {
  llvm::SetVector<Operation *> empties; // views after their sources
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tensor::EmptyOp>(op) ||
        (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op) &&
         empties.contains(op->getOperand(0).getDefiningOp())))
      empties.insert(op);
  });
  for (Operation *empty : llvm::reverse(empties))
    for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
      if (empty->hasOneUse())
        break;
      rewriter.setInsertionPoint(use.getOwner());
      use.set(rewriter.clone(*empty)->getResult(0));
    }
}

/// Bufferizes with values computed in their final destinations. Upstream may choose a
/// destination whose old contents a loop still needs, and then reject its choice: in this
/// case the function does not change, and the result is false.
static bool bufferizeInDestinations(IRRewriter &rewriter, func::FuncOp func,
                                    const bufferization::OneShotBufferizationOptions &options) {
  OwningOpRef<func::FuncOp> before = func.clone();
  ScopedDiagnosticHandler quiet(func.getContext(), [](Diagnostic &) { return success(); });
  bufferization::BufferizationState state;
  if (succeeded(bufferization::eliminateEmptyTensors(rewriter, func)) &&
      succeeded(bufferization::runOneShotBufferize(func, options, state)))
    return true;
  func.getBody().takeBody(before->getBody());
  return false;
}

/// The size of a dim of a buffer as the op that makes it has it; null for other ops.
static OpFoldResult findSize(Value buffer, int64_t d) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  if (auto view = buffer.getDefiningOp<memref::ReinterpretCastOp>())
    return view.getMixedSizes()[d];
  if (auto expand = buffer.getDefiningOp<memref::ExpandShapeOp>())
    return expand.getMixedOutputShape()[d];
  if (auto view = buffer.getDefiningOp<memref::SubViewOp>()) {
    llvm::SmallBitVector dropped = view.getDroppedDims();
    for (auto [i, size] : llvm::enumerate(view.getMixedSizes()))
      if (!dropped.test(i) && d-- == 0)
        return size;
  }
  return {};
}

/// Bounds of buffers are found by the sizes that they were made with.
static void foldDims(IRRewriter &rewriter, ModuleOp module) {
  SmallVector<memref::DimOp> dims;
  module.walk([&](memref::DimOp dim) { dims.push_back(dim); });
  for (memref::DimOp dim : dims) {
    std::optional<int64_t> d = dim.getConstantIndex();
    OpFoldResult size = d ? findSize(dim.getSource(), *d) : OpFoldResult();
    if (!size)
      continue;
    rewriter.setInsertionPoint(dim);
    rewriter.replaceOp(dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), size));
  }
}

/// Reshapes of dense buffers of unknown size become views with their sizes: upstream's expansion of their strides ends
/// in an error of its own.
static void lowerReshape(IRRewriter &rewriter, Operation *op) {
  Value source = op->getOperand(0);
  auto from = cast<MemRefType>(source.getType()), to = cast<MemRefType>(op->getResult(0).getType());
  if ((from.hasStaticShape() && to.hasStaticShape()) || !from.getLayout().isIdentity() || !to.getLayout().isIdentity())
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  AffineExpr product = rewriter.getAffineSymbolExpr(0) * rewriter.getAffineSymbolExpr(1);
  SmallVector<OpFoldResult> sizes, strides(to.getRank());
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
      OpFoldResult size = rewriter.getIndexAttr(1);
      for (int64_t d : group)
        size = affine::makeComposedFoldedAffineApply(rewriter, loc, product,
                                                     {size, memref::getMixedSize(rewriter, loc, source, d)});
      sizes.push_back(size);
    }
  } else {
    sizes = cast<memref::ExpandShapeOp>(op).getMixedOutputShape();
  }
  OpFoldResult stride = rewriter.getIndexAttr(1);
  for (int64_t d = to.getRank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = affine::makeComposedFoldedAffineApply(rewriter, loc, product, {stride, sizes[d]});
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(op, to, source, rewriter.getIndexAttr(0), sizes, strides);
}

namespace {
struct Bufferize : spmd::impl::SpmdTargetBufferizeBase<Bufferize> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    IRRewriter rewriter(&getContext());
    bufferization::OneShotBufferizationOptions options;
    options.copyBeforeWrite = copyBeforeWrite;
    // Its region computes on values.
    options.opFilter.denyOperation([](Operation *op) { return op->getParentOfType<spmd::cuda::RowsOp>() != nullptr; });
    options.allowReturnAllocsFromLoops = copyBeforeWrite;
    // Upstream folds x xor x of unknown size to a constant, which nothing gives its size.
    WalkResult constants = module.walk([](arith::ConstantOp constant) {
      auto type = dyn_cast<ShapedType>(constant.getType());
      if (!type || type.hasStaticShape())
        return WalkResult::advance();
      constant.emitError() << "a constant has type " << type << ", expected a static shape";
      return WalkResult::interrupt();
    });
    if (constants.wasInterrupted())
      return signalPassFailure();
    for (auto func : module.getOps<func::FuncOp>()) {
      bufferization::BufferizationState state;
      splitEmptyTensors(rewriter, func);
      if ((copyBeforeWrite || !bufferizeInDestinations(rewriter, func, options)) &&
          failed(bufferization::runOneShotBufferize(func, options, state)))
        return signalPassFailure();
      orderStores(func);
    }
    SmallVector<Operation *> reshapes;
    module.walk([&](Operation *op) {
      if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
        reshapes.push_back(op);
    });
    for (Operation *op : reshapes)
      lowerReshape(rewriter, op);
    foldDims(rewriter, module);
    SmallVector<memref::SubViewOp> views;
    module.walk([&](memref::SubViewOp view) { views.push_back(view); });
    for (memref::SubViewOp view : views)
      splitSteppingView(rewriter, view);
    SmallVector<memref::CopyOp> copies;
    module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      auto from = dyn_cast<MemRefType>(copy.getSource().getType());
      auto to = dyn_cast<MemRefType>(copy.getTarget().getType());
      if (copy.getSource() == copy.getTarget()) {
        copy.erase();
        continue;
      }
      if (!from || !to || isMemcpy(copy))
        continue;
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    }
  }
};
} // namespace
