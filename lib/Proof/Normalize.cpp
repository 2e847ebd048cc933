//===- Normalize.cpp - Programs in the form that is compared --------------===//

#include "shardkit/Proof/Normalize.h"
#include "LoadingFunctions.h"
#include "ScheduleSteps.h"
#include "SequentialLoops.h"
#include "shardkit/Dialect/SPMD/IR/ByteArguments.h"
#include "shardkit/Dialect/SPMD/IR/DroppedDims.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

static bool hasTosa(Operation *op) {
  return op
      ->walk([](Operation *op) {
        return isa_and_nonnull<tosa::TosaDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Runs passes on a module or a function. If one fails, as it does not know an op, the module or function stays as it
/// is: the op is not modelled.
template <typename Op> static void runIfPossible(Op op, llvm::function_ref<void(PassManager &)> build) {
  ScopedDiagnosticHandler silent(op->getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<Op> copy = cast<Op>(op->clone());
  PassManager passes(op->getContext(), Op::getOperationName());
  // Programs that the compiler takes are compared, also those that are undefined.
  passes.enableVerifier(false);
  build(passes);
  if (succeeded(passes.run(*copy)))
    op->getRegion(0).takeBody(copy.get()->getRegion(0));
}

/// The passes that the compiler's targets lower tosa with.
static void lowerTosa(OpPassManager &functions) {
  functions.addPass(createTosaToSCFPass());
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToTensorPass());
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  functions.addPass(createTosaToArithPass(arith));
}

/// tosa.concat as tensor.concat: upstream's lowering inserts the operands one after the other.
static void rewriteConcats(ModuleOp module) {
  SmallVector<tosa::ConcatOp> ops;
  module.walk([&](tosa::ConcatOp op) { ops.push_back(op); });
  for (tosa::ConcatOp op : ops) {
    auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
    if (!llvm::all_of(op->getOperandTypes(), isTensor) || !isTensor(op.getType()))
      continue;
    OpBuilder b(op);
    Value concat = tensor::ConcatOp::create(b, op.getLoc(), op.getType(), op.getAxis(), op.getInput1());
    op.replaceAllUsesWith(concat);
    op.erase();
  }
}

/// Ops of linalg that stand for several ones.
static void decompose(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<linalg::SoftmaxOp, linalg::PackOp, linalg::UnPackOp>(op))
      ops.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (auto pack = dyn_cast<linalg::PackOp>(op)) {
      (void)linalg::lowerPack(rewriter, pack, /*lowerPadLikeWithInsertSlice=*/false);
    } else if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
      (void)linalg::lowerUnPack(rewriter, unpack, /*lowerUnpadLikeWithExtractSlice=*/false);
    } else if (FailureOr<SmallVector<Value>> results = cast<linalg::SoftmaxOp>(op).decomposeOperation(rewriter);
               succeeded(results)) {
      rewriter.replaceOp(op, *results);
    }
  }
}

void proof::getNormalFormDialects(DialectRegistry &registry) {
  OpPassManager passes(ModuleOp::getOperationName());
  lowerTosa(passes.nest<func::FuncOp>());
  passes.addPass(createInlinerPass());
  passes.getDependentDialects(registry);
  registry.insert<linalg::LinalgDialect, tensor::TensorDialect, scf::SCFDialect, arith::ArithDialect>();
}

SmallVector<std::string> proof::normalize(ModuleOp global, ModuleOp local) {
  SmallVector<std::string> done{"inline", "canonicalize", "cse"};
  (void)replaceSchedules(local);
  writeLoaderCopies(local);
  if (llvm::none_of(local.getOps<func::FuncOp>(), hasByteWeights))
    passBytes(global);
  makeDroppedDimsExplicit(global);
  runIfPossible(global, [](PassManager &passes) {
    passes.addPass(createInlinerPass());
    passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
    passes.addNestedPass<func::FuncOp>(createCSEPass());
  });
  if (hasTosa(global) || hasTosa(local)) {
    rewriteConcats(global);
    rewriteConcats(local);
    done.push_back("tosa-to-linalg");
    for (ModuleOp module : {global, local})
      for (func::FuncOp func : llvm::to_vector(module.getOps<func::FuncOp>()))
        if (hasTosa(func))
          runIfPossible(func, lowerTosa);
  }
  for (ModuleOp module : {global, local}) {
    decompose(module);
    makeSequential(module);
    expandGathers(module);
  }
  return done;
}
