//===- PlanComparison.cpp - Plans as they run -----------------------------===//

#include "PlanComparison.h"
#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Rules/ControlFlow.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Predicted seconds of the collectives of a final module, by function, with those that it calls.
class FinalCosts {
public:
  FinalCosts(ModuleOp module, int64_t tripCount) : module(module), meshes(module), tripCount(tripCount) {}

  /// None if the cost of a collective is unknown.
  std::optional<double> get(func::FuncOp func) {
    auto [it, isNew] = known.try_emplace(func, 0);
    if (!isNew)
      return it->second; // or a recursive call, which is not counted
    double seconds = 0;
    WalkResult walk = func.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        std::optional<double> inside = callee ? get(callee) : std::optional(0.0);
        if (!inside)
          return WalkResult::interrupt();
        seconds += *inside * countExecutions(op->getBlock(), tripCount);
      } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
        FailureOr<CollectiveMove> move = getMove(collective, meshes);
        if (failed(move))
          return WalkResult::interrupt();
        seconds +=
            (move->cost.seconds - (travelsAlong(op) ? move->latency : 0)) * countExecutions(op->getBlock(), tripCount);
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return std::nullopt;
    return known[func] = seconds;
  }

  /// The sum over functions that are outlined from `names`, as often as they run.
  std::optional<double> get(const llvm::StringSet<> &names) {
    llvm::StringMap<int64_t> runs;
    module.walk([&](RunOp run) { ++runs[run.getFunction()]; });
    double sum = 0;
    for (auto func : module.getOps<func::FuncOp>()) {
      int64_t times = runs.lookup(func.getName());
      if (times == 0 && !func.isPrivate() && names.contains(func.getName())) {
        auto calls = func->getAttrOfType<IntegerAttr>(kCallsAttr);
        times = calls ? calls.getInt() : 1;
      }
      if (times == 0 || func.isExternal())
        continue;
      std::optional<double> seconds = get(func);
      if (!seconds)
        return std::nullopt;
      sum += *seconds * times;
    }
    return sum;
  }

private:
  ModuleOp module;
  MeshCache meshes;
  int64_t tripCount;
  llvm::DenseMap<Operation *, double> known;
};

/// A plan after all phases.
struct FinalPlan {
  FinalPlan(ModuleOp plan, const PhaseOptions &options)
      : module(plan.clone()), isFinal(succeeded(runPhasesOnCopy(*module, options, Phase::Final))),
        costs(*module, options.tripCount) {}
  std::optional<double> getSeconds(const llvm::StringSet<> &names) { return isFinal ? costs.get(names) : std::nullopt; }

  OwningOpRef<ModuleOp> module;
  bool isFinal;
  FinalCosts costs;
};

} // namespace

/// Whether layouts of a function are those of others too.
static bool areConnected(ModuleOp module) {
  return !module.getOps<ScheduleOp>().empty() || llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) {
    return func.isPrivate() && !func.isExternal() && (func->hasAttr(kImprovedAttr) || func->hasAttr(kSolverAttr));
  });
}

static void replaceFunctions(ModuleOp module, ModuleOp plan, ArrayRef<std::string> names) {
  for (const std::string &name : names) {
    auto func = module.lookupSymbol<func::FuncOp>(name);
    OpBuilder(func).clone(*plan.lookupSymbol(name));
    func.erase();
  }
}

std::vector<BestPlan> spmd::keepBestPlans(ModuleOp module, ArrayRef<CandidatePlan> plans,
                                          ArrayRef<FunctionNames> groups, const PhaseOptions &options) {
  // Errors of a trial are those of the phase that meets them again.
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  std::vector<std::unique_ptr<FinalPlan>> finals;
  for (const CandidatePlan &plan : plans)
    finals.push_back(std::make_unique<FinalPlan>(plan.module, options));
  auto findBest = [&](const llvm::StringSet<> &names) {
    BestPlan best;
    best.seconds = best.firstSeconds = finals.front()->getSeconds(names);
    for (unsigned i = 1; i < plans.size(); ++i) {
      std::optional<double> seconds = finals[i]->getSeconds(names);
      bool isBetter = best.seconds && seconds && *seconds < *best.seconds * plans[i].maxFraction;
      if (isBetter || (finals[i]->isFinal && !finals[best.plan]->isFinal)) {
        best.plan = i;
        best.seconds = seconds;
      }
    }
    return best;
  };

  llvm::StringSet<> names;
  if (llvm::any_of(plans, [](const CandidatePlan &plan) { return areConnected(plan.module); })) {
    for (auto func : module.getOps<func::FuncOp>())
      names.insert(func.getName());
    BestPlan best = findBest(names);
    OwningOpRef<ModuleOp> plan(ModuleOp(plans[best.plan].module).clone());
    module.getBodyRegion().takeBody(plan->getBodyRegion());
    module->setAttrs((*plan)->getAttrDictionary());
    return std::vector<BestPlan>(groups.size(), best);
  }
  std::vector<BestPlan> best;
  for (const FunctionNames &group : groups) {
    names.clear();
    for (const std::string &name : group)
      names.insert(name);
    best.push_back(findBest(names));
    replaceFunctions(module, plans[best.back().plan].module, group);
  }
  return best;
}
