//===- FunctionSearch.cpp - The best layouts of one function --------------===//

#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

using namespace mlir;
using namespace mlir::spmd;

/// How far from the optimum a solution may be that only says what to share.
static constexpr double kDraftGap = 0.02;
/// Parts of the time that is left: what drafts, the search without a budget and the one with copies held at their
/// longest may take. Of all of it: what there is in any case.
static constexpr double kDraftPart = 0.25, kFreePart = 0.5, kHeldPart = 0.8, kWithinPart = 0.5, kLeast = 0.25;
/// Rounds at most that look for one before there is a bound.
static constexpr unsigned kDraftRounds = 4;

FailureOr<std::unique_ptr<FunctionSearch>> FunctionSearch::create(func::FuncOp func, FunctionMeshes &meshes,
                                                                  FunctionPropagation &function,
                                                                  const SearchOptions &options,
                                                                  llvm::BitVector released, bool demands) {
  std::unique_ptr<FunctionSearch> search(new FunctionSearch(func, meshes, function, options));
  Propagation &propagation = function.getPropagation();
  ProblemOptions problemOptions;
  problemOptions.regather = options.regather;
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
    return argument && argument.getOwner() == &func.front() && func.getArgAttr(argument.getArgNumber(), kWeightAttr);
  };
  if (options.zeroStage == 3)
    problemOptions.isGatheredPerUse = isGatheredPerUse;
  LogicalResult pinned = success();
  auto getPinned = [&](Operation *op) -> std::optional<FactorAxes> {
    auto attr = op->getAttrOfType<FactorsAttr>(kFactorShardingsAttr);
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

/// Rounds of the solver, between which the problem is told what to share and what really fits.
class FunctionSearch::Rounds {
public:
  /// `begin`: since when time counts.
  Rounds(FunctionSearch &search, bool withMoves, Clock::time_point begin)
      : problem(*search.problem), options(search.options), budget(search.budget), withMoves(withMoves), begin(begin) {
    solver.workLimit = options.workLimit;
    // What was planned before may have taken long; something is to be found in any case.
    until = std::max(options.timeLimit, getElapsed() + kLeast * options.timeLimit);
  }

  SearchResult run();

private:
  using Unoffered = ShardingProblem::Unoffered;

  double getElapsed() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }
  bool hasTime() const { return getElapsed() < until && solver.workLimit > 0; }
  /// Does something in a part of the time that is left.
  void inPartOfTime(double part, llvm::function_ref<void()> what) {
    double all = until, now = getElapsed();
    until = now + part * std::max(until - now, 0.0);
    what();
    until = all;
  }
  /// Whether what was found is as close to the bound as was asked for.
  bool isClose() const {
    return !result.choices.empty() &&
           (result.proven || result.objective - result.lowerBound <= options.gap * result.objective);
  }
  /// `isBound`: nothing takes less than what the solver says. False where there is nothing to go on from.
  bool solveOnce(bool isBound);
  /// Remembers choices of the graph as it is now: as the result where they are within the budget and better.
  void consider(ArrayRef<unsigned> choices);
  void findGood();
  bool searchPerReader();
  /// `isBound`: as for solveOnce.
  void search(bool isBound = true);
  void searchWithinBudget();
  void searchWithinBudgetPerReader();

  ShardingProblem &problem;
  const SearchOptions &options;
  std::optional<int64_t> budget;
  bool withMoves;
  Clock::time_point begin;
  double until; // seconds after it
  SolverOptions solver;
  SearchResult result;
  ShardingProblem::Copies copies; // of what was considered last
  double seconds = 0;             // that it takes
  bool isGoodKnown = false;
};

bool FunctionSearch::Rounds::solveOnce(bool isBound) {
  std::string error;
  solver.timeLimit = until - getElapsed();
  solver.cutoff =
      isBound && !solver.budget && !result.choices.empty() ? problem.toTime(result.objective) : Price::kImpossible;
  solver.start = result.choices.empty() ? result.last.choices : result.choices;
  Solution &solution = result.last =
      options.withCbc ? solveWithCbc(problem.getGraph(), solver, error) : solve(problem.getGraph(), solver);
  solver.workLimit -= solution.work;
  if (isBound && solution.status != SolverStatus::Infeasible)
    result.lowerBound = std::max(result.lowerBound, problem.toSeconds(solution.lowerBound.time));
  // Nothing takes less than what is known.
  result.proven |= isBound && !solution.lowerBound.isImpossible() && solution.lowerBound.time > solver.cutoff;
  if (result.proven)
    return false;
  if (!problem.isHeldCounted())
    result.smallestBudgetBound = std::max(result.smallestBudgetBound, solution.smallestBudgetBound);
  else if (solution.smallestBudgetBound >= 0)
    solution.status = SolverStatus::Gap; // less may do where copies are made anew
  if (!solution.smallest.empty())
    consider(solution.smallest);
  if (solution.choices.empty())
    return false;
  ++result.rounds;
  consider(solution.choices);
  return true;
}

