// Computes each op of a model in shards, as its sharding rule permits, and compares:   check-rules model.mlir
#include "Toy.h"
#include "shardkit/InitAllDialects.h"
#include "shardkit/Rules/CheckRule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::spmd;

/// The one result of an op of the dialect.
static FailureOr<TensorValues> interpret(Operation *op, ArrayRef<TensorValue> in) {
  TensorValue out(cast<RankedTensorType>(op->getResult(0).getType()));
  forEachIndex(out.type.getShape(), [&](ArrayRef<int64_t> i) {
    const int64_t columns = in.empty() ? 0 : in[0].type.getDimSize(1);
    double &element = out.at(i);
    if (isa<toy::LinearOp>(op)) {
      for (int64_t k = 0; k < columns; ++k)
        element += in[0].at({i[0], k}) * in[1].at({i[1], k});
    } else if (isa<toy::RowMaxOp>(op)) {
      element = in[0].at({i[0], 0});
      for (int64_t k = 1; k < columns; ++k)
        element = std::max(element, in[0].at({i[0], k}));
    } else if (auto fill = dyn_cast<toy::FillOp>(op)) {
      element = fill.getValue().convertToDouble();
    } else if (auto smooth = dyn_cast<toy::SmoothOp>(op)) {
      for (int64_t j = 0; j < int64_t(smooth.getWidth()); ++j)
        if (int64_t k = i[1] + j - int64_t(smooth.getPadding()); k >= 0 && k < columns)
          element += in[0].at({i[0], k});
    }
  });
  return TensorValues{out};
}

static void printFactors(StringRef text, ArrayRef<int32_t> factors) {
  if (factors.empty())
    return;
  llvm::outs() << "; " << text << ": factors ";
  llvm::interleaveComma(factors, llvm::outs());
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  spmd::registerAllDialects(registry);
  registry.insert<toy::ToyDialect, arith::ArithDialect, func::FuncDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[argc - 1], &context);
  if (!module)
    return 1;
  WalkResult result = module->walk([&](Operation *op) {
    if (!isa_and_nonnull<toy::ToyDialect>(op->getDialect()))
      return WalkResult::advance();
    FailureOr<RuleCheck> check = checkShardingRule(op, interpret);
    if (failed(check))
      return WalkResult::interrupt();
    llvm::outs() << op->getName() << ": equal in " << check->cases << " shardings";
    printFactors("even only", check->even);
    printFactors("replicated, as an attribute may hold their size", check->replicated);
    llvm::outs() << "\n";
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}
