//===- Html.cpp - A report as one page ------------------------------------===//

#include "Html.h"
#include "Grid.h"
#include "OpNames.h"
#include "PageScript.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Stages/Timeline.h"
#include "shardkit/Support/Page.h"
#include "shardkit/Support/Units.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spmd;

using json = nlohmann::ordered_json;

namespace {

/// Prints a report as a page. The order of its sections is that of `print*` below; `cell`
/// and its relatives print one table cell. For example, an argument of a function is
///
///   <tr><td>w1</td><td>tensor&lt;16x32xf32&gt;</td>...</tr>
class Page {
public:
  Page(const Report &report, unsigned top, ArrayRef<DrawnFunction> functions, const PartitionedValues &values,
       ArrayRef<ExplainedFunction> reasons, raw_ostream &os);

  void print();

private:
  void printMeshes();
  void begin(std::initializer_list<StringRef> columns);
  void end() { os << "</table>\n"; }
  void cell(StringRef text) { os << "<td>" << Escaped{text} << "</td>"; }
  void code(StringRef text) { os << "<td><code>" << Escaped{text} << "</code></td>"; }
  void cell(int64_t number) { os << "<td class=\"n\">" << groupDigits(number) << "</td>"; }
  void seconds(double value) { os << "<td class=\"n\">" << llvm::format("%.3e", value) << "</td>"; }

  void time(double value) { os << "<td class=\"n\">" << formatSeconds(value) << "</td>"; }

  void printTotals();
  void printPipeline(const ReportPipeline &pipeline);
  void printFunction(const DrawnFunction &drawn);
  void printMemory(const FunctionMemory &memory);
  void printCollectives(StringRef function);
  void printValues(StringRef title, const std::vector<ReportValue> &list);
  void printComparison(const Comparison &comparison);
  void printReplicated();

  //===--- the drawing ------------------------------------------------------===//

  /// The data of the drawing, which the script of the page draws.
  void printGraph(const DrawnFunction &drawn);
  json toJson(const GraphNode &node, StringRef module, StringRef function);
  std::string getDetails(const GraphNode &node, StringRef function);

  /// The indices of the layout drawings of the results of a node.
  json getGrids(const GraphNode &node);
  static void printMove(const ReportCollective &c, raw_ostream &os);
  void printValue(Value value, StringRef function, raw_ostream &os);
  static void printReasons(const ExplainedValue &value, raw_ostream &os);
  void printSearch();

  const Report &report;
  unsigned top;
  ArrayRef<DrawnFunction> functions;
  const PartitionedValues &values;
  raw_ostream &os;
  DrawnNames explained;
  llvm::DenseMap<Operation *, size_t> collectives;
  std::vector<std::string> grids; // of the function that is printed
  llvm::StringMap<size_t> gridIndices;
};

} // namespace

Page::Page(const Report &report, unsigned top, ArrayRef<DrawnFunction> functions, const PartitionedValues &values,
           ArrayRef<ExplainedFunction> reasons, raw_ostream &os)
    : report(report), top(top), functions(functions), values(values), os(os) {
  for (const ExplainedFunction &function : reasons)
    for (const ExplainedValue &value : function.values)
      explained[function.name].try_emplace(value.name, &value);
  size_t next = 0;
  for (const DrawnFunction &drawn : functions) {
    DrawnFunction local = drawn; // ops are only read
    local.func.walk<WalkOrder::PreOrder>([&](CollectiveOpInterface op) {
      if (next < report.collectives.size())
        collectives[op] = next++;
    });
  }
}

void Page::print() {
  beginPage("Sharding report", (getPageStyle() + getTimelineStyle()).str(), os);
  printTotals();
  printSearch();
  printMeshes();
  for (const ReportPipeline &pipeline : report.pipelines)
    printPipeline(pipeline);
  for (const DrawnFunction &function : functions)
    printFunction(function);
  printReplicated();
  if (report.comparison)
    printComparison(*report.comparison);
  endPage(os, (getPageScript() + getTimelineScript()).str());
}

void Page::printMeshes() {
  os << "<ul>\n";
  for (const ReportMesh &mesh : report.meshes) {
    os << "<li>mesh <b>@" << Escaped{mesh.name} << "</b>:";
    for (auto &[name, size] : mesh.axes)
      os << " " << Escaped{name} << "=" << size;
    os << "</li>\n";
  }
  os << "</ul>\n";
}

void Page::begin(std::initializer_list<StringRef> columns) {
  os << "<table>\n<tr>";
  for (StringRef column : columns)
    os << "<th>" << Escaped{column} << "</th>";
  os << "</tr>\n";
}

