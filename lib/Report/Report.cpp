//===- Report.cpp - What a partitioned program moves and holds ------------===//

#include "shardkit/Report/Report.h"
#include "KnownSizes.h"
#include "shardkit/AutoSharding/FunctionSearch.h"
#include "shardkit/Layout/MeshViews.h"

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Cost/HiddenCollectives.h"
#include "shardkit/Cost/RowShares.h"
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

/// The value that an op moves: the operand of a collective, what a group of started collectives returns.
static Value getMoved(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return {};
  Operation *op = result.getOwner();
  if (isa<CollectiveOpInterface>(op))
    return op->getOperand(0);
  if (isa<DoneOp>(op))
    return op->getOperand(result.getResultNumber());
  if (auto start = dyn_cast<StartOp>(op))
    return start.getBody().front().getTerminator()->getOperand(result.getResultNumber());
  return {};
}

/// The value after a use that moves it, else null.
static Value getMovedTo(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<CollectiveOpInterface>(op))
    return op->getResult(0);
  if (isa<DoneOp>(op))
    return op->getResult(use.getOperandNumber());
  if (isa<spmd::ReturnOp>(op) && isa<StartOp>(op->getParentOp()))
    return op->getParentOp()->getResult(use.getOperandNumber());
  return {};
}

/// What needs a value: an op, or of a terminator what it completes.
static std::string describeUser(OpOperand *use) {
  if (!use)
    return "nothing";
  Operation *user = use->getOwner(), *parent = user->getParentOp();
  std::string text = user->getName().getStringRef().str();
  if (auto call = dyn_cast<func::CallOp>(user))
    return text + " @" + call.getCallee().str();
  if (!user->hasTrait<OpTrait::IsTerminator>() || user->getNumSuccessors() > 0)
    return text;
  if (auto func = dyn_cast<func::FuncOp>(parent))
    return "result " + getResultName(func, use->getOperandNumber()) + " of @" + func.getName().str();
  return text + " of " + parent->getName().getStringRef().str();
}

/// The reason of a collective: the result that it completes, or the user that needs it.
/// Consecutive collectives have one reason.
static std::string getReason(CollectiveOpInterface op, const PartitionedValues &values) {
  Value from = op->getOperand(0), to = op->getResult(0);
  while (Value moved = getMoved(from))
    from = moved;
  OpOperand *needs = nullptr;
  while (!to.use_empty()) {
    for (OpOperand &use : to.getUses()) // the list ends with the first in the program
      needs = &use;
    Value moved = getMovedTo(*needs);
    if (!moved)
      break;
    needs = nullptr;
    to = moved;
  }
  std::string producer = values.getName(from);
  if (Operation *def = from.getDefiningOp())
    producer = def->getName().getStringRef().str() + " (" + producer + ")";
  std::string needed = describeUser(needs);
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
  // One search of several functions counts once.
  std::string name = func.getName().str();
  if (auto functions = attr.getAs<ArrayAttr>("functions")) {
    auto names = llvm::map_to_vector(functions.getAsRange<FlatSymbolRefAttr>(),
                                     [](FlatSymbolRefAttr function) { return function.getValue(); });
    if (names.empty() || names.front() != func.getName())
      return;
    name = llvm::join(names, ", @");
  }
  ReportSolver &solver = report.solver.emplace_back(func.getLoc());
  solver.function = std::move(name);
  solver.status = getText(attr, "status");
  solver.options = getText(attr, "with_options");
  if (auto sizes = attr.getAs<DictionaryAttr>("sizes")) {
    SmallVector<std::string> given;
    for (NamedAttribute size : sizes)
      given.push_back(size.getName().str() + "=" + std::to_string(cast<IntegerAttr>(size.getValue()).getInt()));
    solver.options += (solver.options.empty() ? "sizes={" : " sizes={") + llvm::join(given, ",") + "}";
  }
  solver.objective = getNumber(attr, "objective");
  solver.lowerBound = getNumber(attr, "lower_bound");
  if (attr.contains("communication"))
    solver.communication = getNumber(attr, "communication");
  solver.timedOut = attr.contains(kTimedOutName);
  if (attr.contains("hidden"))
    solver.hidden = getNumber(attr, "hidden");
  solver.kept = getText(attr, "kept");
  solver.keptSeconds = getNumber(attr, "kept_seconds");
  solver.searchedSeconds = getNumber(attr, "searched_seconds");
}

static void readImprovement(func::FuncOp func, Report &report) {
  if (auto attr = func->getAttrOfType<DictionaryAttr>(kImprovedAttr))
    report.improvements.push_back({func.getName().str(), getNumber(attr, "propagated"), getNumber(attr, "improved"),
                                   attr.contains("for_memory")});
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
  SmallVector<int64_t> order = getReordering(*from, *to);
  if (!order.empty()) {
    step.order = order;
    step.group.assign({{1, from->numDevices()}});
  }
  CostModel costs(*from);
  CollectiveCost cost = costs.getCost(step, getElementBytes(getElementTypeOrSelf(op->getResult(0).getType())));
  ReportCollective entry(op->getLoc());
  entry.rows = getRowShare(op, cost);
  cost = scaleToRows(cost, std::min(costs.getLatency(step.group), cost.seconds), entry.rows);
  entry.kind = stringifyCollectiveKind(step.kind).str();
  if (auto reduction = op.getReduction())
    entry.reduction = stringifyReductionKind(*reduction).str();
  for (std::string &axis : costs.getAxes(step.group))
    entry.axes.push_back(std::move(axis));
  entry.bytes = cost.bytes;
  entry.received = cost.received;
  entry.cost = cost.seconds - (travelsAlong(op) ? costs.getLatency(step.group) : 0);
  entry.loc = getLocationText(op->getLoc());
  entry.scope = getScope(op->getLoc());
  entry.reason = getReason(op, values);
  return entry;
}

