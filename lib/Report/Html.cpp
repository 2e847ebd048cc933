//===- Html.cpp - A report as one page ------------------------------------===//

#include "Html.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Stages/Timeline.h"
#include "shardkit/Support/Page.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;

static constexpr double kBoxWidth = 170, kBoxHeight = 30, kRow = 66;

static constexpr StringLiteral kStyle = R"(
svg text.type { font-size: 10px; fill: #555; }
svg g.argument rect { fill: #f4f4ea; stroke: #b0ab80; }
svg g.flow rect { fill: #ece8f5; stroke: #8d7fb5; }
svg g.collective rect { fill: #fbd9c8; stroke: #c8501e; stroke-width: 2; }
svg g:hover rect { stroke: #000; stroke-width: 2; }
svg path.collective { stroke: #c8501e; }
svg path:hover { stroke: #000; stroke-opacity: 1; }
)";

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

  void printTotals();
  void printPipeline(const ReportPipeline &pipeline);
  void printFunction(const DrawnFunction &drawn);
  void printMemory(const FunctionMemory &memory);
  void printCollectives(StringRef function);
  void printValues(StringRef title, const std::vector<ReportValue> &list);
  void printComparison(const Comparison &comparison);
  void printReplicated();

  //===--- the drawing ------------------------------------------------------===//

  void printGraph(const FunctionGraph &graph, StringRef function);

  static double getTop(const GraphNode &node) { return 8 + node.level * kRow; }

  void printEdge(const FunctionGraph &graph, const GraphEdge &edge);
  void printNode(const GraphNode &node, StringRef function);

  /// A text, truncated to the width of a box.
  static std::string shorten(StringRef text);
  void printMove(const ReportCollective &c);
  void printValue(Value value, StringRef function);
  void printReasons(const ExplainedValue &value);

  const Report &report;
  unsigned top;
  ArrayRef<DrawnFunction> functions;
  const PartitionedValues &values;
  raw_ostream &os;
  DrawnNames explained;
  llvm::DenseMap<Operation *, size_t> collectives;
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
  beginPage("Sharding report", (kStyle + getTimelineStyle()).str(), os);
  printMeshes();
  printTotals();
  for (const ReportPipeline &pipeline : report.pipelines)
    printPipeline(pipeline);
  for (const DrawnFunction &function : functions)
    printFunction(function);
  printReplicated();
  if (report.comparison)
    printComparison(*report.comparison);
  endPage(os);
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
  begin({"of", "bytes"});
  for (auto &[kind, bytes] : report.bytesByKind) {
    os << "<tr>";
    cell(kind);
    cell(bytes);
    os << "</tr>\n";
  }
  for (auto &[axes, bytes] : report.bytesByAxis) {
    os << "<tr>";
    cell("on {" + axes + "}");
    cell(bytes);
    os << "</tr>\n";
  }
  os << "<tr>";
  cell("predicted time, s");
  seconds(report.totalCost);
  os << "</tr>\n";
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
  begin({"fragment", "runs", "s each, predicted"});
  for (const ReportStages &stages : pipeline.meshes)
    for (const ReportFragment &fragment : stages.fragments) {
      os << "<tr>";
      cell("@" + fragment.function);
      cell(fragment.runs);
      seconds(fragment.seconds);
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
  for (const FunctionMemory &memory : report.memory)
    if (memory.function == name)
      printMemory(memory);
  printCollectives(name);
  for (const ReportFunction &function : report.functions)
    if (function.name == name) {
      printValues("Arguments", function.arguments);
      printValues("Results", function.results);
    }
  printGraph(drawn.graph, name);
}

void Page::printMemory(const FunctionMemory &memory) {
  os << "<h3>Memory of a device</h3>\n<p>Peak " << groupDigits(memory.peakBytes) << " bytes, of them "
     << groupDigits(memory.argumentBytes) << " of arguments, at <code>"
     << Escaped{memory.op + (memory.at.empty() ? "" : " " + memory.at)} << "</code>.";
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
  begin({"id", "kind", "axes", "bytes", "received", "times", "s each", "location", "reason"});
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
    seconds(c.cost);
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

void Page::printGraph(const FunctionGraph &graph, StringRef function) {
  if (graph.nodes.empty())
    return;
  os << "<h3>Graph</h3>\n<p>Width of an edge: bytes on a device. Hover for types, layouts and "
        "reasons.";
  if (llvm::any_of(graph.nodes, [](const GraphNode &node) { return node.times > 1; }))
    os << " Stretches that repeat are drawn once (&#215; how often).";
  if (graph.notDrawn > 0)
    os << " " << groupDigits(graph.notDrawn) << " more ops are not drawn.";
  double height = graph.levels * kRow + 10;
  os << "</p>\n<div class=\"graph\"><svg width=\"" << int64_t(graph.width + 20) << "\" height=\"" << int64_t(height)
     << "\">\n";
  for (const GraphEdge &edge : graph.edges)
    printEdge(graph, edge);
  for (const GraphNode &node : graph.nodes)
    printNode(node, function);
  os << "</svg></div>\n";
}

void Page::printEdge(const FunctionGraph &graph, const GraphEdge &edge) {
  const GraphNode &from = graph.nodes[edge.from], &to = graph.nodes[edge.to];
  int64_t bytes = edge.value ? getBytes(edge.value.getType()) : 0;
  double width = bytes > 0 ? 0.7 + 0.25 * llvm::Log2_64(bytes) : 0.7;
  int64_t x1 = from.x + 8 + kBoxWidth / 2, y1 = getTop(from) + kBoxHeight;
  int64_t x2 = to.x + 8 + kBoxWidth / 2, y2 = getTop(to);
  bool moves = isa_and_nonnull<CollectiveOpInterface>(from.op) || isa_and_nonnull<CollectiveOpInterface>(to.op);
  // Around the boxes in between.
  bool isLong = to.level > from.level + 1;
  int64_t bow = isLong ? kBoxWidth * 0.8 : 0, reach = isLong ? 50 : 18;
  os << "<path" << (moves ? " class=\"collective\"" : "") << " stroke-width=\"" << llvm::format("%.1f", width)
     << "\" d=\"M" << x1 << " " << y1 << "C" << x1 + bow << " " << y1 + reach << " " << x2 + bow << " " << y2 - reach
     << " " << x2 << " " << y2 << "\">";
  if (edge.value) {
    DescribedValue value = values.describe(edge.value);
    os << "<title>" << Escaped{value.name} << "\n"
       << groupDigits(bytes) << " bytes\n"
       << Escaped{value.localType} << "\n"
       << Escaped{value.sharding} << "</title>";
  }
  os << "</path>\n";
}

void Page::printNode(const GraphNode &node, StringRef function) {
  auto collective = collectives.find(node.op);
  bool moves = node.op && collective != collectives.end();
  StringRef kind = moves ? "collective" : !node.op ? "argument" : isControlFlow(node.op) ? "flow" : "op";
  std::string label = !node.op ? values.getName(node.value) : node.op->getName().getStringRef().str();
  if (moves && !report.collectives[collective->second].axes.empty())
    label = report.collectives[collective->second].kind + " {" +
            llvm::join(report.collectives[collective->second].axes, ",") + "}";
  int64_t x = node.x + 8, y = getTop(node);
  if (moves)
    os << "<a href=\"#c" << collective->second << "\">";
  os << "<g class=\"" << kind << "\"><title>";
  if (node.op) {
    os << Escaped{node.op->getName().getStringRef()};
    std::string loc = getLocationText(node.op->getLoc());
    if (!loc.empty())
      os << " at " << Escaped{loc};
    os << "\n";
    if (moves)
      printMove(report.collectives[collective->second]);
    for (Value result : node.op->getResults())
      printValue(result, function);
  } else {
    printValue(node.value, function);
  }
  os << "</title><rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << int64_t(kBoxWidth) << "\" height=\""
     << int64_t(kBoxHeight) << "\" rx=\"4\"/>";
  os << "<text x=\"" << x + 6 << "\" y=\"" << y + 13 << "\">" << Escaped{shorten(label)};
  if (node.times > 1)
    os << " &#215;" << node.times;
  os << "</text>";
  Value shown = node.op && node.op->getNumResults() > 0 ? Value(node.op->getResult(0)) : node.value;
  if (auto type = shown ? dyn_cast<RankedTensorType>(shown.getType()) : RankedTensorType()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (node.op)
      stream << values.getName(shown) << " ";
    for (int64_t size : type.getShape())
      (ShapedType::isDynamic(size) ? stream << "?" : stream << size) << "x";
    stream << type.getElementType();
    os << "<text class=\"type\" x=\"" << x + 6 << "\" y=\"" << y + 25 << "\">" << Escaped{shorten(text)} << "</text>";
  }
  os << "</g>";
  if (moves)
    os << "</a>";
  os << "\n";
}

std::string Page::shorten(StringRef text) {
  constexpr size_t kMaxLetters = 27;
  return text.size() > kMaxLetters ? (text.take_front(kMaxLetters - 3) + "...").str() : text.str();
}

void Page::printMove(const ReportCollective &c) {
  os << "#" << c.id << ", " << groupDigits(c.bytes) << " bytes, " << llvm::format("%.3e", c.cost) << " s";
  if (c.count > 1)
    os << ", " << groupDigits(c.count) << " times";
  os << "\n" << Escaped{c.reason} << "\n";
}

void Page::printValue(Value value, StringRef function) {
  if (!isa<RankedTensorType>(value.getType()))
    return;
  DescribedValue described = values.describe(value);
  os << "\n" << Escaped{described.name} << "\nlocal " << Escaped{described.localType} << "\n";
  if (!described.globalType.empty())
    os << "global " << Escaped{described.globalType} << "\n";
  if (!described.sharding.empty())
    os << "layout " << Escaped{described.sharding} << "\n";
  auto ofFunction = explained.find(function);
  if (ofFunction == explained.end())
    return;
  auto it = ofFunction->second.find(described.name);
  if (it != ofFunction->second.end())
    printReasons(*it->second);
}

void Page::printReasons(const ExplainedValue &value) {
  os << "propagated " << Escaped{value.sharding} << "\n";
  for (const ExplainedAxis &axis : value.axes) {
    os << "dim " << axis.dim << " has " << Escaped{axis.axis} << "\n";
    for (const ExplainedStep &step : axis.steps) {
      os << "  from dim " << step.dim << " of " << Escaped{step.value} << " through " << Escaped{step.op};
      if (!step.loc.empty())
        os << " at " << Escaped{step.loc};
      os << "\n";
    }
    if (axis.length > axis.steps.size())
      os << "  and " << axis.length - axis.steps.size() << " more steps\n";
    os << "  given on " << Escaped{axis.given} << "\n";
  }
  for (const StoppedAxis &axis : ArrayRef(value.stopped).take_front(kMaxSteps)) {
    if (axis.dim >= 0)
      os << "dim " << axis.dim << " ";
    os << "lacks " << Escaped{axis.axis} << ": " << Escaped{axis.reason} << "\n";
  }
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
