//===- Bufferize.cpp - From tensors to memrefs inside functions -----------===//

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "shardkit/Target/CPU/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUBUFFERIZE
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

/// memref.copy of strided memrefs lowers to a call of a library that programs
/// do not have: a copy that is no memcpy becomes loops.
static bool isMemcpy(MemRefType from, MemRefType to) {
  return from.getLayout().isIdentity() && to.getLayout().isIdentity();
}

namespace {
struct Bufferize : spmd::impl::SpmdCpuBufferizeBase<Bufferize> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    IRRewriter rewriter(&getContext());
    bufferization::OneShotBufferizationOptions options;
    options.copyBeforeWrite = copyBeforeWrite;
    options.allowReturnAllocsFromLoops = copyBeforeWrite;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (!copyBeforeWrite)
        if (failed(bufferization::eliminateEmptyTensors(rewriter, func)))
          return signalPassFailure();
      bufferization::BufferizationState state;
      if (failed(bufferization::runOneShotBufferize(func, options, state)))
        return signalPassFailure();
    }
    SmallVector<memref::CopyOp> copies;
    module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      auto from = dyn_cast<MemRefType>(copy.getSource().getType());
      auto to = dyn_cast<MemRefType>(copy.getTarget().getType());
      if (copy.getSource() == copy.getTarget()) {
        copy.erase();
        continue;
      }
      if (!from || !to || isMemcpy(from, to))
        continue;
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    }
  }
};
} // namespace
