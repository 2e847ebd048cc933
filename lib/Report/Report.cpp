//===- Report.cpp - What a partitioned program moves and holds ------------===//

#include "shardkit/Report/Report.h"

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"

#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Support/Names.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::spmd;

template <typename T> static std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value;
  return text;
}

static ReportValue describe(std::string name, Type local, Attribute global, Attribute sharding) {
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

/// What uses `value`: an op, or of a terminator what it completes.
static std::string getNeed(Operation *user, Value value) {
  if (!user->hasTrait<OpTrait::IsTerminator>() || !user->getParentOp())
    return user->getName().getStringRef().str();
  const unsigned index = llvm::find(user->getOperands(), value).getIndex();
  if (auto func = dyn_cast<func::FuncOp>(user->getParentOp()))
    return "result " + getResultName(func, index) + " of @" + func.getName().str();
  return "what leaves " + user->getParentOp()->getName().getStringRef().str();
}

/// The reason of a collective: the result that it completes, or the user that needs it.
/// Consecutive collectives have one reason.
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
  const std::string needed = user ? getNeed(user, to) : "nothing";
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

static ReportFunction describeFunction(func::FuncOp func) {
  ReportFunction function;
  function.name = func.getName().str();
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    function.arguments.push_back(describe(getArgumentName(func, i), func.getArgumentTypes()[i],
                                          func.getArgAttr(i, kGlobalTypeAttr), func.getArgAttr(i, kShardingAttr)));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    function.results.push_back(describe(getResultName(func, i), func.getResultTypes()[i],
                                        func.getResultAttr(i, kGlobalTypeAttr), func.getResultAttr(i, kShardingAttr)));
  return function;
}

/// Fails if the cost of the op is unknown.
static FailureOr<ReportCollective> describeCollective(CollectiveOpInterface op, const PartitionedValues &values) {
  const Mesh *from = values.getMeshes().lookup(op.getFromMesh());
  const Mesh *to = values.getMeshes().lookup(op.getToMesh());
  PlanStep step;
  step.kind = op.getKind();
  if (!from || !to || failed(op.getLayouts(*from, *to, step.from, step.to)))
    return failure();
  step.group = getMovedRanks(step.from, step.to);
  CostModel costs(*from);
  CollectiveCost cost = costs.getCost(step, getElementBytes(getElementTypeOrSelf(op->getResult(0).getType())));
  ReportCollective entry(op->getLoc());
  entry.kind = stringifyCollectiveKind(step.kind).str();
  if (auto reduction = op.getReduction())
    entry.reduction = stringifyReductionKind(*reduction).str();
  for (std::string &axis : costs.getAxes(step.group))
    entry.axes.push_back(std::move(axis));
  entry.bytes = cost.bytes;
  entry.received = cost.received;
  entry.cost = cost.seconds - (travelsAlong(op) ? costs.getLatency(step.group) : 0);
  entry.loc = getLocationText(op->getLoc());
  entry.reason = getReason(op, values);
  return entry;
}

/// How often each function runs in a step: those of pipelines by their instructions, others that can be called
/// from outside once, and all as often as they are called.
static llvm::StringMap<int64_t> countAllRuns(ModuleOp module, int64_t tripCount) {
  struct Call {
    func::FuncOp caller;
    int64_t times;
  };
  const llvm::StringMap<int64_t> scheduled = countRuns(module);
  llvm::StringMap<SmallVector<Call>> calls;
  for (auto func : module.getOps<func::FuncOp>())
    func.walk([&](func::CallOp call) {
      calls[call.getCallee()].push_back({func, countExecutions(call->getBlock(), tripCount)});
    });
  llvm::StringMap<int64_t> runs;
  std::function<int64_t(func::FuncOp)> count = [&](func::FuncOp func) {
    auto [known, isNew] = runs.try_emplace(func.getName(), 0);
    if (!isNew)
      return known->second; // A recursive function counts once.
    auto it = scheduled.find(func.getName());
    int64_t sum = it != scheduled.end() ? it->second : func.isPrivate() ? 0 : 1;
    for (const Call &call : calls.lookup(func.getName()))
      sum += call.times * count(call.caller);
    return runs[func.getName()] = sum;
  };
  for (auto func : module.getOps<func::FuncOp>())
    count(func);
  return runs;
}

/// The collectives of a function that runs `runs` times, also added to the totals.
static LogicalResult addCollectives(func::FuncOp func, int64_t runs, int64_t tripCount, const PartitionedValues &values,
                                    Report &report) {
  int64_t next = 0;
  WalkResult walk = func.walk<WalkOrder::PreOrder>([&](CollectiveOpInterface op) {
    FailureOr<ReportCollective> entry = describeCollective(op, values);
    if (failed(entry))
      return WalkResult::interrupt();
    entry->id = op.getCollectiveId().value_or(next);
    ++next;
    entry->function = func.getName().str();
    entry->count = countExecutions(op->getBlock(), tripCount) * runs;
    // A slice does not move data between devices.
    report.bytesByKind[entry->kind] += entry->bytes * entry->count;
    if (entry->bytes > 0)
      report.bytesByAxis[llvm::join(entry->axes, ",")] += entry->bytes * entry->count;
    report.totalCost += entry->cost * entry->count;
    report.collectives.push_back(std::move(*entry));
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

int64_t Report::getCollectiveBytes(StringRef function) const {
  int64_t sum = 0;
  for (const ReportCollective &c : collectives)
    if (c.function == function)
      sum += c.bytes * c.count;
  return sum;
}

FailureOr<Report> spmd::buildReport(ModuleOp module, const PartitionedValues &values, const ReportOptions &options) {
  Report report(module.getLoc());
  const MeshCache &meshes = values.getMeshes();
  for (MeshOp op : getMeshesWithAxes(module)) {
    const Mesh *entry = meshes.lookup(op.getSymName());
    ReportMesh mesh{entry->name, {}, {}};
    for (const MeshAxis &axis : entry->axes)
      mesh.axes.emplace_back(axis.name, axis.size);
    mesh.deviceIds.assign(entry->deviceIds.begin(), entry->deviceIds.end());
    report.meshes.push_back(std::move(mesh));
  }
  readShapes(module, report);
  const llvm::StringMap<int64_t> runs = countAllRuns(module, options.tripCount);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    readSearch(func, report);
    const int64_t count = runs.lookup(func.getName());
    // A function that others call is listed for its collectives.
    const bool hasCollectives =
        func.walk([](CollectiveOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
    if (func.isPrivate() && (count == 0 || !hasCollectives))
      continue;
    report.functions.push_back(describeFunction(func));
    if (func.isPrivate())
      report.functions.back().calls = count;
    if (failed(addCollectives(func, count, options.tripCount, values, report)))
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

void spmd::emitRemarks(const Report &report, unsigned top) {
  auto options = [](StringRef name, StringRef function) {
    return remark::RemarkOpts::name(name).category("spmd").function(function);
  };
  for (const ReportCollective &c : report.collectives)
    remark::analysis(c.location, options("collective", c.function))
        << remark::add("{0} #{1}", c.kind, c.id) << remark::metric("Bytes", c.bytes)
        << remark::metric("Axes", llvm::join(c.axes, ",")) << remark::metric("Count", c.count)
        << remark::metric("Reason", c.reason);
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
        << remark::add("devices hold copies of {0}", value.name) << remark::metric("Bytes", value.wasted)
        << remark::metric("Axes", value.getUsableText()) << remark::suggest("shard it by {0}", value.getUsableText());
  if (report.comparison)
    for (const ComparedFigure &figure : report.comparison->figures)
      remark::analysis(report.location, options("comparison", ""))
          << remark::add("{0} against {1}: {2}", figure.what, report.comparison->file, getChangeText(figure));
}
