//===- Outline.cpp - Loop nests of a long function as functions -----------===//

#include "NestFunctions.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUOUTLINE
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {
struct Outline : spmd::impl::SpmdCpuOutlineBase<Outline> {
  using Base::Base;

  static bool isNest(Operation &op) {
    if (op.getNumResults() || !(isa<scf::ForOp>(op) || isa<linalg::LinalgOp>(op)))
      return false;
    // A failing call returns early from its function, and allocations are planned for
    // the function that they are in.
    return !op.walk([](Operation *inner) {
                return isa<func::CallOp, memref::AllocOp, memref::AllocaOp>(inner) ? WalkResult::interrupt()
                                                                                   : WalkResult::advance();
              }).wasInterrupted();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    cpu::NestFunctions functions(module, "nest_");
    SmallVector<func::FuncOp> funcs(module.getOps<func::FuncOp>());
    for (func::FuncOp func : funcs) {
      if (func.isExternal() || !func.getBody().hasOneBlock())
        continue;
      SmallVector<Operation *> found;
      for (Operation &op : func.getBody().front())
        if (isNest(op))
          found.push_back(&op);
      if (int64_t(found.size()) < minNests)
        continue;
      for (Operation *nest : found) {
        auto [function, params] =
            functions.get(nest, {}, {}, [&](OpBuilder &b, ValueRange, IRMapping &mapping) { b.clone(*nest, mapping); });
        if (!function)
          continue;
        OpBuilder b(nest);
        func::CallOp::create(b, nest->getLoc(), function, params);
        nest->erase();
      }
    }
  }
};
} // namespace
