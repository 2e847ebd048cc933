//===- AutoShardPass.cpp - Layouts by search ------------------------------===//

#include "shardkit/AutoSharding/ShardingProblem.h"
#include "shardkit/AutoSharding/Solver.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/CompleteModule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDAUTOSHARDPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// How far from the optimum a solution may be that only says what to share.
static constexpr double kDraftGap = 0.02;

namespace {

struct AutoShardPass : public spmd::impl::SPMDAutoShardPassBase<AutoShardPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(readOptions()) ||
        failed(verifyPhaseAtMost(module, Phase::Propagated, getArgument())))
      return signalPassFailure();
    // What an earlier run chose is no pin.
    if (getPhase(module) > int(Phase::Annotated))
      for (auto func : getProgramFunctions(module))
        func.walk([](Operation *op) { op->removeAttr(kComputeAttr); });
    auto complete = [&](func::FuncOp func, FunctionMeshes &meshes, CallTable &calls,
                        HandedLayouts &handed) -> FailureOr<std::unique_ptr<FunctionPropagation>> {
      auto propagation = FunctionPropagation::compute(func, meshes, calls, options);
      if (failed(propagation) || failed(solveFunction(func, meshes, **propagation, handed)))
        return failure();
      return propagation;
    };
    if (failed(completeModule(module, complete)))
      signalPassFailure();
  }