void Page::printTotals() {
  os << "<h2>Totals</h2>\n";
  begin({"total", "value", "in bytes, or s"});
  auto bytes = [&](const Twine &name, int64_t value) {
    os << "<tr>";
    cell(name.str());
    os << "<td class=\"n\"><b>" << formatBytes(value) << "</b></td>";
    cell(value);
    os << "</tr>\n";
  };
  os << "<tr>";
  cell("predicted time");
  os << "<td class=\"n\"><b>" << formatSeconds(report.totalCost) << "</b></td>";
  seconds(report.totalCost);
  if (report.totalHidden > 0) {
    os << "</tr>\n<tr>";
    cell("of it hidden by compute");
    os << "<td class=\"n\"><b>" << formatSeconds(report.totalHidden) << "</b></td>";
    seconds(report.totalHidden);
  }
  os << "</tr>\n<tr>";
  cell("launches");
  os << "<td class=\"n\"><b>" << report.launches << "</b></td>";
  cell(report.launches);
  os << "</tr>\n";
  for (auto &[kind, value] : report.bytesByKind)
    bytes(kind, value);
  for (auto &[axes, value] : report.bytesByAxis)
    bytes("on {" + axes + "}", value);
  for (const FunctionMemory &memory : report.memory)
    bytes("peak of @" + memory.function, memory.peakBytes);
  end();
}

void Page::printPipeline(const ReportPipeline &pipeline) {
  os << "<h2>Pipeline @" << Escaped{pipeline.name} << "</h2>\n<p>" << Escaped{pipeline.schedule} << ", "
     << pipeline.microbatches << " microbatches.</p>\n";
  begin({"mesh", "stages", "in flight", "each keeps, bytes", "values between fragments, bytes", "peak at most, bytes"});
  for (const ReportStages &stages : pipeline.meshes) {
    os << "<tr>";
    cell("@" + stages.mesh);
    cell(llvm::join(llvm::map_range(stages.stages, [](int64_t k) { return std::to_string(k); }), ", "));
    cell(stages.inFlight);
    cell(stages.residualBytes);
    cell(stages.valueBytes);
    cell(stages.peakBytes);
    os << "</tr>\n";
  }
  end();
  os << "<h3>Timeline</h3>\n<p>By predicted times; transfers take none.</p>\n";
  drawTimeline(pipeline.program.program, pipeline.lists.lists, pipeline.seconds, os);
  os << "<h3>Fragments</h3>\n";
  begin({"fragment", "runs", "predicted time of each"});
  for (const ReportStages &stages : pipeline.meshes)
    for (const ReportFragment &fragment : stages.fragments) {
      os << "<tr>";
      cell("@" + fragment.function);
      cell(fragment.runs);
      time(fragment.seconds);
      os << "</tr>\n";
    }
  end();
  os << "<h3>Transfers</h3>\n";
  begin({"value", "from mesh", "to mesh", "received, bytes", "times"});
  for (const ReportTransfer &transfer : pipeline.transfers) {
    os << "<tr>";
    cell(transfer.value);
    cell(transfer.from);
    cell(transfer.to);
    cell(transfer.bytes);
    cell(transfer.count);
    os << "</tr>\n";
  }
  end();
}

void Page::printFunction(const DrawnFunction &drawn) {
  DrawnFunction local = drawn;
  std::string name = local.func.getName().str();
  os << "<h2>@" << Escaped{name} << "</h2>\n";
  printGraph(drawn);
  for (const FunctionMemory &memory : report.memory)
    if (memory.function == name)
      printMemory(memory);
  printCollectives(name);
  for (const ReportFunction &function : report.functions)
    if (function.name == name) {
      printValues("Arguments", function.arguments);
      printValues("Results", function.results);
    }
}

void Page::printMemory(const FunctionMemory &memory) {
  os << "<h3>Memory of a device</h3>\n<p>Peak " << groupDigits(memory.peakBytes) << " bytes, of them "
     << groupDigits(memory.argumentBytes) << " of arguments, at <code>"
     << Escaped{memory.op + (memory.at.empty() ? "" : " " + memory.at)} << "</code>.";
  if (!memory.formula.empty())
    os << " It is that of " << Escaped{getSizesText(report.memorySizes, memory.function)} << ", of "
       << Escaped{memory.formula} << " bytes.";
  if (memory.dynamicValues > 0)
    os << " " << memory.dynamicValues << " values of dynamic size are not counted.";
  os << "</p>\n";
  begin({"held there", "bytes", "local type", "global type", "layout", "location"});
  for (const HeldValue &held : memory.largest) {
    os << "<tr>";
    cell(held.name);
    cell(held.bytes);
    code(held.localType);
    code(held.globalType);
    code(held.sharding);
    cell(held.loc);
    os << "</tr>\n";
  }
  end();
}

