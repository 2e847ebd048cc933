//===- PropagationGraph.cpp - Value classes and nodes as tables -----------===//

#include "shardkit/Propagation/PropagationGraph.h"
#include "shardkit/Rules/ControlFlow.h"

#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;

unsigned PropagationGraph::getNumSharded() const {
  return llvm::count_if(classes, [&](const ValueClass &valueClass) {
    return llvm::any_of(shardings.get(valueClass.sharding).dims,
                        [](const DimSharding &dim) { return !dim.entries.empty(); });
  });
}

PropagationGraph::ClassId PropagationGraph::addClass(RankedTensorType type, Sharding userSharding) {
  for (DimSharding &dim : userSharding.dims)
    dim.entries = canonicalize(dim.entries);
  ShardingId id = shardings.intern(std::move(userSharding));
  classes.push_back({id, id, type, 0, {}});
  return classes.size() - 1;
}

PropagationGraph::ClassId PropagationGraph::addValue(Value value, Sharding userSharding) {
  ClassId id = addClass(cast<RankedTensorType>(value.getType()), std::move(userSharding));
  ids[value] = {id, 0};
  return id;
}

void PropagationGraph::addValue(Value value, ClassId valueClass) {
  ids[value] = {valueClass, classes[valueClass].level};
}

void PropagationGraph::setUserSharding(ClassId id, Sharding userSharding) {
  classes[id].sharding = classes[id].userSharding = shardings.intern(std::move(userSharding));
}

PropagationGraph::NodeId PropagationGraph::addNode(Node node, ArrayRef<int32_t> tensorClasses,
                                                   ArrayRef<Value> newValues) {
  NodeId index = nodes.size();
  for (int32_t id : tensorClasses)
    if (id >= 0 && (classes[id].nodes.empty() || classes[id].nodes.back() != index))
      classes[id].nodes.push_back(index);
  node.manual = manual;
  node.firstTensor = tensors.size();
  tensors.insert(tensors.end(), tensorClasses.begin(), tensorClasses.end());
  tensorValues.insert(tensorValues.end(), newValues.begin(), newValues.end());
  nodes.push_back(node);
  return index;
}

void PropagationGraph::setManualAxes(ArrayRef<DimEntry> axes) {
  auto it = llvm::find_if(manualLists, [&](const DimEntries &list) { return ArrayRef(list) == axes; });
  manual = it - manualLists.begin();
  if (it == manualLists.end())
    manualLists.emplace_back(axes);
}

int64_t PropagationGraph::countExecutions(Block *block) {
  if (block != lastCount.first)
    lastCount = {block, spmd::countExecutions(block, tripCount)};
  return lastCount.second * fragmentExecutions * functionCalls;
}

/// True for a result that is accumulated over microbatches without completing it: it is completed once, after the last
/// of them.
static bool isAccumulated(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  if (auto out = dyn_cast<StageOutputOp>(op))
    return out.getReduction().has_value();
  if (!op->hasOneUse())
    return false;
  auto out = dyn_cast<StageOutputOp>(*op->user_begin());
  return out && out.getReduction();
}

unsigned PropagationGraph::internCounts(ArrayRef<int64_t> counts) {
  if (llvm::all_of(counts, [](int64_t count) { return count == 1; }))
    return 0;
  auto it = llvm::find_if(countLists, [&](const auto &list) { return list == counts; });
  if (it == countLists.end())
    it = countLists.insert(it, SmallVector<int64_t, 4>(counts));
  return it - countLists.begin();
}

