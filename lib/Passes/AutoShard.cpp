//===- AutoShard.cpp - --spmd-auto-shard ----------------------------------===//
//
// The search prices collectives one by one. As they run, they are merged, hoisted, carried on as
// partial sums and combined, so that another plan may take less time: that of --spmd-propagate, or
// the layouts of the search with ops that compute by cost. Such a plan stands.
//
//===----------------------------------------------------------------------===//

#include "PlanComparison.h"
#include "shardkit/AutoSharding/ConstraintPrices.h"
#include "shardkit/AutoSharding/MeshShapes.h"
#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/AutoSharding/SizedModule.h"
#include "shardkit/Cost/DeriveCosts.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/CompleteModule.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDAUTOSHARDPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// Another plan replaces the searched one if it takes less than this fraction of its time.
static constexpr double kMaxFraction = 0.999;

namespace {

/// The options of a pass as text, each `name=value` or `name={a,b}`.
SmallVector<std::string> getOptionTexts(Pass &pass) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pass.printAsTextualPipeline(os);
  StringRef rest = StringRef(text).split('{').second;
  rest.consume_back("}");
  SmallVector<std::string> options(1);
  int depth = 0;
  for (char c : rest) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ' ' && depth == 0)
      options.emplace_back();
    else
      options.back().push_back(c);
  }
  return options;
}

void emitRemarks(FunctionSearch &search, const SearchResult &result) {
  func::FuncOp func = search.getFuncs().front();
  if (!result.proven && result.lowerBound <= 0 && result.objective > 0)
    emitWarning(func.getLoc()) << "the search of " << search.describeFuncs() << " ended before its first bound, after "
                               << llvm::formatv("{0:F1} s", result.seconds).str()
                               << ": its plan may take far more time than needed, expected a longer time-limit";
  const ShardingProblem &problem = search.getProblem();
  const SolverStatistics &statistics = result.last.statistics;
  for (func::FuncOp each : search.getFuncs())
    remarkDefaultCosts(each, search.getMeshes().getCostMesh());
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category("spmd").function(func.getName());
  };
  remark::analysis(func.getLoc(), options("auto-shard"))
      << remark::add("search over {0} choices of {1} variables", problem.getNumChoices(),
                     problem.getGraph().getNumVariables())
      << remark::metric("Variables", statistics.variables) << remark::metric("Dropped", statistics.dropped)
      << remark::metric("Merged", statistics.merged) << remark::metric("Joins", statistics.joins)
      << remark::metric("JoinEntries", statistics.joinEntries) << remark::metric("LargestJoin", statistics.largestJoin)
      << remark::metric("Rounds", result.rounds) << remark::metric("Runs", statistics.runs)
      << remark::metric("Nodes", statistics.nodes)
      << remark::metric("Seconds", llvm::formatv("{0:F3}", result.seconds).str());
  // A contraction that no axis divides.
  Propagation &propagation = search.getFunction().getPropagation();
  if (propagation.getTable().getMesh().numDevices() == 1)
    return;
  for (unsigned id = 0; id < propagation.getNumNodes(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<FactorAxes> strategies = problem.getStrategies(id);
    if (!node.hasOpRule || !node.rule->isContraction || strategies.size() != 1 ||
        node.op->hasAttr(kFactorShardingsAttr) ||
        !llvm::all_of(strategies[0], [](const DimEntries &entries) { return entries.empty(); }))
      continue;
    remark::missed(node.op->getLoc(), options("auto-shard-replicated")) << remark::add(
        "{0} is computed on every device: no axis divides a factor of it", node.op->getName().getStringRef());
  }
}

} // namespace

namespace {

/// Functions whose plans are compared, those searched together in one group, and the groups without a user sharding
/// that names an axis.
struct ComparableGroups {
  std::vector<FunctionNames> all, unannotated;
  bool communicates = false;
};

} // namespace

/// Whether plans that do not know the options of the search are as good.
static bool isComparable(FunctionSearch &search) {
  const CostOptions &costs = search.getOptions().propagation.costs;
  return !search.getBudget() && search.getRequirements().empty() && !costs.alpa && !costs.xla &&
         costs.forbidden.empty();
}

/// Whether one of the user shardings names an axis.
static bool isSharded(ArrayRef<FunctionPropagation::Annotation> annotations) {
  return llvm::any_of(annotations, [](const FunctionPropagation::Annotation &annotation) {
    return llvm::any_of(annotation.sharding.dims, [](const DimSharding &dim) { return !dim.entries.empty(); });
  });
}

static LogicalResult propagate(ModuleOp input, int64_t tripCount) {
  // The search has reported everything.
  ScopedDiagnosticHandler quiet(input.getContext(), [](Diagnostic &) { return success(); });
  SPMDPropagatePassOptions options;
  options.tripCount = tripCount;
  PassManager pm(input.getContext());
  pm.addPass(createSPMDPropagatePass(options));
  return pm.run(input);
}

