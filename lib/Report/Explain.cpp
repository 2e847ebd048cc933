//===- Explain.cpp - Why a value has its sharding -------------------------===//
//
// Reads the recorded extensions of a propagation backwards. An op proposed each axis of a
// dim, because another of its tensors had the axis before. For example, with `x` sharded
// by the user on dim 0:
//
//   %1 = exp %x          extension 1: %1 has "a" on dim 0, from %x
//   %2 = transpose %1    extension 2: %2 has "a" on dim 1, from %1
//
// The axis "a" of %2 came from dim 0 of %1 through transpose, from dim 0 of %x through
// exp, where the user wrote it.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Report/Explain.h"
#include "Grid.h"
#include "ValueNames.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Rules/PaddingNeeds.h"

#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionPropagation.h"
#include "shardkit/Reshard/ComputePlan.h"
#include "shardkit/Rules/Reshapes.h"
#include "shardkit/Support/Names.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <map>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The level of detail of an explanation.
struct Extent {
  size_t maxSteps = kMaxSteps;
  bool drawsGrids = false;
};

/// Whether to explain a value, or (without a value) a result of the function.
using SelectFn = llvm::function_ref<bool(func::FuncOp, Value, StringRef)>;

/// Explains the values of one function, or of functions that share values, after propagation.
///
/// 1. Indexes the extensions by value and dim.
/// 2. For each axis of a value, follows the extensions back to the annotation.
/// 3. For each axis that a neighboring value has and this one lacks, finds the reason: it
///    repeats the checks of propagation at the op between them.
class FunctionExplainer {
public:
  FunctionExplainer(FunctionPropagation &tables, const FunctionMeshes &meshes, const ValueNames &names,
                    const Extent &extent);

  /// Explains the values of a function that satisfy `wants`, after the propagation. Results of
  /// the function have a name, but no value.
  ExplainedFunction explain(func::FuncOp function, SelectFn wants);
  std::string resultName(unsigned i);
  /// Reads the plan that replaced the propagated one, if one did, and prices both. The IR gets the propagated one.
  void readImprovement(FunctionMeshes &writable);

private:
  using ClassId = Propagation::ClassId;
  using NodeId = Propagation::NodeId;

  std::string nameOf(ClassId valueClass);
  /// ` of @f` for another function than the one that is explained.
  std::string nameOther(Operation *op);

  static std::string opName(Operation *op) { return op ? op->getName().getStringRef().str() : ""; }

  /// The annotation with the axis on a dim of a value class.
  std::string describeGiven(ClassId valueClass, unsigned dim, const DimEntry &entry);
  ExplainedValue explain(ClassId valueClass, std::string name, Location loc);

  /// The extension that added an axis to a dim, or -1 if an annotation has it.
  int64_t findExtension(ClassId valueClass, unsigned dim, const DimEntry &entry, int64_t before);

  /// The origin of an axis on a dim.
  struct Origin {
    int64_t extension; // that added it
    ClassId source;    // the tensor of the op that had it before
    unsigned dim;
  };

  /// std::nullopt if an annotation has it. Ignores the extensions from `now` on.
  std::optional<Origin> findOrigin(ClassId valueClass, unsigned dim, const DimEntry &entry, int64_t now);

  /// The path of an axis, truncated to the level of detail. Shared ends of paths are
  /// computed once.
  ExplainedAxis traceBack(ClassId valueClass, unsigned dim, const DimEntry &entry);

  /// True if tensor `t` of an op has the axis on factor `f`.
  bool carries(const Propagation::Node &node, unsigned t, int32_t f, ClassId valueClass, const DimEntry &entry);

  /// The dims of the tensors of an op that contain factor `f`.
  template <typename Fn> void forEachDim(const Propagation::Node &node, int32_t f, Fn visit) {
    for (auto [u, id] : llvm::enumerate(run.getTensors(node)))
      if (id >= 0)
        for (unsigned d = 0; d < node.rule->tensor(u).numDims; ++d)
          if (llvm::is_contained(node.rule->dimFactors(node.rule->tensor(u), d), f))
            visit(ClassId(id), d, u);
  }

  /// Axes that other tensors of an op have on the factors of this value, and that it
  /// lacks.
  void findStopped(ClassId valueClass, NodeId id, std::vector<StoppedAxis> &stopped);
  static std::string describeFactors(const ShardingRule &rule, ArrayRef<int32_t> factors);
  static void add(std::vector<StoppedAxis> &stopped, StoppedAxis axis);
  void report(ClassId valueClass, unsigned t, unsigned d, int32_t f, ArrayRef<DimEntry> wanted, NodeId id,
              ClassId other, std::vector<StoppedAxis> &stopped);

