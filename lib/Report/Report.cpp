//===- Report.cpp - What a partitioned program moves and holds ------------===//

#include "shardkit/Report/Report.h"

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "shardkit/Plan/Names.h"
#include "shardkit/Rules/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spmd;

template <typename T> static std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value;
  return text;
}

static ReportValue describe(std::string name, Type local, Attribute global,
                            Attribute sharding) {
  ReportValue value;
  value.name = std::move(name);
  value.localType = print(local);
  value.localBytes = getBytes(local);
  Type globalType = local;
  if (auto type = dyn_cast_or_null<TypeAttr>(global))
    globalType = type.getValue();
  value.globalType = print(globalType);
  value.globalBytes = getBytes(globalType);
  value.sharding = getShardingText(sharding);
  return value;
}

/// Why a collective is there: what it completes or brings to its user. Collectives
/// that follow each other lead from one op to another together.
static std::string getReason(CollectiveOpInterface op, const PartitionedValues &values) {
  Value from = op->getOperand(0), to = op->getResult(0);
  while (isa_and_nonnull<CollectiveOpInterface>(from.getDefiningOp()))
    from = from.getDefiningOp()->getOperand(0);
  Operation *user = nullptr;
  while (!to.use_empty()) {
    for (Operation *other : to.getUsers()) // the list ends with the first in the program
      user = other;
    if (!isa<CollectiveOpInterface>(user))
      break;
    to = user->getResult(0);
  }
  std::string producer = values.getName(from);
  if (Operation *def = from.getDefiningOp())
    producer = def->getName().getStringRef().str() + " (" + producer + ")";
  std::string needed = user ? user->getName().getStringRef().str() : "nothing";
  std::string reason = op.getReduction() ? "completes a partial result of " + producer + " for " + needed
                                         : needed + " needs another layout than " + producer + " has";
  ShardingAttr source = values.getLayout(from), target = values.getLayout(to);
  if (source && target)
    reason += ": " + getShardingText(source) + " to " + getShardingText(target);
  return reason;
}

static double getNumber(DictionaryAttr attr, StringRef name) {
  auto number = attr.getAs<FloatAttr>(name);
  return number ? number.getValueAsDouble() : 0;
}

static std::string getText(DictionaryAttr attr, StringRef name) {
  auto text = attr.getAs<StringAttr>(name);
  return text ? text.str() : "";
}

static void readSearch(func::FuncOp func, Report &report) {
  auto attr = func->getAttrOfType<DictionaryAttr>(kSolverAttr);
  if (!attr)
    return;
  ReportSolver &solver = report.solver.emplace_back(func.getLoc());
  solver.function = func.getName().str();
  solver.status = getText(attr, "status");
  solver.options = getText(attr, "with_options");
  solver.objective = getNumber(attr, "objective");
  solver.lowerBound = getNumber(attr, "lower_bound");
  if (attr.contains("communication"))
    solver.communication = getNumber(attr, "communication");
}

static void readShapes(ModuleOp module, Report &report) {
  auto shapes = module->getAttrOfType<ArrayAttr>(kMeshShapesAttr);
  for (Attribute entry : shapes ? shapes.getValue() : ArrayRef<Attribute>()) {
    auto attr = dyn_cast<DictionaryAttr>(entry);
    auto sizes = attr ? attr.getAs<DenseI64ArrayAttr>("shape") : DenseI64ArrayAttr();
    if (!sizes)
      continue;
    ReportShape &shape = report.shapes.emplace_back();
    shape.shape.assign(sizes.asArrayRef().begin(), sizes.asArrayRef().end());
    shape.objective = getNumber(attr, "objective");
    shape.lowerBound = getNumber(attr, "lower_bound");
    shape.status = getText(attr, "status");
    shape.error = getText(attr, "error");
  }
}

