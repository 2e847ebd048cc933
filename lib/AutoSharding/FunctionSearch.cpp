//===- FunctionSearch.cpp - The best layouts of one function --------------===//

#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Cost/HiddenCollectives.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

using namespace mlir;
using namespace mlir::spmd;

/// The optimality gap of a draft: a solution that only determines which copies to list.
static constexpr double kDraftGap = 0.02;
/// Fractions of the remaining time: for drafts, for the search without a budget, for the one with all copies held, and
/// for the one within the budget. kMinFraction of the whole time limit is always available.
static constexpr double kDraftFraction = 0.25, kFreeFraction = 0.5, kHeldFraction = 0.8, kWithinFraction = 0.5,
                        kMinFraction = 0.25;
/// The maximal number of rounds for a draft before there is a bound.
static constexpr unsigned kDraftRounds = 4;
/// Where collectives overlap with compute: the fraction of the remaining time for each search, and how many begin with
/// what the best solution leaves.
static constexpr double kOverlapFraction = 0.4;
static constexpr unsigned kOverlapRounds = 3;

FunctionSearch::FunctionSearch(FunctionMeshes &meshes, FunctionPropagation &function, const SearchOptions &options)
    : funcs(function.getFunctions()), meshes(meshes), function(function), options(options),
      overlap(spmd::getOverlap(funcs.front()->getParentOfType<ModuleOp>())) {}

FailureOr<std::unique_ptr<FunctionSearch>> FunctionSearch::create(FunctionMeshes &meshes, FunctionPropagation &function,
                                                                  const SearchOptions &options,
                                                                  llvm::BitVector released, bool requirements) {
  std::unique_ptr<FunctionSearch> search(new FunctionSearch(meshes, function, options));
  Propagation &propagation = function.getPropagation();
  ProblemOptions problemOptions;
  problemOptions.reshardPerUse = options.reshardPerUse;
  problemOptions.allSubAxes = options.allSubAxes;
  problemOptions.recompute = search->pricesCompute();
  problemOptions.improvesPropagation = options.improvesPropagation;
  problemOptions.overlap = search->getOverlap();
  problemOptions.released = std::move(released);
  if (search->pricesCompute())
    problemOptions.getComputeSeconds = [&](const Propagation::Node &node) {
      return getComputeSeconds(node.op, meshes.getCostMesh(), options.propagation.tripCount) *
             propagation.getCount(node, node.rule->numOperands());
    };
  auto isWeight = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto func = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    return func && argument.getOwner() == &func.front() && func.getArgAttr(argument.getArgNumber(), kWeightAttr);
  };
  if (options.zeroStage == 3)
    problemOptions.isReshardedPerUse = isWeight;
  LogicalResult fixed = success();
  auto getFixedStrategy = [&](Operation *op) -> std::optional<FactorAxes> {
    auto attr = op->getAttrOfType<FactorsAttr>(kFactorShardingsAttr);
    if (!attr)
      return std::nullopt;
    auto factors = meshes.read(attr, [&] { return op->emitError(); });
    if (failed(factors)) {
      fixed = failure();
      return std::nullopt;
    }
    FactorAxes axes;
    for (const DimEntries &entries : *factors)
      axes.push_back(canonicalize(entries));
    return axes;
  };
  problemOptions.getFixedStrategy = getFixedStrategy;
  search->budget = options.memoryBudget ? options.memoryBudget : meshes.getCostMesh().memory;
  if (search->budget)
    problemOptions.live = &search->live.emplace(
        search->funcs, [](func::CallOp) { return HeldBytes(); },
        [&](BlockArgument argument) {
          return isWeight(argument) && propagation.contains(argument)
                     ? std::optional<int64_t>(propagation.getId(argument))
                     : std::nullopt;
        });
  search->problem.emplace(propagation, problemOptions);
  if (failed(fixed))
    return failure();
  if (requirements) {
    auto wanted = spmd::getRequirements(function, options, meshes, *search->problem);
    if (failed(wanted))
      return failure();
    search->requirements = std::move(*wanted);
  }
  return search;
}