  /// True if the sharding of dim `d` of tensor `t` would be strided with the axes on
  /// factor `f`.
  bool becomesStrided(const Propagation::Node &node, unsigned t, unsigned d, int32_t f, ArrayRef<DimEntry> wanted);

  /// True for a dim of a shared output of scf.forall that must be unsharded.
  static bool isPartlyWritten(Value value, unsigned d);

  /// Priority of the annotation that an axis on a value came from.
  int64_t getPriority(ClassId valueClass, const DimEntry &entry);
  std::string getReason(ClassId valueClass, unsigned t, unsigned d, int32_t f, ArrayRef<DimEntry> wanted,
                        const Propagation::Node &node, ClassId other, const Sharding &sharding);

  /// Adds the layouts that the IR has, where they differ from the propagated ones.
  void readLayout(int64_t valueClass, Attribute attr);
  /// Seconds of the reshards of a value class and of the other tensors of its ops.
  double getSecondsAround(ClassId valueClass, const llvm::DenseMap<ClassId, double> &seconds);
  llvm::DenseMap<ClassId, LayoutId> improved;
  /// Seconds of reshards per value class, with the propagated plan and with the improved one.
  llvm::DenseMap<ClassId, double> before, now;
  func::FuncOp func;
  FunctionPropagation &tables;
  Propagation &run;
  const FunctionMeshes &meshes;
  const Mesh &mesh;
  const ValueNames &names;
  std::vector<Value> valueOf;
  std::vector<Sharding> given;
  /// The distance from an extension to its annotation, and the annotation.
  struct Way {
    size_t length = 0;
    std::string given;
    int64_t priority = 0;
  };
  /// By extension and axis.
  std::map<std::tuple<int64_t, int32_t, int64_t, int64_t>, Way> ways;
  const Extent extent;
  llvm::DenseMap<std::pair<ClassId, unsigned>, SmallVector<int64_t, 1>> extensionsOf;
};

} // namespace

FunctionExplainer::FunctionExplainer(FunctionPropagation &tables, const FunctionMeshes &meshes, const ValueNames &names,
                                     const Extent &extent)
    : tables(tables), run(tables.getPropagation()), meshes(meshes), mesh(meshes.getMesh()), names(names),
      extent(extent) {
  for (Propagation::ClassId id = 0; id < run.getNumClasses(); ++id)
    given.push_back(run.get(id));
}

ExplainedFunction FunctionExplainer::explain(func::FuncOp explained, SelectFn wants) {
  func = explained;
  ways.clear(); // texts depend on the function
  if (extensionsOf.empty())
    for (auto [i, extension] : llvm::enumerate(run.getExtensions()))
      extensionsOf[{extension.valueClass, extension.dim}].push_back(i);
  SmallVector<Value> selected;
  valueOf.assign(run.getNumClasses(), Value());
  auto visit = [&](Value value, bool isExplained) {
    if (!run.contains(value))
      return;
    Value &known = valueOf[run.getId(value)];
    if (!known)
      known = value;
    if (isExplained && wants(func, value, ""))
      selected.push_back(value);
  };
  auto visitAll = [&](func::FuncOp each) {
    each.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        visit(result, each == func);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument arg : block.getArguments())
            visit(arg, each == func);
    });
  };
  visitAll(func);
  for (func::FuncOp other : tables.getFunctions())
    if (other != func)
      visitAll(other);
  ExplainedFunction function{func.getName().str(), {}};
  for (Value value : selected)
    function.values.push_back(explain(run.getId(value), names.get(value), value.getLoc()));
  for (auto [i, valueClass] : llvm::enumerate(tables.getResultClasses(func)))
    if (valueClass >= 0 && wants(func, Value(), resultName(i)))
      function.values.push_back(explain(valueClass, resultName(i), func.getLoc()));
  return function;
}

std::string FunctionExplainer::resultName(unsigned i) {
  if (auto name = func.getResultAttrOfType<StringAttr>(i, kNameAttr))
    return name.getValue().str();
  return "result" + std::to_string(i);
}

std::string FunctionExplainer::nameOf(ClassId valueClass) {
  if (Value value = valueOf[valueClass])
    return names.get(value) + nameOther(value.getParentRegion()->getParentOp());
  for (auto [i, result] : llvm::enumerate(tables.getResultClasses(func)))
    if (result == int64_t(valueClass))
      return resultName(i);
  for (func::FuncOp other : tables.getFunctions())
    for (auto [i, result] : llvm::enumerate(tables.getResultClasses(other)))
      if (result == int64_t(valueClass))
        return getResultName(other, i) + nameOther(other);
  return "a value";
}

std::string FunctionExplainer::nameOther(Operation *op) {
  auto of = dyn_cast<func::FuncOp>(op);
  if (!of)
    of = op->getParentOfType<func::FuncOp>();
  return of == func ? "" : " of @" + of.getName().str();
}

