//===- PlanSeconds.cpp - The predicted time of a plan ---------------------===//

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/OpQueries.h"
#include "shardkit/Reshard/ComputePlan.h"
#include "shardkit/Rules/ControlFlow.h"
#include <deque>

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Follows ReshardInserter: one reshard per value and layout, before the first reader.
class PlanPricer {
public:
  PlanPricer(ComputePlan &plan, int64_t tripCount, llvm::DenseMap<Value, double> *perValue)
      : plan(plan), table(plan.table), tripCount(tripCount), perValue(perValue) {}

  PlanSeconds run() {
    findUnusedConstraints();
    for (const OpPlan &opPlan : plan.ops)
      add(opPlan);
    return seconds;
  }

private:
  /// A value, or a copy of it, with the copies that were made of it.
  struct Copy {
    Value value; // the original one
    LayoutId computed, propagated;
    bool viaPropagated = false, hasOneNeed = false;
    SmallVector<std::pair<LayoutId, Copy *>, 2> available;
  };

  void findUnusedConstraints() {
    for (const OpPlan &opPlan : llvm::reverse(plan.ops))
      if (isConstraintLike(opPlan.op) &&
          llvm::all_of(opPlan.op->getUsers(), [&](Operation *user) { return unusedConstraints.contains(user); }))
        unusedConstraints.insert(opPlan.op);
  }

  int64_t countExecutions(Block *block) {
    auto [it, isNew] = executions.try_emplace(block, 0);
    if (isNew)
      it->second = spmd::countExecutions(block, tripCount);
    return it->second * fragmentExecutions;
  }

  Copy *addCopy(Value value, LayoutId computed, LayoutId propagated) {
    Copy &copy = copies.emplace_back();
    copy.value = value;
    copy.computed = computed;
    copy.propagated = propagated;
    copy.available.push_back({computed, &copy});
    return &copy;
  }

  /// The value that an op reads: that of a constraint is a copy.
  Copy *find(Value value) {
    if (Copy *known = copyOf.lookup(value))
      return known;
    auto it = plan.values.find(value);
    if (it == plan.values.end())
      return nullptr;
    Copy *copy = addCopy(value, it->second.computed, it->second.propagated);
    copy->viaPropagated = it->second.viaPropagated;
    copy->hasOneNeed = it->second.needs.size() <= 1;
    return copyOf[value] = copy;
  }

  Copy *get(Copy *copy, LayoutId id, bool fresh = false) {
    fresh &= id != copy->computed && id != copy->propagated;
    for (auto &[have, other] : copy->available)
      if (have == id && !fresh)
        return other;
    bool direct =
        copy->computed == copy->propagated || id == copy->propagated || (!copy->viaPropagated && copy->hasOneNeed);
    if (!direct)
      get(copy, copy->propagated);
    LayoutId from = direct ? copy->computed : copy->propagated;
    double paid = countExecutions(copy->value.getParentBlock()) *
                  table.getSeconds(from, id, cast<RankedTensorType>(copy->value.getType()));
    seconds.communication += paid;
    if (perValue && paid > 0)
      (*perValue)[copy->value] += paid;
    Copy *made = addCopy(copy->value, id, id);
    llvm::erase_if(copy->available, [&](auto &entry) { return entry.first == id; });
    copy->available.push_back({id, made});
    return made;
  }

  void add(const OpPlan &opPlan) {
    Operation *op = opPlan.op;
    if (auto fragment = dyn_cast<FragmentOp>(op))
      fragmentExecutions = fragment.getExecutions().value_or(1);
    if (unusedConstraints.contains(op))
      return;
    seconds.communication += opPlan.exchangeSeconds;
    if (const Mesh &mesh = plan.meshes.getCostMesh(); mesh.flops && opPlan.rule)
      seconds.compute +=
          double(countExecutions(op->getBlock())) / opPlan.devices * getComputeSeconds(op, mesh, tripCount);
    if (isConstraintLike(op) && opPlan.needs.empty())
      copyOf[op->getResult(0)] = find(op->getOperand(0)); // it is passed by
    auto perUse = op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr);
    for (auto [t, needed] : llvm::enumerate(opPlan.needs)) {
      if (!needed || (opPlan.rule && opPlan.rule->tensor(t).role == OperandRole::ShapeOnly))
        continue;
      Value value = opPlan.getOperand(t);
      if (isRematerialized(value))
        continue;
      Copy *copy = find(value);
      if (!copy)
        continue;
      Copy *read = get(copy, *needed, perUse && llvm::is_contained(perUse.asArrayRef(), int64_t(t)));
      if (isConstraintLike(op))
        copyOf[op->getResult(0)] = read;
    }
  }

  ComputePlan &plan;
  LayoutTable &table;
  int64_t tripCount, fragmentExecutions = 1;
  llvm::DenseMap<Value, double> *perValue;
  PlanSeconds seconds;
  std::deque<Copy> copies;
  llvm::DenseMap<Value, Copy *> copyOf;
  llvm::DenseMap<Block *, int64_t> executions;
  DenseSet<Operation *> unusedConstraints;
};

} // namespace

PlanSeconds spmd::getSeconds(ComputePlan &plan, int64_t tripCount, llvm::DenseMap<Value, double> *perValue) {
  return PlanPricer(plan, tripCount, perValue).run();
}
