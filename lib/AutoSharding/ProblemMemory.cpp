//===- ProblemMemory.cpp - What a device holds ----------------------------===//

#include "ProblemTables.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::spmd;

/// True for what is made anew and then held: a constant of one element is not.
static bool isFilled(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isPin(op))
      return isa<linalg::FillOp, tensor::SplatOp>(op);
    value = op->getOperand(0);
  }
  return false;
}

CostGraph::BytesId ShardingProblem::getBytes(Key key, llvm::function_ref<std::vector<int64_t>()> make) {
  auto [it, isNew] = bytesIds.try_emplace(std::move(key));
  if (isNew)
    it->second = graph.addBytes(make());
  return it->second;
}

void ShardingProblem::addBuffers() {
  bytesIds.clear();
  // A value where it is kept. What is made anew is held as soon as an op writes there.
  for (const LiveBuffer &buffer : options.live->getBuffers()) {
    Value value = buffer.value;
    if (value && !propagation.contains(value))
      value = options.live->getHeld(buffer, buffer.end);
    if (!value || !propagation.contains(value)) {
      graph.addFixedBuffer(buffer.begin, buffer.end + 1, value ? 0 : buffer.bytes);
      continue;
    }
    const Kept &kept = places[propagation.getId(value)];
    auto type = cast<RankedTensorType>(value.getType());
    if (buffer.bytes > 0)
      graph.addBuffer(buffer.begin, buffer.end + 1, kept.var,
                      getBytes({kBytes, toKey(type), kept.domain}, [&] {
                        std::vector<int64_t> bytes;
                        for (LayoutId id : domains[kept.domain])
                          bytes.push_back(space.getLocalBytes(id, type));
                        return bytes;
                      }));
  }
  auto endOf = [&](Value value, int64_t end) {
    for (Operation *user : value.getUsers())
      if (Operation *here = value.getParentBlock()->findAncestorOpInBlock(*user))
        end = std::max(end, options.live->getSpan(here).second);
    return end;
  };
  llvm::DenseMap<Value, int64_t> firstReads; // of what is held longer
  for (NodeId id = 0; id < nodes.size() && holdsLonger(); ++id)
    for (Value value : propagation.getTensorValues(propagation.getNode(id)))
      if (heldLonger.contains(value)) {
        int64_t begin = options.live->getSpan(propagation.getNode(id).op).first;
        int64_t &first = firstReads.try_emplace(value, begin).first->second;
        first = std::min(first, begin);
      }
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    const ShardingRule &rule = *node.rule;
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    ArrayRef<Value> values = propagation.getTensorValues(node);
    if ((!node.handsOn && !nodes[id].computes) || isDeadPin(node.op) ||
        (node.handsOn && !values[0]))
      continue;
    auto [begin, end] = options.live->getSpan(node.op);
    // An operand brought to where it is needed; one that is pinned stays there.
    Var own = node.handsOn ? places[tensors[1]].var : nodes[id].var;
    for (unsigned t = 0; t < rule.numOperands(); ++t) {
      auto held = firstReads.find(values[t]);
      int64_t first = held == firstReads.end() ? begin : held->second;
      if (!node.handsOn && rule.tensor(t).role == OperandRole::Input && rule.tensor(t).type &&
          isFilled(values[t])) {
        RankedTensorType type = rule.tensor(t).type;
        graph.addBuffer(first, end + 1, own, getBytes({kFilled, toKey(node.rule), t, nodes[id].space}, [&] {
                          std::vector<int64_t> bytes;
                          for (const FactorAxes &axes : spaces[nodes[id].space])
                            bytes.push_back(space.getLocalBytes(
                                table.intern(getTensorSharding(rule, t, axes)), type));
                          return bytes;
                        }));
        continue;
      }
      if (tensors[t] < 0 || rule.tensor(t).role == OperandRole::ShapeOnly || isMadeAnew(values[t]))
        continue;
      Kept source = getSource(id, t);
      if (source.var == own)
        continue;
      RankedTensorType type = getType(id, t);
      int64_t last = isPin(node.op) ? endOf(node.op->getResult(0), end) : end;
      Key key = getUseKey(id, t);
      key.insert(key.end(), {source.domain, source.sets});
      graph.addBuffer(first, last + 1, source.var, own, getBytes(std::move(key), [&] {
                        std::vector<int64_t> bytes;
                        for (unsigned c = 0; c < domains[source.domain].size(); ++c)
                          for (unsigned s = 0, e = getNumNeeds(id); s < e; ++s) {
                            LayoutId has = domains[source.domain][c], needed = getNeeded(id, t, s, has);
                            bool isThere = has == needed ||
                                           (source.sets && llvm::is_contained(sets[source.sets][c], needed));
                            bytes.push_back(isThere ? 0 : space.getLocalBytes(needed, type));
                          }
                        return bytes;
                      }));
    }
    if (node.handsOn)
      continue;
    // A result that is not kept as it is computed: sums that are completed in place
    // need no other buffer.
    for (unsigned i = 0; i < rule.numResults(); ++i) {
      unsigned t = rule.numOperands() + i;
      if (tensors[t] < 0 || places[tensors[t]].var == own)
        continue;
      const Kept &kept = places[tensors[t]];
      RankedTensorType type = getType(id, t);
      graph.addBuffer(begin, end + 1, own, kept.var,
                      getBytes({kProduced, toKey(node.rule), i, nodes[id].space, kept.domain}, [&] {
                        std::vector<int64_t> bytes;
                        for (const FactorAxes &axes : spaces[nodes[id].space]) {
                          LayoutId produced = table.intern(getTensorSharding(rule, t, axes));
                          for (LayoutId home : domains[kept.domain])
                            bytes.push_back(table.getComplete(produced) == home
                                                ? 0
                                                : space.getLocalBytes(produced, type));
                        }
                        return bytes;
                      }));
    }
  }
  // What readers share, from the first of them to the last.
  for (auto &[value, kept] : copies) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
    for (const Use &use : shared.find(value)->second.readers) {
      auto [begin, end] = options.live->getSpan(propagation.getNode(use.node).op);
      first = std::min(first, begin);
      last = std::max(last, end);
    }
    graph.addBuffer(first, last + 1, kept.var, getBytes({kSets, toKey(type), kept.sets}, [&] {
                      std::vector<int64_t> bytes;
                      for (const auto &set : sets[kept.sets]) {
                        bytes.push_back(0);
                        for (LayoutId id : set)
                          bytes.back() += space.getLocalBytes(id, type);
                      }
                      return bytes;
                    }));
  }
}

