//===- ReportText.cpp - The report for readers ----------------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Report/Report.h"
#include "shardkit/Support/Units.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::spmd;

static std::string padLeft(std::string text, unsigned width) {
  return std::string(width - std::min<size_t>(width, text.size()), ' ') + text;
}

static std::string bytesColumn(int64_t bytes, unsigned width = 12) { return padLeft(formatBytes(bytes), width); }

static void printMesh(const ReportMesh &mesh, raw_ostream &os) {
  os << "mesh @" << mesh.name << ":";
  for (auto &[name, size] : mesh.axes)
    os << " " << name << "=" << size;
  os << "\n";
}

static void printValues(StringRef title, const std::vector<ReportValue> &values, raw_ostream &os) {
  if (values.empty())
    return;
  size_t nameWidth = 0, typeWidth = 0, localWidth = 0;
  for (const ReportValue &value : values) {
    nameWidth = std::max(nameWidth, value.name.size());
    typeWidth = std::max(typeWidth, value.globalType.size());
    localWidth = std::max(localWidth, value.localType.size());
  }
  os << "  " << title << "\n";
  for (const ReportValue &value : values)
    os << "    " << llvm::left_justify(value.name, nameWidth) << "  " << llvm::left_justify(value.globalType, typeWidth)
       << "  " << llvm::left_justify(value.localType, localWidth) << "  " << value.sharding << "\n";
}

namespace {
/// Collectives of equal kind, axes and bytes, of the same module or of equal modules:
/// `layers.0/mlp` and `layers.1/mlp` are both `layers.*/mlp`. Without names of modules those
/// of a file are one group.
struct CollectiveGroup {
  const ReportCollective *first;
  std::string scope;
  SmallVector<int64_t> ids;
  int64_t count = 0;
  std::set<std::string> lines;
};
} // namespace

/// The scope with `*` for the numbers of repeated modules: `layers.3/mlp`, `h_3`; not for `fc1`.
static std::string generalize(StringRef scope) {
  std::string text;
  auto isDigit = [&](size_t i) { return i < scope.size() && llvm::isDigit(scope[i]); };
  for (size_t i = 0; i < scope.size();) {
    if (!isDigit(i)) {
      text += scope[i++];
      continue;
    }
    size_t begin = i;
    while (isDigit(i))
      ++i;
    bool isNumber = (begin == 0 || !llvm::isAlpha(scope[begin - 1])) && (i == scope.size() || !llvm::isAlpha(scope[i]));
    text += isNumber ? "*" : scope.slice(begin, i).str();
  }
  return text;
}

/// `file.py:6:42` of a location, without names.
static std::string getFileText(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  return file ? getLocationText(file) : "";
}

static std::vector<CollectiveGroup> groupCollectives(const Report &report, StringRef function) {
  llvm::MapVector<std::string, CollectiveGroup, std::map<std::string, unsigned>> groups;
  for (const ReportCollective &c : report.collectives) {
    if (c.function != function)
      continue;
    std::string scope = generalize(c.scope);
    std::string line = getFileText(c.location);
    std::string module = scope.empty() ? StringRef(line).split(':').first.str() : scope;
    std::string key =
        c.kind + " " + c.reduction + " " + llvm::join(c.axes, ",") + " " + std::to_string(c.bytes) + " " + module;
    CollectiveGroup &group = groups[key];
    if (group.ids.empty()) {
      group.first = &c;
      group.scope = std::move(scope);
    }
    group.ids.push_back(c.id);
    if (!line.empty())
      group.lines.insert(std::move(line));
    group.count += c.count;
  }
  std::vector<CollectiveGroup> list;
  for (auto &[key, group] : groups)
    list.push_back(std::move(group));
  llvm::stable_sort(list, [](const CollectiveGroup &a, const CollectiveGroup &b) {
    return a.count * a.first->cost > b.count * b.first->cost;
  });
  return list;
}

/// Limit of the ids that a group lists.
static constexpr size_t kMaxIds = 4;

static void printCollectives(const Report &report, const ReportFunction &function, raw_ostream &os) {
  std::vector<CollectiveGroup> groups = groupCollectives(report, function.name);
  if (groups.empty()) {
    os << "  no collectives\n";
    return;
  }
  os << "  collectives, " << formatBytes(report.getCollectiveBytes(function.name)) << "\n";
  for (const CollectiveGroup &group : groups) {
    const ReportCollective &c = *group.first;
    std::string file = getFileText(c.location);
    os << "    " << llvm::left_justify(c.kind + (c.reduction.empty() ? "" : " " + c.reduction), 20)
       << llvm::left_justify("{" + llvm::join(c.axes, ",") + "}", 12)
       << padLeft(std::to_string(group.count) + " x " + formatBytes(c.bytes), 16)
       << padLeft(formatSeconds(group.count * c.cost), 12);
    if (c.rows < 1)
      os << "  " << llvm::formatv("{0:F0} % of rows", 100 * c.rows).str();
    if (!group.scope.empty())
      os << "  " << group.scope;
    if (!file.empty())
      os << "  " << file;
    if (group.lines.size() > 1)
      os << " and " << group.lines.size() - 1 << " more";
    os << "  ";
    for (auto [i, id] : llvm::enumerate(ArrayRef(group.ids).take_front(kMaxIds)))
      os << (i ? " #" : "#") << id;
    if (group.ids.size() > kMaxIds)
      os << " and " << group.ids.size() - kMaxIds << " more";
    os << "\n";
  }
}