std::string FunctionExplainer::describeGiven(ClassId valueClass, unsigned dim, const DimEntry &entry) {
  Value value = valueOf[valueClass];
  for (const FunctionPropagation::Annotation &annotation : tables.getAnnotations()) {
    if (annotation.valueClass != valueClass || !overlaps(entry, annotation.sharding.dims[dim].entries, mesh))
      continue;
    if (auto call = dyn_cast_or_null<func::CallOp>(annotation.op))
      return "argument #" + std::to_string(annotation.index) + " of @" + call.getCallee().str();
    if (annotation.op)
      return "function result " + getResultName(cast<func::FuncOp>(annotation.op), annotation.index) +
             nameOther(annotation.op);
    value = annotation.value;
    break;
  }
  if (!value)
    return "function result " + nameOf(valueClass);
  if (auto call = value.getDefiningOp<func::CallOp>())
    return "result #" + std::to_string(cast<OpResult>(value).getResultNumber()) + " of @" + call.getCallee().str();
  if (auto arg = dyn_cast<BlockArgument>(value); arg && isa<func::FuncOp>(arg.getOwner()->getParentOp()))
    return "argument " + names.get(value) + nameOther(arg.getOwner()->getParentOp());
  Operation *op = value.getDefiningOp();
  std::string loc = getLocationText(value.getLoc());
  return (op ? opName(op) : std::string("value ") + names.get(value)) + (loc.empty() ? "" : " at " + loc);
}

void FunctionExplainer::readLayout(int64_t valueClass, Attribute attr) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
  if (valueClass < 0 || !sharding)
    return;
  LayoutTable &table = run.getTable();
  FailureOr<LayoutId> layout =
      table.read(sharding, run.getClass(valueClass).type, [&] { return emitError(func.getLoc()); });
  if (succeeded(layout) && *layout != table.intern(run.get(valueClass)))
    improved.try_emplace(valueClass, *layout);
}

double FunctionExplainer::getSecondsAround(ClassId valueClass, const llvm::DenseMap<ClassId, double> &seconds) {
  llvm::SmallSetVector<ClassId, 8> around;
  around.insert(valueClass);
  for (NodeId node : run.getClass(valueClass).nodes)
    for (int32_t id : run.getTensors(run.getNode(node)))
      if (id >= 0)
        around.insert(id);
  double sum = 0;
  for (ClassId id : around)
    sum += seconds.lookup(id);
  return sum;
}

void FunctionExplainer::readImprovement(FunctionMeshes &writable) {
  SmallVector<func::FuncOp> functions = tables.getFunctions();
  if (llvm::none_of(functions, [](func::FuncOp each) { return each->hasAttr(kImprovedAttr); }))
    return;
  for (func::FuncOp each : functions) {
    func = each;
    for (BlockArgument arg : each.getArguments())
      if (run.contains(arg))
        readLayout(run.getId(arg), each.getArgAttr(arg.getArgNumber(), kShardingAttr));
    for (auto [i, valueClass] : llvm::enumerate(tables.getResultClasses(each)))
      readLayout(valueClass, each.getResultAttr(i, kShardingAttr));
    each.walk([&](Operation *op) {
      auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
      for (auto [i, result] : llvm::enumerate(op->getResults()))
        if (shardings && run.contains(result))
          readLayout(run.getId(result), shardings[i]);
    });
  }
  auto addSeconds = [&](llvm::DenseMap<ClassId, double> &seconds) {
    for (func::FuncOp each : functions) {
      ComputePlan plan(each, writable);
      llvm::DenseMap<Value, double> perValue;
      if (failed(decideCompute(plan, run.getOptions().tripCount, /*defersReductions=*/true, /*isTrial=*/true)))
        continue;
      getSeconds(plan, run.getOptions().tripCount, &perValue);
      for (auto [value, paid] : perValue)
        if (run.contains(value))
          seconds[run.getId(value)] += paid;
    }
  };
  addSeconds(now);
  for (func::FuncOp each : functions)
    forgetSearch(each);
  tables.write();
  addSeconds(before);
}

ExplainedValue FunctionExplainer::explain(ClassId valueClass, std::string name, Location loc) {
  auto change = improved.find(valueClass);
  bool isImproved = change != improved.end();
  const Sharding &sharding = isImproved ? run.getTable().get(change->second) : run.get(valueClass);
  std::string type;
  llvm::raw_string_ostream os(type);
  os << run.getClass(valueClass).type;
  ExplainedValue value{std::move(name), type, meshes.toString(sharding), getLocationText(loc), loc, {}, {}, {}, {}, {}};
  if (extent.drawsGrids)
    value.grid = drawGrid(sharding, mesh, run.getClass(valueClass).type.getShape());
  if (isImproved) {
    LayoutTable &table = run.getTable();
    value.improvement = ExplainedImprovement{meshes.toString(table.get(table.intern(run.get(valueClass)))),
                                             getSecondsAround(valueClass, before), getSecondsAround(valueClass, now)};
    return value;
  }
  for (auto [d, dim] : llvm::enumerate(sharding.dims))
    for (const DimEntry &entry : dim.entries)
      if (!entry.isStride())
        value.axes.push_back(traceBack(valueClass, d, entry));
  for (NodeId node : run.getClass(valueClass).nodes)
    findStopped(valueClass, node, value.stopped);
  return value;
}