void FunctionSearch::Rounds::consider(ArrayRef<unsigned> choices) {
  copies = problem.holdCopies(choices, budget);
  if (budget && copies.peak > *budget) {
    seconds = std::numeric_limits<double>::infinity();
    if (result.smallestBudget < 0 || copies.peak < result.smallestBudget) {
      result.smallestBudget = copies.peak;
      result.smallest.assign(choices.begin(), choices.end());
    }
    return;
  }
  seconds = problem.getSeconds(choices, copies.anew);
  if (seconds >= result.objective)
    return;
  result.objective = seconds;
  result.choices.assign(choices.begin(), choices.end());
  result.anew = copies.anew;
  result.communication = problem.getSeconds(choices, copies.anew, /*onlyMoves=*/true);
  if (withMoves)
    result.moves = problem.getMoves(choices, copies.anew);
}

/// Where not all that may be shared is on offer, good solutions come from paying for it per reader,
/// with what they share on offer; bounds come from paying for it once.
void FunctionSearch::Rounds::findGood() {
  if (solver.budget || !problem.canOffer() || std::exchange(isGoodKnown, true))
    return;
  bool countsMemory = problem.isMemoryCounted();
  problem.setGraph(Unoffered::PerReader, countsMemory);
  solver.gap = kDraftGap / 4;
  inPartOfTime(kDraftPart, [&] { searchPerReader(); });
  problem.setGraph(Unoffered::OncePerValue, countsMemory);
}

/// False where there is nothing to go on from.
bool FunctionSearch::Rounds::searchPerReader() {
  for (unsigned round = 0; round < kDraftRounds; ++round) {
    if (!solveOnce(/*isBound=*/false))
      return false;
    if (!hasTime() || !problem.refine(result.last.choices))
      return true;
    solver.free = {}; // of another graph
  }
  return true;
}

void FunctionSearch::Rounds::search(bool isBound) {
  // On two axes the first round mostly settles it.
  bool isFirst = !problem.hasManyAxes();
  if (!isFirst)
    findGood();

  // After the first round, until a solution asks for nothing new, a good one does.
  bool drafts = false;
  while (true) {
    solver.gap = drafts ? std::max(kDraftGap, options.gap) : solver.budget ? options.gap : 0;
    if (!solveOnce(isBound) || !hasTime())
      return;
    const Solution &solution = result.last;
    if (problem.refine(solution.choices, copies.anew)) {
      solver.free = {}; // of another graph
      drafts = !solver.budget;
      if (std::exchange(isFirst, false))
        findGood();
      continue;
    }
    if (std::exchange(drafts, false) && solution.status != SolverStatus::Optimal)
      continue;
    // What is made anew within a budget costs more than the graph says.
    bool isPaid = seconds / problem.toSeconds(1) <= double(solution.objective.time + problem.toTime(0));
    result.proven = isBound && isPaid && !result.choices.empty() &&
                    (solution.status == SolverStatus::Optimal || solution.lowerBound.time >= solution.objective.time);
    return;
  }
}

void FunctionSearch::Rounds::searchWithinBudget() {
  // The optimum without a budget may be within it, and its bound is one anyway.
  bool isFound = false;
  inPartOfTime(kFreePart, [&] { isFound = solveOnce(/*isBound=*/true); });
  if (!isFound)
    return;
  std::vector<unsigned> free = result.last.choices;
  solver.free = free;
  solver.freeBound = result.last.lowerBound;
  solver.budget = budget;
  // Bounds come from a graph that holds nothing between readers, solutions from both.
  if (problem.mayHold() && !isClose()) {
    problem.setCountsHeld(true);
    inPartOfTime(kHeldPart, [&] { search(/*isBound=*/false); });
    problem.setCountsHeld(false);
    if (isClose())
      return;
  }
  search();
}

