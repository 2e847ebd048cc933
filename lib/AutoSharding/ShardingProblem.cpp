//===- ShardingProblem.cpp - A function as a cost graph -------------------===//

#include "ProblemTables.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;

ShardingProblem::ShardingProblem(Propagation &propagation, const ProblemOptions &options)
    : ProblemVariables(propagation, options) {
  if (options.improvesPropagation || (options.live && hasManyAxes()))
    unlisted = Unlisted::PerReader;
  if (!options.live || !hasManyAxes())
    countsMemory = bool(options.live);
  sets.emplace_back(); // 0: none
  covers.emplace_back();
  addStrategies();
  addClasses();
  if (options.reshardPerUse != ReshardPerUse::Always)
    addShared();
  if (hidesMoves())
    numberOps();
  build();
}

uint64_t ShardingProblem::getNumChoices() const {
  uint64_t sum = 0;
  for (Var v = 0; v < graph.getNumVariables(); ++v)
    sum += graph.getNumChoices(v);
  return sum;
}

int64_t ShardingProblem::toTime(double seconds) const {
  return int64_t(seconds / quantum) + graph.getCosts().size() + 8 * sharings.size() + 1;
}

bool ShardingProblem::isSharing(Value value) const {
  auto it = shared.find(value);
  return it != shared.end() && it->second.isSharing && unlisted == Unlisted::OncePerValue && !countsMemory;
}

void ShardingProblem::setOrigin(NodeId node, unsigned tensor, PaidMove::Kind kind) {
  costs.back().node = node;
  costs.back().tensor = tensor;
  costs.back().kind = kind;
}

void ShardingProblem::build() {
  graph = CostGraph();
  costs.clear();
  copies.clear();
  addVariables();
  addEdges();
  addSharings();
  addRequirements();
  finish();
  if (countsMemory)
    addBuffers();
}

void ShardingProblem::addVariables() {
  // In program order, so that neighbors in the program are neighbors in a pass of the solver.
  llvm::BitVector done(classes.size());
  auto addClass = [&](ClassId id) {
    if (done.test(id))
      return;
    done.set(id);
    Kept &kept = classes[id];
    kept.var = graph.addVariable(domains[kept.domain].size());
    RankedTensorType type = propagation.getClass(id).type;
    // Bytes of a device break ties; in improvements those of values that change.
    int64_t unchanged = options.improvesPropagation ? int64_t(table.intern(propagation.get(id))) : -1;
    addCost(kept.var, getTable({kBytes, toKey(type), kept.domain, unchanged}, [&] {
              PriceTable prices;
              for (LayoutId layout : domains[kept.domain]) {
                prices.seconds.push_back(0);
                int64_t bytes = space.getLocalBytes(layout, type);
                prices.bytes.push_back(unchanged < 0 ? bytes : int64_t(layout) == unchanged ? 0 : bytes + 1);
              }
              return prices;
            }));
  };
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    for (int32_t valueClass : tensors.take_front(node.rule->numOperands()))
      if (valueClass >= 0)
        addClass(valueClass);
    NodeVar &nodeVar = nodes[id];
    if (nodeVar.computes && nodeVar.definesAlone < 0)
      nodeVar.var = graph.addVariable(spaces[nodeVar.space].size());
    for (int32_t valueClass : tensors.drop_front(node.rule->numOperands()))
      if (valueClass >= 0)
        addClass(valueClass);
    if (nodeVar.computes && nodeVar.definesAlone >= 0)
      nodeVar.var = classes[nodeVar.definesAlone].var;
  }
  for (ClassId id = 0; id < classes.size(); ++id)
    addClass(id);
  numDecisions = graph.getNumVariables();
  // Last, so that all graphs of this problem agree on the numbers of the others.
  for (auto &[value, entry] : shared)
    if (const SharedLayouts &candidates = sharedLayouts[entry.group]; isSharing(value))
      continue;
    else if (!candidates.layouts.empty() || (unlisted == Unlisted::OncePerValue && !candidates.isComplete()))
      addCopies(value);
}