int64_t FunctionExplainer::findExtension(ClassId valueClass, unsigned dim, const DimEntry &entry, int64_t before) {
  if (overlaps(entry, given[valueClass].dims[dim].entries, mesh))
    return -1;
  auto it = extensionsOf.find({valueClass, dim});
  if (it != extensionsOf.end())
    for (int64_t i : it->second)
      if (i < before && overlaps(entry, run.getExtensions()[i].entries, mesh))
        return i;
  return before; // it does not exist yet
}

std::optional<FunctionExplainer::Origin> FunctionExplainer::findOrigin(ClassId valueClass, unsigned dim,
                                                                       const DimEntry &entry, int64_t now) {
  int64_t found = findExtension(valueClass, dim, entry, now);
  if (found < 0 || found >= now)
    return std::nullopt;
  const Propagation::Node &node = run.getNode(run.getExtensions()[found].node);
  int64_t earliest = found;
  Origin origin{found, valueClass, dim};
  for (auto [t, own] : llvm::enumerate(run.getTensors(node))) {
    if (own != int32_t(valueClass))
      continue;
    for (int32_t f : node.rule->dimFactors(node.rule->tensor(t), dim)) {
      if (!carries(node, t, f, valueClass, entry))
        continue;
      forEachDim(node, f, [&](ClassId id, unsigned d, unsigned u) {
        if (id == valueClass || !carries(node, u, f, id, entry))
          return;
        int64_t when = findExtension(id, d, entry, found);
        if (when >= earliest)
          return;
        earliest = when;
        origin.source = id;
        origin.dim = d;
      });
    }
  }
  if (origin.source == valueClass)
    return std::nullopt;
  return origin;
}

ExplainedAxis FunctionExplainer::traceBack(ClassId valueClass, unsigned dim, const DimEntry &entry) {
  ExplainedAxis axis{dim, meshes.toString(DimEntries{entry}), {}, 0, "", 0};
  SmallVector<Way *> way; // the rest from each step on
  Way end;
  int64_t now = run.getExtensions().size();
  while (std::optional<Origin> origin = findOrigin(valueClass, dim, entry, now)) {
    auto [it, isNew] = ways.try_emplace({origin->extension, entry.axis, entry.pre, entry.size});
    if (axis.steps.size() < extent.maxSteps) {
      Operation *op = run.getNode(run.getExtensions()[origin->extension].node).op;
      axis.steps.push_back({nameOf(origin->source), origin->dim, opName(op), op ? getLocationText(op->getLoc()) : ""});
    } else if (!isNew) {
      end = it->second;
      break;
    }
    way.push_back(&it->second);
    valueClass = origin->source;
    dim = origin->dim;
    now = origin->extension;
  }
  if (end.length == 0)
    end = {0, describeGiven(valueClass, dim, entry), given[valueClass].dims[dim].priority};
  for (Way *each : llvm::reverse(way)) {
    ++end.length;
    *each = end;
  }
  axis.length = end.length;
  axis.given = std::move(end.given);
  axis.priority = end.priority;
  return axis;
}

bool FunctionExplainer::carries(const Propagation::Node &node, unsigned t, int32_t f, ClassId valueClass,
                                const DimEntry &entry) {
  auto entries = projectFactor(*node.rule, t, f, run.get(valueClass));
  return entries && overlaps(entry, *entries, mesh);
}

