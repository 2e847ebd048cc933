//===- Infeasible.cpp - Why there are no layouts --------------------------===//

#include "shardkit/AutoSharding/FunctionSearch.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Support/Names.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include <chrono>

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Something that was asked for and that could be given up: what is given for a place, or
/// a demand of an option.
struct Wish {
  int64_t place = -1;
  unsigned demand = 0;
  int64_t bytes = 0; // that a device holds of the value as it is given
};

/// Finds wishes whose removal leaves room for layouts, such that none of them can be
/// granted in addition to all others. Small values are granted first.
class WishList {
public:
  explicit WishList(FunctionSearch &search) : search(search) {
    Propagation &propagation = search.getFunction().getPropagation();
    released.resize(propagation.getNumPlaces());
    llvm::SmallSetVector<unsigned, 16> places;
    for (const FunctionPropagation::Given &given : search.getFunction().getAnnotations()) {
      // What iterations write in part has to stay whole.
      auto argument = dyn_cast_or_null<BlockArgument>(given.value);
      if (!argument || !isa<scf::ForallOp>(argument.getOwner()->getParentOp()))
        places.insert(given.place);
    }
    for (unsigned place : places) {
      const Propagation::Place &own = propagation.getPlace(place);
      Sharding given = propagation.getShardings().get(own.given);
      LayoutTable &table = propagation.getTable();
      int64_t bytes = 0;
      if (own.type.hasStaticShape())
        bytes = Layout::get(table.get(table.intern(given)), table.getMesh(), own.type.getShape()).numLocalElements() *
                getElementBytes(own.type.getElementType());
      wishes.push_back({int64_t(place), 0, bytes});
    }
    llvm::stable_sort(wishes, [](const Wish &a, const Wish &b) { return a.bytes < b.bytes; });
    SmallVector<Wish> demanded;
    demands.assign(search.getDemands().begin(), search.getDemands().end());
    for (unsigned i = 0; i < demands.size(); ++i)
      demanded.push_back({-1, i, 0});
    wishes.insert(wishes.begin(), demanded.begin(), demanded.end());
    granted.resize(wishes.size());
  }

  ArrayRef<Wish> getWishes() const { return wishes; }
  const Demand &getDemand(const Wish &wish) const { return demands[wish.demand]; }

  /// False where there are no layouts whatever is given up, or none were found in time.
  bool run() {
    if (wishes.empty() || !isPossible())
      return false;
    grant(0, wishes.size());
    return true;
  }
  /// Whether time was left to grant all that can be.
  bool isMinimal() const { return !isLate; }
  bool isRefused(unsigned wish) const { return !granted.test(wish); }

private:
  void grant(unsigned begin, unsigned end) {
    if (isLate)
      return;
    granted.set(begin, end);
    if (isPossible())
      return;
    granted.reset(begin, end);
    if (end - begin == 1)
      return;
    unsigned middle = (begin + end) / 2;
    grant(begin, middle);
    grant(middle, end);
  }

  bool isPossible() {
    std::chrono::duration<double> used = std::chrono::steady_clock::now() - start;
    SearchOptions options = search.getOptions();
    options.timeLimit -= used.count();
    if (options.timeLimit <= 0) {
      isLate = true;
      return false;
    }
    options.gap = 1; // anything will do
    released.reset();
    std::vector<Demand> kept;
    for (auto [i, wish] : llvm::enumerate(wishes)) {
      if (wish.place >= 0 && !granted.test(i))
        released.set(wish.place);
      if (wish.place < 0 && granted.test(i))
        kept.push_back(demands[wish.demand]);
    }
    // Errors of options were emitted when they were read first.
    auto other = FunctionSearch::create(search.getFunc(), search.getMeshes(), search.getFunction(), options, released,
                                        /*demands=*/false);
    if (failed(other))
      return false;
    (*other)->setDemands(std::move(kept));
    return !(*other)->run().choices.empty();
  }

  FunctionSearch &search;
  std::vector<Demand> demands;
  SmallVector<Wish> wishes;
  llvm::BitVector granted, released;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  bool isLate = false;
};