PropagationGraph::NodeId PropagationGraph::addOp(Operation *op, ShardingRule rule) {
  Node node{op, nullptr, 0, 1, Flow::Both};
  SmallVector<int32_t, 8> tensorClasses;
  SmallVector<Value, 8> newValues;
  bool reduces = rule.isContraction ||
                 llvm::any_of(rule.getFactors(), [](const Factor &f) { return f.kind == FactorKind::Reduction; });
  if (reduces)
    node.stage[0] = node.stage[1] = kContractions;
  // A reshard of an operand is next to the definition of the value; of a result, next to the op.
  SmallVector<int64_t, 8> counts;
  for (const ShardingRule::Tensor &tensor : rule.operands())
    counts.push_back(countExecutions(Value(tensor.value).getParentBlock()));
  int64_t resultCount = countExecutions(op->getBlock());
  if (fragmentExecutions > 1 && isAccumulated(op)) {
    resultCount /= fragmentExecutions;
    if (isa<StageOutputOp>(op))
      counts.assign(counts.size(), resultCount);
  }
  counts.append(rule.numResults(), resultCount);
  node.counts = internCounts(counts);
  // A factor of a result that no operand has is new: a broadcast.
  SmallVector<bool, 8> read(rule.numFactors(), false);
  for (const ShardingRule::Tensor &tensor : rule.operands()) {
    auto it = ids.find(tensor.value);
    newValues.push_back(tensor.value);
    tensorClasses.push_back(it == ids.end() ? -1 : int32_t(it->second.id));
    if (it == ids.end())
      continue;
    node.level = std::max(node.level, it->second.level + 1);
    for (unsigned d = 0; d < tensor.numDims; ++d)
      for (int32_t f : rule.dimFactors(tensor, d))
        read[f] = true;
  }
  for (const ShardingRule::Tensor &tensor : rule.results()) {
    for (unsigned d = 0; d < tensor.numDims; ++d)
      for (int32_t f : rule.dimFactors(tensor, d))
        if (!read[f] && rule.factor(f).size != 1)
          node.stage[0] = kBroadcasts;
    auto it = ids.find(tensor.value);
    newValues.push_back(tensor.value);
    tensorClasses.push_back(it == ids.end() ? -1 : int32_t(it->second.id));
    if (it == ids.end())
      continue;
    it->second.level = node.level;
    classes[it->second.id].level = node.level;
  }
  node.hasOpRule = !isa<CallOpInterface>(op);
  hasWindows |= rule.hasWindows();
  node.rule = rules.intern(std::move(rule));
  return addNode(node, tensorClasses, newValues);
}

PropagationGraph::NodeId PropagationGraph::addIdentity(Operation *op, Value from, ClassId to, Value defined,
                                                       Flow flow) {
  auto [source, level] = ids.lookup(from);
  return addIdentity(op, from, source, level, from.getParentBlock(), to, defined, flow);
}

PropagationGraph::NodeId PropagationGraph::addIdentity(Operation *op, Value value, ClassId from, unsigned level,
                                                       Block *block, ClassId to, Value defined, Flow flow) {
  ShardingRule rule;
  ArrayRef<int64_t> sizes[2] = {classes[from].type.getShape(), classes[to].type.getShape()};
  SmallVector<SmallVector<int32_t, 2>> dims[2];
  // Operands and results of a manual computation are sharded evenly.
  bool isManual = isa<ManualComputationOp>(op) || isa_and_present<ManualComputationOp>(op->getParentOp());
  for (auto [a, b] : llvm::zip(sizes[0], sizes[1])) {
    bool dynamic = ShapedType::isDynamic(a);
    // A dynamic size does not show whether manual axes shard the dim.
    int32_t common =
        rule.addFactor(std::min(a, b), dynamic && isManual ? FactorKind::Replicated : FactorKind::Parallel);
    for (auto [list, size, other] : {std::tie(dims[0], a, b), std::tie(dims[1], b, a)}) {
      list.emplace_back();
      if (!dynamic && size > other)
        list.back().push_back(rule.addFactor(size / std::max<int64_t>(other, 1)));
      list.back().push_back(common);
    }
  }
  for (auto [a, b, size] : llvm::zip(dims[0], dims[1], sizes[0]))
    if (!isManual && !ShapedType::isDynamic(size) && a.size() == 1 && b.size() == 1)
      rule.setAllowsPadding(a.front(), true);
  rule.addOperand(Value()).type = classes[from].type;
  for (const auto &factors : dims[0])
    rule.addDim(factors);
  rule.addResult(Value()).type = classes[to].type;
  for (const auto &factors : dims[1])
    rule.addDim(factors);
  Node node{op, rules.intern(std::move(rule)), 0, level + 1, flow};
  node.isIdentity = true;
  if (auto it = ids.find(defined); defined && it != ids.end())
    it->second.level = std::max(it->second.level, node.level);
  node.counts = internCounts(SmallVector<int64_t, 2>(2, countExecutions(block)));
  classes[to].level = std::max(classes[to].level, node.level);
  return addNode(node, {int32_t(from), int32_t(to)}, {value, defined});
}