void FunctionExplainer::findStopped(ClassId valueClass, NodeId id, std::vector<StoppedAxis> &stopped) {
  const Propagation::Node &node = run.getNode(id);
  const ShardingRule &rule = *node.rule;
  ArrayRef<int32_t> classes = run.getTensors(node);
  const Sharding &sharding = run.get(valueClass);
  for (auto [t, own] : llvm::enumerate(classes)) {
    if (own != int32_t(valueClass))
      continue;
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    for (unsigned d = 0; d < tensor.numDims; ++d)
      for (int32_t f : rule.dimFactors(tensor, d))
        for (auto [u, other] : llvm::enumerate(classes)) {
          if (other < 0 || other == own)
            continue;
          auto entries = projectFactor(rule, u, f, run.get(other));
          auto have = projectFactor(rule, t, f, sharding);
          if (!entries)
            continue;
          for (auto [k, entry] : llvm::enumerate(*entries)) {
            if (entry.isStride() || (have && isPrefix(ArrayRef(*entries).take_front(k + 1), *have)))
              continue;
            report(valueClass, t, d, f, ArrayRef(*entries).take_front(k + 1), id, other, stopped);
            break;
          }
        }
  }
  // Dims that the op does not relate to others, and axes that do not fit factors.
  for (auto [u, other] : llvm::enumerate(classes)) {
    if (other < 0 || ClassId(other) == valueClass)
      continue;
    for (auto [d, dim] : llvm::enumerate(run.get(other).dims)) {
      ArrayRef<int32_t> factors = rule.dimFactors(rule.tensor(u), d);
      if (dim.entries.empty())
        continue;
      bool fits = false, any = false;
      if (!factors.empty()) {
        SmallVector<int64_t> sizes;
        for (int32_t f : factors)
          sizes.push_back(rule.factor(f).size);
        for (const DimEntries &part : splitDim(dim.entries, sizes, &fits))
          any |= !part.empty();
      }
      if (fits)
        continue;
      std::string which = "dim " + std::to_string(d) + " of " + nameOf(other);
      std::string reason = rule.isFallback ? " has no sharding rule"
                           : factors.empty()
                               ? " replicates " + which
                               : (any ? " can forward only some of these axes of " : " cannot forward these axes of ") +
                                     which + ", with factors " + describeFactors(rule, factors) + ": not divisible";
      add(stopped, {-1, meshes.toString(dim.entries), opName(node.op) + reason, opName(node.op),
                    node.op ? getLocationText(node.op->getLoc()) : ""});
    }
  }
}

std::string FunctionExplainer::describeFactors(const ShardingRule &rule, ArrayRef<int32_t> factors) {
  std::string text;
  for (int32_t f : factors)
    text += (text.empty() ? "" : " x ") + std::to_string(rule.factor(f).size);
  return text;
}

void FunctionExplainer::add(std::vector<StoppedAxis> &stopped, StoppedAxis axis) {
  for (const StoppedAxis &other : stopped)
    if (other.dim == axis.dim && other.axis == axis.axis && other.reason == axis.reason)
      return;
  stopped.push_back(std::move(axis));
}

void FunctionExplainer::report(ClassId valueClass, unsigned t, unsigned d, int32_t f, ArrayRef<DimEntry> wanted,
                               NodeId id, ClassId other, std::vector<StoppedAxis> &stopped) {
  const Propagation::Node &node = run.getNode(id);
  const Sharding &sharding = run.get(valueClass);
  const DimEntry &entry = wanted.back();
  add(stopped,
      {int64_t(d), meshes.toString(DimEntries{entry}), getReason(valueClass, t, d, f, wanted, node, other, sharding),
       opName(node.op), node.op ? getLocationText(node.op->getLoc()) : ""});
}

bool FunctionExplainer::becomesStrided(const Propagation::Node &node, unsigned t, unsigned d, int32_t f,
                                       ArrayRef<DimEntry> wanted) {
  FactorAxes axes(node.rule->numFactors());
  axes[f].assign(wanted.begin(), wanted.end());
  return llvm::any_of(getTensorSharding(*node.rule, t, axes).dims[d].entries,
                      [](const DimEntry &entry) { return entry.isStride(); });
}

bool FunctionExplainer::isPartlyWritten(Value value, unsigned d) {
  auto result = dyn_cast_or_null<OpResult>(value);
  auto loop = result ? dyn_cast<scf::ForallOp>(result.getOwner()) : scf::ForallOp();
  return loop && isControlFlow(loop) && getPartlyWrittenDims(loop, result.getResultNumber()).test(d);
}

int64_t FunctionExplainer::getPriority(ClassId valueClass, const DimEntry &entry) {
  for (auto [d, dim] : llvm::enumerate(run.get(valueClass).dims))
    if (overlaps(entry, dim.entries, mesh))
      return traceBack(valueClass, d, entry).priority;
  return 0;
}