/// `argument x is given <@m, [{}, {}]>`, per annotation of a place.
void attachPins(InFlightDiagnostic &diag, FunctionSearch &search, unsigned place, bool withBytes, int64_t bytes) {
  for (const FunctionPropagation::Given &given : search.getFunction().getAnnotations()) {
    if (given.place != place)
      continue;
    std::string what = "a value";
    Location loc = search.getFunc().getLoc();
    if (given.op) {
      what = isa<func::CallOp>(given.op) ? "operand or result of a call"
                                         : "result " + getResultName(search.getFunc(), given.index);
      loc = given.op->getLoc();
    } else if (auto argument = dyn_cast_or_null<BlockArgument>(given.value)) {
      if (isa<func::FuncOp>(argument.getOwner()->getParentOp()))
        what = "argument " + getArgumentName(search.getFunc(), argument.getArgNumber());
      loc = argument.getLoc();
    } else if (given.value) {
      what = "a value of " + given.value.getDefiningOp()->getName().getStringRef().str();
      loc = given.value.getLoc();
    }
    Diagnostic &note = diag.attachNote(loc);
    note << what << " is constrained to " << search.getMeshes().toString(given.sharding);
    if (withBytes)
      note << ", " << bytes << " bytes per device";
  }
}

} // namespace

LogicalResult spmd::emitInfeasible(FunctionSearch &search, const SearchResult &result) {
  func::FuncOp func = search.getFunc();
  const Solution &solution = result.last;
  const SearchOptions &options = search.getOptions();
  if (solution.status != SolverStatus::Infeasible) {
    InFlightDiagnostic diag = emitError(func.getLoc());
    diag << "no layouts of function @" << func.getName() << " found";
    // A search within a budget may end before its time is over.
    bool isLate = !search.getBudget() || result.seconds > options.timeLimit / 2;
    if (search.getBudget())
      diag << " that need at most " << *search.getBudget() << " bytes per device, nor a proof that there are none";
    if (isLate)
      diag << " within " << options.timeLimit << " s";
    diag << ", expected a " << (isLate ? "longer time-limit" : "larger memory-budget");
    if (result.smallestBudget >= 0)
      diag << (isLate ? " or a larger memory-budget (" : " (") << result.smallestBudget << " is enough)";
    return diag;
  }
  bool overBudget = result.smallestBudgetBound >= 0;
  WishList list(search);
  bool helps = list.run();
  InFlightDiagnostic diag = emitError(func.getLoc());
  if (overBudget) {
    diag << "function @" << func.getName() << " does not fit into " << *search.getBudget()
         << " bytes per device, expected a memory budget of at least " << result.smallestBudgetBound;
    if (result.smallestBudgetBound < result.smallestBudget)
      diag << " (" << result.smallestBudget << " is enough)";
  } else {
    diag << "no layouts of function @" << func.getName() << " satisfy the constraints"
         << (options.propagation.costs.forbidden.empty() ? "" : " without the forbidden collectives")
         << ", expected fewer constraints";
  }
  if (helps) {
    diag << (overBudget ? "; it fits without " : "; there are layouts without ")
         << (list.isMinimal() ? "these:" : "these (or fewer, not all could be tried in time):");
    for (auto [i, wish] : llvm::enumerate(list.getWishes())) {
      if (!list.isRefused(i))
        continue;
      if (wish.place >= 0)
        attachPins(diag, search, wish.place, overBudget, wish.bytes);
      else
        diag.attachNote(list.getDemand(wish).loc) << list.getDemand(wish).text;
    }
  }
  if (!overBudget || result.smallest.empty())
    return diag;
  // What holds most at the peak of the smallest budget.
  int64_t peakPoint = search.getProblem().holdCopies(result.smallest, /*budget=*/0).peakPoint;
  const LiveBuffers &live = *search.getLiveBuffers();
  const Propagation &propagation = search.getFunction().getPropagation();
  std::vector<std::pair<int64_t, Value>> held;
  for (const LiveBuffer &buffer : live.getBuffers())
    if (buffer.begin <= peakPoint && peakPoint <= buffer.end && buffer.value) {
      Value value = live.getHeld(buffer, peakPoint);
      if (propagation.contains(value))
        held.push_back({search.getProblem().getLocalBytes(propagation.getId(value), result.smallest), value});
    }
  llvm::stable_sort(held, [](const auto &a, const auto &b) { return a.first > b.first; });
  for (auto [bytes, value] : llvm::ArrayRef(held).take_front(8))
    diag.attachNote(value.getLoc()) << "holds " << bytes << " bytes of " << value.getType()
                                    << " at the peak of the smallest budget";
  return diag;
}