std::string spmd::getSizesText(const std::vector<ReportSize> &sizes, StringRef function) {
  SmallVector<std::string> texts;
  for (const ReportSize &size : sizes)
    if (size.function == function)
      texts.push_back(size.name + " = " + std::to_string(size.size));
  return llvm::join(texts, ", ");
}

static void printFunction(const Report &report, const ReportFunction &function, raw_ostream &os) {
  os << "function @" << function.name;
  if (function.calls > 0)
    os << ", called " << function.calls << (function.calls == 1 ? " time" : " times");
  if (std::string sizes = getSizesText(report.sizes, function.name); !sizes.empty())
    os << ", with " << sizes;
  os << "\n";
  printValues("arguments", function.arguments, os);
  printValues("results", function.results, os);
  printCollectives(report, function, os);
}

static void printSearch(const ReportSolver &solver, raw_ostream &os) {
  os << "search of @" << solver.function << ": " << solver.status << (solver.timedOut ? " at the time limit" : "")
     << llvm::format(", objective %.6e s, lower bound %.6e s", solver.objective, solver.lowerBound);
  if (solver.getGap() > 0)
    os << llvm::format(", optimality gap %.3f %%", 100 * solver.getGap());
  if (solver.communication)
    os << llvm::format(", of it collectives %.6e s", *solver.communication);
  if (solver.hidden)
    os << llvm::format(" and %.6e s hidden by compute", *solver.hidden);
  os << (solver.options.empty() ? "" : ", with ") << solver.options << "\n";
  if (!solver.kept.empty())
    os << "    kept: " << solver.kept
       << llvm::format(", %.6e s as it runs; the searched plan %.6e s\n", solver.keptSeconds, solver.searchedSeconds);
}

static void printShape(const ReportShape &shape, raw_ostream &os) {
  std::string sizes =
      llvm::join(llvm::map_range(shape.shape, [](int64_t size) { return std::to_string(size); }), " x ");
  os << "    " << llvm::left_justify(sizes, 20);
  if (shape.error.empty())
    os << llvm::format("%.6e s  ", shape.objective) << shape.status << "\n";
  else
    os << shape.error << "\n";
}

static void printMemory(const Report &report, const FunctionMemory &memory, raw_ostream &os) {
  os << "memory of @" << memory.function << "\n    peak      " << bytesColumn(memory.peakBytes) << "  at " << memory.op
     << (memory.at.empty() ? "" : " " + memory.at) << "\n";
  if (!memory.formula.empty())
    os << "    with " << getSizesText(report.memorySizes, memory.function) << ", of " << memory.formula << " bytes\n";
  os << "    arguments " << bytesColumn(memory.argumentBytes) << "\n";
  for (const HeldValue &held : memory.largest)
    os << "    " << bytesColumn(held.bytes, 22) << "  " << held.name << "  " << held.localType
       << (held.sharding.empty() ? "" : "  " + held.sharding) << (held.loc.empty() ? "" : "  " + held.loc) << "\n";
  if (memory.dynamicValues > 0)
    os << "    " << memory.dynamicValues << " values of dynamic size are not counted\n";
}

static void printPipeline(const Report &report, const ReportPipeline &pipeline, raw_ostream &os) {
  os << "pipeline @" << pipeline.name << ": " << pipeline.schedule << ", " << pipeline.microbatches
     << " microbatches\n";
  auto line = [&](StringRef what, int64_t bytes) {
    os << "    " << llvm::left_justify(what, 28) << bytesColumn(bytes) << "\n";
  };
  for (const ReportStages &stages : pipeline.meshes) {
    os << "  mesh @" << stages.mesh << (stages.stages.size() > 1 ? ", stages " : ", stage ");
    llvm::interleaveComma(stages.stages, os);
    os << "\n";
    for (const ReportFragment &fragment : stages.fragments)
      line("@" + fragment.function + " x" + std::to_string(fragment.runs) + ", collectives",
           report.getCollectiveBytes(fragment.function));
    line(std::to_string(stages.inFlight) + " in flight, each keeps", stages.residualBytes);
    line("values between fragments", stages.valueBytes);
    line("peak at most", stages.peakBytes);
  }
  for (const ReportTransfer &transfer : pipeline.transfers)
    os << "  " << transfer.from << " -> " << transfer.to << " x" << transfer.count << bytesColumn(transfer.bytes)
       << "  " << transfer.value << "\n";
}