std::string FunctionExplainer::getReason(ClassId valueClass, unsigned t, unsigned d, int32_t f,
                                         ArrayRef<DimEntry> wanted, const Propagation::Node &node, ClassId other,
                                         const Sharding &sharding) {
  const DimEntry &entry = wanted.back();
  const DimSharding &dim = sharding.dims[d];
  int64_t size = run.getClass(valueClass).type.getDimSize(d);
  if (node.rule->factor(f).kind == FactorKind::Replicated)
    return opName(node.op) + " replicates this dim";
  Flow needed = t < node.rule->numOperands() ? Flow::Backward : Flow::Forward;
  if (!(uint8_t(node.flow) & uint8_t(needed)))
    return opName(node.op) + " blocks propagation in this direction";
  if (!dim.open && isPartlyWritten(valueOf[valueClass], d))
    return "an iteration of scf.forall writes only a slice of the dim";
  if (!dim.open)
    return "the dim is closed";
  if (overlaps(entry, sharding.replicated, mesh))
    return "the axis must not be used (replicated)";
  if (overlaps(entry, sharding.unreduced, mesh))
    return "the value is partial over the axis";
  for (auto [e, other] : llvm::enumerate(sharding.dims))
    if (e != d && overlaps(entry, other.entries, mesh))
      return "the axis is in use on dim " + std::to_string(e);
  if (overlaps(entry, dim.entries, mesh))
    return "the axis shards the dim in another way";
  if (size % (totalFactor(dim.entries) * entry.size) != 0 && !canShard(node.rule->factor(f), wanted, mesh))
    return "size " + std::to_string(size) + " is not divisible by " +
           std::to_string(totalFactor(dim.entries) * entry.size);
  if (node.rule->factor(f).hasWindows && !canShardWindows(wanted, size))
    return "sharded by " + std::to_string(deviceFactor(wanted)) + ", size " + std::to_string(size) +
           " would be padded by more than a quarter";
  if (run.mustBeUnstrided(node, t, d) && becomesStrided(node, t, d, f, wanted))
    return "the sharding would be strided, and strided-shardings=" +
           std::string(run.getOptions().stridedShardings == StridedShardings::Forbid ? "forbid" : "forbid-at-boundary");
  int64_t late = getPriority(other, entry);
  for (const DimEntry &own : dim.entries)
    if (!own.isStride())
      if (int64_t early = getPriority(valueClass, own); early < late)
        return "it came at priority " + std::to_string(late) + ", after " + meshes.toString(DimEntries{own}) +
               " at priority " + std::to_string(early);
  // A conflict at the op: compare its choice with the choice that ignores the sharding of
  // the value.
  if (run.getOptions().conflicts == Conflicts::Basic)
    return "the operands and results of " + opName(node.op) + " conflict, and conflicts=basic resolves no conflict";
  if (node.isIdentity) {
    LayoutTable &table = run.getTable();
    LayoutId here = table.intern(sharding), there = table.intern(run.get(other));
    RankedTensorType type = run.getClass(valueClass).type;
    double seconds =
        t < node.rule->numOperands() ? table.getSeconds(here, there, type) : table.getSeconds(there, here, type);
    return "lost a conflict: " + opName(node.op) + " reshards between " + meshes.toString(run.get(other)) +
           " and this, " + llvm::formatv("{0:E2} s", seconds).str();
  }
  FactorAxes chosen = run.choose(node), instead = chosen;
  for (DimEntries &entries : instead)
    while (overlaps(entries, wanted, mesh))
      entries.pop_back();
  instead[f].assign(wanted.begin(), wanted.end());
  if (chosen == instead)
    return "the dim is sharded by " + meshes.toString(dim.entries) + ", and " + opName(node.op) + " computes with " +
           meshes.toString(wanted);
  SmallVector<TensorLayout> tensors = run.getTensorLayouts(node);
  for (auto [tensor, id] : llvm::zip(tensors, run.getTensors(node)))
    if (id == int32_t(valueClass))
      tensor.layout.reset();
  auto seconds = [&](const FactorAxes &axes) {
    return llvm::formatv("{0:E2} s", getReshardSeconds(*node.rule, tensors, axes, run.getTable())).str();
  };
  return "lost a conflict at " + opName(node.op) + ": " + seconds(chosen) + " as chosen, " + seconds(instead) +
         " with it";
}

/// Propagates shardings in the copy `module`, and explains the selected values.
static FailureOr<std::vector<ExplainedFunction>>
explainCopy(ModuleOp module, ValueNames &names, const Propagation::Options &options, Extent extent, SelectFn wants) {
  if (getPhase(module) < int(Phase::Annotated))
    makeConstraintsOfShardings(module);
  MeshCache meshes(module);
  CallTable calls(module);
  if (failed(calls.verify(meshes)))
    return failure();
  // Functions that share values are propagated together, and listed in the order of the module.
  llvm::DenseMap<Operation *, ExplainedFunction> explained;
  for (auto func : getProgramFunctions(module))
    splitReshapes(calls.getIndex(func).reshapes, [&](Value from, Value to) { names.rename(from, to); });
  auto functions = getProgramFunctions(module);
  llvm::SmallDenseSet<Operation *> done;
  for (auto func : functions) {
    if (func.isExternal() || done.contains(func))
      continue;
    SmallVector<func::FuncOp, 1> group = calls.getGroups().getGroup(func);
    done.insert(group.begin(), group.end());
    auto groupMeshes = calls.getMeshes(group, meshes);
    if (failed(groupMeshes))
      return failure();
    if (!*groupMeshes)
      continue;
    std::optional<FunctionExplainer> explainer;
    auto tables = FunctionPropagation::compute(
        group, **groupMeshes, calls, options, /*record=*/true,
        [&](FunctionPropagation &tables) { explainer.emplace(tables, **groupMeshes, names, extent); });
    if (failed(tables))
      return failure();
    explainer->readImprovement(**groupMeshes);
    for (func::FuncOp each : group)
      explained.try_emplace(each, explainer->explain(each, wants));
  }
  std::vector<ExplainedFunction> result;
  for (auto func : functions)
    if (auto it = explained.find(func); it != explained.end())
      result.push_back(std::move(it->second));
  return result;
}