void Page::printCollectives(StringRef function) {
  os << "<h3>Collectives</h3>\n";
  if (llvm::none_of(report.collectives, [&](const ReportCollective &c) { return c.function == function; })) {
    os << "<p>None.</p>\n";
    return;
  }
  begin({"id", "kind", "axes", "bytes", "received", "times", "time of each", "location", "reason"});
  for (auto [i, c] : llvm::enumerate(report.collectives)) {
    if (c.function != function)
      continue;
    os << "<tr id=\"c" << i << "\">";
    cell(std::to_string(c.id));
    cell(c.kind + (c.reduction.empty() ? "" : " " + c.reduction));
    cell(llvm::join(c.axes, ","));
    cell(c.bytes);
    cell(c.received);
    cell(c.count);
    time(c.cost);
    cell(c.loc);
    cell(c.reason);
    os << "</tr>\n";
  }
  end();
}

void Page::printValues(StringRef title, const std::vector<ReportValue> &list) {
  if (list.empty())
    return;
  os << "<details" << (list.size() <= 20 ? " open=\"open\"" : "") << "><summary>" << title << " (" << list.size()
     << ")</summary>\n";
  begin({"name", "global type", "layout", "local type", "bytes"});
  for (const ReportValue &value : list) {
    os << "<tr>";
    cell(value.name);
    code(value.globalType);
    code(value.sharding);
    code(value.localType);
    cell(value.localBytes);
    os << "</tr>\n";
  }
  end();
  os << "</details>\n";
}

void Page::printComparison(const Comparison &comparison) {
  os << "<h2>Against " << Escaped{comparison.file} << "</h2>\n";
  begin({"of", "unit", "before", "now", "change"});
  for (const ComparedFigure &figure : comparison.figures) {
    os << "<tr>";
    cell(figure.what);
    cell(figure.unit);
    for (std::optional<double> value : {figure.before, figure.now})
      if (!value)
        cell("-");
      else if (figure.unit == "s")
        seconds(*value);
      else
        cell(int64_t(*value));
    cell(getChangeText(figure));
    os << "</tr>\n";
  }
  end();
  os << "<p>" << comparison.layouts.size() << " layouts of arguments and results changed.</p>\n";
  begin({"value", "function", "before", "now"});
  for (const ComparedLayout &layout : comparison.layouts) {
    os << "<tr>";
    cell(layout.value);
    cell("@" + layout.function);
    code(layout.before);
    code(layout.now);
    os << "</tr>\n";
  }
  end();
  os << "<p>" << comparison.gone.size() << " collectives gone, " << comparison.added.size() << " new.</p>\n";
  begin({"", "collective", "function", "bytes", "times", "location"});
  for (bool isNew : {false, true})
    for (const ComparedCollective &c : isNew ? comparison.added : comparison.gone) {
      os << "<tr>";
      cell(isNew ? "new" : "gone");
      cell(c.text);
      cell("@" + c.function);
      cell(c.bytes);
      cell(c.count);
      cell(c.loc);
      os << "</tr>\n";
    }
  end();
}

void Page::printReplicated() {
  os << "<h2>Replicas that axes could shard</h2>\n";
  if (report.replicated.empty()) {
    os << (report.layoutsKnown ? "<p>None.</p>\n"
                               : "<p>Not known: the layouts of values are gone. Report the module "
                                 "before it is partitioned, or with keep-layouts.</p>\n");
    return;
  }
  os << "<p>" << std::min<size_t>(top, report.replicated.size()) << " of " << report.replicated.size()
     << " values.</p>\n";
  begin({"value", "function", "wasted bytes", "bytes", "could be sharded by", "local type", "global type", "layout",
         "location"});
  for (const ReplicatedValue &value : ArrayRef(report.replicated).take_front(top)) {
    std::string usable;
    for (auto &[axis, dim] : value.usable)
      usable += (usable.empty() ? "" : ", ") + axis + " on dim " + std::to_string(dim);
    os << "<tr>";
    cell(value.name);
    cell("@" + value.function);
    cell(value.wasted);
    cell(value.bytes);
    cell(usable);
    code(value.localType);
    code(value.globalType);
    code(value.sharding);
    cell(value.loc);
    os << "</tr>\n";
  }
  end();
}

/// JSON that is the same text in HTML and in XML.
static std::string toText(const json &data) {
  std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace), escaped;
  for (char c : text)
    if (c == '<' || c == '>' || c == '&')
      escaped += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    else
      escaped += c;
  return escaped;
}

