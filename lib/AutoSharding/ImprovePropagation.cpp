//===- ImprovePropagation.cpp - A better default plan ---------------------===//
//
// 1. The propagated plan is priced as it will run: with the reshards of --spmd-insert-reshards.
//    One without communication is kept, unless the mesh has `memory`.
// 2. The solver starts from it and looks for changes; where it exceeds the memory of the mesh,
//    for those with which it fits.
// 3. What it found is priced as it will run: where ops choose their strategies by cost, and with
//    those that the solver chose. The cheapest of the three plans stands; of equal ones the first.
//
//===----------------------------------------------------------------------===//

#include "shardkit/AutoSharding/ImprovePropagation.h"
#include "shardkit/AutoSharding/ConstraintPrices.h"
#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Reshard/ComputePlan.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::spmd;

/// A plan within this fraction of the lower bound is not searched further.
static constexpr double kGap = 0.01;
/// Entries of tables that the solver may visit: about a second.
static constexpr double kWorkLimit = 1 << 30;
/// A third plan replaces one that is better than the propagated one if it is cheaper by this fraction.
static constexpr double kMinFurtherGain = 1e-3;

namespace {

class PropagationImprover {
public:
  PropagationImprover(FunctionPropagation &functions, FunctionMeshes &meshes, const ImprovementOptions &options,
                      CallOperandLayouts &callOperands)
      : functions(functions), propagation(functions.getPropagation()), meshes(meshes), options(options),
        callOperands(callOperands) {}

  LogicalResult run();

private:
  std::optional<PlanSeconds> writeAndPrice() { return getSecondsAsLowered(functions, meshes, options); }
  void restore(ArrayRef<ShardingId> layouts);

  FunctionPropagation &functions;
  Propagation &propagation;
  FunctionMeshes &meshes;
  const ImprovementOptions &options;
  CallOperandLayouts &callOperands;
};

} // namespace

/// Four digits, so that the order of a sum does not show.
static FloatAttr getRounded(double seconds, Builder &b) {
  double rounded = 0;
  (void)llvm::to_float(llvm::formatv("{0:E3}", seconds).str(), rounded);
  return b.getF64FloatAttr(rounded);
}

std::optional<PlanSeconds> spmd::getSecondsAsLowered(FunctionPropagation &functions, FunctionMeshes &meshes,
                                                     const ImprovementOptions &options) {
  functions.write();
  // Errors are those of the phase that lowers the plan.
  ScopedDiagnosticHandler quiet(functions.getFunctions().front().getContext(), [](Diagnostic &) { return success(); });
  PlanSeconds sum;
  for (func::FuncOp func : functions.getFunctions()) {
    if (!func.getBody().hasOneBlock())
      return std::nullopt;
    ComputePlan plan(func, meshes, &functions.getPrices());
    if (failed(decideCompute(plan, options.propagation.tripCount, options.defersReductions, /*isTrial=*/true)))
      return std::nullopt;
    auto calls = func->getAttrOfType<IntegerAttr>(kCallsAttr);
    sum.add(getSeconds(plan, options.propagation.tripCount), calls ? calls.getInt() : 1);
  }
  return sum;
}

void PropagationImprover::restore(ArrayRef<ShardingId> layouts) {
  callOperands.clear();
  for (func::FuncOp func : functions.getFunctions())
    forgetStrategies(func);
  for (auto [id, layout] : llvm::enumerate(layouts))
    propagation.set(id, propagation.getShardings().get(layout));
}

LogicalResult PropagationImprover::run() {
  std::optional<PlanSeconds> before = writeAndPrice();
  if (!before || (before->getSum() == 0 && !meshes.getCostMesh().memory))
    return success();
  const double mostSeconds = before->getMaxSum(kMaxImprovedFraction);
  std::vector<ShardingId> propagated;
  for (unsigned id = 0; id < propagation.getNumClasses(); ++id)
    propagated.push_back(propagation.getShardingId(id));

  SearchOptions searchOptions;
  searchOptions.propagation = options.propagation;
  searchOptions.improvesPropagation = true;
  searchOptions.gap = kGap;
  searchOptions.timeLimit = std::numeric_limits<double>::infinity();
  searchOptions.workLimit = kWorkLimit;
  auto search = FunctionSearch::create(meshes, functions, searchOptions);
  if (failed(search))
    return failure();
  SearchResult result = (*search)->run();
  if (result.choices.empty())
    result.choices = result.smallest; // none fits
  else
    remarkConstraintPrices(**search, result);
  // A propagated plan that the solver can run for less gets its strategies: in the problem, constants are free to read.
  if (result.choices.empty() ||
      (result.objective >= mostSeconds && result.choices == (*search)->getProblem().getPropagated()))
    return success();

  std::optional<bool> written; // whether the present plan has every strategy
  auto write = [&](bool everyStrategy) {
    if (written)
      restore(propagated);
    (*search)->write(result, callOperands, everyStrategy);
    written = everyStrategy;
  };
  // A plan that needs less memory may take more time than one that does not fit.
  const double unlimited = std::numeric_limits<double>::infinity();
  double least = before->getSum(), limit = result.startFits ? mostSeconds : unlimited;
  std::optional<bool> best; // whether it has every strategy
  for (bool everyStrategy : {false, true}) {
    write(everyStrategy);
    std::optional<PlanSeconds> seconds = writeAndPrice();
    if (!seconds || seconds->getSum() >= limit)
      continue;
    least = seconds->getSum();
    limit = least * (1 - kMinFurtherGain);
    best = everyStrategy;
  }
  if (!best) {
    restore(propagated);
    return success();
  }
  if (*written != *best)
    write(*best);
  Builder b(functions.getFunctions().front().getContext());
  SmallVector<NamedAttribute> said{b.getNamedAttr("improved", getRounded(least, b)),
                                   b.getNamedAttr("propagated", getRounded(before->getSum(), b))};
  if (!result.startFits)
    said.push_back(b.getNamedAttr("for_memory", b.getUnitAttr()));
  auto times = b.getDictionaryAttr(said);
  for (func::FuncOp func : functions.getFunctions())
    func->setAttr(kImprovedAttr, times);
  return success();
}

LogicalResult spmd::improvePropagation(FunctionPropagation &functions, FunctionMeshes &meshes,
                                       const ImprovementOptions &options, CallOperandLayouts &callOperands) {
  return PropagationImprover(functions, meshes, options, callOperands).run();
}