FailureOr<std::vector<ExplainedFunction>> spmd::explain(ModuleOp module, StringRef selection, bool drawsGrids,
                                                        const Propagation::Options &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  ValueNames names(*copy);
  Extent extent{selection.empty() ? kMaxSteps : std::numeric_limits<size_t>::max(), drawsGrids};
  auto wants = [&](func::FuncOp, Value value, StringRef result) {
    return selection.empty() || (value ? names.matches(value, selection) : selection == result);
  };
  auto functions = explainCopy(*copy, names, options, extent, wants);
  if (failed(functions) || selection.empty() ||
      llvm::any_of(*functions, [](const ExplainedFunction &f) { return !f.values.empty(); }))
    return functions;
  return emitUnknownValue(*copy, names, selection, module.getLoc());
}

FailureOr<std::vector<ExplainedFunction>> spmd::explain(ModuleOp module,
                                                        llvm::function_ref<bool(StringRef, StringRef)> wants,
                                                        const Propagation::Options &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  ValueNames names(*copy);
  return explainCopy(*copy, names, options, {}, [&](func::FuncOp func, Value value, StringRef) {
    return value && wants(func.getName(), names.get(value));
  });
}

static void printSearch(const ExplainedSearch &search, llvm::raw_ostream &os) {
  os << llvm::format("    chosen by search: %.6e s, ", search.objective) << search.status << "\n";
  for (const ExplainedAlternative &other : search.alternatives) {
    os << "    ";
    if (other.text.empty()) {
      os << "other " << other.kind << ": " << other.status << "\n";
      continue;
    }
    os << "with " << other.kind << " " << other.text
       << llvm::format(": %.6e s, %.6e s more", other.objective, other.objective - search.objective);
    if (search.objective > 0)
      os << llvm::format(" (%.3f %%)", 100 * (other.objective / search.objective - 1));
    if (other.objective == search.objective)
      os << ", values of " << std::abs(other.moreBytes) << " bytes " << (other.moreBytes < 0 ? "less" : "more");
    os << ", " << other.status;
    if (other.lowerBound < other.objective)
      os << llvm::format(", at least %.6e s", other.lowerBound);
    os << "\n";
    for (const ExplainedPrice &price : other.more)
      os << llvm::format("      adds  %.6e s: ", price.seconds) << price.what << "\n";
    for (const ExplainedPrice &price : other.less)
      os << llvm::format("      saves %.6e s: ", price.seconds) << price.what << "\n";
  }
}

static nlohmann::ordered_json toJSON(const ExplainedSearch &search) {
  using Json = nlohmann::ordered_json;
  Json alternatives = Json::array();
  auto prices = [](ArrayRef<ExplainedPrice> list) {
    Json array = Json::array();
    for (const ExplainedPrice &price : list)
      array.push_back({{"seconds", price.seconds}, {"what", price.what}});
    return array;
  };
  for (const ExplainedAlternative &other : search.alternatives) {
    if (other.text.empty()) {
      alternatives.push_back({{"kind", other.kind}, {"status", other.status}});
      continue;
    }
    alternatives.push_back({{"kind", other.kind},
                            {"choice", other.text},
                            {"objective", other.objective},
                            {"lower_bound", other.lowerBound},
                            {"status", other.status},
                            {"more_bytes", other.moreBytes},
                            {"adds", prices(other.more)},
                            {"saves", prices(other.less)}});
  }
  return {{"objective", search.objective}, {"status", search.status}, {"alternatives", alternatives}};
}