void FunctionSearch::Rounds::searchWithinBudgetPerReader() {
  // Paid by each reader, what fits is found soon; what to pay beside it is known from the optimum without a budget.
  problem.setGraph(Unoffered::PerReader, /*countsMemory=*/false);
  solver.gap = kDraftGap / 4;
  bool isFound = false;
  inPartOfTime(kDraftPart, [&] { isFound = solveOnce(/*isBound=*/false); });
  isGoodKnown = true;
  std::vector<unsigned> free = result.last.choices;
  Price freeBound = result.last.lowerBound;
  auto searchWithin = [&](double part) {
    problem.setGraph(Unoffered::PerReader, /*countsMemory=*/true);
    solver.budget = budget;
    solver.gap = options.gap;
    solver.free = free;
    solver.freeBound = freeBound;
    inPartOfTime(part, [&] { searchPerReader(); });
    solver.budget.reset();
    solver.free = {};
  };
  if (isFound && !isClose())
    searchWithin(kWithinPart);
  if (result.last.status == SolverStatus::Infeasible)
    return;
  // Bounds come from the graph of what readers share, which need not know what is live.
  problem.setGraph(Unoffered::OncePerValue, /*countsMemory=*/false);
  search();
  if (isFound && !isClose() && hasTime())
    searchWithin(1);
}

SearchResult FunctionSearch::Rounds::run() {
  if (!budget)
    search();
  else if (!problem.hasManyAxes())
    searchWithinBudget();
  else
    searchWithinBudgetPerReader();
  // Time is rounded to the unit of the graph; the objective is not.
  result.lowerBound = result.proven ? result.objective : std::min(result.lowerBound, result.objective);
  result.seconds = getElapsed();
  return std::move(result);
}

SearchResult FunctionSearch::run(ArrayRef<Requirement> also, bool withMoves) {
  Clock::time_point begin = std::exchange(created, std::nullopt).value_or(Clock::now());
  bool asks = !demands.empty() || !also.empty();
  if (asks || asked) {
    std::vector<Requirement> all;
    for (const Demand &demand : demands)
      all.push_back(demand.requirement);
    all.insert(all.end(), also.begin(), also.end());
    problem->require(std::move(all));
    asked = asks;
  }
  return Rounds(*this, withMoves, begin).run();
}

StringRef FunctionSearch::getStatus(const SearchResult &result) const {
  if (!result.proven)
    return "gap";
  return problem->isWithinSets() ? "optimal within sets of 3" : "optimal";
}

/// On an op: what it had of these before a search.
static const StringLiteral kOfOps[] = {kFactorShardingsAttr, kReshardPerUseAttr};

/// Keeps what was given to the ops beside what is about to be chosen.
static void keepGiven(func::FuncOp func) {
  func.walk([&](Operation *op) {
    NamedAttrList given;
    for (StringRef name : kOfOps)
      if (Attribute attr = op->getDiscardableAttr(name))
        given.set(name, attr);
    if (!given.empty() && !op->hasAttr(kUserShardingAttr))
      op->setDiscardableAttr(kUserShardingAttr, given.getDictionary(op->getContext()));
  });
}

void spmd::forgetSearch(func::FuncOp func) {
  if (!func->removeAttr(kSolverAttr))
    return;
  func.walk([&](Operation *op) {
    auto given = dyn_cast_or_null<DictionaryAttr>(op->removeDiscardableAttr(kUserShardingAttr));
    for (StringRef name : kOfOps)
      if (Attribute attr = given ? given.get(name) : Attribute())
        op->setDiscardableAttr(name, attr);
      else
        op->removeDiscardableAttr(name);
  });
}

void FunctionSearch::write(const SearchResult &result, HandedLayouts &handed) {
  keepGiven(func);
  Propagation &propagation = function.getPropagation();
  LayoutTable &table = propagation.getTable();
  llvm::MapVector<Operation *, llvm::SmallSetVector<int64_t, 2>> regathers;
  for (const ShardingProblem::Use &use : result.anew)
    regathers[propagation.getNode(use.node).op].insert(*problem->getOperandNumber(use));
  for (auto &[op, operands] : regathers) {
    if (auto given = op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr))
      operands.insert(given.asArrayRef().begin(), given.asArrayRef().end());
    SmallVector<int64_t> sorted(operands.begin(), operands.end());
    llvm::sort(sorted);
    op->setDiscardableAttr(kReshardPerUseAttr, DenseI64ArrayAttr::get(op->getContext(), sorted));
  }
  for (unsigned id = 0; id < propagation.getNumPlaces(); ++id)
    propagation.set(id, table.get(problem->getLayout(id, result.choices)));
  for (unsigned id = 0; id < propagation.getNumNodes(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    const FactorAxes *axes = problem->getStrategy(id, result.choices);
    if (!axes)
      continue;
    if (node.isOwnRule) {
      if (node.op->getNumResults() > 0 && !isa<tensor::ParallelInsertSliceOp>(node.op))
        node.op->setDiscardableAttr(kFactorShardingsAttr, meshes.getAttr(*axes));
      continue;
    }
    SmallVector<LayoutId> &layouts = handed[node.op];
    for (unsigned t = 0; t < node.rule->numOperands(); ++t)
      layouts.push_back(table.intern(getTensorSharding(*node.rule, t, *axes)));
  }
}
