//===- FunctionSearch.cpp - The best layouts of one function --------------===//

#include "shardkit/AutoSharding/FunctionSearch.h"
#include "shardkit/Cost/CollectiveMove.h"

using namespace mlir;
using namespace mlir::spmd;

/// How far from the optimum a solution may be that only says what to share.
static constexpr double kDraftGap = 0.02;
/// Part of the time that is left for another round.
static constexpr double kReserve = 0.5;
/// Rounds at most that look for one before there is a bound.
static constexpr unsigned kDraftRounds = 4;

FailureOr<std::unique_ptr<FunctionSearch>>
FunctionSearch::create(func::FuncOp func, FunctionMeshes &meshes, FunctionPropagation &function,
                       const SearchOptions &options, llvm::BitVector released, bool demands) {
  std::unique_ptr<FunctionSearch> search(new FunctionSearch(func, meshes, function, options));
  Propagation &propagation = function.getPropagation();
  ProblemOptions problemOptions;
  problemOptions.regatherAlways = options.regatherAlways;
  problemOptions.allSubAxes = options.allSubAxes;
  problemOptions.recompute = options.allowRecompute;
  problemOptions.released = std::move(released);
  if (options.allowRecompute)
    problemOptions.getComputeSeconds = [&](const Propagation::Node &node) {
      return getComputeSeconds(node.op, meshes.getCostMesh(), options.propagation.tripCount) *
             propagation.getCount(node, node.rule->numOperands());
    };
  auto isGatheredPerUse = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &func.front() &&
           func.getArgAttr(argument.getArgNumber(), kWeightAttr);
  };
  if (options.zeroStage == 3)
    problemOptions.isGatheredPerUse = isGatheredPerUse;
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
  search->budget = options.memoryBudget ? options.memoryBudget : meshes.getCostMesh().memory;
  if (search->budget)
    problemOptions.live = &search->live.emplace(func, [](func::CallOp) { return HeldBytes(); });
  search->problem.emplace(propagation, problemOptions);
  if (failed(pinned))
    return failure();
  if (demands) {
    auto wanted = spmd::getDemands(func, options, meshes, propagation, *search->problem);
    if (failed(wanted))
      return failure();
    search->demands = std::move(*wanted);
  }
  return search;
}

