//===- ExportPlan.cpp - Annotations become a plan -------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/AxisResources.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Overlap.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Plan/ShardingPlan.h"
#include "shardkit/Support/Names.h"
#include "shardkit/Support/Output.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDEXPORTPLANPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Collects the annotations of a module as rules of a plan, so that --spmd-apply-plan on the
/// stripped module writes them again. Values without a unique name are named by their
/// position (`op#3`) together with the hash of the function.
class PlanExporter {
public:
  PlanExporter(ModuleOp module, bool all) : module(module), all(all), phase(Phase(getPhase(module))) {}
  FailureOr<ShardingPlan> run();

private:
  //===--- arguments and results ------------------------------------------===//

  // Annotations are a ShardingAttr, axis resources (in a function of stages), or null.
  struct Entry {
    std::string name;
    Attribute sharding;
    int64_t rank; // -1 for values other than tensors
    Location loc;
    bool written = false;
  };
  static bool isAllOpen(ShardingAttr sharding);

  /// The annotation of an argument or result with these attributes.
  FailureOr<Attribute> read(DictionaryAttr attrs, const Twine &what, Location loc);
  static int64_t getRank(Type type);
  LogicalResult exportArguments(func::FuncOp func);
  LogicalResult exportResults(func::FuncOp func);

  /// The annotation of an open value, of the same kind as `other`.
  Attribute getOpen(Attribute other, int64_t rank);
  LogicalResult exportEntries(func::FuncOp func, PlanTarget target, std::vector<Entry> &entries);

  //===--- values ---------------------------------------------------------===//

  LogicalResult exportValues(func::FuncOp func);

  /// The name of a value, or its position, which is valid for this function (`ruleHash`).
  static std::string getRuleName(func::FuncOp func, const NamedValue &value, const llvm::StringMap<unsigned> &count,
                                 std::string &hash, std::string &ruleHash);

  //===--- stages ---------------------------------------------------------===//

  void exportStages(func::FuncOp func);

  //===--- rules ----------------------------------------------------------===//

  /// The symbolic form of a sharding; null if it has none.
  AxisResourcesAttr getResources(ShardingAttr sharding);
  PlanRule &addRule(func::FuncOp func, PlanTarget target, StringRef name, Attribute annotation,
                    FactorsAttr factorShardings, Location loc);

  ModuleOp module;
  bool all;
  Phase phase;
  /// True if the current function is split into stages, whose meshes resolve axis resources later.
  bool isStaged = false;
  ShardingPlan plan;
};

} // namespace

FailureOr<ShardingPlan> PlanExporter::run() {
  for (auto mesh : module.getOps<MeshOp>())
    plan.meshes.push_back({toMesh(mesh), mesh.getLoc(), getOverlap(mesh)});
  for (auto schedule : module.getOps<ScheduleOp>())
    emitWarning(schedule.getLoc()) << "the stages of @" << schedule.getSymName()
                                   << " are left out of the plan, expected it to be exported "
                                      "before --spmd-build-stages";
  for (auto func : module.getOps<func::FuncOp>()) {
    isStaged = false;
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      isStaged |= func.getArgAttr(i, kMicrobatchAttr) != nullptr;
    func.walk([&](StageBoundaryOp) { isStaged = true; });
    if (failed(exportArguments(func)) || failed(exportResults(func)) || failed(exportValues(func)))
      return failure();
    exportStages(func);
  }
  return std::move(plan);
}

bool PlanExporter::isAllOpen(ShardingAttr sharding) {
  return sharding.getReplicated().empty() && sharding.getUnreduced().empty() &&
         llvm::all_of(sharding.getDims(), [](DimShardingAttr dim) {
           return dim.getOpen() && dim.getEntries().empty() && dim.getPriority() == 0;
         });
}