unsigned ShardingProblem::getTable(Key key, llvm::function_ref<PriceTable()> make) {
  auto [it, isNew] = tableIds.try_emplace(std::move(key), priceTables.size());
  if (isNew)
    priceTables.push_back(make());
  return it->second;
}

double ShardingProblem::getSeconds(LayoutId from, LayoutId to, RankedTensorType type) {
  return table.getSeconds(from, to, type);
}

double ShardingProblem::getCompletionSeconds(LayoutId computed, LayoutId stored, RankedTensorType type) {
  // With one or two axes the planner is fast enough.
  if (!table.isPartial(computed) || table.getCosts().forbids() || !hasManyAxes())
    return getSeconds(computed, stored, type);
  auto [it, isNew] = completionSeconds.try_emplace({computed, stored, type});
  if (!isNew)
    return it->second;
  // Slice dims by axes that are not used yet, which is free.
  const Mesh &mesh = table.getMesh();
  Sharding sliced = table.get(computed);
  const Sharding to = table.get(stored);
  DimEntries sums = sliced.unreduced;
  DimEntries used = sums;
  for (const DimSharding &dim : sliced.dims)
    used.append(dim.entries);
  for (auto [dim, wanted] : llvm::zip(sliced.dims, to.dims))
    while (dim.entries.size() < wanted.entries.size() && isPrefix(dim.entries, wanted.entries) &&
           !overlaps(wanted.entries[dim.entries.size()], used, mesh))
      dim.entries.push_back(wanted.entries[dim.entries.size()]);
  LayoutId from = table.intern(sliced);
  double best = kImpossible;
  auto complete = [&](Sharding sum) {
    sum.unreduced.clear();
    LayoutId middle = table.intern(std::move(sum));
    double seconds = getSeconds(from, middle, type);
    if (seconds < best)
      best = std::min(best, seconds + getSeconds(middle, stored, type));
  };
  // Each axis of the sum is all-reduced, or scattered onto one of the dims.
  auto scatter = [&](auto &self, const Sharding &sum, size_t next) -> void {
    if (next == sums.size())
      return complete(sum);
    self(self, sum, next + 1);
    for (size_t d = 0; d < sum.dims.size(); ++d) {
      Sharding scattered = sum;
      scattered.dims[d].entries.push_back(sums[next]);
      if (divides(scattered.dims[d].entries, type.getDimSize(d)))
        self(self, scattered, next + 1);
    }
  };
  scatter(scatter, sliced, 0);
  // Or onto the dims where the stored layout has them, in its order.
  for (auto [dim, wanted] : llvm::zip(sliced.dims, to.dims))
    while (dim.entries.size() < wanted.entries.size() && isPrefix(dim.entries, wanted.entries) &&
           llvm::is_contained(sums, wanted.entries[dim.entries.size()]))
      dim.entries.push_back(wanted.entries[dim.entries.size()]);
  complete(sliced);
  return completionSeconds[{computed, stored, type}] = best;
}

//===----------------------------------------------------------------------===//
// Needs of readers
//===----------------------------------------------------------------------===//

ShardingProblem::Kept ShardingProblem::getSource(NodeId id, unsigned t) const {
  const Propagation::Node &node = propagation.getNode(id);
  auto it = copies.find(propagation.getTensorValues(node)[t]);
  return it != copies.end() && !isUserReshardPerUse({id, t}) ? it->second : classes[propagation.getTensors(node)[t]];
}

/// The inputs of the needs of a use.
ShardingProblem::Key ShardingProblem::getUseKey(NodeId id, unsigned t) const {
  const Propagation::Node &node = propagation.getNode(id);
  if (!node.isIdentity)
    return {kNeeded, toKey(node.rule), t, nodes[id].space};
  ClassId to = propagation.getTensors(node)[1];
  return {kForwarded, toKey(getType(id, 0)), toKey(propagation.getClass(to).type), classes[to].domain};
}

//===----------------------------------------------------------------------===//
// Prices between values and nodes
//===----------------------------------------------------------------------===//

void ShardingProblem::addEdges() {
  for (NodeId id = 0; id < nodes.size(); ++id)
    addEdges(id);
}

