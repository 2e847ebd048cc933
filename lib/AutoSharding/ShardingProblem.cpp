//===- ShardingProblem.cpp - A function as a cost graph -------------------===//

#include "shardkit/AutoSharding/ShardingProblem.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::spmd;

static constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// Most layouts of a value that are paid once each beside the one it is kept in.
static constexpr unsigned kMaxSet = 3;
/// Most choices of one value: with more, sets of layouts become smaller.
static constexpr size_t kMaxChoices = 4096;

ShardingProblem::ShardingProblem(Propagation &propagation, const ProblemOptions &options)
    : propagation(propagation), table(propagation.getTable()), options(options),
      space(table, options.allSubAxes) {
  sets.emplace_back(); // 0: none
  addStrategies();
  addPlaces();
  if (!options.regatherAlways)
    addCopies();
  addEdges();
  finish();
}

template <typename T>
unsigned ShardingProblem::intern(std::vector<std::vector<T>> &lists, std::map<Key, unsigned> &ids,
                                 Key key, std::vector<T> list) {
  auto [it, isNew] = ids.try_emplace(std::move(key), lists.size());
  if (isNew)
    lists.push_back(std::move(list));
  return it->second;
}

ShardingProblem::DomainId ShardingProblem::internDomain(std::vector<LayoutId> layouts) {
  Key key(layouts.begin(), layouts.end());
  return intern(domains, domainIds, std::move(key), std::move(layouts));
}

unsigned ShardingProblem::getTable(Key key, llvm::function_ref<PriceTable()> make) {
  auto [it, isNew] = tableIds.try_emplace(std::move(key), priceTables.size());
  if (isNew)
    priceTables.push_back(make());
  return it->second;
}

/// What kind of table a key is of, and the rule or type that it depends on.
enum TableKind : int64_t { kBytes, kPicks, kProduced, kNeeded, kHandedOn, kEntry, kSets, kEqual };

static int64_t toKey(const void *pointer) { return int64_t(reinterpret_cast<uintptr_t>(pointer)); }
static int64_t toKey(Type type) { return toKey(type.getAsOpaquePointer()); }

double ShardingProblem::getSeconds(LayoutId from, LayoutId to, RankedTensorType type) {
  double seconds = table.getSeconds(from, to, type);
  return seconds < LayoutTable::kUnmovableSeconds ? seconds : kImpossible;
}

//===----------------------------------------------------------------------===//
// How ops may compute
//===----------------------------------------------------------------------===//

ExtraCuts ShardingProblem::getExtraCuts(const Propagation::Node &node) const {
  const ShardingRule &rule = *node.rule;
  ExtraCuts extra(rule.numFactors());
  const Mesh &mesh = table.getMesh();
  auto isWholeAxes = [&](ArrayRef<DimEntry> entries, int64_t size) {
    return divides(entries, size) && llvm::all_of(entries, [&](const DimEntry &entry) {
             return !entry.isGap() && entry.size == mesh.axes[entry.axis].size;
           });
  };
  for (auto [t, place] : llvm::enumerate(propagation.getTensors(node))) {
    if (place < 0)
      continue;
    const Propagation::Place &known = propagation.getPlace(place);
    for (ShardingId id : {known.given, known.sharding}) {
      const Sharding &sharding = propagation.getShardings().get(id);
      if (llvm::all_of(sharding.dims, [](const DimSharding &dim) { return dim.entries.empty(); }))
        continue;
      for (unsigned f = 0; f < rule.numFactors(); ++f) {
        if (rule.factor(f).kind == FactorKind::Whole)
          continue;
        std::optional<DimEntries> entries = projectFactor(rule, t, f, sharding);
        if (entries && !entries->empty() && !isWholeAxes(*entries, rule.factor(f).size) &&
            canCut(rule.factor(f), *entries, mesh) && !llvm::is_contained(extra[f], *entries))
          extra[f].push_back(std::move(*entries));
      }
    }
  }
  for (auto &lists : extra)
    llvm::sort(lists);
  return extra;
}