FailureOr<Attribute> PlanExporter::read(DictionaryAttr attrs, const Twine &what, Location loc) {
  auto get = [&](StringRef name) { return attrs ? attrs.get(name) : Attribute(); };
  if (Attribute resources = get(kAxisResourcesAttr); resources && isStaged)
    return resources;
  else if (resources)
    return emitError(loc) << what
                          << " has axis resources, expected a sharding; run "
                             "--spmd-resolve-axis-resources first";
  Attribute attr = get(kShardingAttr);
  if (Attribute userSharding = get(kUserShardingAttr); userSharding && !all)
    attr = userSharding;
  if (!attr)
    return Attribute();
  auto sharding = dyn_cast<ShardingAttr>(attr);
  if (!sharding)
    return emitError(loc) << what << " has " << attr << ", expected a sharding";
  // Propagation writes this for values without a user sharding.
  if (!all && phase >= Phase::Propagated && isAllOpen(sharding))
    return Attribute();
  return Attribute(sharding);
}

int64_t PlanExporter::getRank(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : -1;
}

LogicalResult PlanExporter::exportArguments(func::FuncOp func) {
  std::vector<Entry> entries;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    Location loc = func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc();
    FailureOr<Attribute> sharding = read(func.getArgAttrDict(i), "argument #" + Twine(i), loc);
    if (failed(sharding))
      return failure();
    entries.push_back({getArgumentName(func, i), *sharding, getRank(func.getArgumentTypes()[i]), loc});
  }
  return exportEntries(func, PlanTarget::Argument, entries);
}

LogicalResult PlanExporter::exportResults(func::FuncOp func) {
  std::vector<Entry> entries;
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    FailureOr<Attribute> sharding = read(func.getResultAttrDict(i), "result #" + Twine(i), func.getLoc());
    if (failed(sharding))
      return failure();
    entries.push_back({getResultName(func, i), *sharding, getRank(func.getResultTypes()[i]), func.getLoc()});
  }
  return exportEntries(func, PlanTarget::Result, entries);
}

Attribute PlanExporter::getOpen(Attribute other, int64_t rank) {
  MLIRContext *context = module.getContext();
  if (auto sharding = dyn_cast<ShardingAttr>(other))
    return ShardingAttr::getFullyOpen(context, sharding.getMesh(), rank);
  return AxisResourcesAttr::get(context, /*replicated=*/false, SmallVector<Attribute>(rank, UnitAttr::get(context)));
}

LogicalResult PlanExporter::exportEntries(func::FuncOp func, PlanTarget target, std::vector<Entry> &entries) {
  llvm::StringMap<unsigned> index;
  for (auto [i, entry] : llvm::enumerate(entries)) {
    auto [it, isNew] = index.try_emplace(entry.name, i);
    if (isNew)
      continue;
    // Segments of one weight: one rule for all.
    const Entry &first = entries[it->second];
    entry.written = true;
    if (entry.sharding == first.sharding)
      continue;
    InFlightDiagnostic diag = emitError(entry.loc)
                              << "two " << stringifyPlanTarget(target) << "s of @" << func.getName() << " are named \""
                              << entry.name << "\" and sharded differently, expected distinct names in a plan";
    diag.attachNote(first.loc) << "the other one is here";
    return diag;
  }
  // A rule applies to all names below its name: names below it get earlier rules, which
  // are open for names without an annotation.
  std::vector<SmallVector<unsigned, 0>> below(entries.size());
  for (auto [i, entry] : llvm::enumerate(entries))
    forEachPrefix(entry.name, [&](StringRef prefix) {
      auto it = index.find(prefix);
      if (it == index.end() || prefix == entry.name || !entries[it->second].sharding)
        return;
      below[it->second].push_back(i);
      if (!entry.sharding && entry.rank >= 0 && !entry.written)
        entry.sharding = getOpen(entries[it->second].sharding, entry.rank);
    });
  std::function<void(unsigned)> write = [&](unsigned i) {
    Entry &entry = entries[i];
    if (std::exchange(entry.written, true))
      return;
    for (unsigned other : below[i])
      write(other);
    if (entry.sharding && entry.rank >= 0)
      addRule(func, target, entry.name, entry.sharding, {}, entry.loc);
  };
  for (unsigned i = 0; i < entries.size(); ++i)
    write(i);
  return success();
}