void spmd::printText(ArrayRef<ExplainedFunction> functions, llvm::raw_ostream &os) {
  for (const ExplainedFunction &function : functions) {
    if (function.values.empty())
      continue;
    os << "@" << function.name << "\n";
    for (const ExplainedValue &value : function.values) {
      os << "  " << value.name << " : " << value.type << "  " << value.sharding;
      if (!value.loc.empty())
        os << "  at " << value.loc;
      os << "\n";
      for (const std::string &line : value.grid)
        os << "    " << line << "\n";
      if (value.improvement)
        os << "    propagation gave " << value.improvement->propagated
           << llvm::format(": reshards at its ops would take %.6e s, now they take %.6e s\n", value.improvement->before,
                           value.improvement->now);
      for (const ExplainedAxis &axis : value.axes) {
        os << "    dim " << axis.dim << " has " << axis.axis << "\n";
        for (const ExplainedStep &step : axis.steps) {
          os << "      from dim " << step.dim << " of " << step.value << " through " << step.op;
          if (!step.loc.empty())
            os << " at " << step.loc;
          os << "\n";
        }
        if (axis.length > axis.steps.size())
          os << "      and " << axis.length - axis.steps.size() << " more steps\n";
        os << "      given on " << axis.given;
        if (axis.priority != 0)
          os << " at priority " << axis.priority;
        os << "\n";
      }
      for (const StoppedAxis &axis : value.stopped) {
        os << "    ";
        if (axis.dim >= 0)
          os << "dim " << axis.dim << " ";
        os << "lacks " << axis.axis << ": " << axis.reason;
        if (!axis.loc.empty())
          os << " (" << axis.op << " at " << axis.loc << ")";
        os << "\n";
      }
      if (value.search)
        printSearch(*value.search, os);
    }
  }
}

void spmd::printJSON(ArrayRef<ExplainedFunction> functions, llvm::raw_ostream &os) {
  using Json = nlohmann::ordered_json;
  Json root{{"version", 1}, {"functions", Json::array()}};
  for (const ExplainedFunction &function : functions) {
    Json values = Json::array();
    for (const ExplainedValue &value : function.values) {
      Json axes = Json::array(), stopped = Json::array();
      for (const ExplainedAxis &axis : value.axes) {
        Json steps = Json::array();
        for (const ExplainedStep &step : axis.steps)
          steps.push_back({{"value", step.value}, {"dim", step.dim}, {"op", step.op}, {"loc", step.loc}});
        axes.push_back({{"dim", axis.dim},
                        {"axis", axis.axis},
                        {"steps", steps},
                        {"length", axis.length},
                        {"given", axis.given},
                        {"priority", axis.priority}});
      }
      for (const StoppedAxis &axis : value.stopped)
        stopped.push_back(
            {{"dim", axis.dim}, {"axis", axis.axis}, {"reason", axis.reason}, {"op", axis.op}, {"loc", axis.loc}});
      Json entry{{"name", value.name}, {"type", value.type}, {"sharding", value.sharding},
                 {"loc", value.loc},   {"axes", axes},       {"stopped", stopped}};
      if (!value.grid.empty())
        entry["grid"] = value.grid;
      if (value.search)
        entry["search"] = toJSON(*value.search);
      if (value.improvement)
        entry["improvement"] = {{"propagated", value.improvement->propagated},
                                {"before", value.improvement->before},
                                {"now", value.improvement->now}};
      values.push_back(entry);
    }
    root["functions"].push_back({{"name", function.name}, {"values", values}});
  }
  os << root.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

void spmd::emitRemarks(ArrayRef<ExplainedFunction> functions) {
  for (const ExplainedFunction &function : functions)
    for (const ExplainedValue &value : function.values) {
      auto options = [&](StringRef name) {
        return remark::RemarkOpts::name(name).category("spmd").function(function.name);
      };
      for (const ExplainedAxis &axis : value.axes)
        remark::passed(value.location, options("explain")) << remark::add(
            "{0}: dim {1} has {2}, {3} given on {4}", value.name, axis.dim, axis.axis,
            axis.length == 0 ? std::string("as") : "through " + std::to_string(axis.length) + " ops, as", axis.given);
      for (const StoppedAxis &axis : value.stopped)
        remark::missed(value.location, options("explain-stopped"))
            << remark::add("{0}: {1}lacks {2}: {3}", value.name,
                           axis.dim < 0 ? "" : "dim " + std::to_string(axis.dim) + " ", axis.axis, axis.reason);
      if (value.improvement)
        remark::analysis(value.location, options("explain-improvement"))
            << remark::add("{0}: {1}, as propagated {2}", value.name, value.sharding, value.improvement->propagated)
            << remark::metric("Before", llvm::formatv("{0:E6}", value.improvement->before).str())
            << remark::metric("Now", llvm::formatv("{0:E6}", value.improvement->now).str());
      if (value.search)
        for (const ExplainedAlternative &other : value.search->alternatives)
          remark::analysis(value.location, options("explain-search"))
              << remark::add("{0}: with {1} {2}", value.name, other.kind,
                             other.text.empty() ? other.status : other.text)
              << remark::metric("Objective", llvm::formatv("{0:E6}", other.objective).str())
              << remark::metric("Chosen", llvm::formatv("{0:E6}", value.search->objective).str());
    }
}