void ShardingProblem::addStrategies() {
  nodes.resize(propagation.getNumNodes());
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    if (node.handsOn || llvm::all_of(tensors, [](int32_t place) { return place < 0; }))
      continue;
    if (options.getPinned && node.isOwnRule) {
      if (std::optional<FactorAxes> pinned = options.getPinned(node.op)) {
        nodes[id].space = spaces.size();
        spaces.push_back({std::move(*pinned)});
        nodes[id].var = 0; // made below
        continue;
      }
    }
    ExtraCuts extra = getExtraCuts(node);
    Key key{toKey(node.rule)};
    for (const auto &lists : extra) {
      key.push_back(lists.size());
      for (const DimEntries &entries : lists) {
        key.push_back(entries.size());
        for (const DimEntry &entry : entries)
          key.insert(key.end(), {entry.axis, entry.pre, entry.size});
      }
    }
    auto [it, isNew] = spaceIds.try_emplace(std::move(key), spaces.size());
    if (isNew)
      spaces.push_back(space.getStrategies(*node.rule, extra, options.recompute));
    nodes[id] = {0, it->second};
  }
}

//===----------------------------------------------------------------------===//
// Where values may be kept
//===----------------------------------------------------------------------===//

bool ShardingProblem::allows(const Sharding &given, LayoutId id, RankedTensorType type) const {
  const Sharding &sharding = table.get(id);
  for (auto [own, wanted] : llvm::zip(given.dims, sharding.dims)) {
    DimEntries entries = canonicalize(own.entries);
    if (own.open ? !isPrefix(entries, wanted.entries) : entries != wanted.entries)
      return false;
    if (overlaps(wanted.entries, given.replicated, table.getMesh()))
      return false;
  }
  return sharding.unreduced.empty() && !hasNoElements(type);
}

/// True where nothing at all is said of a value.
static bool isOpen(const Sharding &given) {
  return given.replicated.empty() && llvm::all_of(given.dims, [](const DimSharding &dim) {
           return dim.open && dim.entries.empty();
         });
}

void ShardingProblem::addPlaces() {
  places.resize(propagation.getNumPlaces());
  // Per place: its definitions, and the last op with one.
  std::vector<std::pair<unsigned, NodeId>> definitions(places.size());
  std::vector<bool> isRead(places.size(), false);
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    for (int32_t place : propagation.getTensors(node).drop_front(node.rule->numOperands()))
      if (place >= 0) {
        ++definitions[place].first;
        definitions[place].second = id;
      }
  }
  auto complete = [&](const ShardingRule &rule, unsigned t, const FactorAxes &axes) {
    return table.getComplete(table.intern(getTensorSharding(rule, t, axes)));
  };
  for (PlaceId id = 0; id < places.size(); ++id) {
    const Propagation::Place &place = propagation.getPlace(id);
    const Sharding &given = propagation.getShardings().get(place.given);
    auto [count, definer] = definitions[id];
    const Propagation::Node *node = count > 0 ? &propagation.getNode(definer) : nullptr;
    bool isComputed = node && !node->handsOn;
    ArrayRef<int32_t> tensors = isComputed ? propagation.getTensors(*node) : ArrayRef<int32_t>();
    unsigned t = llvm::find(tensors, int32_t(id)) - tensors.begin();
    // An op that alone defines an open value, completely, hands it out as it computes it:
    // one variable stands for both.
    if (count == 1 && isComputed && isOpen(given) && t >= node->rule->numOperands() &&
        llvm::count_if(tensors.drop_front(node->rule->numOperands()),
                       [](int32_t place) { return place >= 0; }) == 1) {
      const ShardingRule &rule = *node->rule;
      std::vector<LayoutId> produced;
      for (const FactorAxes &axes : spaces[nodes[definer].space])
        produced.push_back(table.intern(getTensorSharding(rule, t, axes)));
      if (llvm::none_of(produced, [&](LayoutId own) { return table.isPartial(own); })) {
        places[id].domain = internDomain(std::move(produced));
        places[id].var = nodes[definer].var = addVariable(domains[places[id].domain].size());
        isRead[id] = true; // used as a mark: merged
        continue;
      }
    }
    std::vector<LayoutId> layouts = space.getLayouts(place.type, given);
    llvm::SmallDenseSet<LayoutId> known(layouts.begin(), layouts.end());
    auto offer = [&](LayoutId own) {
      if (allows(given, own, place.type) && known.insert(own).second)
        layouts.push_back(own);
    };
    offer(table.intern(propagation.get(id)));
    if (isComputed && t < tensors.size())
      for (const FactorAxes &axes : spaces[nodes[definer].space])
        offer(complete(*node->rule, t, axes));
    places[id].domain = internDomain(std::move(layouts));
    places[id].var = addVariable(domains[places[id].domain].size());
  }
  // The rest of the ops.
  std::vector<bool> hasVar(nodes.size(), false);
  for (PlaceId id = 0; id < places.size(); ++id)
    if (isRead[id])
      hasVar[definitions[id].second] = true;
  for (NodeId id = 0; id < nodes.size(); ++id)
    if (nodes[id].var != CostGraph::kNoVar && !hasVar[id])
      nodes[id].var = addVariable(spaces[nodes[id].space].size());
  // What a device holds breaks ties.
  for (PlaceId id = 0; id < places.size(); ++id) {
    RankedTensorType type = propagation.getPlace(id).type;
    addCost(places[id].var, getTable({kBytes, toKey(type), places[id].domain}, [&] {
              PriceTable prices;
              for (LayoutId own : domains[places[id].domain]) {
                prices.seconds.push_back(0);
                prices.bytes.push_back(space.getLocalBytes(own, type));
              }
              return prices;
            }));
  }
}

