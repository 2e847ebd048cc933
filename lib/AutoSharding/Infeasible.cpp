//===- Infeasible.cpp - Why there are no layouts --------------------------===//

#include "AnnotationText.h"
#include "shardkit/Support/Names.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// A constraint that could be relaxed: the user sharding of a value class, or the requirement
/// of an option.
struct RelaxableConstraint {
  int64_t valueClass = -1;
  unsigned requirement = 0;
  int64_t bytes = 0; // bytes of a device for the value in its user sharding
};

/// Finds constraints to relax, so that layouts exist, and none of them can be kept in addition
/// to all others. By bisection: constraints of options and of small values are kept first.
class ConstraintRelaxation {
public:
  explicit ConstraintRelaxation(FunctionSearch &search) : search(search) {
    Propagation &propagation = search.getFunction().getPropagation();
    released.resize(propagation.getNumClasses());
    llvm::SmallSetVector<unsigned, 16> classes;
    for (const FunctionPropagation::Annotation &annotation : search.getFunction().getAnnotations()) {
      // Dims of which an iteration writes a slice cannot be sharded.
      auto argument = dyn_cast_or_null<BlockArgument>(annotation.value);
      if (!argument || !isa<scf::ForallOp>(argument.getOwner()->getParentOp()))
        classes.insert(annotation.valueClass);
    }
    for (unsigned id : classes) {
      const Propagation::ValueClass &valueClass = propagation.getClass(id);
      Sharding sharding = propagation.getShardings().get(valueClass.userSharding);
      LayoutTable &table = propagation.getTable();
      int64_t bytes = 0;
      if (valueClass.type.hasStaticShape())
        bytes = Layout::get(table.get(table.intern(sharding)), table.getMesh(), valueClass.type.getShape())
                    .numLocalElements() *
                getElementBytes(valueClass.type.getElementType());
      constraints.push_back({int64_t(id), 0, bytes});
    }
    llvm::stable_sort(constraints,
                      [](const RelaxableConstraint &a, const RelaxableConstraint &b) { return a.bytes < b.bytes; });
    SmallVector<RelaxableConstraint> ofOptions;
    requirements.assign(search.getRequirements().begin(), search.getRequirements().end());
    for (unsigned i = 0; i < requirements.size(); ++i)
      ofOptions.push_back({-1, i, 0});
    constraints.insert(constraints.begin(), ofOptions.begin(), ofOptions.end());
    kept.resize(constraints.size());
  }

  ArrayRef<RelaxableConstraint> getConstraints() const { return constraints; }
  const OptionRequirement &getRequirement(const RelaxableConstraint &constraint) const {
    return requirements[constraint.requirement];
  }

  /// False if there are no layouts even without all constraints, or none were found in time.
  bool run() {
    if (constraints.empty() || !isPossible())
      return false;
    keep(0, constraints.size());
    return true;
  }
  /// Whether the time sufficed to keep every constraint that can be kept.
  bool isMinimal() const { return !isLate; }
  bool isRelaxed(unsigned constraint) const { return !kept.test(constraint); }

private:
  void keep(unsigned begin, unsigned end) {
    if (isLate)
      return;
    kept.set(begin, end);
    if (isPossible())
      return;
    kept.reset(begin, end);
    if (end - begin == 1)
      return;
    unsigned middle = (begin + end) / 2;
    keep(begin, middle);
    keep(middle, end);
  }

  bool isPossible() {
    SearchOptions options = search.getOptions();
    options.timeLimit -= CpuClock::getSecondsSince(start);
    if (options.timeLimit <= 0) {
      isLate = true;
      return false;
    }
    options.gap = 1; // any solution
    released.reset();
    std::vector<OptionRequirement> keptRequirements;
    for (auto [i, constraint] : llvm::enumerate(constraints)) {
      if (constraint.valueClass >= 0 && !kept.test(i))
        released.set(constraint.valueClass);
      if (constraint.valueClass < 0 && kept.test(i))
        keptRequirements.push_back(requirements[constraint.requirement]);
    }
    // Errors of options were emitted when they were read first.
    auto other = FunctionSearch::create(search.getMeshes(), search.getFunction(), options, released,
                                        /*demands=*/false);
    if (failed(other))
      return false;
    (*other)->setRequirements(std::move(keptRequirements));
    return !(*other)->run().choices.empty();
  }

  FunctionSearch &search;
  std::vector<OptionRequirement> requirements;
  SmallVector<RelaxableConstraint> constraints;
  llvm::BitVector kept, released;
  CpuClock::time_point start = CpuClock::now();
  bool isLate = false;
};

/// Adds the note `argument x is constrained to <@m, [{}, {}]>`, per annotation of a value class.
void attachAnnotations(InFlightDiagnostic &diag, FunctionSearch &search, unsigned valueClass, bool withBytes,
                       int64_t bytes) {
  for (const FunctionPropagation::Annotation &annotation : search.getFunction().getAnnotations()) {
    if (annotation.valueClass != valueClass)
      continue;
    DescribedAnnotation described = describeAnnotation(search, annotation);
    Diagnostic &note = diag.attachNote(described.location);
    note << described.text << " is constrained to " << search.getMeshes().toString(annotation.sharding);
    if (withBytes)
      note << ", " << bytes << " bytes per device";
  }
}

} // namespace

LogicalResult spmd::emitInfeasible(FunctionSearch &search, const SearchResult &result) {
  func::FuncOp func = search.getFuncs().front();
  const Solution &solution = result.last;
  const SearchOptions &options = search.getOptions();
  if (solution.status != SolverStatus::Infeasible) {
    InFlightDiagnostic diag = emitError(func.getLoc());
    diag << "no layouts of " << search.describeFuncs() << " found";
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
  ConstraintRelaxation list(search);
  bool helps = list.run();
  InFlightDiagnostic diag = emitError(func.getLoc());
  if (overBudget) {
    diag << search.describeFuncs() << (search.getFuncs().size() == 1 ? " does" : " do") << " not fit into "
         << *search.getBudget() << " bytes per device, expected a memory budget of at least "
         << result.smallestBudgetBound;
    if (result.smallestBudgetBound < result.smallestBudget)
      diag << " (" << result.smallestBudget << " is enough)";
  } else {
    diag << "no layouts of " << search.describeFuncs() << " satisfy the constraints"
         << (options.propagation.costs.forbidden.empty() ? "" : " without the forbidden collectives")
         << ", expected fewer constraints";
  }
  if (helps) {
    diag << (overBudget ? "; it fits without " : "; there are layouts without ")
         << (list.isMinimal() ? "these:" : "these (or fewer, not all could be tried in time):");
    for (auto [i, constraint] : llvm::enumerate(list.getConstraints())) {
      if (!list.isRelaxed(i))
        continue;
      if (constraint.valueClass >= 0)
        attachAnnotations(diag, search, constraint.valueClass, overBudget, constraint.bytes);
      else
        diag.attachNote(list.getRequirement(constraint).loc) << list.getRequirement(constraint).text;
    }
  }
  if (!overBudget || result.smallest.empty())
    return diag;
  // The largest values at the peak of the smallest budget.
  int64_t peakPoint = search.getProblem().scheduleCopies(result.smallest, /*budget=*/0).peakPoint;
  const LiveBuffers &live = *search.getLiveBuffers();
  const Propagation &propagation = search.getFunction().getPropagation();
  std::vector<std::pair<int64_t, Value>> held;
  for (const LiveBuffer &buffer : live.getBuffers())
    if (buffer.begin <= peakPoint && peakPoint <= buffer.end && buffer.value && buffer.bytes > 0) {
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
