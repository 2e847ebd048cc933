//===- ApplyStages.cpp - Stages of a plan become boundaries ---------------===//

#include "ApplyStages.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Support/Names.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The stages of one function in a plan.
class StageApplier {
public:
  StageApplier(func::FuncOp func, ArrayRef<const PlanStage *> rules, const MeshCache &meshes)
      : func(func), rules(rules), meshes(meshes), values(collectNamedValues(func)) {}
  LogicalResult run();

private:
  /// Checks that each number from 0 on occurs once.
  LogicalResult order();
  LogicalResult readMeshes();

  /// Finds the last value of each name, and the op after which all are defined.
  LogicalResult findEnd(const PlanStage &rule, SmallVector<Value> &crossing, Operation *&end);
  LogicalResult checkExisting(const PlanStage &rule, MutableArrayRef<StageBoundaryOp> existing,
                              ArrayRef<Value> crossing);

  func::FuncOp func;
  ArrayRef<const PlanStage *> rules;
  const MeshCache &meshes;
  std::vector<NamedValue> values;
  SmallVector<const PlanStage *> stages; // in order
};

} // namespace

LogicalResult StageApplier::run() {
  if (failed(order()) || failed(readMeshes()))
    return failure();
  SmallVector<StageBoundaryOp> existing;
  for (auto op : func.getBody().front().getOps<StageBoundaryOp>())
    if (!op.getCandidate() && !op.getBackward())
      existing.push_back(op);
  Operation *last = nullptr;
  for (auto [k, rule] : llvm::enumerate(stages)) {
    if (k + 1 == stages.size())
      break;
    SmallVector<Value> crossing;
    Operation *end = nullptr;
    if (failed(findEnd(*rule, crossing, end)))
      return failure();
    if (last && !last->isBeforeInBlock(end)) {
      InFlightDiagnostic diag = rule->emitError() << "stage " << k << " ends before stage " << k - 1
                                                  << " does, expected stages to split the ops in order";
      diag.attachNote(end->getLoc()) << "it ends here";
      return diag;
    }
    last = end;
    if (!existing.empty()) {
      if (failed(checkExisting(*rule, existing, crossing)))
        return failure();
      continue;
    }
    OpBuilder b(func.getContext());
    b.setInsertionPointAfter(end);
    StageBoundaryOp::create(b, rule->loc, crossing, /*backward=*/false, /*candidate=*/false, AxisResourcesAttr());
  }
  return success();
}

LogicalResult StageApplier::order() {
  stages.resize(rules.size());
  for (const PlanStage *rule : rules) {
    if (rule->stage >= int64_t(rules.size()))
      return rule->emitError() << "stage " << rule->stage << " of " << rules.size() << " of the plan for @"
                               << func.getName() << ", expected numbers from 0 on, each once";
    if (stages[rule->stage])
      return rule->emitError() << "stage " << rule->stage << " of @" << func.getName()
                               << " occurs twice, expected each number once";
    stages[rule->stage] = rule;
  }
  for (const PlanStage *rule : stages) {
    bool isLast = rule == stages.back();
    if (rule->until.empty() != isLast)
      return rule->emitError() << "stage " << rule->stage << " of " << stages.size()
                               << (isLast ? ", the last one, has \"until\", expected none"
                                          : " has no \"until\", expected the value after which "
                                            "it ends");
    if (!rule->hash.empty() && rule->hash != hashFunction(func))
      return rule->emitError() << "@" << func.getName() << " has changed since its values were "
                               << "numbered: its hash is \"" << hashFunction(func) << "\", expected \"" << rule->hash
                               << "\"";
  }
  return success();
}