//===----------------------------------------------------------------------===//
// What readers need
//===----------------------------------------------------------------------===//

/// True for a pin that nobody reads, but for such pins: it is dropped.
static bool isDeadPin(Operation *op) {
  return isa<WithShardingConstraintOp, ReshardOp, PropagationBarrierOp>(op) &&
         llvm::all_of(op->getUsers(), isDeadPin);
}

RankedTensorType ShardingProblem::getType(NodeId id, unsigned t) const {
  return propagation.getPlace(propagation.getTensors(propagation.getNode(id))[t]).type;
}

unsigned ShardingProblem::getNumNeeds(NodeId id) const {
  const Propagation::Node &node = propagation.getNode(id);
  return node.handsOn ? domains[places[propagation.getTensors(node)[1]].domain].size()
                      : spaces[nodes[id].space].size();
}

LayoutId ShardingProblem::getNeeded(NodeId id, unsigned t, unsigned strategy, LayoutId has) {
  const Propagation::Node &node = propagation.getNode(id);
  if (node.handsOn) {
    // Out of a manual computation comes what is left inside of the layout outside.
    PlaceId to = propagation.getTensors(node)[1];
    LayoutId wanted = domains[places[to].domain][strategy];
    ArrayRef<int64_t> outside = propagation.getPlace(to).type.getShape(), inside = getType(id, 0).getShape();
    return outside == inside ? wanted
                             : table.intern(getFreeSharding(table.get(wanted), outside, inside));
  }
  const FactorAxes &axes = spaces[nodes[id].space][strategy];
  if (node.rule->hasWindows())
    return table.intern(getNeededSharding(*node.rule, t, axes, table.get(has)));
  return table.intern(getTensorSharding(*node.rule, t, axes));
}

ShardingProblem::Kept ShardingProblem::getSource(NodeId id, unsigned t) const {
  const Propagation::Node &node = propagation.getNode(id);
  auto it = copies.find(propagation.getTensorValues(node)[t]);
  return it != copies.end() ? it->second : places[propagation.getTensors(node)[t]];
}

/// What the needs of a use depend on.
ShardingProblem::Key ShardingProblem::getUseKey(NodeId id, unsigned t) const {
  const Propagation::Node &node = propagation.getNode(id);
  if (!node.handsOn)
    return {kNeeded, toKey(node.rule), t, nodes[id].space};
  PlaceId to = propagation.getTensors(node)[1];
  return {kHandedOn, toKey(getType(id, 0)), toKey(propagation.getPlace(to).type), places[to].domain};
}