void Page::printGraph(const DrawnFunction &drawn) {
  const FunctionGraph &graph = drawn.graph;
  DrawnFunction local = drawn;
  if (graph.nodes.empty())
    return;
  os << "<h3>Graph</h3>\n<p>Ops by what they compute, in their modules.";
  if (llvm::any_of(graph.nodes, [](const GraphNode &node) { return node.times > 1; }))
    os << " Sequences that repeat are drawn once (&#215; how often).";
  if (graph.notDrawn > 0)
    os << " " << groupDigits(graph.notDrawn) << " more ops are not drawn.";
  grids.clear();
  gridIndices.clear();
  json nodes = json::array(), edges = json::array();
  for (auto [node, module] : llvm::zip_equal(graph.nodes, getModules(local.func, graph)))
    nodes.push_back(toJson(node, module, local.func.getName()));
  for (const GraphEdge &edge : graph.edges)
    edges.push_back({edge.from, edge.to, edge.value ? getBytes(edge.value.getType()) : 0,
                     edge.value ? values.getName(edge.value) : std::string()});
  os << "</p>\n<section class=\"function\"><script type=\"application/json\">"
     << toText({{"nodes", nodes}, {"edges", edges}, {"grids", grids}}) << "</script></section>\n";
}

json Page::toJson(const GraphNode &node, StringRef module, StringRef function) {
  auto collective = collectives.find(node.op);
  bool moves = node.op && collective != collectives.end();
  StringRef kind = moves ? "collective" : !node.op ? "argument" : isControlFlow(node.op) ? "flow" : "op";
  std::string name = node.op ? getComputedName(node.op) : values.getName(node.value);
  if (moves && !report.collectives[collective->second].axes.empty())
    name = report.collectives[collective->second].kind + " {" +
           llvm::join(report.collectives[collective->second].axes, ",") + "}";
  Value shown = node.op && node.op->getNumResults() > 0 ? Value(node.op->getResult(0)) : node.value;
  std::string type;
  if (auto tensor = shown ? dyn_cast<RankedTensorType>(shown.getType()) : RankedTensorType()) {
    llvm::raw_string_ostream stream(type);
    for (int64_t size : tensor.getShape())
      (ShapedType::isDynamic(size) ? stream << "?" : stream << size) << "x";
    stream << tensor.getElementType();
  }
  return {{"name", name},
          {"kind", kind.str()},
          {"module", module.str()},
          {"type", type},
          {"times", node.times},
          {"details", getDetails(node, function)},
          {"grids", getGrids(node)},
          {"row", moves ? "c" + std::to_string(collective->second) : std::string()}};
}

std::string Page::getDetails(const GraphNode &node, StringRef function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!node.op) {
    printValue(node.value, function, stream);
    return text;
  }
  stream << node.op->getName().getStringRef();
  std::string loc = getLocationText(node.op->getLoc());
  if (!loc.empty())
    stream << " at " << loc;
  stream << "\n";
  if (auto it = collectives.find(node.op); it != collectives.end())
    printMove(report.collectives[it->second], stream);
  for (Value result : node.op->getResults())
    printValue(result, function, stream);
  return text;
}

json Page::getGrids(const GraphNode &node) {
  json indices = json::array();
  auto add = [&](Value value) {
    ShardingAttr attr = values.getLayout(value);
    RankedTensorType type = values.getGlobalType(value);
    if (!attr || !type)
      return;
    FailureOr<ShardingOnMesh> layout = values.getMeshes().read(attr, [&] { return emitError(value.getLoc()); });
    if (failed(layout))
      return;
    std::string text = llvm::join(drawGrid(layout->sharding, *layout->mesh, type.getShape()), "\n");
    auto [it, isNew] = gridIndices.try_emplace(text, grids.size());
    if (isNew)
      grids.push_back(text);
    indices.push_back(it->second);
  };
  if (node.value)
    add(node.value);
  else
    llvm::for_each(node.op->getResults(), add);
  return indices;
}

void Page::printMove(const ReportCollective &c, raw_ostream &os) {
  os << "#" << c.id << ", " << groupDigits(c.bytes) << " bytes, " << formatSeconds(c.cost);
  if (c.count > 1)
    os << ", " << groupDigits(c.count) << " times";
  os << "\n" << c.reason << "\n";
}