/// Rounds of the solver. Between rounds the problem lists copies, and solutions are checked against the budget.
class FunctionSearch::Rounds {
public:
  /// `begin`: the begin of the time limit.
  Rounds(FunctionSearch &search, bool withMoves, CpuClock::time_point begin)
      : problem(*search.problem), options(search.options), budget(search.budget), withMoves(withMoves), begin(begin) {
    solver.workLimit = options.workLimit;
    // Planning may have taken long, but a solution must be found in any case.
    until = std::max(options.timeLimit, getElapsed() + kMinFraction * options.timeLimit);
  }

  SearchResult run();

private:
  using Unlisted = ShardingProblem::Unlisted;

  double getElapsed() const { return CpuClock::getSecondsSince(begin); }
  bool hasTime() const { return getElapsed() < until && solver.workLimit > 0; }
  /// Runs `what` within a fraction of the remaining time.
  void inFractionOfTime(double fraction, llvm::function_ref<void()> what) {
    double all = until, now = getElapsed();
    until = now + fraction * std::max(until - now, 0.0);
    what();
    until = all;
  }
  /// Whether the result is within the required optimality gap.
  bool isClose() const {
    return !result.choices.empty() &&
           (result.proven || result.objective - result.lowerBound <= options.gap * result.objective);
  }
  /// `isBound`: the bound of the solver is a bound of the search. False if there is no solution to continue from.
  bool solveOnce(bool isBound);
  /// Evaluates choices of the current graph; they become the result if they are within the budget and better.
  void consider(ArrayRef<unsigned> choices);
  void findGood();
  bool searchPerReader();
  /// `isBound`: as for solveOnce.
  void search(bool isBound = true);
  void searchWithinBudget();
  void searchWithinBudgetPerReader();
  /// By the budget and the number of axes.
  void searchAll();
  /// The same with prices of moves that overlap with compute.
  void searchOverlap();
  /// Changes of the propagated layouts.
  void improve();

  ShardingProblem &problem;
  const SearchOptions &options;
  std::optional<int64_t> budget;
  bool withMoves;
  CpuClock::time_point begin;
  double until; // seconds after it
  SolverOptions solver;
  SearchResult result;
  ShardingProblem::Copies copies; // the choices that were considered last
  double seconds = 0;             // the price of the choices that were considered last
  bool isGoodKnown = false;
  bool isBoundGraph = true; // the prices of the graph are not above those of the objective
};

bool FunctionSearch::Rounds::solveOnce(bool isBound) {
  std::string error;
  isBound &= isBoundGraph;
  solver.timeLimit = until - getElapsed();
  solver.cutoff =
      isBound && !solver.budget && !result.choices.empty() ? problem.toTime(result.objective) : Price::kImpossible;
  solver.start = result.choices.empty() ? result.last.choices : result.choices;
  Solution &solution = result.last =
      options.withCbc ? solveWithCbc(problem.getGraph(), solver, error) : solve(problem.getGraph(), solver);
  solver.workLimit -= solution.work;
  result.timedOut |= solution.status == SolverStatus::Gap && solution.seconds >= solver.timeLimit;
  if (isBound && solution.status != SolverStatus::Infeasible)
    result.lowerBound = std::max(result.lowerBound, problem.toSeconds(solution.lowerBound.time));
  // No solution is cheaper than the known one.
  result.proven |= isBound && !solution.lowerBound.isImpossible() && solution.lowerBound.time > solver.cutoff;
  if (result.proven)
    return false;
  if (!problem.countsHeldCopies())
    result.smallestBudgetBound = std::max(result.smallestBudgetBound, solution.smallestBudgetBound);
  else if (solution.smallestBudgetBound >= 0)
    solution.status = SolverStatus::Gap; // less may suffice with reshards per use
  if (!solution.smallest.empty())
    consider(solution.smallest);
  if (solution.choices.empty())
    return false;
  ++result.rounds;
  consider(solution.choices);
  return true;
}