ShardingProblem::Kept ShardingProblem::getCopies(PlaceId place, ArrayRef<Use> readers) {
  RankedTensorType type = propagation.getPlace(place).type;
  Key key{toKey(type), places[place].domain};
  for (const Use &use : readers) {
    Key own = getUseKey(use.node, use.tensor);
    key.insert(key.end(), own.begin(), own.end());
  }
  auto [it, isNew] = copiesOf.try_emplace(std::move(key));
  if (!isNew)
    return it->second;
  // A layout is worth a copy where it costs something and two readers may want it.
  std::map<LayoutId, SmallVector<LayoutId>> wantedFrom;
  bool any = false;
  for (LayoutId home : domains[places[place].domain]) {
    auto [own, isFirst] = wantedFrom.try_emplace(home);
    if (!isFirst)
      continue;
    std::map<LayoutId, unsigned> askers;
    for (const Use &use : readers) {
      std::set<LayoutId> asked;
      for (unsigned s = 0, e = getNumNeeds(use.node); s < e; ++s)
        asked.insert(getNeeded(use.node, use.tensor, s, home));
      for (LayoutId id : asked)
        ++askers[id];
    }
    for (auto [id, count] : askers) {
      double seconds = count < 2 ? 0 : getSeconds(home, id, type);
      if (seconds > 0 && seconds < kImpossible)
        own->second.push_back(id);
    }
    any |= !own->second.empty();
  }
  if (!any)
    return {};
  // Of k readers, k / 2 layouts at most have two.
  unsigned most = std::min<unsigned>(kMaxSet, readers.size() / 2);
  limitedSets |= readers.size() / 2 > kMaxSet;
  auto countChoices = [&](unsigned size) {
    size_t total = 0;
    for (auto &[home, wanted] : wantedFrom) {
      size_t product = 1;
      total += 1;
      for (unsigned i = 0; i < size && i < wanted.size(); ++i)
        total += product = product * (wanted.size() - i) / (i + 1);
    }
    return total;
  };
  for (; most > 1 && countChoices(most) > kMaxChoices; --most)
    limitedSets = true;
  std::vector<LayoutId> homes;
  std::vector<SmallVector<LayoutId, 2>> also;
  for (auto &[home, wanted] : wantedFrom) {
    SmallVector<LayoutId, 2> set;
    auto extend = [&, home = home, &wanted = wanted](auto &self, size_t from) -> void {
      homes.push_back(home);
      also.push_back(set);
      if (set.size() == most)
        return;
      for (size_t i = from; i < wanted.size(); ++i) {
        set.push_back(wanted[i]);
        self(self, i + 1);
        set.pop_back();
      }
    };
    extend(extend, 0);
  }
  it->second.sets = sets.size();
  it->second.domain = internDomain(std::move(homes));
  sets.push_back(std::move(also));
  return it->second;
}

void ShardingProblem::addCopies() {
  llvm::MapVector<Value, SmallVector<Use, 4>> uses;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    ArrayRef<Value> values = propagation.getTensorValues(node);
    for (unsigned t = 0; t < node.rule->numOperands(); ++t)
      if (tensors[t] >= 0 && values[t] && !isDeadPin(node.op) && node.rule->tensor(t).role != OperandRole::ShapeOnly)
        uses[values[t]].push_back({id, t});
  }
  for (auto &[value, readers] : uses) {
    if (readers.size() < 2)
      continue;
    PlaceId place = propagation.getId(value);
    Kept kept = getCopies(place, readers);
    if (kept.sets == 0)
      continue;
    kept.var = addVariable(domains[kept.domain].size());
    copies[value] = kept;
    RankedTensorType type = propagation.getPlace(place).type;
    int64_t count = propagation.getCount(propagation.getNode(readers[0].node), readers[0].tensor);
    addCost(kept.var, getTable({kSets, toKey(type), kept.sets, count}, [&] {
              PriceTable prices;
              for (auto [home, set] : llvm::zip(domains[kept.domain], sets[kept.sets])) {
                double seconds = 0;
                int64_t bytes = 0;
                for (LayoutId other : set) {
                  seconds += count * getSeconds(home, other, type);
                  bytes += space.getLocalBytes(other, type);
                }
                prices.seconds.push_back(seconds);
                prices.bytes.push_back(bytes);
              }
              return prices;
            }));
    addCost(places[place].var, kept.var, getTable({kEqual, places[place].domain, kept.domain}, [&] {
              PriceTable prices;
              for (LayoutId a : domains[places[place].domain])
                for (LayoutId b : domains[kept.domain])
                  prices.seconds.push_back(a == b ? 0 : kImpossible);
              return prices;
            }));
  }
}