void Page::printValue(Value value, StringRef function, raw_ostream &os) {
  if (!isa<RankedTensorType>(value.getType()))
    return;
  DescribedValue described = values.describe(value);
  os << "\n" << described.name << "\nlocal " << described.localType << "\n";
  if (!described.globalType.empty())
    os << "global " << described.globalType << "\n";
  if (!described.sharding.empty())
    os << "layout " << described.sharding << "\n";
  auto ofFunction = explained.find(function);
  if (ofFunction == explained.end())
    return;
  auto it = ofFunction->second.find(described.name);
  if (it != ofFunction->second.end())
    printReasons(*it->second, os);
}

void Page::printReasons(const ExplainedValue &value, raw_ostream &os) {
  os << "propagated " << value.sharding << "\n";
  for (const ExplainedAxis &axis : value.axes) {
    os << "dim " << axis.dim << " has " << axis.axis << "\n";
    for (const ExplainedStep &step : axis.steps) {
      os << "  from dim " << step.dim << " of " << step.value << " through " << step.op;
      if (!step.loc.empty())
        os << " at " << step.loc;
      os << "\n";
    }
    if (axis.length > axis.steps.size())
      os << "  and " << axis.length - axis.steps.size() << " more steps\n";
    os << "  given on " << axis.given << "\n";
  }
  for (const StoppedAxis &axis : ArrayRef(value.stopped).take_front(kMaxSteps)) {
    if (axis.dim >= 0)
      os << "dim " << axis.dim << " ";
    os << "lacks " << axis.axis << ": " << axis.reason << "\n";
  }
  if (!value.search)
    return;
  os << llvm::format("chosen by search: %.6e s, ", value.search->objective) << value.search->status << "\n";
  for (const ExplainedAlternative &other : value.search->alternatives)
    os << llvm::format("  instead %.6e s: ", other.objective) << other.kind << " "
       << (other.text.empty() ? other.status : other.text) << "\n";
}

/// The objectives of searches, and the meshes that were tried.
void Page::printSearch() {
  if (report.solver.empty() && report.shapes.empty())
    return;
  os << "<h2>Search</h2>\n<p>The objective is the predicted time that the search minimizes.";
  if (llvm::any_of(report.solver, [](const ReportSolver &solver) { return !solver.kept.empty(); }))
    os << " Where another plan is kept, it takes less time as it runs; totals are those of the kept one.";
  os << "</p>\n";
  begin({"function", "objective", "lower bound", "of collectives", "optimality gap", "status", "kept", "options"});
  for (const ReportSolver &solver : report.solver) {
    os << "<tr>";
    cell("@" + solver.function);
    time(solver.objective);
    time(solver.lowerBound);
    time(solver.communication.value_or(solver.objective));
    os << "<td class=\"n\">" << llvm::format("%.3f", 100 * solver.getGap()) << " %</td>";
    cell(solver.status + (solver.timedOut ? " at the time limit" : ""));
    cell(solver.kept.empty() ? "searched plan" : solver.kept);
    cell(solver.options);
    os << "</tr>\n";
  }
  end();
  if (report.shapes.empty())
    return;
  os << "<h3>What if the mesh were</h3>\n";
  std::optional<double> least;
  for (const ReportShape &shape : report.shapes)
    if (shape.error.empty())
      least = std::min(least.value_or(shape.objective), shape.objective);
  begin({"mesh", "objective", "more than the least", "status"});
  for (const ReportShape &shape : report.shapes) {
    bool isKnown = shape.error.empty();
    os << "<tr>";
    cell(llvm::join(llvm::map_range(shape.shape, [](int64_t size) { return std::to_string(size); }), " x "));
    if (isKnown)
      time(shape.objective);
    else
      cell("-");
    if (!isKnown || *least <= 0)
      cell("-");
    else if (shape.objective == *least)
      os << "<td class=\"n\"><b>least</b></td>";
    else
      os << "<td class=\"n\">" << llvm::format("%.1f", 100 * (shape.objective / *least - 1)) << " %</td>";
    cell(isKnown ? shape.status : shape.error);
    os << "</tr>\n";
  }
  end();
}

DrawnNames spmd::getDrawnNames(ArrayRef<DrawnFunction> functions, const PartitionedValues &values) {
  DrawnNames names;
  for (const DrawnFunction &drawn : functions) {
    DrawnFunction local = drawn;
    auto &list = names[local.func.getName()];
    for (const GraphNode &node : drawn.graph.nodes)
      if (!node.op)
        list.try_emplace(values.getName(node.value), nullptr);
      else
        for (Value result : node.op->getResults())
          list.try_emplace(values.getName(result), nullptr);
  }
  return names;
}

void spmd::printHTML(const Report &report, unsigned top, ArrayRef<DrawnFunction> functions,
                     const PartitionedValues &values, ArrayRef<ExplainedFunction> reasons, raw_ostream &os) {
  Page(report, top, functions, values, reasons, os).print();
}