void FunctionSearch::Rounds::consider(ArrayRef<unsigned> choices) {
  copies = problem.scheduleCopies(choices, budget);
  if (budget && copies.peak > *budget) {
    seconds = std::numeric_limits<double>::infinity();
    if (result.smallestBudget < 0 || copies.peak < result.smallestBudget) {
      result.smallestBudget = copies.peak;
      result.smallest.assign(choices.begin(), choices.end());
    }
    return;
  }
  double hidden = problem.getHiddenSeconds(choices, copies.perUse);
  seconds = problem.getSeconds(choices, copies.perUse) - hidden;
  if (seconds >= result.objective)
    return;
  result.hidden = hidden;
  result.objective = seconds;
  result.choices.assign(choices.begin(), choices.end());
  result.perUse = copies.perUse;
  result.communication = problem.getSeconds(choices, copies.perUse, /*onlyMoves=*/true);
  if (withMoves)
    result.moves = problem.getMoves(choices, copies.perUse);
}

/// If not all shared copies are listed, good solutions come from a graph that prices unlisted copies per reader, with
/// the copies of solutions listed; bounds come from a graph that prices them once.
void FunctionSearch::Rounds::findGood() {
  if (solver.budget || !problem.hasUnlisted() || std::exchange(isGoodKnown, true))
    return;
  bool countsMemory = problem.isMemoryCounted();
  problem.setGraph(Unlisted::PerReader, countsMemory);
  solver.gap = kDraftGap / 4;
  inFractionOfTime(kDraftFraction, [&] { searchPerReader(); });
  problem.setGraph(Unlisted::OncePerValue, countsMemory);
}

/// False if there is no solution to continue from.
bool FunctionSearch::Rounds::searchPerReader() {
  for (unsigned round = 0; round < kDraftRounds; ++round) {
    if (!solveOnce(/*isBound=*/false))
      return false;
    if (!hasTime() || !problem.refine(result.last.choices))
      return true;
    solver.free = {}; // not valid for this graph
  }
  return true;
}

void FunctionSearch::Rounds::search(bool isBound) {
  isBound &= isBoundGraph;
  // On two axes the first round is mostly sufficient.
  bool isFirst = !problem.hasManyAxes();
  if (!isFirst)
    findGood();

  // After the first round, drafts suffice until a solution needs no unlisted copies.
  bool drafts = false;
  while (true) {
    bool isExact = !solver.budget && !options.improvesPropagation;
    solver.gap = drafts ? std::max(kDraftGap, options.gap) : isExact ? options.freeGap : options.gap;
    if (!solveOnce(isBound) || !hasTime())
      return;
    const Solution &solution = result.last;
    if (problem.refine(solution.choices, copies.perUse)) {
      solver.free = {}; // not valid for this graph
      drafts = !solver.budget;
      if (std::exchange(isFirst, false))
        findGood();
      continue;
    }
    if (std::exchange(drafts, false) && solution.status != SolverStatus::Optimal)
      continue;
    // With reshards per use, the price is higher than that of the graph.
    bool isPaid = seconds / problem.toSeconds(1) <= double(solution.objective.time + problem.toTime(0));
    result.proven = isBound && isPaid && !result.choices.empty() &&
                    (solution.status == SolverStatus::Optimal || solution.lowerBound.time >= solution.objective.time);
    return;
  }
}

void FunctionSearch::Rounds::searchWithinBudget() {
  // The optimum without a budget may be within it, and its bound is a bound in any case.
  bool isFound = false;
  inFractionOfTime(kFreeFraction, [&] { isFound = solveOnce(/*isBound=*/true); });
  if (!isFound)
    return;
  std::vector<unsigned> free = result.last.choices;
  solver.free = free;
  solver.freeBound = result.last.lowerBound;
  solver.budget = budget;
  // Bounds come from a graph that holds no copies between readers, solutions from both graphs.
  if (problem.hasListedCopies() && !isClose()) {
    problem.setCountsHeldCopies(true);
    inFractionOfTime(kHeldFraction, [&] { search(/*isBound=*/false); });
    problem.setCountsHeldCopies(false);
    if (isClose())
      return;
  }
  search();
}

