//===- DecomposePass.cpp - Ops that have no local form --------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Passes.h"

#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDDECOMPOSEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// An average counts the places that are no padding: all of them in the middle of the
/// image, fewer at its border, which is on some devices only.
static bool hasNoLocalForm(Operation *op) {
  auto pool = dyn_cast<tosa::AvgPool2dOp>(op);
  if (!pool || op->hasAttr(kRuleAttr))
    return false;
  auto isStatic = [](Type type) {
    auto ranked = dyn_cast<RankedTensorType>(type);
    return ranked && ranked.hasStaticShape() &&
           !ranked.getElementType().isUnsignedInteger(); // has another type in linalg
  };
  return llvm::any_of(pool.getPad(), [](int64_t places) { return places != 0; }) &&
         llvm::all_of(op->getOperandTypes(), isStatic) && isStatic(pool.getType());
}

namespace {

struct DecomposePass : public spmd::impl::SPMDDecomposePassBase<DecomposePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyPhaseAtMost(module, Phase::Annotated, getArgument())))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    if (!module.getOps<MeshOp>().empty())
      module.walk([&](Operation *op) {
        if (hasNoLocalForm(op))
          ops.push_back(op);
      });
    if (ops.empty())
      return;
    if (getPhase(module) < int(Phase::Annotated))
      makeConstraintsOfShardings(module);
    TypeConverter converter;
    tosa::populateTosaTypeConversion(converter);
    RewritePatternSet patterns(&getContext());
    tosa::populateTosaToLinalgNamedConversionPatterns(converter, &patterns,
                                                      TosaToLinalgNamedOptions());
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *op) { return !hasNoLocalForm(op); });
    if (failed(applyPartialConversion(ops, target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