//===----------------------------------------------------------------------===//
// Where values and ops meet
//===----------------------------------------------------------------------===//

void ShardingProblem::addEdges() {
  for (NodeId id = 0; id < nodes.size(); ++id)
    addEdges(id);
}

/// What is in a manual computation is what remains of the value outside.
void ShardingProblem::addEntry(NodeId id) {
  ArrayRef<int32_t> tensors = propagation.getTensors(propagation.getNode(id));
  const Kept &from = places[tensors[0]], &to = places[tensors[1]];
  RankedTensorType outside = getType(id, 0), inside = getType(id, 1);
  addCost(from.var, to.var,
          getTable({kEntry, toKey(outside), toKey(inside), from.domain, to.domain}, [&] {
            PriceTable prices;
            for (LayoutId a : domains[from.domain]) {
              LayoutId left = table.intern(
                  getFreeSharding(table.get(a), outside.getShape(), inside.getShape()));
              for (LayoutId b : domains[to.domain])
                prices.seconds.push_back(left == b ? 0 : kImpossible);
            }
            return prices;
          }));
}

/// True if a value produced as `own` is handed out as `home` when its sums are
/// completed, each axis of them in whole or by place: nothing else moves.
static bool isCompletion(const Sharding &own, const Sharding &home, const Mesh &mesh) {
  for (auto [a, b] : llvm::zip(own.dims, home.dims)) {
    DimEntries rest;
    for (const DimEntry &entry : b.entries)
      if (entry.isGap() || !overlaps(entry, own.unreduced, mesh))
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
  if (!node.handsOn && nodes[id].var == CostGraph::kNoVar)
    return;
  if (isDeadPin(node.op))
    return;
  if (node.handsOn && !propagation.getTensorValues(node)[0])
    return addEntry(id);
  Var own = node.handsOn ? places[tensors[1]].var : nodes[id].var;
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    if (tensors[t] < 0 || rule.tensor(t).role == OperandRole::ShapeOnly)
      continue;
    Kept source = getSource(id, t);
    RankedTensorType type = getType(id, t);
    int64_t count = propagation.getCount(node, t);
    auto price = [&](unsigned choice, unsigned strategy) {
      LayoutId has = domains[source.domain][choice];
      LayoutId needed = getNeeded(id, t, strategy, has);
      double seconds = 0;
      // A slice is written in the layout that the shared output has.
      if (t == 1 && isa<tensor::ParallelInsertSliceOp>(node.op))
        return has == needed ? 0 : kImpossible;
      if (!source.sets || !llvm::is_contained(sets[source.sets][choice], needed))
        seconds = getSeconds(has, needed, type);
      if (!node.handsOn && rule.hasWindows()) {
        auto windows = getWindows(rule, t, spaces[nodes[id].space][strategy], table.getMesh());
        if (!windows.empty())
          seconds += table.getSeconds(needed, windows, type);
      }
      return count * seconds;
    };
    Key key = getUseKey(id, t);
    key.insert(key.end(), {source.domain, source.sets, count, own == source.var,
                           isa<tensor::ParallelInsertSliceOp>(node.op)});
    if (own == source.var) // a loop that yields what it is given
      addCost(own, getTable(std::move(key), [&] {
                PriceTable prices;
                for (unsigned c = 0; c < domains[source.domain].size(); ++c)
                  prices.seconds.push_back(price(c, c));
                return prices;
              }));
    else
      addCost(source.var, own, getTable(std::move(key), [&] {
                PriceTable prices;
                for (unsigned c = 0; c < domains[source.domain].size(); ++c)
                  for (unsigned s = 0, e = getNumNeeds(id); s < e; ++s)
                    prices.seconds.push_back(price(c, s));
                return prices;
              }));
  }
  if (node.handsOn)
    return;
  const std::vector<FactorAxes> &strategies = spaces[nodes[id].space];
  if (llvm::any_of(rule.getFactors(), [](const Factor &f) { return f.kind == FactorKind::Selection; })) {
    int64_t count = propagation.getCount(node, rule.numOperands());
    addCost(own, getTable({kPicks, toKey(node.rule), nodes[id].space, count}, [&] {
              PriceTable prices;
              for (const FactorAxes &axes : strategies)
                prices.seconds.push_back(count * getPickSeconds(rule, axes, table));
              return prices;
            }));
  }
  for (unsigned i = 0; i < rule.numResults(); ++i) {
    unsigned t = rule.numOperands() + i;
    if (tensors[t] < 0 || places[tensors[t]].var == own)
      continue;
    const Kept &kept = places[tensors[t]];
    int64_t count = propagation.getCount(node, t);
    addCost(own, kept.var,
            getTable({kProduced, toKey(node.rule), i, nodes[id].space, kept.domain, count}, [&] {
              PriceTable prices;
              for (const FactorAxes &axes : strategies) {
                LayoutId produced = table.intern(getTensorSharding(rule, t, axes));
                for (LayoutId home : domains[kept.domain]) {
                  // A move on the way there would be paid for all readers at once.
                  bool allowed = !options.regatherAlways ||
                                 isCompletion(table.get(produced), table.get(home), table.getMesh());
                  prices.seconds.push_back(
                      allowed ? count * getSeconds(produced, home, getType(id, t))
                              : kImpossible);
                }
              }
              return prices;
            }));
  }
}

