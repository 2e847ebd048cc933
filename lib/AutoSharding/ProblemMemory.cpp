//===- ProblemMemory.cpp - Memory of a device -----------------------------===//

#include "ProblemTables.h"
#include "shardkit/Rules/GroupRegions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;

bool spmd::isFilled(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isConstraintLike(op))
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

Value ShardingProblem::getKept(const LiveBuffer &buffer) const {
  Value value = buffer.value;
  return value && !propagation.contains(value) ? options.live->getHeld(buffer, buffer.end) : value;
}

/// The dim of groups of which one is in memory at a time; -1 if there is none.
static int64_t getGroupDim(Value value) {
  return getGroupsInTurn(value, cast<RankedTensorType>(value.getType())) > 1
             ? *getGroupShare(value.getDefiningOp())->dim
             : -1;
}

void ShardingProblem::addBuffers() {
  bytesIds.clear();
  // A value in its stored layout. A constant-like value is live when an op writes to it.
  for (const LiveBuffer &buffer : options.live->getBuffers()) {
    Value value = getKept(buffer);
    if (!value || !propagation.contains(value)) {
      graph.addFixedBuffer(buffer.begin, buffer.end + 1, value ? 0 : buffer.bytes);
      continue;
    }
    const Kept &kept = classes[propagation.getId(value)];
    auto type = cast<RankedTensorType>(value.getType());
    const int64_t groupDim = getGroupDim(value);
    if (buffer.bytes > 0)
      graph.addBuffer(
          buffer.begin, buffer.end + 1, kept.var, getBytes({kBytes, toKey(type), kept.domain, groupDim}, [&] {
            std::vector<int64_t> bytes;
            for (LayoutId id : domains[kept.domain]) {
              bytes.push_back(space.getLocalBytes(id, type));
              if (groupDim >= 0) // one group of the device after the other
                bytes.back() /= std::max<int64_t>(
                    llvm::divideCeil(type.getDimSize(groupDim), deviceFactor(table.get(id).dims[groupDim].entries)), 1);
            }
            return bytes;
          }));
  }
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    const ShardingRule &rule = *node.rule;
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    ArrayRef<Value> values = propagation.getTensorValues(node);
    if (!isRead(id))
      continue;
    auto [begin, end] = options.live->getSpan(node.op);
    // An operand in the layout that the node needs; that of a constraint stays live.
    Var nodeVar = node.isIdentity ? classes[tensors[1]].var : nodes[id].var;
    for (unsigned t = 0; t < rule.numOperands(); ++t) {
      if (!node.isIdentity && rule.tensor(t).role == OperandRole::Input && rule.tensor(t).type && isFilled(values[t])) {
        RankedTensorType type = rule.tensor(t).type;
        graph.addBuffer(begin, end + 1, nodeVar, getBytes({kFilled, toKey(node.rule), t, nodes[id].space}, [&] {
                          std::vector<int64_t> bytes;
                          for (const FactorAxes &axes : spaces[nodes[id].space])
                            bytes.push_back(space.getLocalBytes(table.intern(getTensorSharding(rule, t, axes)), type));
                          return bytes;
                        }));
        continue;
      }
      if (tensors[t] < 0 || rule.tensor(t).role == OperandRole::ShapeOnly || isRematerialized(values[t]))
        continue;
      Kept source = getSource(id, t);
      if (source.var == nodeVar)
        continue;
      RankedTensorType type = getType(id, t);
      Key key = getUseKey(id, t);
      key.insert(key.end(), {source.domain, source.sets});
      graph.addBuffer(begin, getReadSpan(id).second + 1, source.var, nodeVar, getBytes(std::move(key), [&] {
                        std::vector<int64_t> bytes;
                        for (unsigned c = 0; c < domains[source.domain].size(); ++c)
                          for (unsigned s = 0, e = getNumNeeds(id); s < e; ++s) {
                            LayoutId has = domains[source.domain][c], needed = getNeeded(id, t, s, has);
                            bool isThere = has == needed || (countsHeld && source.sets &&
                                                             llvm::is_contained(sets[source.sets][c], needed));
                            bytes.push_back(isThere ? 0 : space.getLocalBytes(needed, type));
                          }
                        return bytes;
                      }));
    }
    if (node.isIdentity)
      continue;
    // A result that is not kept as it is computed: sums that are completed in place
    // need no other buffer.
    for (unsigned i = 0; i < rule.numResults(); ++i) {
      unsigned t = rule.numOperands() + i;
      if (tensors[t] < 0 || classes[tensors[t]].var == nodeVar)
        continue;
      const Kept &kept = classes[tensors[t]];
      RankedTensorType type = getType(id, t);
      graph.addBuffer(begin, end + 1, nodeVar, kept.var,
                      getBytes({kComputed, toKey(node.rule), i, nodes[id].space, kept.domain}, [&] {
                        std::vector<int64_t> bytes;
                        for (const FactorAxes &axes : spaces[nodes[id].space]) {
                          LayoutId computed = table.intern(getTensorSharding(rule, t, axes));
                          for (LayoutId stored : domains[kept.domain])
                            bytes.push_back(
                                table.getComplete(computed) == stored ? 0 : space.getLocalBytes(computed, type));
                        }
                        return bytes;
                      }));
    }
  }
  if (!countsHeld)
    return;
  // Shared copies are live from their first reader to the last.
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