int64_t ShardingProblem::getPeak(ArrayRef<unsigned> choices, llvm::SmallSetVector<Value, 8> *longer) {
  std::map<int64_t, int64_t> changes;
  auto hold = [&](int64_t begin, int64_t end, int64_t bytes) {
    changes[begin] += bytes;
    changes[end + 1] -= bytes;
  };
  auto getBytes = [&](PlaceId place) {
    return space.getLocalBytes(getLayout(place, choices), propagation.getPlace(place).type);
  };
  for (const LiveBuffer &buffer : options.live->getBuffers()) {
    Value value = buffer.value;
    if (value && !propagation.contains(value))
      value = options.live->getHeld(buffer, buffer.end);
    if (!value)
      hold(buffer.begin, buffer.end, buffer.bytes);
    else if (propagation.contains(value) && buffer.bytes > 0)
      hold(buffer.begin, buffer.end, getBytes(propagation.getId(value)));
  }
  struct Copy {
    int64_t first, last;
    SmallVector<std::pair<int64_t, int64_t>, 2> reads;
  };
  llvm::MapVector<std::pair<Value, LayoutId>, Copy> copied;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    ArrayRef<Value> values = propagation.getTensorValues(node);
    if ((!node.handsOn && !nodes[id].computes) || isDeadPin(node.op) || (node.handsOn && !values[0]))
      continue;
    auto [begin, end] = options.live->getSpan(node.op);
    if (isPin(node.op))
      for (Operation *user : node.op->getUsers())
        if (Operation *here = node.op->getBlock()->findAncestorOpInBlock(*user))
          end = std::max(end, options.live->getSpan(here).second);
    unsigned strategy = getStrategyNumber(id, choices);
    for (unsigned t = 0; t < node.rule->numOperands(); ++t) {
      const ShardingRule::Tensor &tensor = node.rule->tensor(t);
      LayoutId needed;
      if (!node.handsOn && tensor.role == OperandRole::Input && tensor.type && isFilled(values[t])) {
        needed = table.intern(getTensorSharding(*node.rule, t, spaces[nodes[id].space][strategy]));
      } else {
        if (tensors[t] < 0 || tensor.role == OperandRole::ShapeOnly || isMadeAnew(values[t]))
          continue;
        LayoutId home = getLayout(tensors[t], choices);
        needed = getNeeded(id, t, strategy, home);
        if (needed == home)
          continue;
      }
      Copy &copy = copied.try_emplace({values[t], needed}, Copy{begin, end, {}}).first->second;
      copy.first = std::min(copy.first, begin);
      copy.last = std::max(copy.last, end);
      copy.reads.push_back({begin, end});
    }
    if (node.handsOn)
      continue;
    for (unsigned t = node.rule->numOperands(); t < tensors.size(); ++t) {
      if (tensors[t] < 0 || places[tensors[t]].var == nodes[id].var)
        continue;
      LayoutId produced = table.intern(getTensorSharding(*node.rule, t, spaces[nodes[id].space][strategy]));
      if (table.getComplete(produced) != getLayout(tensors[t], choices))
        hold(begin, end, space.getLocalBytes(produced, getType(id, t)));
    }
  }
  for (auto &[copy, span] : copied)
    hold(span.first, span.last,
         space.getLocalBytes(copy.second, cast<RankedTensorType>(copy.first.getType())));
  int64_t now = 0, peak = 0, at = 0;
  for (auto [position, change] : changes)
    if ((now += change) > peak) {
      peak = now;
      at = position;
    }
  for (auto &[copy, span] : copied)
    if (longer && span.first <= at && at <= span.last &&
        llvm::none_of(span.reads, [&](auto &read) { return read.first <= at && at <= read.second; }))
      longer->insert(copy.first);
  return peak;
}

bool ShardingProblem::holdLonger(ArrayRef<unsigned> choices) {
  size_t before = heldLonger.size();
  getPeak(choices, &heldLonger);
  if (heldLonger.size() == before)
    return false;
  // In repeated layers it would only be others of the same type the next time.
  llvm::SmallPtrSet<Type, 4> types;
  for (Value value : heldLonger)
    types.insert(value.getType());
  for (NodeId id = 0; id < nodes.size(); ++id)
    for (Value value : propagation.getTensorValues(propagation.getNode(id)))
      if (value && types.contains(value.getType()))
        heldLonger.insert(value);
  build();
  return true;
}

void ShardingProblem::holdAlone() {
  if (!holdsLonger())
    return;
  heldLonger.clear();
  build();
}