namespace {
/// Seconds of a run of a function: of collectives, of those that pass while devices compute, and of compute, which is
/// known where the mesh has a rate.
struct RunTime {
  double cost = 0, hidden = 0;
  std::optional<double> compute;
};

/// The predicted time of a run of each function, with what it calls.
class RunTimes {
public:
  RunTimes(ModuleOp module, int64_t tripCount, const PartitionedValues &values)
      : tripCount_(tripCount), overlap_(getOverlap(module)), values_(values) {
    for (auto op : module.getOps<MeshOp>())
      if (const Mesh *mesh = values.getMeshes().lookup(FlatSymbolRefAttr::get(op.getSymNameAttr()));
          mesh && mesh->flops && !mesh_)
        mesh_ = mesh;
  }

  /// That of a function without what it calls, but for its collectives.
  RunTime &add(func::FuncOp func) {
    RunTime &own = own_[func];
    if (!mesh_)
      return own;
    own.compute = 0;
    for (Block &block : func.getBody())
      for (Operation &inner : block)
        *own.compute += getComputeSeconds(&inner, *mesh_, tripCount_);
    own.hidden = getHiddenSeconds(func, values_.getMeshes(), *mesh_, overlap_, tripCount_);
    return own;
  }

  RunTime get(func::FuncOp func) {
    auto [known, isNew] = all_.try_emplace(func, own_.lookup(func));
    if (!isNew) // or a recursive call, which is not counted
      return known->second;
    RunTime sum = known->second;
    func.walk([&](func::CallOp call) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee)
        return;
      const RunTime inner = get(callee);
      const double executions = double(countExecutions(call->getBlock(), tripCount_));
      sum.cost += inner.cost * executions;
      sum.hidden += inner.hidden * executions;
      if (sum.compute)
        *sum.compute += inner.compute.value_or(0) * executions;
    });
    return all_[func] = sum;
  }

private:
  int64_t tripCount_;
  double overlap_;
  const PartitionedValues &values_;
  const Mesh *mesh_ = nullptr; // with the rate of compute
  llvm::DenseMap<Operation *, RunTime> own_, all_;
};
} // namespace

/// The collectives of a function that runs `runs` times, also added to the totals. Returns the seconds of a run.
static FailureOr<double> addCollectives(func::FuncOp func, int64_t runs, int64_t tripCount,
                                        const PartitionedValues &values, Report &report) {
  int64_t next = 0;
  double seconds = 0;
  WalkResult walk = func.walk<WalkOrder::PreOrder>([&](CollectiveOpInterface op) {
    FailureOr<ReportCollective> entry = describeCollective(op, values);
    if (failed(entry))
      return WalkResult::interrupt();
    entry->id = op.getCollectiveId().value_or(next);
    ++next;
    entry->function = func.getName().str();
    const int64_t executions = countExecutions(op->getBlock(), tripCount);
    entry->count = executions * runs;
    seconds += entry->cost * double(executions);
    // A slice does not move data between devices.
    report.bytesByKind[entry->kind] += entry->bytes * entry->count;
    if (entry->bytes > 0)
      report.bytesByAxis[llvm::join(entry->axes, ",")] += entry->bytes * entry->count;
    report.totalCost += entry->cost * entry->count;
    if (entry->bytes > 0 && !travelsAlong(op))
      report.launches += entry->count;
    report.collectives.push_back(std::move(*entry));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return seconds;
}

std::string spmd::getScope(Location loc) {
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getScope(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      if (std::string text = getScope(inner); !text.empty())
        return text;
  auto name = dyn_cast<NameLoc>(loc);
  if (!name)
    return "";
  // The name of an op within that of its module, as JAX writes it.
  if (std::string outer = getScope(name.getChildLoc()); !outer.empty())
    return outer;
  StringRef path = name.getName();
  // `jit(f)` is on all ops of a program.
  while (path.starts_with("jit(") && path.contains('/'))
    path = path.split('/').second;
  return path.str();
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
  {
    KnownSizes sizes(module, /*atBounds=*/true);
    report.memorySizes = sizes.getSizes();
    report.memory = computeMemory(module, values, sizes, options.top);
  }
  const KnownSizes sizes(module, /*atBounds=*/false);
  report.sizes = sizes.getSizes();
  llvm::StringMap<int64_t> runs = countRuns(module, options.tripCount);
  RunTimes times(module, options.tripCount, values);
  SmallVector<func::FuncOp> listed;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    readSearch(func, report);
    readImprovement(func, report);
    int64_t count = runs.lookup(func.getName());
    RunTime &time = times.add(func);
    if (time.compute && count > 0)
      report.totalCompute = report.totalCompute.value_or(0) + *time.compute * double(count);
    report.totalHidden += time.hidden * double(count);
    // A function that others call is listed for its collectives.
    bool hasCollectives = func.walk([](CollectiveOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
    if (func.isPrivate() && (count == 0 || !hasCollectives))
      continue;
    report.functions.push_back(describeFunction(func));
    listed.push_back(func);
    if (func.isPrivate())
      report.functions.back().calls = count;
    FailureOr<double> cost = addCollectives(func, count, options.tripCount, values, report);
    if (failed(cost))
      return failure();
    time.cost = *cost;
  }
  for (auto [func, function] : llvm::zip_equal(listed, report.functions)) {
    const RunTime time = times.get(func);
    function.cost = time.cost;
    function.hidden = time.hidden;
    function.compute = time.compute;
  }
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
