//===- ReportText.cpp - The report for readers ----------------------------===//

#include "shardkit/Report/Report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::spmd;

static std::string padLeft(int64_t number, unsigned width) {
  std::string text = std::to_string(number);
  return std::string(width - std::min<size_t>(width, text.size()), ' ') + text;
}

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

static void printFunction(const Report &report, const ReportFunction &function, raw_ostream &os) {
  os << "function @" << function.name;
  if (function.calls > 0)
    os << ", called " << function.calls << (function.calls == 1 ? " time" : " times");
  os << "\n";
  printValues("arguments", function.arguments, os);
  printValues("results", function.results, os);
  bool isFirst = true;
  for (const ReportCollective &c : report.collectives) {
    if (c.function != function.name)
      continue;
    if (isFirst)
      os << "  collectives\n";
    isFirst = false;
    os << "    #" << llvm::left_justify(std::to_string(c.id), 4)
       << llvm::left_justify(c.kind + (c.reduction.empty() ? "" : " " + c.reduction), 20)
       << llvm::left_justify("{" + llvm::join(c.axes, ",") + "}", 16) << padLeft(c.bytes, 12) << " B  "
       << llvm::format("%.3e s", c.cost) << "  " << c.loc << "\n";
  }
  if (isFirst)
    os << "  no collectives\n";
}

static void printSearch(const ReportSolver &solver, raw_ostream &os) {
  os << "search of @" << solver.function << ": " << solver.status
     << llvm::format(", objective %.6e s, lower bound %.6e s", solver.objective, solver.lowerBound);
  if (solver.getGap() > 0)
    os << llvm::format(", optimality gap %.3f %%", 100 * solver.getGap());
  if (solver.communication)
    os << llvm::format(", of it collectives %.6e s", *solver.communication);
  os << (solver.options.empty() ? "" : ", with ") << solver.options << "\n";
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

static void printMemory(const FunctionMemory &memory, raw_ostream &os) {
  os << "memory of @" << memory.function << "\n    peak " << padLeft(memory.peakBytes, 16) << " B  at " << memory.op
     << (memory.at.empty() ? "" : " " + memory.at) << "\n";
  os << "    arguments " << padLeft(memory.argumentBytes, 11) << " B\n";
  for (const HeldValue &held : memory.largest)
    os << "    " << padLeft(held.bytes, 21) << " B  " << held.name << "  " << held.localType
       << (held.sharding.empty() ? "" : "  " + held.sharding) << (held.loc.empty() ? "" : "  " + held.loc) << "\n";
  if (memory.dynamicValues > 0)
    os << "    " << memory.dynamicValues << " values of dynamic size are not counted\n";
}

static void printPipeline(const Report &report, const ReportPipeline &pipeline, raw_ostream &os) {
  os << "pipeline @" << pipeline.name << ": " << pipeline.schedule << ", " << pipeline.microbatches
     << " microbatches\n";
  auto line = [&](StringRef what, int64_t bytes) {
    os << "    " << llvm::left_justify(what, 28) << padLeft(bytes, 14) << " B\n";
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
    os << "  " << transfer.from << " -> " << transfer.to << " x" << transfer.count << padLeft(transfer.bytes, 14)
       << " B  " << transfer.value << "\n";
}

static void printReplicated(const Report &report, unsigned top, raw_ostream &os) {
  os << "replicated, " << std::min<size_t>(top, report.replicated.size()) << " of " << report.replicated.size() << "\n";
  for (const ReplicatedValue &value : ArrayRef(report.replicated).take_front(top))
    os << "    " << padLeft(value.wasted, 21) << " B  @" << value.function << " " << value.name << "  "
       << value.localType << "  could be sharded by " << value.getUsableText()
       << (value.loc.empty() ? "" : "  " + value.loc) << "\n";
}

static void printTotals(const Report &report, raw_ostream &os) {
  auto line = [&](StringRef what, int64_t bytes) {
    os << "    " << llvm::left_justify(what, 20) << padLeft(bytes, 14) << " B\n";
  };
  os << "totals\n";
  for (auto &[kind, bytes] : report.bytesByKind)
    line(kind, bytes);
  for (auto &[axis, bytes] : report.bytesByAxis)
    line("on {" + axis + "}", bytes);
  os << "    " << llvm::left_justify("predicted time", 20) << llvm::format("%14.3e", report.totalCost) << " s\n";
}

static std::string toText(std::optional<double> value, StringRef unit) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!value)
    os << "-";
  else if (unit == "s")
    os << llvm::format("%.3e s", *value);
  else
    os << int64_t(*value) << " " << unit;
  return text;
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
    os << "    " << sign << " @" << c.function << " " << c.text << " " << c.bytes << " B x" << c.count
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
  for (const ReportFunction &function : report.functions)
    printFunction(report, function, os);
  for (const ReportSolver &solver : report.solver)
    printSearch(solver, os);
  if (!report.shapes.empty())
    os << "mesh shapes\n";
  for (const ReportShape &shape : report.shapes)
    printShape(shape, os);
  for (const FunctionMemory &memory : report.memory)
    printMemory(memory, os);
  for (const ReportPipeline &pipeline : report.pipelines)
    printPipeline(report, pipeline, os);
  if (!report.layoutsKnown)
    os << "replicated values: not known, the layouts of values are gone; report the module before it "
          "is partitioned, or with keep-layouts\n";
  if (!report.replicated.empty())
    printReplicated(report, top, os);
  printTotals(report, os);
  if (report.comparison)
    printComparison(*report.comparison, os);
}