/// The layout inside a manual computation is the layout outside without manual axes.
void ShardingProblem::addEntry(NodeId id) {
  ArrayRef<int32_t> tensors = propagation.getTensors(propagation.getNode(id));
  const Kept &from = classes[tensors[0]], &to = classes[tensors[1]];
  RankedTensorType outside = getType(id, 0), inside = getType(id, 1);
  addCost(from.var, to.var, getTable({kEntry, toKey(outside), toKey(inside), from.domain, to.domain}, [&] {
            PriceTable prices;
            for (LayoutId a : domains[from.domain]) {
              LayoutId left = table.intern(getFreeSharding(table.get(a), outside.getShape(), inside.getShape()));
              for (LayoutId b : domains[to.domain])
                prices.seconds.push_back(left == b ? 0 : kImpossible);
            }
            return prices;
          }));
}

/// True if completing the sums of `computed`, each axis by all-reduce or reduce-scatter, yields `stored` without
/// further moves.
static bool isCompletion(const Sharding &computed, const Sharding &stored, const Mesh &mesh) {
  for (auto [a, b] : llvm::zip(computed.dims, stored.dims)) {
    DimEntries rest;
    for (const DimEntry &entry : b.entries)
      if (entry.isStride() || !overlaps(entry, computed.unreduced, mesh))
        rest.push_back(entry);
    if (canonicalize(rest) != a.entries)
      return false;
  }
  return true;
}

