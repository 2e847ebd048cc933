//===- Normalize.cpp - Programs in the form that is compared --------------===//

#include "shardkit/Proof/Normalize.h"
#include "SequentialLoops.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

static bool hasTosa(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa_and_nonnull<tosa::TosaDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The passes that the compiler's targets lower tosa with.
static LogicalResult lowerTosa(ModuleOp module) {
  PassManager passes(module.getContext());
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createTosaToSCFPass());
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToTensorPass());
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  functions.addPass(createTosaToArithPass(arith));
  return passes.run(module);
}

FailureOr<SmallVector<std::string>> proof::normalize(ModuleOp global, ModuleOp local) {
  SmallVector<std::string> done{"inline", "canonicalize"};
  PassManager passes(global.getContext());
  passes.addPass(createInlinerPass());
  passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  if (failed(passes.run(global)))
    return failure();
  if (hasTosa(global) || hasTosa(local)) {
    done.push_back("tosa-to-linalg");
    if (failed(lowerTosa(global)) || failed(lowerTosa(local)))
      return failure();
  }
  makeSequential(global);
  makeSequential(local);
  return done;
}