void FunctionSearch::Rounds::searchWithinBudgetPerReader() {
  // With prices per reader, solutions within the budget are found soon, guided by the optimum without a budget.
  problem.setGraph(Unlisted::PerReader, /*countsMemory=*/false);
  solver.gap = kDraftGap / 4;
  bool isFound = false;
  inFractionOfTime(kDraftFraction, [&] { isFound = solveOnce(/*isBound=*/false); });
  isGoodKnown = true;
  std::vector<unsigned> free = result.last.choices;
  Price freeBound = result.last.lowerBound;
  auto searchWithin = [&](double fraction) {
    problem.setGraph(Unlisted::PerReader, /*countsMemory=*/true);
    solver.budget = budget;
    solver.gap = options.gap;
    solver.free = free;
    solver.freeBound = freeBound;
    inFractionOfTime(fraction, [&] { searchPerReader(); });
    solver.budget.reset();
    solver.free = {};
  };
  if (isFound && !isClose())
    searchWithin(kWithinFraction);
  if (result.last.status == SolverStatus::Infeasible)
    return;
  // Bounds come from the graph of shared copies, without memory.
  problem.setGraph(Unlisted::OncePerValue, /*countsMemory=*/false);
  search();
  if (isFound && !isClose() && hasTime())
    searchWithin(1);
}

void FunctionSearch::Rounds::improve() {
  solver.gap = options.gap;
  if (!searchPerReader() || !std::isinf(seconds))
    return;
  // The solution exceeds the budget.
  std::vector<unsigned> free = result.last.choices;
  problem.setGraph(Unlisted::PerReader, /*countsMemory=*/true);
  solver.budget = budget;
  solver.free = free;
  solver.freeBound = result.last.lowerBound;
  searchPerReader();
}

void FunctionSearch::Rounds::searchAll() {
  if (!budget)
    search();
  else if (!problem.hasManyAxes())
    searchWithinBudget();
  else
    searchWithinBudgetPerReader();
}

void FunctionSearch::Rounds::searchOverlap() {
  auto searchWith = [&](ShardingProblem::Rooms rooms, double fraction) {
    problem.setRooms(rooms, result.choices, result.perUse);
    solver.free = {}; // not valid for this graph
    solver.budget.reset();
    inFractionOfTime(fraction, [&] { searchAll(); });
    return !result.choices.empty() && hasTime();
  };
  // Solutions: as if nothing were hidden, as if all that can be were, and beside what the best of these hides.
  isBoundGraph = false;
  if (!searchWith(ShardingProblem::Rooms::None, kOverlapFraction))
    return;
  bool hasTimeLeft = searchWith(ShardingProblem::Rooms::All, kOverlapFraction);
  for (unsigned round = 0; round < kOverlapRounds && hasTimeLeft; ++round) {
    double before = result.objective;
    hasTimeLeft = searchWith(ShardingProblem::Rooms::Left, kOverlapFraction);
    if (result.objective >= before)
      break;
  }
  isBoundGraph = true;
  if (hasTimeLeft)
    searchWith(ShardingProblem::Rooms::Bound, 1);
}

SearchResult FunctionSearch::Rounds::run() {
  if (options.improvesPropagation) {
    consider(problem.getPropagated());
    result.startFits = !result.choices.empty();
    if ((result.proven = result.objective == 0))
      return std::move(result);
    if (!result.choices.empty()) // it may reshard where the problem does not
      problem.refine(result.choices);
    improve();
    result.seconds = getElapsed();
    return std::move(result);
  }
  if (problem.hidesMoves())
    searchOverlap();
  else
    searchAll();
  // A search that ended early is not worse than propagation.
  if (!result.proven && result.last.status != SolverStatus::Infeasible)
    if (std::vector<unsigned> propagated = problem.getPropagated(); !propagated.empty())
      consider(propagated);
  // Times are rounded to the unit of the graph; the objective is not.
  result.lowerBound = result.proven ? result.objective : std::min(result.lowerBound, result.objective);
  result.timedOut = !isClose() && (result.timedOut || !hasTime());
  result.seconds = getElapsed();
  return std::move(result);
}