void ShardingProblem::addEdges(NodeId id) {
  const Propagation::Node &node = propagation.getNode(id);
  const ShardingRule &rule = *node.rule;
  ArrayRef<int32_t> tensors = propagation.getTensors(node);
  if (!node.isIdentity && !nodes[id].computes)
    return;
  if (isDeadConstraint(node.op))
    return;
  if (node.isIdentity && !propagation.getTensorValues(node)[0])
    return addEntry(id);
  Var nodeVar = node.isIdentity ? classes[tensors[1]].var : nodes[id].var;
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    if (tensors[t] < 0 || rule.tensor(t).role == OperandRole::ShapeOnly ||
        isRematerialized(propagation.getTensorValues(node)[t]))
      continue;
    Kept source = getSource(id, t);
    RankedTensorType type = getType(id, t);
    int64_t count = propagation.getCount(node, t);
    auto reader = shared.find(propagation.getTensorValues(node)[t]);
    bool isAlone = isUserReshardPerUse({id, t}), shares = reader != shared.end() && !isAlone;
    unsigned group = shares ? reader->second.group : 0;
    auto price = [&](unsigned choice, unsigned strategy) {
      LayoutId has = domains[source.domain][choice];
      LayoutId needed = getNeeded(id, t, strategy, has);
      double seconds = 0;
      // A slice is written in the layout that the shared output has.
      if (t == 1 && isa<tensor::ParallelInsertSliceOp>(node.op))
        return has == needed ? 0 : kImpossible;
      if (!source.sets || !llvm::is_contained(sets[source.sets][choice], needed))
        seconds = getSeconds(has, needed, type);
      if (source.sets && unlisted == Unlisted::OncePerValue && seconds <= covers[source.sets][choice] &&
          !sharedLayouts[group].hasPrice(needed))
        seconds = 0;
      return count * seconds;
    };
    Key key = getUseKey(id, t);
    key.insert(key.end(), {source.domain, source.sets, count, nodeVar == source.var,
                           isa<tensor::ParallelInsertSliceOp>(node.op), shares ? group : -1, int64_t(unlisted)});
    if (shares)
      key.insert(key.end(), sharedLayouts[group].layouts.begin(), sharedLayouts[group].layouts.end());
    auto addMove = [&](Key key, const Kept &from, bool isShared, PaidMove::Kind kind,
                       llvm::function_ref<double(unsigned, unsigned)> price) {
      bool isLoop = nodeVar == from.var; // it yields what it is given
      unsigned prices = getTable(std::move(key), [&] {
        PriceTable prices;
        for (unsigned c = 0; c < domains[from.domain].size(); ++c)
          for (unsigned s = isLoop ? c : 0, e = isLoop ? c + 1 : getNumNeeds(id); s < e; ++s)
            prices.seconds.push_back(price(c, s));
        return prices;
      });
      costs.push_back({from.var, isLoop ? CostGraph::kNoVar : nodeVar, prices, isShared, true, id, t, kind});
      if (rooms != Rooms::None && kind == PaidMove::Read) {
        Value value = propagation.getTensorValues(node)[t];
        costs.back().rest =
            getRest(prices, shares ? getSharedRoom(value) : getRoom(value, getReadWindow(value, node.op)));
      }
    };
    if (isAlone || !isSharing(propagation.getTensorValues(node)[t]) ||
        (t == 1 && isa<tensor::ParallelInsertSliceOp>(node.op)))
      addMove(std::move(key), source, shares, PaidMove::Read, price);
    if (node.isIdentity || !rule.hasWindows())
      continue;
    const Kept &stored = classes[tensors[t]];
    int64_t exchanges = propagation.getCount(node, getTensorOfExchange(rule, t));
    addMove({kHalos, toKey(node.rule), t, nodes[id].space, stored.domain, exchanges}, stored, /*isShared=*/false,
            PaidMove::Windows, [&](unsigned choice, unsigned strategy) {
              LayoutId needed = getNeeded(id, t, strategy, domains[stored.domain][choice]);
              auto windows = getWindows(rule, t, spaces[nodes[id].space][strategy], table.getMesh());
              return windows.empty() ? 0 : exchanges * table.getSeconds(needed, windows, type);
            });
  }
  if (node.isIdentity)
    return;
  const std::vector<FactorAxes> &strategies = spaces[nodes[id].space];
  if (llvm::any_of(rule.getFactors(), [](const Factor &f) { return f.kind == FactorKind::Selection; })) {
    int64_t count = propagation.getCount(node, rule.numOperands());
    addCost(nodeVar, getTable({kPicks, toKey(node.rule), nodes[id].space, count}, [&] {
              PriceTable prices;
              for (const FactorAxes &axes : strategies)
                prices.seconds.push_back(count * getPickSeconds(rule, axes, table));
              return prices;
            }));
    setOrigin(id, rule.numOperands(), PaidMove::Picked);
  }
  for (unsigned i = 0; i < rule.numResults(); ++i) {
    unsigned t = rule.numOperands() + i;
    if (tensors[t] < 0 || classes[tensors[t]].var == nodeVar ||
        llvm::all_of(propagation.getTensorValues(node)[t].getUsers(), isDeadConstraint))
      continue;
    const Kept &kept = classes[tensors[t]];
    int64_t count = propagation.getCount(node, t);
    unsigned prices = getTable({kComputed, toKey(node.rule), i, nodes[id].space, kept.domain, count}, [&] {
      PriceTable prices;
      for (const FactorAxes &axes : strategies) {
        LayoutId computed = table.intern(getTensorSharding(rule, t, axes));
        for (LayoutId stored : domains[kept.domain]) {
          // A move on the way there would be paid for all readers at once.
          bool allowed = options.reshardPerUse != ReshardPerUse::Always ||
                         isCompletion(table.get(computed), table.get(stored), table.getMesh());
          prices.seconds.push_back(allowed ? count * getCompletionSeconds(computed, stored, getType(id, t))
                                           : kImpossible);
        }
      }
      return prices;
    });
    costs.push_back({nodeVar, kept.var, prices});
    setOrigin(id, t, PaidMove::Completed);
    if (rooms != Rooms::None) {
      Value value = propagation.getTensorValues(node)[t];
      costs.back().rest = getRest(prices, getRoom(value, getCompletionWindow(value, node.op)));
    }
  }
}