LogicalResult StageApplier::readMeshes() {
  SmallVector<Attribute> names;
  for (const PlanStage *rule : stages) {
    if (rule->mesh.empty() != stages.front()->mesh.empty())
      return rule->emitError() << "stage " << rule->stage << " has " << (rule->mesh.empty() ? "no" : "a")
                               << " \"mesh\", expected one for all stages or for none";
    if (rule->mesh.empty())
      continue;
    if (!lookupMeshOrEmit(meshes, rule->mesh, [&] { return rule->emitError(); }))
      return failure();
    names.push_back(FlatSymbolRefAttr::get(func.getContext(), rule->mesh));
  }
  if (names.empty())
    return success();
  Attribute attr = ArrayAttr::get(func.getContext(), names);
  if (Attribute old = func->getAttr(kMeshAttr); old && old != attr)
    return stages.front()->emitError() << "the stages of @" << func.getName() << " are on " << attr
                                       << ", expected the existing meshes, " << old;
  func->setAttr(kMeshAttr, attr);
  return success();
}

LogicalResult StageApplier::findEnd(const PlanStage &rule, SmallVector<Value> &crossing, Operation *&end) {
  for (StringRef name : rule.until) {
    Value found;
    SmallVector<StringRef> known;
    for (NamedValue &value : values) {
      if (value.value.getParentBlock() != &func.getBody().front() || !isa<RankedTensorType>(value.value.getType()))
        continue;
      bool matches = value.position == name;
      for (StringRef valueName : value.names) {
        known.push_back(valueName);
        forEachPrefix(valueName, [&](StringRef prefix) { matches |= prefix == name; });
      }
      if (matches)
        found = value.value;
    }
    if (!found) {
      InFlightDiagnostic diag = rule.emitError() << "unknown value \"" << name << "\" of @" << func.getName();
      std::string list = listNearest(name, known);
      if (list.empty())
        return diag << ", there are none";
      return diag << ", expected a name such as " << list;
    }
    // After its annotations.
    Value value = found;
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation *user : value.getUsers())
        if (isa<WithShardingConstraintOp>(user)) {
          value = user->getResult(0);
          changed = true;
          break;
        }
    }
    crossing.push_back(value);
    if (Operation *op = value.getDefiningOp(); op && (!end || end->isBeforeInBlock(op)))
      end = op;
  }
  if (!end)
    return rule.emitError() << "stage " << rule.stage << " ends after an argument, expected the "
                            << "value of an op";
  return success();
}

LogicalResult StageApplier::checkExisting(const PlanStage &rule, MutableArrayRef<StageBoundaryOp> existing,
                                          ArrayRef<Value> crossing) {
  size_t k = rule.stage;
  auto isCrossing = [&](Value value) { return llvm::is_contained(existing[k].getInputs(), value); };
  if (existing.size() + 1 == stages.size() && llvm::all_of(crossing, isCrossing))
    return success();
  InFlightDiagnostic diag = rule.emitError()
                            << "stage " << k << " of " << stages.size() << " ends at \"" << rule.until.front()
                            << "\", expected the existing boundaries of @" << func.getName() << " already";
  for (StageBoundaryOp op : existing)
    diag.attachNote(op.getLoc()) << "which is here";
  return diag;
}

LogicalResult spmd::applyStages(const ShardingPlan &plan, ModuleOp module, const MeshCache &meshes) {
  llvm::MapVector<StringRef, SmallVector<const PlanStage *>> byFunction;
  for (const PlanStage &stage : plan.stages)
    byFunction[stage.function].push_back(&stage);
  for (auto &[name, rules] : byFunction) {
    auto func = module.lookupSymbol<func::FuncOp>(name);
    if (!func || func.isExternal() || !func.getBody().hasOneBlock()) {
      SmallVector<StringRef> known;
      for (auto other : module.getOps<func::FuncOp>())
        if (!other.isExternal())
          known.push_back(other.getName());
      InFlightDiagnostic diag = rules.front()->emitError();
      if (func)
        return diag << "stages of @" << name << ", expected a function with a body of one block";
      std::string list = listNearest(name, known);
      return diag << "unknown function @" << name
                  << (list.empty() ? ", there are none" : ", expected a name such as " + list);
    }
    if (failed(StageApplier(func, rules, meshes).run()))
      return failure();
  }
  return success();
}