/// Adds to `spmd.solver` which plan the function has in place of the searched one.
static void say(const BestPlan &kept, Operation *searched, Operation *func) {
  Builder b(func->getContext());
  NamedAttrList said(searched->getAttrOfType<DictionaryAttr>(kSolverAttr));
  said.set("status", b.getStringAttr("gap"));
  said.set("kept", b.getStringAttr(kept.plan == 1 ? kKeptStrategiesByCost : kKeptDefaultPlan));
  if (kept.seconds)
    said.set("kept_seconds", b.getF64FloatAttr(*kept.seconds));
  if (kept.firstSeconds) // its phases did not fail
    said.set("searched_seconds", b.getF64FloatAttr(*kept.firstSeconds));
  func->setAttr(kSolverAttr, said.getDictionary(func->getContext()));
}

/// Gives functions the plan that takes the least time as it runs.
static void keepBest(ModuleOp module, ModuleOp input, const ComparableGroups &groups, int64_t tripCount, bool hides) {
  OwningOpRef<ModuleOp> searched = module.clone(), byCost = module.clone();
  for (auto func : byCost->getOps<func::FuncOp>())
    if (func->hasAttr(kSolverAttr))
      forgetStrategies(func);
  SmallVector<CandidatePlan> plans{{*searched}, {*byCost, kMaxFraction}};
  // Where users shard nothing the default plan is replication. Functions that others call are not replaced alone.
  bool hasDefault =
      groups.unannotated.empty() || (groups.unannotated.size() < groups.all.size() && !areConnected(module));
  if (hasDefault && succeeded(propagate(input, tripCount)) && (groups.unannotated.empty() || !areConnected(input))) {
    for (const FunctionNames &names : groups.unannotated)
      replaceFunctions(input, module, names);
    plans.push_back({input, kMaxFraction});
  }
  PhaseOptions phases;
  phases.tripCount = tripCount;
  std::vector<BestPlan> best = keepBestPlans(module, plans, groups.all, phases, hides);
  for (auto [names, kept] : llvm::zip(groups.all, best))
    for (const std::string &name : names)
      if (Operation *func = module.lookupSymbol(name); func && kept.plan > 0)
        say(kept, searched->lookupSymbol(name), func);
}

namespace {

struct AutoShardPass : public spmd::impl::SPMDAutoShardPassBase<AutoShardPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto options = readOptions(module.getLoc());
    if (failed(options) || failed(verifyInput(module, Phase::Propagated, getArgument())) ||
        failed(verifyLowered(module, Phase::Annotated, "--" + getArgument())))
      return signalPassFailure();
    // Choices of an earlier run are not constraints.
    if (getPhase(module) > int(Phase::Annotated)) {
      for (auto func : getProgramFunctions(module))
        forgetSearch(func);
      module->removeAttr(kMeshShapesAttr);
    }
    std::optional<SizedModule> sized = SizedModule::create(module, *options);
    if (failed(search(sized ? sized->get() : module, *options)))
      return signalPassFailure();
    if (sized)
      sized->writeBack();
  }

  /// Searches all functions of a module, whose sizes are known as far as they are planned for.
  LogicalResult search(ModuleOp module, const SearchOptions &options) {
    if (meshShapes == MeshShapes::All && failed(chooseMeshShape(module, options)))
      return failure();
    OwningOpRef<ModuleOp> input = module.clone();
    ComparableGroups comparable;
    auto finish = [&](FunctionSearch &search, CallOperandLayouts &callOperands) -> LogicalResult {
      FailureOr<SearchResult> result = solveFunction(search, callOperands);
      if (failed(result))
        return failure();
      if (comparePlans && isComparable(search)) {
        comparable.communicates |= result->communication > 0;
        comparable.all.emplace_back(
            llvm::map_range(search.getFuncs(), [](func::FuncOp func) { return func.getName().str(); }));
        if (!isSharded(search.getFunction().getAnnotations()))
          comparable.unannotated.push_back(comparable.all.back());
      }
      return success();
    };
    if (failed(searchModule(module, options, finish)))
      return failure();
    if (comparable.communicates)
      keepBest(module, *input, comparable, tripCount, hideCollectives);
    return success();
  }

  FailureOr<SearchOptions> readOptions(Location loc) {
    SearchOptions options;
    auto parsed = Propagation::getOptions(loc, Conflicts::Cost, StridedShardings::Allow, tripCount);
    if (failed(parsed))
      return failure();
    options.propagation = *parsed;
    options.propagation.costs.alpa = costModel == SearchCostModel::Alpa;
    options.propagation.costs.xla = costModel == SearchCostModel::XLA;
    for (const std::string &name : forbidCollectives) {
      std::optional<CollectiveKind> kind = parseCollectiveKind(name);
      if (!kind || *kind == CollectiveKind::AllSlice)
        return emitError(loc) << "unknown forbid-collectives=" << name
                              << ", expected all_gather, all_reduce, reduce_scatter, all_to_all, collective_permute or "
                                 "exchange";
      options.propagation.costs.forbidden.push_back(*kind);
    }
    options.allSubAxes = subAxes == SubAxes::All;
    options.reshardPerUse = options.propagation.costs.alpa && reshardPerUse.getValue() == ReshardPerUse::Auto
                                ? ReshardPerUse::Always
                                : reshardPerUse.getValue();
    if (memoryBudget != -1 && memoryBudget <= 0)
      return emitError(loc) << "memory-budget=" << memoryBudget.getValue() << ", expected a positive number of bytes";
    if (memoryBudget > 0)
      options.memoryBudget = memoryBudget;
    if (optimalityGap != -1 && !(optimalityGap >= 0))
      return emitError(loc) << "optimality-gap=" << optimalityGap.getValue() << ", expected 0 or more";
    if (optimalityGap >= 0)
      options.gap = options.freeGap = optimalityGap;
    if (!(timeLimit > 0))
      return emitError(loc) << "time-limit=" << timeLimit.getValue() << ", expected a positive number of seconds";
    options.timeLimit = timeLimit;
    options.withCbc = solver == SearchSolver::Cbc;
    if (std::string error; options.withCbc && (solveWithCbc(CostGraph(), {}, error), !error.empty()))
      return emitError(loc) << "solver=cbc: " << error;
    options.allowRecompute = allowRecompute;
    options.hidesCollectives = hideCollectives;
    options.allowReplicatedWeights = replicatedWeights;
    options.batchAxes.assign(batchAxes.begin(), batchAxes.end());
    options.batchArguments.assign(batchArguments.begin(), batchArguments.end());
    if (!options.batchArguments.empty() && options.batchAxes.empty())
      return emitError(loc) << "batch-arguments without axes to shard them by, expected batch-axes";
    if (zeroStage < 0 || zeroStage > 3)
      return emitError(loc) << "zero-stage=" << zeroStage.getValue() << ", expected 0, 1, 2 or 3";
    if (zeroStage > 0 && options.batchAxes.empty())
      return emitError(loc) << "zero-stage=" << zeroStage.getValue()
                            << " without axes to shard optimizer state by, expected batch-axes";
    options.zeroStage = zeroStage;
    if (smallValueThreshold < 0)
      return emitError(loc) << "small-value-threshold=" << smallValueThreshold.getValue()
                            << ", expected 0 or more elements";
    options.smallValueThreshold = smallValueThreshold;
    if (!(deviationPenalty >= 0) || deviationPenalty > 1e9)
      return emitError(loc) << "deviation-penalty=" << deviationPenalty.getValue()
                            << ", expected seconds from 0 to 1e9";
    options.deviationPenalty = deviationPenalty;
    return options;
  }