std::vector<PaidMove> ShardingProblem::getMovesPerUse(ArrayRef<unsigned> choices, ArrayRef<Use> perUse) {
  std::vector<PaidMove> moves;
  for (const Use &use : perUse) {
    const Propagation::Node &node = propagation.getNode(use.node);
    Value value = propagation.getTensorValues(node)[use.tensor];
    // Readers that share nothing pay for themselves anyway, and the first of the others for all of them.
    auto entry = shared.find(value);
    if (entry == shared.end() || isUserReshardPerUse(use))
      continue;
    ClassId valueClass = propagation.getId(value);
    LayoutId stored = getLayout(valueClass, choices), wanted = *getRequested(use, choices);
    if (*llvm::find_if(entry->second.readers,
                       [&](const Use &reader) { return getRequested(reader, choices) == wanted; }) == use)
      continue;
    double seconds = getSeconds(stored, wanted, propagation.getClass(valueClass).type);
    if (seconds != 0)
      moves.push_back(
          {value, node.op, PaidMove::Read, stored, wanted, seconds * propagation.getCount(node, use.tensor)});
  }
  return moves;
}

std::vector<PaidMove> ShardingProblem::getMoves(ArrayRef<unsigned> choices, ArrayRef<Use> perUse) {
  std::vector<PaidMove> moves;
  auto getStored = [&](NodeId id, unsigned t) {
    return getLayout(propagation.getTensors(propagation.getNode(id))[t], choices);
  };
  for (const Cost &cost : costs) {
    if (cost.isShared || cost.node == ~0u)
      continue;
    auto [seconds, times] = getPaid(cost, choices);
    if (seconds == 0)
      continue;
    const Propagation::Node &node = propagation.getNode(cost.node);
    unsigned strategy = getStrategyNumber(cost.node, choices);
    LayoutId stored = getStored(cost.node, cost.tensor), other = stored;
    if (cost.kind == PaidMove::Read || cost.kind == PaidMove::Windows)
      other = getNeeded(cost.node, cost.tensor, strategy, stored);
    else
      other = table.intern(getTensorSharding(*node.rule, cost.tensor, spaces[nodes[cost.node].space][strategy]));
    bool reads = cost.kind == PaidMove::Read || cost.kind == PaidMove::Windows;
    moves.push_back({propagation.getTensorValues(node)[cost.tensor], node.op, cost.kind, reads ? stored : other,
                     reads ? other : stored, seconds * times});
  }
  SmallVector<LayoutId> wanted;
  for (auto &[value, entry] : shared) {
    wanted.clear();
    getRequestedLayouts(value, entry.readers, choices, wanted);
    LayoutId stored = getLayout(propagation.getId(value), choices);
    const Use &use = entry.readers[0];
    const Propagation::Node &first = propagation.getNode(use.node);
    for (LayoutId id : wanted)
      if (double seconds = getSeconds(stored, id, propagation.getClass(propagation.getId(value)).type))
        moves.push_back(
            {value, first.op, PaidMove::Read, stored, id, seconds * propagation.getCount(first, use.tensor)});
  }
  llvm::append_range(moves, getMovesPerUse(choices, perUse));
  return moves;
}

void ShardingProblem::require(std::vector<Requirement> wanted) {
  requirements = std::move(wanted);
  build();
}

void ShardingProblem::addRequirements() {
  auto add = [&](Var var, PriceTable prices) {
    Key key{kRequired};
    for (double seconds : prices.seconds)
      key.push_back(llvm::bit_cast<int64_t>(seconds));
    unsigned table = getTable(std::move(key), [&] { return std::move(prices); });
    costs.push_back({var, CostGraph::kNoVar, table, /*isShared=*/false, /*isMove=*/false});
  };
  for (const Requirement &requirement : requirements) {
    PriceTable prices;
    if (requirement.strategyPrice) {
      for (const FactorAxes &axes : getStrategies(requirement.node))
        prices.seconds.push_back(requirement.strategyPrice(axes));
      add(nodes[requirement.node].var, std::move(prices));
      continue;
    }
    for (LayoutId id : getDomain(requirement.valueClass))
      prices.seconds.push_back(requirement.price(id));
    add(classes[requirement.valueClass].var, std::move(prices));
  }
  if (!options.getComputeSeconds)
    return;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    if (!nodes[id].computes || !node.hasOpRule)
      continue;
    double alone = options.getComputeSeconds(node);
    if (alone == 0)
      continue;
    PriceTable prices;
    for (const FactorAxes &axes : spaces[nodes[id].space])
      prices.seconds.push_back(alone / getNumDevices(axes));
    add(nodes[id].var, std::move(prices));
    if (isBound(id))
      costs.back().rest = getTable({kUncounted, costs.back().table}, [&] {
        PriceTable rest = priceTables[costs.back().table];
        for (double &seconds : rest.seconds)
          seconds *= 1 - options.overlap;
        return rest;
      });
  }
}

