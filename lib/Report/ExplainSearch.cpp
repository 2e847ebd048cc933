//===- ExplainSearch.cpp - Costs of other layouts -------------------------===//
//
// Repeats the search with the current choice of a value or an op forbidden, once for each
// alternative. Each alternative is therefore the optimum of the whole function. For
// example, with layout A chosen for a value:
//
//   1. search without A         -> B, the second best layout
//   2. search without A and B   -> C, the third best layout
//
//===----------------------------------------------------------------------===//

#include "shardkit/Report/ExplainSearch.h"
#include "Grid.h"
#include "ValueNames.h"
#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/AutoSharding/SizedModule.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "shardkit/Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::spmd;

/// Limit of the listed costs that an alternative adds, and that it saves.
static constexpr size_t kMaxMoves = 3;

namespace {

/// Explains the choices of a search for one function by further searches.
class SearchExplainer {
public:
  SearchExplainer(FunctionSearch &search, const ValueNames &names, StringRef selection, unsigned top, bool drawsGrids);

  const SearchResult &getBest() const { return best; }

  ExplainedFunction run(func::FuncOp func);

private:
  std::string getText(LayoutId id) { return search.getMeshes().toString(table.get(id)); }
  std::string getText(const FactorAxes &axes);
  ExplainedValue describe(Propagation::ClassId valueClass, std::string name, Location loc);
  std::string getText(const PaidMove &move);

  /// The costs of `moves` that are not in `others`, the largest first.
  std::vector<ExplainedPrice> getMore(ArrayRef<PaidMove> moves, ArrayRef<PaidMove> others);

  /// The tie breaker: bytes of all values on a device.
  int64_t getBytes(ArrayRef<unsigned> choices);

  /// Adds alternatives; each search forbids the choices of the earlier ones.
  /// `describe(choices)` is the text of a choice, `getNumber(choices)` identifies it.
  void explain(ExplainedValue &value, StringRef kind, llvm::function_ref<unsigned(ArrayRef<unsigned>)> getNumber,
               llvm::function_ref<std::string(ArrayRef<unsigned>)> describe,
               llvm::function_ref<Requirement(const llvm::SmallDenseSet<unsigned> &)> forbid);

  void explainLayout(Propagation::ClassId valueClass, ExplainedValue &value);
  void explainStrategy(unsigned node, ExplainedValue &value);

  FunctionSearch &search;
  func::FuncOp explained;
  ShardingProblem &problem;
  Propagation &propagation;
  LayoutTable &table;
  const ValueNames &names;
  StringRef selection;
  unsigned top;
  bool drawsGrids;
  SearchResult best;
  llvm::MapVector<Propagation::ClassId, std::string> results;
  llvm::DenseMap<Operation *, unsigned> nodeOf;
};

} // namespace

SearchExplainer::SearchExplainer(FunctionSearch &search, const ValueNames &names, StringRef selection, unsigned top,
                                 bool drawsGrids)
    : search(search), problem(search.getProblem()), propagation(search.getFunction().getPropagation()),
      table(propagation.getTable()), names(names), selection(selection), top(top), drawsGrids(drawsGrids),
      best(search.run({}, /*withMoves=*/true)) {}