static void printReplicated(const Report &report, unsigned top, raw_ostream &os) {
  os << "replicated, " << std::min<size_t>(top, report.replicated.size()) << " of " << report.replicated.size() << "\n";
  for (const ReplicatedValue &value : ArrayRef(report.replicated).take_front(top))
    os << "    " << bytesColumn(value.wasted, 22) << "  @" << value.function << " " << value.name << "  "
       << value.localType << "  could be sharded by " << value.getUsableText()
       << (value.loc.empty() ? "" : "  " + value.loc) << "\n";
}

static void printTotals(const Report &report, raw_ostream &os) {
  std::map<StringRef, int64_t> counts;
  for (const ReportCollective &c : report.collectives)
    counts[c.kind] += c.count;
  auto line = [&](std::string what, std::string count, std::string amount) {
    os << "    " << llvm::left_justify(what, 28) << padLeft(std::move(count), 8) << padLeft(std::move(amount), 12)
       << "\n";
  };
  os << "totals\n";
  line("predicted time", "", formatSeconds(report.totalCost));
  if (report.totalHidden > 0)
    line("of it hidden by compute", "", formatSeconds(report.totalHidden));
  if (report.totalCompute)
    line("predicted compute", "", formatSeconds(*report.totalCompute));
  if (report.launches > 0)
    line("launches", "", std::to_string(report.launches));
  for (auto &[kind, bytes] : report.bytesByKind)
    line(kind, std::to_string(counts[kind]) + " x", formatBytes(bytes));
  for (auto &[axis, bytes] : report.bytesByAxis)
    line("on {" + axis + "}", "", formatBytes(bytes));
  llvm::StringSet<> fragments; // their meshes hold more than they do
  for (const ReportPipeline &pipeline : report.pipelines)
    for (const ReportStages &stages : pipeline.meshes) {
      line("peak on @" + stages.mesh + " at most", "", formatBytes(stages.peakBytes));
      for (const ReportFragment &fragment : stages.fragments)
        fragments.insert(fragment.function);
    }
  for (const FunctionMemory &memory : report.memory)
    if (!fragments.contains(memory.function))
      line("peak of @" + memory.function, "", formatBytes(memory.peakBytes));
}

static std::string toText(std::optional<double> value, StringRef unit) {
  if (!value)
    return "-";
  if (unit.empty())
    return std::to_string(int64_t(*value));
  return unit == "s" ? formatSeconds(*value) : formatBytes(int64_t(*value));
}

static void printComparison(const Comparison &comparison, raw_ostream &os) {
  os << "against " << comparison.file << "\n";
  size_t width = 0;
  for (const ComparedFigure &figure : comparison.figures)
    width = std::max(width, figure.what.size());
  for (const ComparedFigure &figure : comparison.figures)
    os << "    " << llvm::left_justify(figure.what, width)
       << llvm::right_justify(toText(figure.before, figure.unit), 18) << " -> "
       << llvm::right_justify(toText(figure.now, figure.unit), 16) << "  " << getChangeText(figure) << "\n";
  os << "  layouts of arguments and results, " << comparison.layouts.size() << " changed\n";
  for (const ComparedLayout &layout : comparison.layouts)
    os << "    @" << layout.function << " " << layout.value << "  " << (layout.before.empty() ? "-" : layout.before)
       << " -> " << (layout.now.empty() ? "-" : layout.now) << "\n";
  os << "  collectives, " << comparison.gone.size() << " gone, " << comparison.added.size() << " new\n";
  auto print = [&](StringRef sign, const ComparedCollective &c) {
    os << "    " << sign << " @" << c.function << " " << c.text << " " << c.count << " x " << formatBytes(c.bytes)
       << (c.loc.empty() ? "" : "  " + c.loc) << "\n";
  };
  for (const ComparedCollective &c : comparison.gone)
    print("-", c);
  for (const ComparedCollective &c : comparison.added)
    print("+", c);
}

void spmd::printText(const Report &report, unsigned top, raw_ostream &os) {
  for (const ReportMesh &mesh : report.meshes)
    printMesh(mesh, os);
  printTotals(report, os);
  for (const ReportFunction &function : report.functions)
    printFunction(report, function, os);
  for (const ReportSolver &solver : report.solver)
    printSearch(solver, os);
  for (const ReportImprovement &improvement : report.improvements)
    os << "plan of @" << improvement.function
       << (improvement.isForMemory ? ": changed to need less memory" : ": improved after propagation")
       << llvm::format(", from %.3e s to %.3e s\n", improvement.propagated, improvement.improved);
  if (!report.shapes.empty())
    os << "mesh shapes\n";
  for (const ReportShape &shape : report.shapes)
    printShape(shape, os);
  for (const FunctionMemory &memory : report.memory)
    printMemory(report, memory, os);
  for (const ReportPipeline &pipeline : report.pipelines)
    printPipeline(report, pipeline, os);
  if (!report.layoutsKnown)
    os << "replicated values: not known, the layouts of values are gone; report the module before it "
          "is partitioned, or with keep-layouts\n";
  if (!report.replicated.empty())
    printReplicated(report, top, os);
  if (report.comparison)
    printComparison(*report.comparison, os);
}