//===----------------------------------------------------------------------===//
// Prices as integers
//===----------------------------------------------------------------------===//

void ShardingProblem::finish() {
  double most = 0;
  std::vector<double> largest(priceTables.size());
  for (auto [table, own] : llvm::zip(priceTables, largest))
    for (double seconds : table.seconds)
      if (seconds < kImpossible)
        own = std::max(own, seconds);
  for (const Cost &cost : costs)
    most += largest[cost.table];
  // A power of two, so that prices in multiples of it are exact.
  quantum = most > 0 ? std::ldexp(1.0, std::ilogb(most) - 52) : 1;
  std::vector<CostGraph::TableId> ids;
  for (const PriceTable &prices : priceTables) {
    std::vector<Price> converted;
    for (auto [i, seconds] : llvm::enumerate(prices.seconds))
      converted.push_back(seconds < kImpossible
                              ? Price{int64_t(std::llround(seconds / quantum)),
                                      prices.bytes.empty() ? 0 : prices.bytes[i]}
                              : Price::impossible());
    ids.push_back(graph.addTable(std::move(converted)));
  }
  for (const Cost &cost : costs)
    if (cost.b == CostGraph::kNoVar)
      graph.addCost(cost.a, ids[cost.table]);
    else
      graph.addCost(cost.a, cost.b, ids[cost.table]);
}

double ShardingProblem::getSeconds(ArrayRef<unsigned> choices) const {
  std::map<double, int64_t> paid;
  for (const Cost &cost : costs) {
    size_t index = choices[cost.a];
    if (cost.b != CostGraph::kNoVar)
      index = index * graph.getNumChoices(cost.b) + choices[cost.b];
    if (double seconds = priceTables[cost.table].seconds[index]) {
      ++paid[seconds];
      if (getenv("DBG")) {
        llvm::errs() << "PAID " << seconds << " vars " << cost.a << " " << int(cost.b) << "\n";
        for (auto [i, p] : llvm::enumerate(places))
          if (p.var == cost.a || p.var == cost.b) {
            llvm::errs() << "  place " << i << " " << propagation.getPlace(i).type << "\n";
          }
        for (auto &[v, k] : copies)
          if (k.var == cost.a || k.var == cost.b) llvm::errs() << "  copies of " << v << "\n";
        for (auto [i, n] : llvm::enumerate(nodes))
          if (n.var == cost.a || n.var == cost.b) {
            llvm::errs() << "  node " << i << " "; propagation.getNode(i).op->print(llvm::errs(), OpPrintingFlags().skipRegions()); llvm::errs() << "\n";
          }
      }
    }
  }
  double sum = 0;
  for (auto [seconds, times] : paid)
    sum += seconds * times;
  return sum;
}