SearchResult FunctionSearch::run(ArrayRef<Requirement> also, bool withMoves) {
  bool asks = !demands.empty() || !also.empty();
  if (asks || asked) {
    std::vector<Requirement> all;
    for (const Demand &demand : demands)
      all.push_back(demand.requirement);
    all.insert(all.end(), also.begin(), also.end());
    problem->require(std::move(all));
    asked = asks;
  }
  SolverOptions solver;
  solver.timeLimit = options.timeLimit;
  solver.workLimit = options.workLimit;
  solver.budget = budget;
  SearchResult result;
  int64_t excess = 0; // bytes beyond the budget
  // False where there is nothing to go on from.
  auto solveOnce = [&](bool isBound) {
    std::string error;
    solver.cutoff = isBound && !solver.budget && !result.choices.empty() ? problem->toTime(result.objective)
                                                                  : Price::kImpossible;
    solver.start = result.choices.empty() ? result.last.choices : result.choices;
    Solution &solution = result.last = options.withCbc ? solveWithCbc(problem->getGraph(), solver, error)
                                                       : solve(problem->getGraph(), solver);
    solver.timeLimit -= solution.seconds;
    solver.workLimit -= solution.work;
    result.seconds += solution.seconds;
    if (isBound && solution.status != SolverStatus::Infeasible)
      result.lowerBound = std::max(result.lowerBound, problem->toSeconds(solution.lowerBound.time));
    // Nothing takes less than what is known.
    result.proven |= isBound && !solution.lowerBound.isImpossible() && solution.lowerBound.time > solver.cutoff;
    if (result.proven)
      return false;
    if (solution.choices.empty() || solution.status == SolverStatus::Infeasible)
      return false;
    ++result.rounds;
    // What is shared lives longer than what the graph knows of: the difference is
    // taken from the budget.
    excess = budget ? problem->getPeak(solution.choices) - *budget : 0;
    double seconds = problem->getSeconds(solution.choices);
    if (excess <= 0 && seconds < result.objective) {
      result.objective = seconds;
      result.choices = solution.choices;
      result.communication = problem->getSeconds(solution.choices, /*onlyMoves=*/true);
      if (withMoves)
        result.moves = problem->getMoves(solution.choices);
    }
    return true;
  };
  auto hasTime = [&] { return solver.timeLimit > 0 && solver.workLimit > 0; };

  // Where not all that may be shared is on offer, good solutions come from paying for it per reader,
  // with what they share on offer; bounds come from paying for it once.
  auto findGood = [&] {
    if (solver.budget || !problem->canOffer())
      return;
    problem->setUnoffered(ShardingProblem::Unoffered::PerReader);
    double left = solver.timeLimit, before = result.seconds;
    solver.gap = kDraftGap / 4;
    solver.timeLimit /= 4;
    for (unsigned round = 0; round < kDraftRounds; ++round)
      if (!solveOnce(/*isBound=*/false) || !hasTime() || !problem->refine(result.last.choices))
        break;
    solver.timeLimit = left - (result.seconds - before);
    problem->setUnoffered(ShardingProblem::Unoffered::OncePerValue);
  };
  auto search = [&] {
    // On two axes the first round mostly settles it.
    bool isFirst = !problem->hasManyAxes();
    if (!isFirst)
      findGood();

    // After the first round, until a solution asks for nothing new, a good one does.
    bool drafts = false;
    bool reserves = solver.budget.has_value();
    while (true) {
      solver.gap = drafts ? kDraftGap : solver.budget ? options.gap : 0;
      // What is found first may turn out to be above the budget.
      double reserve = std::exchange(reserves, false) ? solver.timeLimit * kReserve : 0;
      solver.timeLimit -= reserve;
      Solution before = result.last;
      bool isFound = solveOnce(/*isBound=*/true);
      solver.timeLimit += reserve;
      // What is above the budget says more than that nothing was found that leaves the margin.
      if (!isFound && solver.margin > 0 && result.last.status != SolverStatus::Infeasible)
        result.last = std::move(before);
      if (!isFound || !hasTime())
        break;
      const Solution &solution = result.last;
      if (excess > 0 && solver.budget) {
        solver.margin += excess;
        continue;
      }
      if (problem->refine(solution.choices)) {
        drafts = !solver.budget;
        if (std::exchange(isFirst, false))
          findGood();
        continue;
      }
      if (std::exchange(drafts, false) && solution.status != SolverStatus::Optimal)
        continue;
      if (reserve > 0 && solution.status == SolverStatus::Gap && solution.getGap() > solver.gap)
        continue;
      result.proven = excess <= 0 && (solution.status == SolverStatus::Optimal ||
                                  solution.lowerBound.time >= solution.objective.time);
      break;
    }
  };
  auto isClose = [&] {
    return !result.choices.empty() &&
           (result.proven || result.objective - result.lowerBound <= options.gap * result.objective);
  };
  if (!budget) {
    search();
  } else if (!problem->hasManyAxes()) {
    // The optimum without a budget may be within it, and its bound is one anyway.
    solver.budget.reset();
    double left = solver.timeLimit;
    solver.timeLimit /= 3;
    bool isFound = solveOnce(/*isBound=*/true);
    solver.timeLimit = left - result.seconds;
    if (isFound) {
      std::vector<unsigned> free = result.last.choices;
      solver.free = free;
      solver.freeBound = result.last.lowerBound;
      solver.budget = budget;
      search();
    }
  } else {
    // The same, of a graph that need not know what is live.
    problem->setCountsMemory(false);
    solver.budget.reset();
    double left = solver.timeLimit;
    solver.timeLimit /= 3;
    search();
    problem->setCountsMemory(true);
    solver.budget = budget;
    solver.timeLimit = left - result.seconds;
    // Paid by each reader, what does not fit is found soon.
    if (!isClose()) {
      problem->setUnoffered(ShardingProblem::Unoffered::PerReader);
      solver.gap = options.gap;
      for (unsigned round = 0; round < kDraftRounds && solveOnce(/*isBound=*/false) && hasTime(); ++round)
        if (!problem->refine(result.last.choices)) {
          if (excess <= 0)
            break;
          solver.margin += excess;
        }
      problem->setUnoffered(ShardingProblem::Unoffered::OncePerValue);
    }
  }
  // Time is rounded to the unit of the graph; the objective is not.
  result.lowerBound = result.proven ? result.objective : std::min(result.lowerBound, result.objective);
  return result;
}

StringRef FunctionSearch::getStatus(const SearchResult &result) const {
  if (!result.proven)
    return "gap";
  return problem->isWithinSets() ? "optimal within sets of 3" : "optimal";
}

void FunctionSearch::write(const SearchResult &result, HandedLayouts &handed) {
  Propagation &propagation = function.getPropagation();
  LayoutTable &table = propagation.getTable();
  for (unsigned id = 0; id < propagation.getNumPlaces(); ++id)
    propagation.set(id, table.get(problem->getLayout(id, result.choices)));
  for (unsigned id = 0; id < propagation.getNumNodes(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    const FactorAxes *axes = problem->getStrategy(id, result.choices);
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
}
