//===- DeferredReductions.cpp - Partial sums that stay partial ------------===//

#include "DeferredReductions.h"

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/Linearity.h"
#include "shardkit/Rules/PaddingNeeds.h"

using namespace mlir;
using namespace mlir::spmd;

static int64_t getSize(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return type.hasStaticShape() ? type.getNumElements() : INT64_MAX;
}

/// The number of linear ops after which an addition is looked for.
static constexpr unsigned kMaxLookahead = 16;

/// Whether the only reader of the result, or one after further ops that keep a sum a sum of its size, adds something to
/// it or makes it smaller.
static bool isAddedLater(Operation *op) {
  for (unsigned i = 0; i < kMaxLookahead && op->hasOneUse(); ++i) {
    OpOperand &use = *op->use_begin();
    Operation *user = use.getOwner();
    if (user->getNumResults() != 1 || !isa<RankedTensorType>(user->getResult(0).getType()))
      return false;
    if (isAdditive(user) && (getReadTensors(user).count() > 1 || getSize(user) < getSize(op)))
      return true;
    llvm::SmallBitVector read(user->getNumOperands());
    read.set(use.getOperandNumber());
    if (user->getBlock() != op->getBlock() || getSize(user) != getSize(op) || !isLinear(user, read))
      return false;
    op = user;
  }
  return false;
}

static int64_t getNumReaders(Value value) {
  llvm::SmallPtrSet<Operation *, 4> readers(value.user_begin(), value.user_end());
  return readers.size();
}

/// Whether each of several readers of a value keeps its sum a sum, and makes it smaller by more than their number: all
/// their sums together are cheaper than that of the value.
static bool isReducedByAll(Value value) {
  const int64_t readers = getNumReaders(value);
  auto type = cast<RankedTensorType>(value.getType());
  return type.hasStaticShape() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (user->getNumResults() != 1 || !isa<RankedTensorType>(user->getResult(0).getType()) ||
               getSize(user) > type.getNumElements() / readers)
             return false;
           llvm::SmallBitVector read(user->getNumOperands());
           read.set(use.getOperandNumber());
           if (auto dest = dyn_cast<DestinationStyleOpInterface>(user))
             for (OpOperand &init : dest.getDpsInitsMutable())
               read.set(init.getOperandNumber());
           return isLinear(user, read);
         });
}

std::optional<ComputeLayouts> DeferredReductions::defer(Operation *op, const ShardingRule &rule,
                                                        ArrayRef<TensorLayout> layouts, const FactorAxes *chosen) {
  if (op->getNumResults() != 1 || rule.numOperands() != op->getNumOperands())
    return std::nullopt;
  SmallVector<unsigned, 4> partial;
  llvm::SmallBitVector marked(rule.numOperands());
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    if (!rule.tensor(t).type || rule.tensor(t).role == OperandRole::ShapeOnly)
      continue;
    Value operand = op->getOperand(t);
    auto it = values.find(operand);
    if (it != values.end() && table.isPartial(it->second.computed) &&
        (llvm::all_of(operand.getUsers(), [&](Operation *user) { return user == op; }) || isReducedByAll(operand)))
      partial.push_back(t);
    else if (rule.tensor(t).role != OperandRole::Init)
      continue;    // complete
    marked.set(t); // an init counts once: it may be had partial at no cost
  }
  if (partial.empty() || !isLinear(op, marked))
    return std::nullopt;
  // Sums of a plan are added up by --spmd-merge-reductions.
  auto isSmaller = [&](unsigned t) {
    RankedTensorType type = rule.tensor(t).type;
    return type.hasStaticShape() && getSize(op) < type.getNumElements();
  };
  if (chosen && (getSize(op) == INT64_MAX || !llvm::any_of(partial, isSmaller)))
    return std::nullopt;

  auto computedOf = [&](unsigned t) { return values.find(op->getOperand(t))->second.computed; };
  const Sharding common = table.get(computedOf(partial.front()));
  if (common.unreducedKind != ReductionKind::Sum)
    return std::nullopt;
  FactorAxes axes(rule.numFactors());
  DimEntries used = common.unreduced;
  auto take = [&](unsigned t, LayoutId id, bool mayClash) {
    for (unsigned f = 0; f < rule.numFactors(); ++f) {
      std::optional<DimEntries> projected = projectFactor(rule, t, f, table.get(id));
      if (!projected || projected->empty() || !axes[f].empty())
        continue;
      bool fits = rule.factor(f).kind != FactorKind::Replicated && !rule.factor(f).hasWindows &&
                  canShard(rule.factor(f), *projected, mesh) && !overlaps(*projected, used, mesh);
      if (!fits && mayClash)
        continue;
      if (!fits)
        return false;
      used.append(projected->begin(), projected->end());
      axes[f] = std::move(*projected);
    }
    return true;
  };
  for (unsigned t : partial)
    if (!take(t, computedOf(t), /*mayClash=*/false))
      return std::nullopt;
  for (unsigned t = 0; t < rule.numOperands(); ++t)
    if (!marked.test(t) && layouts[t].layout && rule.tensor(t).role == OperandRole::Input)
      take(t, *layouts[t].layout, /*mayClash=*/true);
  for (unsigned t : partial)
    if (computedOf(t) != getPartial(rule, t, axes, common))
      return std::nullopt;

  ComputeLayouts choice;
  choice.devices = getNumDevices(axes);
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
    std::optional<LayoutId> id;
    if (rule.tensor(t).type)
      id = t >= rule.numOperands() || marked.test(t) ? getPartial(rule, t, axes, common)
                                                     : table.intern(getTensorSharding(rule, t, axes));
    if (t < rule.numOperands())
      choice.needs.push_back(id);
    else
      choice.computed.push_back(id);
  }
  bool merges = !chosen && partial.size() > 1 && marked == getReadTensors(op);
  return merges || isCheaper(op, rule, layouts, partial, axes, choice, chosen) ? std::optional(std::move(choice))
                                                                               : std::nullopt;
}