SearchResult FunctionSearch::run(ArrayRef<Requirement> also, bool withMoves) {
  CpuClock::time_point begin = std::exchange(created, std::nullopt).value_or(CpuClock::now());
  bool hasAny = !requirements.empty() || !also.empty();
  if (hasAny || hasRequirements) {
    std::vector<Requirement> all;
    for (const OptionRequirement &requirement : requirements)
      all.push_back(requirement.requirement);
    all.insert(all.end(), also.begin(), also.end());
    problem->require(std::move(all));
    hasRequirements = hasAny;
  }
  return Rounds(*this, withMoves, begin).run();
}

std::string FunctionSearch::describeFuncs() const {
  std::string text = funcs.size() == 1 ? "function " : "functions ";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(funcs, os, [&](func::FuncOp func) { os << "@" << func.getName(); });
  return text;
}

StringRef FunctionSearch::getStatus(const SearchResult &result) const {
  if (!result.proven)
    return "gap";
  return problem->isWithinSets() ? "optimal within sets of 3" : "optimal";
}

/// Attributes of ops that a search overwrites.
static const StringLiteral kOfOps[] = {kFactorShardingsAttr, kReshardPerUseAttr};

/// Saves the user's attributes of ops before the search overwrites them.
static void keepUserAttrs(func::FuncOp func) {
  func.walk([&](Operation *op) {
    NamedAttrList given;
    for (StringRef name : kOfOps)
      if (Attribute attr = op->getDiscardableAttr(name))
        given.set(name, attr);
    if (!given.empty() && !op->hasAttr(kUserShardingAttr))
      op->setDiscardableAttr(kUserShardingAttr, given.getDictionary(op->getContext()));
  });
}

void spmd::forgetStrategies(func::FuncOp func) {
  func.walk([&](Operation *op) {
    auto given = dyn_cast_or_null<DictionaryAttr>(op->removeDiscardableAttr(kUserShardingAttr));
    for (StringRef name : kOfOps)
      if (Attribute attr = given ? given.get(name) : Attribute())
        op->setDiscardableAttr(name, attr);
      else
        op->removeDiscardableAttr(name);
  });
}

void spmd::forgetSearch(func::FuncOp func) {
  bool wasImproved = bool(func->removeAttr(kImprovedAttr));
  if (func->removeAttr(kSolverAttr) || wasImproved)
    forgetStrategies(func);
}

void FunctionSearch::write(const SearchResult &result, CallOperandLayouts &callOperands, bool everyStrategy) {
  for (func::FuncOp func : funcs)
    keepUserAttrs(func);
  Propagation &propagation = function.getPropagation();
  LayoutTable &table = propagation.getTable();
  llvm::MapVector<Operation *, llvm::SmallSetVector<int64_t, 2>> perUse;
  for (const ShardingProblem::Use &use : result.perUse)
    perUse[propagation.getNode(use.node).op].insert(*problem->getOperandNumber(use));
  for (auto &[op, operands] : perUse) {
    if (auto given = op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr))
      operands.insert(given.asArrayRef().begin(), given.asArrayRef().end());
    SmallVector<int64_t> sorted(operands.begin(), operands.end());
    llvm::sort(sorted);
    op->setDiscardableAttr(kReshardPerUseAttr, DenseI64ArrayAttr::get(op->getContext(), sorted));
  }
  for (unsigned id = 0; id < propagation.getNumClasses(); ++id)
    propagation.set(id, table.get(problem->getLayout(id, result.choices)));
  for (unsigned id = 0; id < propagation.getNumNodes(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    const FactorAxes *axes = problem->getStrategy(id, result.choices);
    if (!axes)
      continue;
    if (node.hasOpRule) {
      if (node.op->getNumResults() > 0 && !isa<tensor::ParallelInsertSliceOp>(node.op) &&
          (everyStrategy || !problem->isChosenByCost(node, *axes)))
        node.op->setDiscardableAttr(kFactorShardingsAttr, meshes.getAttr(*axes));
      continue;
    }
    SmallVector<LayoutId> &layouts = callOperands[node.op];
    for (unsigned t = 0; t < node.rule->numOperands(); ++t)
      layouts.push_back(table.intern(getTensorSharding(*node.rule, t, *axes)));
  }
}