private:
  Propagation::Options options;

  LogicalResult readOptions() {
    Location loc = getOperation().getLoc();
    auto parsed = Propagation::parseOptions(loc, "cost", "allow", tripCount);
    if (failed(parsed))
      return failure();
    options = *parsed;
    if (costModel != "default" && costModel != "alpa")
      return emitError(loc) << "unknown cost-model=" << costModel << ", expected default or alpa";
    options.costs.alpa = costModel == "alpa";
    for (const std::string &name : forbid) {
      std::optional<CollectiveKind> kind = parseCollectiveKind(name);
      if (!kind || *kind == CollectiveKind::AllSlice)
        return emitError(loc) << "unknown collective '" << name
                              << "' to forbid, expected all_gather, all_reduce, reduce_scatter, "
                                 "all_to_all, collective_permute or exchange";
      options.costs.forbidden.push_back(*kind);
    }
    if (subAxes != "auto" && subAxes != "all")
      return emitError(loc) << "unknown sub-axes=" << subAxes << ", expected auto or all";
    if (regather != "auto" && regather != "always" && regather != "never")
      return emitError(loc) << "unknown regather=" << regather
                            << ", expected auto, always or never";
    if (memoryBudget < 0)
      return emitError(loc) << "memory-budget=" << memoryBudget << ", expected a positive number of bytes";
    if (!(timeLimit > 0))
      return emitError(loc) << "time-limit=" << timeLimit << ", expected a positive number of seconds";
    return success();
  }

  /// Says how much memory the function needs, and what holds it.
  LogicalResult emitOverBudget(func::FuncOp func, int64_t budget, const Solution &solution,
                               const ShardingProblem &problem, const Propagation &propagation,
                               const LiveBuffers &live) {
    InFlightDiagnostic diag = emitError(func.getLoc());
    diag << "function @" << func.getName() << " does not fit into " << budget
         << " bytes per device, expected a memory budget of at least " << solution.smallestBudgetBound;
    if (solution.smallestBudgetBound < solution.smallestBudget)
      diag << " (" << solution.smallestBudget << " is enough)";
    std::vector<std::pair<int64_t, Value>> held;
    for (const LiveBuffer &buffer : live.getBuffers())
      if (buffer.begin <= solution.peakPoint && solution.peakPoint <= buffer.end && buffer.value) {
        Value value = live.getHeld(buffer, solution.peakPoint);
        if (propagation.contains(value))
          held.push_back({problem.getLocalBytes(propagation.getId(value), solution.choices), value});
      }
    llvm::stable_sort(held, [](const auto &a, const auto &b) { return a.first > b.first; });
    for (auto [bytes, value] : llvm::ArrayRef(held).take_front(8))
      diag.attachNote(value.getLoc()) << "holds " << bytes << " bytes of " << value.getType()
                                      << " at the peak of that";
    return diag;
  }

  LogicalResult solveFunction(func::FuncOp func, FunctionMeshes &meshes,
                              FunctionPropagation &own,
                              HandedLayouts &handed) {
    Propagation &propagation = own.getPropagation();
    ProblemOptions problemOptions;
    problemOptions.regatherAlways = regather == "always" || (regather == "auto" && options.costs.alpa);
    problemOptions.allSubAxes = subAxes == "all";
    LogicalResult pinned = success();
    auto getPinned = [&](Operation *op) -> std::optional<FactorAxes> {
      auto attr = op->getAttrOfType<FactorsAttr>(kComputeAttr);
      if (!attr)
        return std::nullopt;
      auto factors = meshes.read(attr, [&] { return op->emitError(); });
      if (failed(factors)) {
        pinned = failure();
        return std::nullopt;
      }
      FactorAxes axes;
      for (const DimEntries &entries : *factors)
        axes.push_back(canonicalize(entries));
      return axes;
    };
    problemOptions.getPinned = getPinned;
    std::optional<int64_t> budget = meshes.getCostMesh().memory;
    if (memoryBudget > 0)
      budget = memoryBudget;
    std::optional<LiveBuffers> live;
    if (budget)
      problemOptions.live =
          &live.emplace(func, [](func::CallOp) { return HeldBytes(); });
    ShardingProblem problem(propagation, problemOptions);
    if (failed(pinned))
      return failure();
    SolverOptions solver;
    solver.timeLimit = timeLimit;
    solver.budget = budget;
    solver.gap = gap;
    Solution solution;
    double best = std::numeric_limits<double>::infinity(), bound = 0;
    std::vector<unsigned> choices;
    unsigned rounds = 0;
    bool proven = false;
    // Until a solution asks for nothing new a good one does.
    bool drafts = !budget;
    while (true) {
      solver.gap = drafts ? std::max<double>(gap, kDraftGap) : gap;
      solution = solve(problem.getGraph(), solver);
      if (solution.choices.empty() || solution.status == SolverStatus::Infeasible)
        break;
      ++rounds;
      // A budget that was made smaller bounds nothing.
      if (solver.budget == budget)
        bound = std::max(bound, problem.toSeconds(solution.lowerBound.time));
      // What is shared lives longer than what the graph knows of: the difference is
      // taken from the budget.
      int64_t excess = budget ? problem.getPeak(solution.choices) - *budget : 0;
      double seconds = problem.getSeconds(solution.choices);
      if (excess <= 0 && seconds < best) {
        best = seconds;
        choices = solution.choices;
      }
      solver.timeLimit -= solution.seconds;
      if (solver.timeLimit <= 0)
        break;
      if (problem.refine(solution.choices))
        continue;
      if (std::exchange(drafts, false) && solution.status != SolverStatus::Optimal)
        continue;
      if (excess > 0 && *solver.budget > excess) {
        *solver.budget -= excess;
        continue;
      }
      // Within a budget the solver minimizes times alone where there are many choices.
      proven = solver.budget == budget &&
               (solution.status == SolverStatus::Optimal ||
                solution.lowerBound.time >= solution.objective.time);
      break;
    }
    if (choices.empty() && solution.smallestBudget >= 0)
      return emitOverBudget(func, *budget, solution, problem, propagation, *live);
    if (choices.empty() && solution.status == SolverStatus::Gap)
      return emitError(func.getLoc()) << "no layouts of function @" << func.getName()
                                      << " found within " << timeLimit
                                      << " s, expected a longer time-limit";
    if (choices.empty())
      return emitError(func.getLoc())
             << "no layouts of function @" << func.getName() << " satisfy what is given"
             << (forbid.empty() ? "" : " without the forbidden collectives");
    // Time is rounded to the unit of the graph; the objective is not.
    if (proven)
      bound = best;
    StringRef status = !proven ? "gap" : problem.isWithinSets() ? "optimal within sets of 3" : "optimal";
    Builder b(&getContext());
    func->setAttr(kSolverAttr,
                  b.getDictionaryAttr(
                      {b.getNamedAttr("objective", b.getF64FloatAttr(best)),
                       b.getNamedAttr("lower_bound", b.getF64FloatAttr(std::min(bound, best))),
                       b.getNamedAttr("status", b.getStringAttr(status))}));
    const SolverStatistics &statistics = solution.statistics;
    remark::analysis(func.getLoc(), remark::RemarkOpts::name("auto-shard")
                                        .category("spmd")
                                        .function(func.getName()))
        << remark::add("search over {0} choices of {1} variables",
                       problem.getNumChoices(), problem.getGraph().getNumVariables())
        << remark::metric("Variables", statistics.variables)
        << remark::metric("Dropped", statistics.dropped)
        << remark::metric("Merged", statistics.merged) << remark::metric("Joins", statistics.joins)
        << remark::metric("JoinEntries", statistics.joinEntries)
        << remark::metric("LargestJoin", statistics.largestJoin)
        << remark::metric("Rounds", rounds) << remark::metric("Runs", statistics.runs) << remark::metric("Nodes", statistics.nodes);
    LayoutTable &table = propagation.getTable();
    for (unsigned id = 0; id < propagation.getNumPlaces(); ++id)
      propagation.set(id, table.get(problem.getLayout(id, choices)));
    for (unsigned id = 0; id < propagation.getNumNodes(); ++id) {
      const Propagation::Node &node = propagation.getNode(id);
      const FactorAxes *axes = problem.getStrategy(id, choices);
      if (!axes)
        continue;
      if (node.isOwnRule) {
        if (node.op->getNumResults() > 0 && !isa<tensor::ParallelInsertSliceOp>(node.op))
          node.op->setDiscardableAttr(kComputeAttr, meshes.getAttr(*axes));
        continue;
      }
      SmallVector<LayoutId> &layouts = handed[node.op];
      for (unsigned t = 0; t < node.rule->numOperands(); ++t)
        layouts.push_back(table.intern(getTensorSharding(*node.rule, t, *axes)));
    }
    return success();
  }
};

} // namespace
