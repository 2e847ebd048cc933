//===- LowerTosa.cpp - From tosa to linalg --------------------------------===//

#include "ScatterMatch.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

/// Upstream lowers a cast between f16 and bf16 to a truncation, which LLVM rejects.
/// Converts by f32.
static void splitCast(tosa::CastOp cast) {
  auto from = cast.getInput().getType(), to = cast.getType();
  Type a = getElementTypeOrSelf(from), b = getElementTypeOrSelf(to);
  if (a == b || !isa<FloatType>(a) || !isa<FloatType>(b) || a.getIntOrFloatBitWidth() != b.getIntOrFloatBitWidth())
    return;
  OpBuilder builder(cast);
  Type wide = from.clone(builder.getF32Type());
  cast.getInputMutable().assign(tosa::CastOp::create(builder, cast.getLoc(), wide, cast.getInput()));
}

/// If only one of multiplier and shift is constant, upstream reads the other one as an
/// empty list, beyond its end (MLIR 22). In this case, hides that one is constant.
static void hideHalfConstants(tosa::RescaleOp rescale) {
  OpOperand &multiplier = rescale.getMultiplierMutable(), &shift = rescale.getShiftMutable();
  bool isConstant = matchPattern(multiplier.get(), m_Constant());
  if (isConstant == matchPattern(shift.get(), m_Constant()))
    return;
  OpOperand &hidden = isConstant ? multiplier : shift;
  OpBuilder builder(rescale);
  hidden.set(tensor::CastOp::create(builder, rescale.getLoc(), hidden.get().getType(), hidden.get()));
}

bool spmd::target::prepareTosa(ModuleOp module, bool expandsScatters) {
  bool found = false;
  module.walk([&](Operation *op) {
    found |= isa_and_nonnull<tosa::TosaDialect>(op->getDialect());
    if (auto cast = dyn_cast<tosa::CastOp>(op))
      splitCast(cast);
    if (isa<tosa::ScatterOp>(op) && expandsScatters && getAddressing(op))
      expandScatter(op);
  });
  // The other decompositions of upstream are optional, and that of a 1x1 depthwise
  // convolution of bytes pads i32 as i8 (MLIR 22).
  if (found) {
    RewritePatternSet patterns(module.getContext());
    tosa::populateTosaDecomposeTransposeConv(module.getContext(), patterns);
    (void)applyPatternsGreedily(module, std::move(patterns));
    // Last, as the driver above folds the ops that hide constants.
    module.walk(hideHalfConstants);
  }
  return found;
}

void spmd::target::buildLowerTosa(OpPassManager &pm) {
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createTosaToSCFPass());
  f.addPass(tosa::createTosaToLinalgNamed());
  f.addPass(tosa::createTosaToLinalg());
  f.addPass(createTosaToTensorPass());
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  f.addPass(createTosaToArithPass(arith));
  // Erases shapes without users.
  f.addPass(createCSEPass());
}