LogicalResult PlanExporter::exportValues(func::FuncOp func) {
  // The first constraint of each value.
  llvm::DenseMap<Value, WithShardingConstraintOp> constraints;
  WalkResult walk = func.walk([&](WithShardingConstraintOp op) {
    if (!op.getShardingAttr() && !isStaged) {
      emitError(op.getLoc()) << "constraint without a sharding, expected one; run "
                                "--spmd-resolve-axis-resources first";
      return WalkResult::interrupt();
    }
    Value value = skipAnnotations(op.getInput());
    if (!constraints.try_emplace(value, op).second)
      emitWarning(op.getLoc()) << "this constraint is left out of the plan, which keeps the first one "
                                  "of each value";
    else if (!llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; }))
      emitWarning(op.getLoc()) << "this constraint holds for some users of its value, in the plan it "
                                  "holds for all";
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  func.walk([&](Operation *op) {
    if (all && op->hasAttr(kReshardPerUseAttr) && (op->getNumResults() == 0 || isa<WithShardingConstraintOp>(op)))
      emitWarning(op->getLoc())
          << "operands that this op has resharded per use (spmd.reshard_per_use) are left out of the "
             "plan, which has them for ops that compute a value";
  });
  std::vector<NamedValue> values = collectNamedValues(func);
  // A name that occurs twice, or is a prefix of another one, is ambiguous.
  llvm::StringMap<unsigned> count;
  for (const NamedValue &value : values)
    for (StringRef name : value.names)
      forEachPrefix(name, [&](StringRef prefix) { ++count[prefix]; });
  std::string hash;
  for (const NamedValue &value : values) {
    ShardingAttr sharding;
    AxisResourcesAttr resources;
    FactorsAttr factorShardings;
    DenseI64ArrayAttr reshardPerUse;
    Operation *op = value.value.getDefiningOp();
    unsigned number = op ? cast<OpResult>(value.value).getResultNumber() : 0;
    auto getWritten = [](Operation *op, unsigned number) {
      auto list = op ? op->getAttrOfType<ArrayAttr>(kShardingsAttr) : ArrayAttr();
      return list ? dyn_cast<ShardingAttr>(list[number]) : ShardingAttr();
    };
    if (op && all) {
      factorShardings = op->getAttrOfType<FactorsAttr>(kFactorShardingsAttr);
      reshardPerUse = op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr);
    }
    // On an op it is that of the user only before propagation.
    if (factorShardings || phase < Phase::Annotated)
      sharding = getWritten(op, number);
    if (auto constraint = constraints.lookup(value.value)) {
      ShardingAttr completed = getWritten(constraint, 0);
      sharding = all && completed ? completed : constraint.getShardingAttr();
      if (!sharding)
        resources = constraint.getAxisResourcesAttr();
    }
    // Partial values cannot be constrained: they follow from factor shardings.
    if (sharding && !sharding.getUnreduced().empty())
      sharding = {};
    if (number > 0) {
      factorShardings = {};
      reshardPerUse = {};
    }
    if (!sharding && !resources && !factorShardings && !reshardPerUse)
      continue;
    std::string ruleHash;
    std::string name = getRuleName(func, value, count, hash, ruleHash);
    PlanRule &rule = addRule(func, PlanTarget::Value, name, sharding ? Attribute(sharding) : Attribute(resources),
                             factorShardings, value.value.getLoc());
    rule.spec.reshardPerUse = reshardPerUse;
    rule.hash = ruleHash;
  }
  return success();
}

std::string PlanExporter::getRuleName(func::FuncOp func, const NamedValue &value,
                                      const llvm::StringMap<unsigned> &count, std::string &hash,
                                      std::string &ruleHash) {
  std::string name = value.isNamed ? value.names.front() : "";
  if (!name.empty() && count.lookup(name) <= 1 && !StringRef(name).contains('*') && !isPosition(name))
    return name;
  if (hash.empty())
    hash = hashFunction(func);
  ruleHash = hash;
  return value.position;
}