FailureOr<Report> spmd::buildReport(ModuleOp module, const PartitionedValues &values,
                                    const ReportOptions &options) {
  Report report;
  const MeshCache &meshes = values.getMeshes();
  for (const MeshCache::Entry &entry : meshes.entries()) {
    ReportMesh mesh{entry.mesh->name, {}, {}};
    for (const MeshAxis &axis : entry.mesh->axes)
      mesh.axes.emplace_back(axis.name, axis.size);
    mesh.deviceIds.assign(entry.mesh->deviceIds.begin(), entry.mesh->deviceIds.end());
    report.meshes.push_back(std::move(mesh));
  }
  readShapes(module, report);
  llvm::StringMap<int64_t> runs = countRuns(module);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    readSearch(func, report);
    if (func.isPrivate())
      continue;
    ReportFunction function;
    function.name = func.getName().str();
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      function.arguments.push_back(
          describe(getArgumentName(func, i),
                   func.getArgumentTypes()[i], func.getArgAttr(i, kGlobalTypeAttr),
                   func.getArgAttr(i, kShardingAttr)));
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      function.results.push_back(
          describe(getResultName(func, i),
                   func.getResultTypes()[i], func.getResultAttr(i, kGlobalTypeAttr),
                   func.getResultAttr(i, kShardingAttr)));
    report.functions.push_back(std::move(function));

    int64_t next = 0;
    WalkResult walk = func.walk<WalkOrder::PreOrder>([&](CollectiveOpInterface op) {
      const Mesh *from = meshes.lookup(op.getFromMesh());
      const Mesh *to = meshes.lookup(op.getToMesh());
      PlanStep step;
      step.kind = op.getKind();
      if (!from || !to || failed(op.getLayouts(*from, *to, step.from, step.to)))
        return WalkResult::interrupt();
      step.group = getMovedRanks(step.from, step.to);
      CostModel costs(*from);
      CollectiveCost cost = costs.getCost(
          step, getElementBytes(getElementTypeOrSelf(op->getResult(0).getType())));
      ReportCollective entry(op->getLoc());
      entry.id = op.getCollectiveId().value_or(next);
      ++next;
      entry.function = func.getName().str();
      entry.kind = stringifyCollectiveKind(step.kind).str();
      if (auto reduction = op.getReduction())
        entry.reduction = stringifyReductionKind(*reduction).str();
      for (std::string &axis : costs.getAxes(step.group))
        entry.axes.push_back(std::move(axis));
      entry.bytes = cost.bytes;
      entry.received = cost.received;
      entry.cost = cost.seconds - (travelsAlong(op) ? costs.getLatency(step.group) : 0);
      entry.count = countExecutions(op->getBlock(), options.tripCount);
      if (auto it = runs.find(func.getName()); it != runs.end())
        entry.count *= it->second;
      entry.loc = getLocationText(op->getLoc());
      entry.reason = getReason(op, values);
      // A slice moves nothing between devices.
      report.bytesByKind[entry.kind] += entry.bytes * entry.count;
      if (entry.bytes > 0)
        report.bytesByAxis[llvm::join(entry.axes, ",")] += entry.bytes * entry.count;
      report.totalCost += entry.cost * entry.count;
      report.collectives.push_back(std::move(entry));
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  report.memory = computeMemory(module, values, options.top);
  auto pipelines = computePipelines(module, meshes, report.memory, options.tripCount);
  if (failed(pipelines))
    return failure();
  report.pipelines = std::move(*pipelines);
  report.layoutsKnown = values.knowLayouts();
  if (report.layoutsKnown)
    report.replicated = findReplicated(module, values);
  return report;
}

/// `"model" on dim 0, ...`
static std::string getUsableText(const ReplicatedValue &value) {
  std::string text;
  for (auto &[axis, dim] : value.usable)
    text += (text.empty() ? "" : ", ") + axis + " on dim " + std::to_string(dim);
  return text;
}

/// Bytes of the collectives of a part in a step.
static int64_t getCollectiveBytes(const Report &report, StringRef function) {
  int64_t sum = 0;
  for (const ReportCollective &c : report.collectives)
    if (c.function == function)
      sum += c.bytes * c.count;
  return sum;
}

static void printPipeline(const Report &report, const ReportPipeline &pipeline, raw_ostream &os) {
  os << "pipeline @" << pipeline.name << ": " << pipeline.schedule << ", " << pipeline.microbatches
     << " microbatches\n";
  auto line = [&](StringRef what, int64_t bytes) {
    os << "    " << llvm::left_justify(what, 28) << llvm::right_justify(std::to_string(bytes), 14)
       << " B\n";
  };
  for (const ReportStages &stages : pipeline.meshes) {
    os << "  mesh @" << stages.mesh << (stages.stages.size() > 1 ? ", stages " : ", stage ");
    llvm::interleaveComma(stages.stages, os);
    os << "\n";
    for (const ReportPart &part : stages.parts)
      line("@" + part.function + " x" + std::to_string(part.runs) + ", collectives",
           getCollectiveBytes(report, part.function));
    line(std::to_string(stages.inFlight) + " in flight, each keeps", stages.residualBytes);
    line("values between parts", stages.valueBytes);
    line("peak at most", stages.peakBytes);
  }
  for (const ReportTransfer &transfer : pipeline.transfers)
    os << "  " << transfer.from << " -> " << transfer.to << " x" << transfer.count
       << llvm::right_justify(std::to_string(transfer.bytes), 14) << " B  " << transfer.value << "\n";
}

void spmd::printText(const Report &report, unsigned top, raw_ostream &os) {
  for (const ReportMesh &mesh : report.meshes) {
    os << "mesh @" << mesh.name << ":";
    for (auto &[name, size] : mesh.axes)
      os << " " << name << "=" << size;
    os << "\n";
  }
  auto printValues = [&](StringRef title, const std::vector<ReportValue> &values) {
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
      os << "    " << llvm::left_justify(value.name, nameWidth) << "  "
         << llvm::left_justify(value.globalType, typeWidth) << "  "
         << llvm::left_justify(value.localType, localWidth) << "  " << value.sharding
         << "\n";
  };
  for (const ReportFunction &function : report.functions) {
    os << "function @" << function.name << "\n";
    printValues("arguments", function.arguments);
    printValues("results", function.results);
    bool header = false;
    for (const ReportCollective &c : report.collectives) {
      if (c.function != function.name)
        continue;
      if (!header)
        os << "  collectives\n";
      header = true;
      os << "    #" << llvm::left_justify(std::to_string(c.id), 4)
         << llvm::left_justify(c.kind + (c.reduction.empty() ? "" : " " + c.reduction), 20)
         << llvm::left_justify("{" + llvm::join(c.axes, ",") + "}", 16)
         << llvm::right_justify(std::to_string(c.bytes), 12) << " B  "
         << llvm::format("%.3e s", c.cost) << "  " << c.loc << "\n";
    }
    if (!header)
      os << "  no collectives\n";
  }
  for (const ReportSolver &solver : report.solver) {
    os << "search of @" << solver.function << ": " << solver.status
       << llvm::format(", objective %.6e s, lower bound %.6e s", solver.objective, solver.lowerBound);
    if (solver.getGap() > 0)
      os << llvm::format(", gap %.3f %%", 100 * solver.getGap());
    if (solver.communication)
      os << llvm::format(", of it collectives %.6e s", *solver.communication);
    os << (solver.options.empty() ? "" : ", with ") << solver.options << "\n";
  }
  if (!report.shapes.empty())
    os << "mesh shapes\n";
  for (const ReportShape &shape : report.shapes) {
    os << "    " << llvm::left_justify(llvm::join(llvm::map_range(shape.shape, [](int64_t size) {
                                         return std::to_string(size);
                                       }), " x "), 20);
    if (shape.error.empty())
      os << llvm::format("%.6e s  ", shape.objective) << shape.status << "\n";
    else
      os << shape.error << "\n";
  }
  for (const FunctionMemory &memory : report.memory) {
    os << "memory of @" << memory.function << "\n    peak "
       << llvm::right_justify(std::to_string(memory.peakBytes), 16) << " B  at " << memory.op
       << (memory.at.empty() ? "" : " " + memory.at) << "\n";
    os << "    arguments " << llvm::right_justify(std::to_string(memory.argumentBytes), 11) << " B\n";
    for (const HeldValue &held : memory.largest)
      os << "    " << llvm::right_justify(std::to_string(held.bytes), 21) << " B  " << held.name
         << "  " << held.localType << (held.sharding.empty() ? "" : "  " + held.sharding)
         << (held.loc.empty() ? "" : "  " + held.loc) << "\n";
    if (memory.dynamicValues > 0)
      os << "    " << memory.dynamicValues << " values of dynamic size are not counted\n";
  }
  for (const ReportPipeline &pipeline : report.pipelines)
    printPipeline(report, pipeline, os);
  if (!report.layoutsKnown)
    os << "replicated values: not known, the layouts of values are gone; report the module before it "
          "is partitioned, or with keep-layouts\n";
  if (!report.replicated.empty()) {
    os << "replicated, " << std::min<size_t>(top, report.replicated.size()) << " of "
       << report.replicated.size() << "\n";
    for (const ReplicatedValue &value : ArrayRef(report.replicated).take_front(top))
      os << "    " << llvm::right_justify(std::to_string(value.wasted), 21) << " B  @"
         << value.function << " " << value.name << "  " << value.localType << "  could be cut by "
         << getUsableText(value) << (value.loc.empty() ? "" : "  " + value.loc) << "\n";
  }
  os << "totals\n";
  for (auto &[kind, bytes] : report.bytesByKind)
    os << "    " << llvm::left_justify(kind, 20) << llvm::right_justify(std::to_string(bytes), 14) << " B\n";
  for (auto &[axis, bytes] : report.bytesByAxis)
    os << "    " << llvm::left_justify("on {" + axis + "}", 20)
       << llvm::right_justify(std::to_string(bytes), 14) << " B\n";
  os << "    " << llvm::left_justify("predicted time", 20) << llvm::format("%14.3e", report.totalCost) << " s\n";
}

void spmd::printJSON(const Report &report, unsigned top, raw_ostream &os) {
  using json = nlohmann::ordered_json;
  json root = {{"version", 1}, {"meshes", json::array()}, {"functions", json::array()},
               {"collectives", json::array()}};
  for (const ReportMesh &mesh : report.meshes) {
    json axes = json::array();
    for (auto &[name, size] : mesh.axes)
      axes.push_back({name, size});
    json entry = {{"name", mesh.name}, {"axes", axes}};
    if (!mesh.deviceIds.empty())
      entry["device_ids"] = mesh.deviceIds;
    root["meshes"].push_back(entry);
  }
  auto values = [](const std::vector<ReportValue> &list) {
    json array = json::array();
    for (const ReportValue &value : list)
      array.push_back({{"name", value.name},
                       {"global_type", value.globalType},
                       {"sharding", value.sharding},
                       {"local_type", value.localType},
                       {"global_bytes", value.globalBytes},
                       {"local_bytes", value.localBytes}});
    return array;
  };
  for (const ReportFunction &function : report.functions)
    root["functions"].push_back({{"name", function.name},
                                 {"arguments", values(function.arguments)},
                                 {"results", values(function.results)}});
  for (const ReportCollective &c : report.collectives) {
    json entry = {{"id", c.id}, {"function", c.function}, {"kind", c.kind}, {"axes", c.axes}};
    if (!c.reduction.empty())
      entry["reduction"] = c.reduction;
    entry["bytes"] = c.bytes;
    entry["received"] = c.received;
    entry["count"] = c.count;
    entry["cost"] = c.cost;
    entry["loc"] = c.loc;
    entry["reason"] = c.reason;
    root["collectives"].push_back(entry);
  }
  root["totals"] = {{"bytes_by_kind", report.bytesByKind},
                    {"bytes_by_axis", report.bytesByAxis},
                    {"cost", report.totalCost}};
  auto describe = [](const DescribedValue &value, json first) {
    first.update({{"name", value.name},
                  {"global_type", value.globalType},
                  {"sharding", value.sharding},
                  {"local_type", value.localType},
                  {"loc", value.loc}});
    return first;
  };
  json memories = json::array();
  const FunctionMemory *peak = nullptr;
  auto listLargest = [&](const FunctionMemory &memory) {
    json largest = json::array();
    for (const HeldValue &held : memory.largest)
      largest.push_back(describe(held, {{"bytes", held.bytes}}));
    return largest;
  };
  for (const FunctionMemory &memory : report.memory) {
    if (!peak || memory.peakBytes > peak->peakBytes)
      peak = &memory;
    json entry = {{"name", memory.function},
                  {"peak_bytes", memory.peakBytes},
                  {"argument_bytes", memory.argumentBytes},
                  {"at", memory.at},
                  {"op", memory.op},
                  {"largest", listLargest(memory)}};
    if (memory.dynamicValues > 0)
      entry["uncounted_dynamic_values"] = memory.dynamicValues;
    memories.push_back(entry);
  }
  root["memory"] = {{"peak_bytes", peak ? peak->peakBytes : 0},
                    {"at", peak ? peak->at : ""},
                    {"largest", peak ? listLargest(*peak) : json::array()},
                    {"functions", memories}};
  json pipelines = json::array();
  for (const ReportPipeline &pipeline : report.pipelines) {
    json meshes = json::array(), transfers = json::array();
    for (const ReportStages &stages : pipeline.meshes) {
      json parts = json::array();
      for (const ReportPart &part : stages.parts)
        parts.push_back({{"function", part.function},
                         {"runs", part.runs},
                         {"seconds", part.seconds},
                         {"collective_bytes", getCollectiveBytes(report, part.function)}});
      meshes.push_back({{"mesh", stages.mesh},
                        {"stages", stages.stages},
                        {"parts", parts},
                        {"in_flight", stages.inFlight},
                        {"residual_bytes", stages.residualBytes},
                        {"value_bytes", stages.valueBytes},
                        {"peak_bytes", stages.peakBytes}});
    }
    for (const ReportTransfer &transfer : pipeline.transfers)
      transfers.push_back({{"value", transfer.value},
                           {"from", transfer.from},
                           {"to", transfer.to},
                           {"bytes", transfer.bytes},
                           {"count", transfer.count}});
    pipelines.push_back({{"name", pipeline.name},
                         {"schedule", pipeline.schedule},
                         {"microbatches", pipeline.microbatches},
                         {"meshes", meshes},
                         {"transfers", transfers}});
  }
  if (!pipelines.empty())
    root["pipelines"] = pipelines;
  if (!report.solver.empty()) {
    json solved = json::array();
    double objective = 0, bound = 0;
    std::string status = "optimal";
    for (const ReportSolver &solver : report.solver) {
      objective += solver.objective;
      bound += solver.lowerBound;
      // The weakest promise holds for all: gap, within sets, optimal.
      if (solver.status == "gap" || status == "optimal")
        status = solver.status;
      json entry = {{"name", solver.function},
                    {"objective", solver.objective},
                    {"lower_bound", solver.lowerBound},
                    {"gap", solver.getGap()},
                    {"status", solver.status}};
      if (solver.communication)
        entry["communication"] = *solver.communication;
      entry["options"] = solver.options;
      solved.push_back(entry);
    }
    root["solver"] = {{"objective", objective},
                      {"lower_bound", bound},
                      {"gap", objective > bound ? (objective - bound) / objective : 0},
                      {"status", status},
                      {"functions", solved}};
    json shapes = json::array();
    for (const ReportShape &shape : report.shapes) {
      json entry = {{"shape", shape.shape}};
      if (shape.error.empty())
        entry.update({{"objective", shape.objective},
                      {"lower_bound", shape.lowerBound},
                      {"status", shape.status}});
      else
        entry["error"] = shape.error;
      shapes.push_back(entry);
    }
    if (!shapes.empty())
      root["solver"]["mesh_shapes"] = shapes;
  }
  root["replicated"] = report.layoutsKnown ? json::array() : json();
  for (const ReplicatedValue &value : ArrayRef(report.replicated).take_front(top)) {
    json usable = json::array();
    for (auto &[axis, dim] : value.usable)
      usable.push_back({{"axis", axis}, {"dim", dim}});
    root["replicated"].push_back(describe(value, {{"function", value.function},
                                                  {"bytes", value.bytes},
                                                  {"wasted", value.wasted},
                                                  {"usable", usable}}));
  }
  os << root.dump(1) << "\n";
}

void spmd::emitRemarks(const Report &report, unsigned top) {
  auto options = [](StringRef name, StringRef function) {
    return remark::RemarkOpts::name(name).category("spmd").function(function);
  };
  for (const ReportCollective &c : report.collectives)
    remark::analysis(c.location, options("collective", c.function))
        << remark::add("{0} #{1}", c.kind, c.id) << remark::metric("Bytes", c.bytes)
        << remark::metric("Axes", llvm::join(c.axes, ","))
        << remark::metric("Count", c.count) << remark::metric("Reason", c.reason);
  for (const ReportSolver &solver : report.solver)
    remark::analysis(solver.location, options("solver", solver.function))
        << remark::add("layouts of @{0} were found by search: {1}", solver.function, solver.status)
        << remark::metric("Objective", llvm::formatv("{0:E6}", solver.objective).str())
        << remark::metric("LowerBound", llvm::formatv("{0:E6}", solver.lowerBound).str());
  for (const FunctionMemory &memory : report.memory)
    remark::analysis(memory.location, options("memory", memory.function))
        << remark::add("the peak of the memory of @{0} is here", memory.function)
        << remark::metric("Bytes", memory.peakBytes)
        << remark::metric("Largest", memory.largest.empty() ? "" : memory.largest.front().name);
  for (const ReplicatedValue &value : ArrayRef(report.replicated).take_front(top))
    remark::missed(value.location, options("replicated", value.function))
        << remark::add("devices hold copies of {0}", value.name)
        << remark::metric("Bytes", value.wasted)
        << remark::metric("Axes", getUsableText(value))
        << remark::suggest("cut it by {0}", getUsableText(value));
}
