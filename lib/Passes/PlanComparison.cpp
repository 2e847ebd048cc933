//===- PlanComparison.cpp - Plans as they run -----------------------------===//

#include "PlanComparison.h"
#include "shardkit/Collectives/Placement.h"
#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Cost/CostModel.h"
#include "shardkit/Cost/HiddenCollectives.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The costs of a final module, by function, with those that it calls.
class FinalCosts {
public:
  FinalCosts(ModuleOp module, int64_t tripCount, bool hides)
      : module(module), meshes(module), tripCount(tripCount), overlap(hides ? getOverlap(module) : 0) {
    for (const MeshCache::Entry &entry : meshes.entries())
      if (entry.mesh->flops && (!slowest || *entry.mesh->flops < *slowest->flops))
        slowest = &*entry.mesh;
  }

  /// None if the cost of a collective is unknown.
  std::optional<PlanSeconds> get(func::FuncOp func) {
    auto [it, isNew] = known.try_emplace(func);
    if (!isNew)
      return it->second; // or a recursive call, which is not counted
    PlanSeconds cost;
    WalkResult walk = func.walk([&](Operation *op) {
      std::optional<PlanSeconds> inside = getOwn(op);
      if (!inside)
        return WalkResult::interrupt();
      if (inside->getSum() > 0)
        cost.add(*inside, countExecutions(op->getBlock(), tripCount));
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return std::nullopt;
    if (slowest)
      cost.communication -= getHiddenSeconds(func, meshes, *slowest, overlap, tripCount);
    return known[func] = cost;
  }

  /// The sum over functions that are outlined from `names`, as often as they run.
  std::optional<PlanSeconds> get(const llvm::StringSet<> &names) {
    PlanSeconds sum;
    for (auto [func, times] : getRuns(names)) {
      std::optional<PlanSeconds> cost = get(func);
      if (!cost)
        return std::nullopt;
      sum.add(*cost, times);
    }
    return sum;
  }

  /// What is predicted of a plan: where the mesh has `flops` also compute.
  double getTime(const PlanSeconds &cost) const { return slowest ? cost.getSum() : cost.communication; }

  /// Whether a plan replaces another one if it must take less than `maxFraction` of its collectives' time. Without
  /// `flops` contractions may not outweigh what the collectives save.
  bool isFaster(const PlanSeconds &cost, const PlanSeconds &other, double maxFraction) const {
    return slowest ? cost.getSum() < other.getMaxSum(maxFraction)
                   : cost.communication < other.communication * maxFraction && cost.getSum() <= other.getSum();
  }

  /// Whether each of these functions fits into the memory of its mesh, where that is known.
  bool fit(const llvm::StringSet<> &names) {
    return llvm::all_of(getRuns(names), [&](const auto &run) {
      std::optional<int64_t> memory = getMemoryBudget(run.first, 0, meshes);
      return !memory || getPeakBytes(run.first) <= *memory;
    });
  }

private:
  /// The functions that are outlined from `names`, and how often they run.
  SmallVector<std::pair<func::FuncOp, int64_t>> getRuns(const llvm::StringSet<> &names) {
    llvm::StringMap<int64_t> runs;
    module.walk([&](RunOp run) { ++runs[run.getFunction()]; });
    SmallVector<std::pair<func::FuncOp, int64_t>> all;
    for (auto func : module.getOps<func::FuncOp>()) {
      int64_t times = runs.lookup(func.getName());
      if (times == 0 && !func.isPrivate() && names.contains(func.getName())) {
        auto calls = func->getAttrOfType<IntegerAttr>(kCallsAttr);
        times = calls ? calls.getInt() : 1;
      }
      if (times > 0 && !func.isExternal())
        all.emplace_back(func, times);
    }
    return all;
  }

  /// The cost of an op without its regions.
  std::optional<PlanSeconds> getOwn(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      return callee ? get(callee) : std::optional(PlanSeconds());
    }
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      FailureOr<CollectiveMove> move = getMove(collective, meshes);
      if (failed(move))
        return std::nullopt;
      return PlanSeconds{move->cost.seconds - (travelsAlong(op) ? move->latency : 0), 0};
    }
    PlanSeconds cost;
    // As in the objective of the search. Ops in the regions of control flow are counted by themselves.
    if (slowest ? isa<linalg::LinalgOp>(op) || op->getNumRegions() == 0 : isContraction(op))
      cost.compute = getComputeSeconds(op, slowest ? *slowest : Mesh(), tripCount);
    return cost;
  }