ExplainedFunction SearchExplainer::run(func::FuncOp func) {
  explained = func;
  results.clear();
  ExplainedFunction function{func.getName().str(), {}};
  llvm::MapVector<Propagation::ClassId, Value> selected;
  auto visit = [&](Value value) {
    if (propagation.contains(value) && (selection.empty() || names.matches(value, selection)))
      selected.try_emplace(propagation.getId(value), value);
  };
  for (BlockArgument argument : func.getArguments())
    visit(argument);
  // Without a selection, only arguments and results are explained.
  if (!selection.empty())
    func.walk([&](Operation *op) {
      for (Value result : op->getResults())
        visit(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            visit(argument);
    });
  for (auto [i, valueClass] : llvm::enumerate(search.getFunction().getResultClasses(func))) {
    auto name = func.getResultAttrOfType<StringAttr>(i, kNameAttr);
    std::string own = name ? name.getValue().str() : "result" + std::to_string(i);
    if (valueClass >= 0 && (selection.empty() || selection == own))
      results.try_emplace(valueClass, own);
  }
  for (unsigned id = 0; id < propagation.getNumNodes(); ++id)
    if (propagation.getNode(id).hasOpRule)
      nodeOf[propagation.getNode(id).op] = id;
  for (auto [valueClass, value] : selected) {
    function.values.push_back(describe(valueClass, names.get(value), value.getLoc()));
    explainLayout(valueClass, function.values.back());
    if (Operation *op = value.getDefiningOp(); op && nodeOf.count(op))
      explainStrategy(nodeOf[op], function.values.back());
  }
  for (auto &[valueClass, name] : results)
    if (!selected.count(valueClass)) {
      function.values.push_back(describe(valueClass, name, func.getLoc()));
      explainLayout(valueClass, function.values.back());
    }
  return function;
}

std::string SearchExplainer::getText(const FactorAxes &axes) {
  std::string text;
  for (const DimEntries &entries : axes)
    text += (text.empty() ? "{" : ", {") + search.getMeshes().toString(entries) + "}";
  return "[" + text + "]";
}

ExplainedValue SearchExplainer::describe(Propagation::ClassId valueClass, std::string name, Location loc) {
  std::string type;
  llvm::raw_string_ostream(type) << propagation.getClass(valueClass).type;
  ExplainedValue value{std::move(name),
                       type,
                       getText(problem.getLayout(valueClass, best.choices)),
                       getLocationText(loc),
                       loc,
                       {},
                       {},
                       {},
                       {},
                       {}};
  if (drawsGrids)
    value.grid = drawGrid(table.get(problem.getLayout(valueClass, best.choices)), search.getMeshes().getMesh(),
                          propagation.getClass(valueClass).type.getShape());
  value.search = ExplainedSearch{best.objective, search.getStatus(best).str(), {}};
  return value;
}

std::string SearchExplainer::getText(const PaidMove &move) {
  std::string name = move.value ? names.get(move.value) : "a value";
  // A search of several functions pays for moves in all of them.
  if (auto func = move.op->getParentOfType<func::FuncOp>(); func && func != explained)
    name += " of @" + func.getName().str();
  std::string op = move.op->getName().getStringRef().str();
  RankedTensorType type;
  if (move.value)
    type = dyn_cast<RankedTensorType>(move.value.getType());
  std::string kinds;
  if (type && type.hasStaticShape() && move.kind != PaidMove::Windows && move.from != move.to)
    kinds = table.getMove(move.from, move.to, type).kinds;
  std::string from = getText(move.from), to = getText(move.to);
  switch (move.kind) {
  case PaidMove::Read:
    return (kinds.empty() ? "a reshard" : kinds) + " of " + name + " from " + from + " to " + to + " for " + op;
  case PaidMove::Completed:
    return (kinds.empty() ? "a reshard" : kinds) + " of the result of " + op + ", " + name + ", from " + from + " to " +
           to;
  case PaidMove::Windows:
    return "the halos of " + name + " for " + op;
  case PaidMove::Picked:
    return "picking the result of " + op;
  }
  return "";
}

std::vector<ExplainedPrice> SearchExplainer::getMore(ArrayRef<PaidMove> moves, ArrayRef<PaidMove> others) {
  auto key = [](const PaidMove &move) {
    return std::tuple(move.value.getAsOpaquePointer(), move.op, int(move.kind), move.from, move.to, move.seconds);
  };
  std::map<decltype(key(std::declval<PaidMove>())), int> known;
  for (const PaidMove &move : others)
    ++known[key(move)];
  std::vector<ExplainedPrice> more;
  for (const PaidMove &move : moves)
    if (known[key(move)]-- <= 0)
      more.push_back({move.seconds, getText(move)});
  llvm::stable_sort(more, [](const ExplainedPrice &a, const ExplainedPrice &b) { return a.seconds > b.seconds; });
  if (more.size() > kMaxMoves)
    more.resize(kMaxMoves);
  return more;
}

int64_t SearchExplainer::getBytes(ArrayRef<unsigned> choices) {
  int64_t bytes = 0;
  for (Propagation::ClassId id = 0; id < propagation.getNumClasses(); ++id)
    bytes += problem.getLocalBytes(id, choices);
  return bytes;
}

void SearchExplainer::explain(ExplainedValue &value, StringRef kind,
                              llvm::function_ref<unsigned(ArrayRef<unsigned>)> getNumber,
                              llvm::function_ref<std::string(ArrayRef<unsigned>)> describe,
                              llvm::function_ref<Requirement(const llvm::SmallDenseSet<unsigned> &)> forbid) {
  llvm::SmallDenseSet<unsigned> forbidden{getNumber(best.choices)};
  for (unsigned i = 0; i < top; ++i) {
    SearchResult other = search.run(forbid(forbidden), /*withMoves=*/true);
    if (other.choices.empty()) {
      if (i == 0)
        value.search->alternatives.push_back({kind.str(),
                                              "",
                                              other.last.status == SolverStatus::Infeasible
                                                  ? "no other choice is feasible"
                                                  : "no other choice was found in time",
                                              0,
                                              0,
                                              0,
                                              {},
                                              {}});
      break;
    }
    ExplainedAlternative alternative{
        kind.str(), describe(other.choices), search.getStatus(other).str(), other.objective, other.lowerBound, 0, {},
        {}};
    alternative.moreBytes = getBytes(other.choices) - getBytes(best.choices);
    alternative.more = getMore(other.moves, best.moves);
    alternative.less = getMore(best.moves, other.moves);
    value.search->alternatives.push_back(std::move(alternative));
    forbidden.insert(getNumber(other.choices));
  }
}

void SearchExplainer::explainLayout(Propagation::ClassId valueClass, ExplainedValue &value) {
  explain(
      value, "layout", [&](ArrayRef<unsigned> choices) { return problem.getLayout(valueClass, choices); },
      [&](ArrayRef<unsigned> choices) { return getText(problem.getLayout(valueClass, choices)); },
      [&](const llvm::SmallDenseSet<unsigned> &forbidden) {
        return Requirement(valueClass, [forbidden](LayoutId id) {
          return forbidden.contains(id) ? std::numeric_limits<double>::infinity() : 0;
        });
      });
}

void SearchExplainer::explainStrategy(unsigned node, ExplainedValue &value) {
  ArrayRef<FactorAxes> strategies = problem.getStrategies(node);
  if (strategies.size() < 2 || !propagation.getNode(node).rule->isContraction)
    return;
  auto getNumber = [&](ArrayRef<unsigned> choices) {
    return unsigned(problem.getStrategy(node, choices) - problem.getStrategies(node).data());
  };
  explain(
      value, "factors", getNumber,
      [&](ArrayRef<unsigned> choices) { return getText(*problem.getStrategy(node, choices)); },
      [&](const llvm::SmallDenseSet<unsigned> &forbidden) {
        const FactorAxes *first = problem.getStrategies(node).data();
        return Requirement::ofNode(node, [forbidden, first](const FactorAxes &axes) {
          return forbidden.contains(&axes - first) ? std::numeric_limits<double>::infinity() : 0;
        });
      });
}

bool spmd::wasSearched(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) { return func->hasAttr(kSolverAttr); });
}