//===----------------------------------------------------------------------===//
// Prices as integers
//===----------------------------------------------------------------------===//

void ShardingProblem::finish() {
  double most = 0;
  std::vector<double> largest(priceTables.size());
  for (auto [table, maximum] : llvm::zip(priceTables, largest))
    for (double seconds : table.seconds)
      if (seconds < kImpossible)
        maximum = std::max(maximum, seconds);
  for (const Cost &cost : costs)
    most += largest[cost.table];
  for (auto [table, sharing] : llvm::zip(sharingPrices, sharings))
    most += largest[table] * sharing.readers.size();
  // A power of two, so that prices in multiples of it are exact.
  quantum = most > 0 ? std::ldexp(1.0, std::ilogb(most) - 52) : 1;
  std::vector<CostGraph::TableId> ids;
  for (const PriceTable &prices : priceTables) {
    std::vector<Price> converted;
    for (auto [i, seconds] : llvm::enumerate(prices.seconds))
      converted.push_back(seconds < kImpossible ? Price{int64_t(std::llround(seconds / quantum)),
                                                        prices.bytes.empty() ? 0 : prices.bytes[i]}
                                                : Price::impossible());
    ids.push_back(graph.addTable(std::move(converted)));
  }
  for (const Cost &cost : costs) {
    CostGraph::TableId id = ids[cost.rest != ~0u ? cost.rest : cost.table];
    if (cost.b == CostGraph::kNoVar)
      graph.addCost(cost.a, id);
    else
      graph.addCost(cost.a, cost.b, id);
  }
  for (auto [table, sharing] : llvm::zip(sharingPrices, sharings))
    graph.addSharing(sharing.host, std::move(sharing.readers), ids[table]);
}

std::pair<double, int64_t> ShardingProblem::getPaid(const Cost &cost, ArrayRef<unsigned> choices) {
  size_t index = choices[cost.a];
  if (cost.b != CostGraph::kNoVar)
    index = index * graph.getNumChoices(cost.b) + choices[cost.b];
  double seconds = priceTables[cost.table].seconds[index];
  if (seconds == 0 || cost.kind != PaidMove::Completed)
    return {seconds, 1};
  const Propagation::Node &node = propagation.getNode(cost.node);
  LayoutId computed = table.intern(getTensorSharding(
      *node.rule, cost.tensor, spaces[nodes[cost.node].space][getStrategyNumber(cost.node, choices)]));
  LayoutId stored = getLayout(propagation.getTensors(node)[cost.tensor], choices);
  int64_t times = propagation.getCount(node, cost.tensor);
  return {getSeconds(computed, stored, getType(cost.node, cost.tensor)), times};
}

double ShardingProblem::getSeconds(ArrayRef<unsigned> choices, ArrayRef<Use> perUse, bool onlyMoves) {
  std::map<double, int64_t> paid;
  for (const Cost &cost : costs)
    if (!cost.isShared && (!onlyMoves || cost.isMove))
      if (auto [seconds, times] = getPaid(cost, choices); seconds != 0)
        paid[seconds] += times;
  SmallVector<LayoutId> wanted;
  for (auto &[value, entry] : shared) {
    wanted.clear();
    getRequestedLayouts(value, entry.readers, choices, wanted);
    ClassId valueClass = propagation.getId(value);
    const Use &use = entry.readers[0];
    int64_t count = propagation.getCount(propagation.getNode(use.node), use.tensor);
    for (LayoutId id : wanted)
      if (double seconds = getSeconds(getLayout(valueClass, choices), id, propagation.getClass(valueClass).type))
        paid[seconds] += count;
  }
  for (const PaidMove &move : getMovesPerUse(choices, perUse))
    if (move.seconds != 0)
      ++paid[move.seconds];
  double sum = 0;
  for (auto [seconds, times] : paid)
    sum += seconds * times;
  return sum;
}