bool DeferredReductions::isCheaper(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts,
                                   ArrayRef<unsigned> partial, const FactorAxes &axes, const ComputeLayouts &choice,
                                   const FactorAxes *chosen) {
  auto seconds = [&](unsigned t, LayoutId from, LayoutId to) {
    return layouts[t].count * table.getSeconds(from, to, layouts[t].type);
  };
  double deferred = 0, completed = 0;
  for (unsigned t = 0; t < rule.numOperands(); ++t)
    if (llvm::is_contained(partial, t))
      completed += seconds(t, values.find(op->getOperand(t))->second.computed,
                           values.find(op->getOperand(t))->second.propagated) /
                   getNumReaders(op->getOperand(t)); // they share it
    else if (layouts[t].layout && choice.needs[t])
      deferred += seconds(t, *layouts[t].layout, *choice.needs[t]);
  unsigned result = rule.numOperands();
  LayoutId computed = *choice.computed.front();
  deferred += seconds(result, computed, layouts[result].layout ? *layouts[result].layout : table.getComplete(computed));
  FactorAxes instead = chosen ? *chosen : chooseCompute(rule, layouts, table);
  completed += getReshardSeconds(rule, layouts, instead, table);
  if (chosen) {
    const double compute = layouts[result].count * getComputeSeconds(op, mesh, kDefaultTripCount);
    return deferred + compute / getNumDevices(axes) < completed + compute / getNumDevices(instead);
  }
  // Products are not computed by fewer devices for the sake of a sum.
  if (deferred > completed || (rule.isContraction && getNumDevices(axes) < getNumDevices(instead)))
    return false;
  if (deferred < completed)
    return true;
  return isAddedLater(op);
}

LayoutId DeferredReductions::getPartial(const ShardingRule &rule, unsigned t, const FactorAxes &axes,
                                        const Sharding &like) {
  Sharding sharding = getTensorSharding(rule, t, axes);
  sharding.unreduced.append(like.unreduced.begin(), like.unreduced.end());
  llvm::sort(sharding.unreduced);
  sharding.unreducedKind = like.unreducedKind;
  return table.intern(std::move(sharding));
}

SmallVector<Operation *, 2> DeferredReductions::getAccumulation(scf::ForOp loop, unsigned i) {
  SmallVector<Operation *, 2> chain;
  Value value = loop.getRegionIterArg(i);
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *op = use.getOwner();
    if (op == loop.getBody()->getTerminator())
      return use.getOperandNumber() == i ? chain : SmallVector<Operation *, 2>();
    if (op->getBlock() != loop.getBody() || op->getNumResults() != 1 || op->getResult(0).getType() != value.getType())
      return {};
    chain.push_back(op);
    value = op->getResult(0);
  }
  return {};
}

std::optional<LayoutId> DeferredReductions::getResultLayout(const ShardingRule &rule, unsigned t, LayoutId id) {
  const Sharding &sharding = table.get(id);
  FactorAxes axes(rule.numFactors());
  for (auto [f, entries] : llvm::enumerate(axes))
    if (std::optional<DimEntries> projected = projectFactor(rule, t, f, sharding))
      entries = std::move(*projected);
  if (getPartial(rule, t, axes, sharding) != id)
    return std::nullopt;
  return getPartial(rule, rule.numOperands(), axes, sharding);
}

std::optional<DeferredReductions::Added>
DeferredReductions::getAdded(scf::ForOp loop, unsigned i, ArrayRef<Operation *> chain,
                             const llvm::DenseMap<Operation *, const OpPlan *> &plans) {
  std::optional<LayoutId> common;
  double seconds = 0;
  bool isInserted = false;
  Value value = loop.getRegionIterArg(i);
  auto join = [&](LayoutId id, LayoutId completed, Type type, std::optional<LayoutId> result) {
    bool fits = table.isPartial(id) && table.get(id).unreducedKind == ReductionKind::Sum && result &&
                common.value_or(*result) == *result;
    if (fits)
      seconds += table.getSeconds(id, completed, cast<RankedTensorType>(type));
    common = result;
    return fits;
  };
  for (Operation *op : chain) {
    auto it = plans.find(op);
    const ShardingRule *rule = it == plans.end() ? nullptr : it->second->rule;
    if (!rule || rule->numOperands() != op->getNumOperands() || !it->second->computed.front())
      return std::nullopt;
    llvm::SmallBitVector read = getReadTensors(op);
    unsigned accumulator = llvm::find(op->getOperands(), value) - op->operand_begin();
    LayoutId computed = *it->second->computed.front();
    if (rule->tensor(accumulator).role == OperandRole::Init && table.isPartial(computed)) {
      // A contraction into it.
      if (!join(computed, values.find(op->getResult(0))->second.propagated, value.getType(), computed))
        return std::nullopt;
    } else if (read.count() > 1 && isLinear(op, read)) {
      isInserted |= isa<tensor::InsertSliceOp>(op);
      for (unsigned t : read.set_bits()) {
        auto known = values.find(op->getOperand(t));
        if (t == accumulator)
          continue;
        if (known == values.end() || !op->getOperand(t).hasOneUse() || !it->second->needs[t] ||
            !join(known->second.computed, *it->second->needs[t], op->getOperand(t).getType(),
                  getResultLayout(*rule, t, known->second.computed)))
          return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
    value = op->getResult(0);
  }
  if (!common)
    return std::nullopt;
  return Added{*common, seconds, isInserted};
}