private:
  /// The options that differ from what they are by default.
  std::string getNonDefaultOptions() {
    SmallVector<std::string> defaults = getOptionTexts(*createSPMDAutoShardPass());
    std::string text;
    for (const std::string &option : getOptionTexts(*this))
      if (!llvm::is_contained(defaults, option))
        text += (text.empty() ? "" : " ") + option;
    return text;
  }

  FailureOr<SearchResult> solveFunction(FunctionSearch &search, CallOperandLayouts &callOperands) {
    SearchResult result = search.run();
    if (result.choices.empty())
      return emitInfeasible(search, result); // an error
    Builder b(&getContext());
    SmallVector<NamedAttribute> said{b.getNamedAttr("objective", b.getF64FloatAttr(result.objective)),
                                     b.getNamedAttr("lower_bound", b.getF64FloatAttr(result.lowerBound)),
                                     b.getNamedAttr("status", b.getStringAttr(search.getStatus(result)))};
    if (result.timedOut)
      said.push_back(b.getNamedAttr(kTimedOutName, b.getUnitAttr()));
    // Otherwise all of the objective is communication.
    if (search.pricesCompute() || search.getOptions().deviationPenalty > 0)
      said.push_back(b.getNamedAttr("communication", b.getF64FloatAttr(result.communication - result.hidden)));
    if (search.getOverlap() > 0)
      said.push_back(b.getNamedAttr("hidden", b.getF64FloatAttr(result.hidden)));
    if (std::string given = getNonDefaultOptions(); !given.empty())
      said.push_back(b.getNamedAttr("with_options", b.getStringAttr(given)));
    if (search.getFuncs().size() > 1)
      said.push_back(b.getNamedAttr(
          "functions", b.getArrayAttr(llvm::map_to_vector(search.getFuncs(), [&](func::FuncOp func) -> Attribute {
            return FlatSymbolRefAttr::get(func.getSymNameAttr());
          }))));
    for (func::FuncOp func : search.getFuncs())
      func->setAttr(kSolverAttr, b.getDictionaryAttr(said));
    emitRemarks(search, result);
    remarkConstraintPrices(search, result);
    search.write(result, callOperands);
    search.getFunction().remarkSharedValues();
    return result;
  }
};

} // namespace

FailureOr<SearchOptions> spmd::readSearchOptions(StringRef text, Location loc) {
  AutoShardPass pass;
  std::string reason;
  if (failed(pass.initializeOptions(text, [&](const Twine &message) {
        reason = message.str();
        return failure();
      })))
    return emitError(loc) << "cannot read options of the search: " << reason;
  return pass.readOptions(loc);
}
