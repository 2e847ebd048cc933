//===- ReducePass.cpp - --spmd-reduce -------------------------------------===//

#include "ReducePass.h"
#include "FirstWrong.h"
#include "Reductions.h"

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {
struct ReducePass : public PassWrapper<ReducePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReducePass)
  ReducePass() = default;
  ReducePass(const ReducePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "spmd-reduce"; }
  StringRef getDescription() const override {
    return "Make a sharded program that shows a fault smaller: drop results and "
           "annotations, replace ops by operands and arguments, shrink meshes";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, SPMDDialect>();
  }

  Option<std::string> test{*this, "test",
                           llvm::cl::desc("Script that is run with a file; it exits with "
                                          "0 where the fault is gone")};
  Option<bool> firstWrong{*this, "first-wrong",
                          llvm::cl::desc("In place of a script: shard-run --verify=values finds a first wrong value "
                                         "of the same op, after the same kinds of collectives")};
  ListOption<std::string> runArgs{*this, "run-arg",
                                  llvm::cl::desc("Arguments of shard-run with first-wrong; default --random-inputs=1")};
  ListOption<std::string> testArgs{*this, "test-arg", llvm::cl::desc("Arguments of the script before the file")};

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (firstWrong ? failed(findWrong(module)) : failed(readScript(module)))
      return signalPassFailure();
    auto isInteresting = [&](ModuleOp candidate) {
      return firstWrong ? findFirstWrong(candidate, runArguments) == wrong
                        : tester.isInteresting(candidate).first == Tester::Interestingness::True;
    };
    OwningOpRef<ModuleOp> best = module.clone();
    // An edit can enable another one.
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Reduction &reduction : getReductions())
        for (unsigned i = 0; i < reduction.count(*best);) {
          OwningOpRef<ModuleOp> candidate = best->clone();
          // Only edits that shrink the program, so that the loop terminates.
          if (apply(reduction, *candidate, i) && getSize(*candidate) < getSize(*best) && isInteresting(*candidate)) {
            best = std::move(candidate);
            changed = true; // index i is another edit now
          } else {
            ++i;
          }
        }
    }
    module.getBodyRegion().takeBody(best->getBodyRegion());
  }

private:
  LogicalResult readScript(ModuleOp module) {
    if (!llvm::sys::fs::can_execute(test))
      return emitError(module.getLoc()) << "test=\"" << test << "\" cannot be executed, expected a script";
    scriptArguments.assign(testArgs.begin(), testArgs.end());
    tester.setTestScript(test);
    tester.setTestScriptArgs(scriptArguments);
    if (tester.isInteresting(module).first != Tester::Interestingness::True)
      return emitError(module.getLoc()) << "the test script does not find the program interesting, "
                                           "expected exit status other than 0";
    return success();
  }

  LogicalResult findWrong(ModuleOp module) {
    if (!test.empty())
      return emitError(module.getLoc()) << "test and first-wrong, expected one of them";
    runArguments.assign(runArgs.begin(), runArgs.end());
    if (runArguments.empty())
      runArguments.push_back("--random-inputs=1");
    if (wrong = findFirstWrong(module, runArguments); !wrong)
      return emitError(module.getLoc())
             << "shard-run --verify=values finds no wrong value in the program, expected one";
    return success();
  }

  /// The size of a program: ops, then the printed text, then devices.
  static std::tuple<unsigned, size_t, int64_t> getSize(ModuleOp module) {
    unsigned ops = 0;
    int64_t devices = 0;
    module.walk([&](Operation *op) {
      ++ops;
      if (auto mesh = dyn_cast<MeshOp>(op))
        for (MeshAxisAttr axis : mesh.getMesh().getAxes())
          devices += axis.getSize();
    });
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return {ops, text.size(), devices};
  }

  static bool apply(const Reduction &reduction, ModuleOp candidate, unsigned index) {
    if (!reduction.apply(candidate, index))
      return false;
    eraseUnused(candidate);
    // Edits may produce invalid IR.
    ScopedDiagnosticHandler quiet(candidate.getContext(), [](Diagnostic &) { return success(); });
    return succeeded(verify(candidate));
  }

  Tester tester;
  std::vector<std::string> scriptArguments, runArguments;
  std::optional<WrongOp> wrong; ///< Of the program as given.
};
} // namespace

void spmd::registerReducePass() { PassRegistration<ReducePass>(); }