void PlanExporter::exportStages(func::FuncOp func) {
  if (func.isExternal())
    return;
  SmallVector<StageBoundaryOp> boundaries;
  func.walk([&](StageBoundaryOp op) {
    if (op.getBackward())
      emitWarning(op.getLoc()) << "this boundary is left out of the plan, which has those of the "
                                  "forward fragment";
    else if (!op.getCandidate())
      boundaries.push_back(op);
  });
  auto meshes = func->getAttrOfType<ArrayAttr>(kMeshAttr);
  if (boundaries.empty() && !meshes)
    return;
  std::vector<NamedValue> values = collectNamedValues(func);
  // A stage ends after the last value of a name.
  llvm::StringMap<Value> last;
  llvm::StringMap<unsigned> count;
  llvm::DenseMap<Value, const NamedValue *> byValue;
  for (const NamedValue &value : values) {
    byValue[value.value] = &value;
    for (StringRef name : value.names)
      forEachPrefix(name, [&](StringRef prefix) { last[prefix] = value.value; });
  }
  std::string hash;
  for (size_t k = 0; k <= boundaries.size(); ++k) {
    PlanStage &stage = plan.stages.emplace_back(func.getLoc());
    stage.function = func.getName().str();
    stage.stage = k;
    if (meshes && k < meshes.size())
      if (auto mesh = dyn_cast<FlatSymbolRefAttr>(meshes[k]))
        stage.mesh = mesh.getValue().str();
    if (k == boundaries.size())
      break;
    StageBoundaryOp op = boundaries[k];
    for (Value input : op.getInputs()) {
      const NamedValue *value = byValue.lookup(skipAnnotations(input));
      for (StringRef name : value->names)
        count[name] = last.lookup(name) == value->value ? 1 : 2;
      stage.until.push_back(getRuleName(func, *value, count, hash, stage.hash));
    }
    if (AxisResourcesAttr resources = op.getAxisResourcesAttr())
      addRule(func, PlanTarget::Boundary, stage.until.front(), resources, {}, op.getLoc()).hash =
          isPosition(stage.until.front()) ? stage.hash : "";
  }
}

AxisResourcesAttr PlanExporter::getResources(ShardingAttr sharding) {
  if (plan.meshes.size() != 1 || sharding.getMesh().getValue() != plan.meshes[0].mesh.name)
    return {};
  return toAxisResources(sharding);
}

PlanRule &PlanExporter::addRule(func::FuncOp func, PlanTarget target, StringRef name, Attribute annotation,
                                FactorsAttr factorShardings, Location loc) {
  PlanRule &rule = plan.rules.emplace_back(loc);
  rule.function = func.getName().str();
  rule.target = target;
  rule.name = name.str();
  auto sharding = dyn_cast_or_null<ShardingAttr>(annotation);
  rule.spec.resources = dyn_cast_or_null<AxisResourcesAttr>(annotation);
  // In a function of stages axis resources would be resolved against a stage's mesh.
  if (sharding && !isStaged)
    rule.spec.resources = getResources(sharding);
  if (!rule.spec.resources)
    rule.spec.sharding = sharding;
  rule.spec.factorShardings = factorShardings;
  return rule;
}

FailureOr<ShardingPlan> spmd::exportPlan(ModuleOp module, bool all) { return PlanExporter(module, all).run(); }

namespace {

struct ExportPlanPass : public spmd::impl::SPMDExportPlanPassBase<ExportPlanPass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    if (file.empty())
      return emitError(module.getLoc()) << "no file to export to, expected the option "
                                           "file=PLAN.json (- is standard output)";
    bool all = content == PlanContent::All;
    // Constraints, which are user shardings, no longer exist after that.
    if (failed(verifyInput(module, all ? Phase::Resharded : Phase::Propagated, getArgument())))
      return failure();
    FailureOr<ShardingPlan> plan = exportPlan(module, all);
    if (failed(plan))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    writePlan(*plan, os);
    return writeOutput(module.getLoc(), file, text);
  }
};

} // namespace