  ModuleOp module;
  MeshCache meshes;
  int64_t tripCount;
  double overlap;                // of collectives with compute
  const Mesh *slowest = nullptr; // of those with `flops`
  llvm::DenseMap<Operation *, PlanSeconds> known;
};

/// A plan after all phases.
struct FinalPlan {
  FinalPlan(ModuleOp plan, const PhaseOptions &options, bool hides)
      : module(plan.clone()), isFinal(succeeded(runPhasesOnCopy(*module, options, Phase::Final))),
        costs(*module, options.tripCount, hides) {}
  std::optional<PlanSeconds> getCost(const llvm::StringSet<> &names) {
    return isFinal ? costs.get(names) : std::nullopt;
  }
  bool fits(const llvm::StringSet<> &names) { return isFinal && costs.fit(names); }

  OwningOpRef<ModuleOp> module;
  bool isFinal;
  FinalCosts costs;
};

} // namespace

bool spmd::areConnected(ModuleOp module) {
  return !module.getOps<ScheduleOp>().empty() || llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) {
    return func.isPrivate() && !func.isExternal() && (func->hasAttr(kImprovedAttr) || func->hasAttr(kSolverAttr));
  });
}

/// The mesh of `module` that `mesh` of another plan is there: one that is equal but for its name, or a copy.
static MeshOp takeMesh(ModuleOp module, MeshOp mesh) {
  auto getAttrs = [](MeshOp op) {
    NamedAttrList attrs(op->getAttrDictionary());
    attrs.erase(SymbolTable::getSymbolAttrName());
    return attrs.getDictionary(op.getContext());
  };
  MeshOp equal, last;
  for (MeshOp op : module.getOps<MeshOp>()) {
    if (getAttrs(op) == getAttrs(mesh) && (!equal || op.getSymName() == mesh.getSymName()))
      equal = op;
    last = op;
  }
  if (equal)
    return equal;
  MeshOp copy = mesh.clone();
  SymbolTable(module).insert(copy, last ? std::next(last->getIterator()) : module.getBody()->begin());
  return copy;
}

void spmd::replaceFunctions(ModuleOp module, ModuleOp plan, ArrayRef<std::string> names) {
  for (const std::string &name : names) {
    auto func = module.lookupSymbol<func::FuncOp>(name);
    Operation *copy = OpBuilder(func).clone(*plan.lookupSymbol(name));
    func.erase();
    // Propagation adds meshes, in each plan others.
    llvm::DenseMap<Attribute, FlatSymbolRefAttr> meshes;
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(copy);
    for (const SymbolTable::SymbolUse &use : *uses)
      if (auto [it, isNew] = meshes.try_emplace(use.getSymbolRef()); isNew)
        if (auto mesh = plan.lookupSymbol<MeshOp>(use.getSymbolRef()))
          it->second = FlatSymbolRefAttr::get(takeMesh(module, mesh).getSymNameAttr());
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](SymbolRefAttr symbol) -> std::optional<Attribute> {
      FlatSymbolRefAttr mesh = meshes.lookup(symbol);
      return mesh ? std::optional<Attribute>(mesh) : std::nullopt;
    });
    replacer.recursivelyReplaceElementsIn(copy, /*replaceAttrs=*/true);
  }
}

std::vector<BestPlan> spmd::keepBestPlans(ModuleOp module, ArrayRef<CandidatePlan> plans,
                                          ArrayRef<FunctionNames> groups, const PhaseOptions &options, bool hides) {
  // Errors of a trial are those of the phase that meets them again.
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  std::vector<std::unique_ptr<FinalPlan>> finals;
  for (const CandidatePlan &plan : plans)
    finals.push_back(std::make_unique<FinalPlan>(plan.module, options, hides));
  auto findBest = [&](const llvm::StringSet<> &names) {
    BestPlan best;
    std::optional<PlanSeconds> first = finals.front()->getCost(names);
    if (first)
      best.seconds = best.firstSeconds = finals.front()->costs.getTime(*first);
    std::optional<PlanSeconds> least = first;
    bool bestFits = finals.front()->fits(names);
    for (unsigned i = 1; i < plans.size(); ++i) {
      std::optional<PlanSeconds> cost = finals[i]->getCost(names);
      bool fits = finals[i]->fits(names);
      bool isFaster = least && cost && finals[i]->costs.isFaster(*cost, *least, plans[i].maxFraction);
      bool isBetter = fits == bestFits ? isFaster : fits;
      if (isBetter || (finals[i]->isFinal && !finals[best.plan]->isFinal)) {
        best.plan = i;
        least = cost;
        bestFits = fits;
        best.seconds = cost ? std::optional(finals[i]->costs.getTime(*cost)) : std::nullopt;
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