FailureOr<std::vector<ExplainedFunction>> spmd::explainSearch(ModuleOp module, StringRef selection, unsigned top,
                                                              bool drawsGrids) {
  OwningOpRef<ModuleOp> copy = module.clone();
  std::string text;
  llvm::StringMap<double> objectives;
  llvm::StringSet<> withDefaultPlan;
  for (auto func : copy->getOps<func::FuncOp>()) {
    auto attr = func->getAttrOfType<DictionaryAttr>(kSolverAttr);
    if (!attr)
      continue;
    if (auto given = attr.getAs<StringAttr>("with_options"))
      text = given.str();
    if (auto objective = attr.getAs<FloatAttr>("objective"))
      objectives[func.getName()] = objective.getValueAsDouble();
    if (auto kept = attr.getAs<StringAttr>("kept"); kept && kept.getValue() == kKeptDefaultPlan)
      withDefaultPlan.insert(func.getName());
    forgetSearch(func);
  }
  auto options = readSearchOptions(text, module.getLoc());
  if (failed(options))
    return failure();
  std::optional<SizedModule> sized = SizedModule::create(*copy, *options);
  ModuleOp searched = sized ? sized->get() : *copy;
  ValueNames names(searched);
  std::vector<ExplainedFunction> functions;
  auto finish = [&](FunctionSearch &search, CallOperandLayouts &handed) -> LogicalResult {
    SearchExplainer explainer(search, names, selection, top, drawsGrids);
    const SearchResult &best = explainer.getBest();
    if (best.choices.empty())
      return emitInfeasible(search, best);
    for (func::FuncOp func : search.getFuncs()) {
      auto stands = objectives.find(func.getName());
      if (stands != objectives.end() && std::abs(stands->second - best.objective) > 1e-9 * std::abs(best.objective))
        emitWarning(func.getLoc()) << "a search finds " << best.objective << " s for @" << func.getName()
                                   << ", but spmd.solver has " << stands->second
                                   << ": the module was changed, or a time limit ended one of the searches";
      functions.push_back(explainer.run(func));
    }
    search.write(best, handed);
    return success();
  };
  if (failed(searchModule(searched, *options, finish)))
    return failure();
  if (!withDefaultPlan.empty()) {
    auto explained = explain(module, selection, drawsGrids, options->propagation);
    if (failed(explained))
      return failure();
    llvm::StringMap<ExplainedFunction *> byName;
    for (ExplainedFunction &function : *explained)
      byName[function.name] = &function;
    for (ExplainedFunction &function : functions)
      if (auto it = byName.find(function.name); withDefaultPlan.contains(function.name) && it != byName.end())
        function = std::move(*it->second);
  }
  if (selection.empty() || llvm::any_of(functions, [](const ExplainedFunction &f) { return !f.values.empty(); }))
    return functions;
  return emitUnknownValue(searched, names, selection, module.getLoc());
}
