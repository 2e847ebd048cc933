//===- ShardingProblem.cpp - A function as a cost graph -------------------===//

#include "ProblemTables.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;

ShardingProblem::ShardingProblem(Propagation &propagation, const ProblemOptions &options)
    : propagation(propagation), table(propagation.getTable()), options(options), space(table, options.allSubAxes) {
  if (options.live && hasManyAxes())
    unoffered = Unoffered::PerReader;
  else
    countsMemory = options.live;
  sets.emplace_back(); // 0: none
  covers.emplace_back();
  addStrategies();
  addPlaces();
  if (options.regather != Regather::Always)
    addShared();
  build();
}

void ShardingProblem::build() {
  graph = CostGraph();
  costs.clear();
  copies.clear();
  addVariables();
  addEdges();
  addSharings();
  addDemands();
  finish();
  if (countsMemory)
    addBuffers();
}

void ShardingProblem::addVariables() {
  // In program order: what is near in the program is near in a pass of the solver.
  llvm::BitVector done(places.size());
  auto addPlace = [&](PlaceId id) {
    if (done.test(id))
      return;
    done.set(id);
    Kept &kept = places[id];
    kept.var = graph.addVariable(domains[kept.domain].size());
    RankedTensorType type = propagation.getPlace(id).type;
    // What a device holds breaks ties.
    addCost(kept.var, getTable({kBytes, toKey(type), kept.domain}, [&] {
              PriceTable prices;
              for (LayoutId own : domains[kept.domain]) {
                prices.seconds.push_back(0);
                prices.bytes.push_back(space.getLocalBytes(own, type));
              }
              return prices;
            }));
  };
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    for (int32_t place : tensors.take_front(node.rule->numOperands()))
      if (place >= 0)
        addPlace(place);
    NodeVar &own = nodes[id];
    if (own.computes && own.definesAlone < 0)
      own.var = graph.addVariable(spaces[own.space].size());
    for (int32_t place : tensors.drop_front(node.rule->numOperands()))
      if (place >= 0)
        addPlace(place);
    if (own.computes && own.definesAlone >= 0)
      own.var = places[own.definesAlone].var;
  }
  for (PlaceId id = 0; id < places.size(); ++id)
    addPlace(id);
  numDecisions = graph.getNumVariables();
  // Last, so that the numbers of the others are those of any graph of this problem.
  for (auto &[value, own] : shared)
    if (const Offer &offer = offers[own.offer]; isSharing(value))
      continue;
    else if (!offer.layouts.empty() || (unoffered == Unoffered::OncePerValue && !offer.isComplete()))
      addCopies(value);
}

template <typename T>
unsigned ShardingProblem::intern(std::vector<std::vector<T>> &lists, std::map<Key, unsigned> &ids, Key key,
                                 std::vector<T> list) {
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

double ShardingProblem::getSeconds(LayoutId from, LayoutId to, RankedTensorType type) {
  return table.getSeconds(from, to, type);
}

double ShardingProblem::getProducedSeconds(LayoutId produced, LayoutId home, RankedTensorType type) {
  // With one axis or two the planner is fast enough to say.
  if (!table.isPartial(produced) || table.getCosts().forbids() || !hasManyAxes())
    return getSeconds(produced, home, type);
  auto [it, isNew] = producedSeconds.try_emplace({produced, home, type});
  if (!isNew)
    return it->second;
  // What is not cut yet and costs nothing to cut.
  const Mesh &mesh = table.getMesh();
  Sharding sliced = table.get(produced);
  const Sharding to = table.get(home);
  DimEntries sums = sliced.unreduced;
  DimEntries used = sums;
  for (const DimSharding &dim : sliced.dims)
    used.append(dim.entries);
  for (auto [own, wanted] : llvm::zip(sliced.dims, to.dims))
    while (own.entries.size() < wanted.entries.size() && isPrefix(own.entries, wanted.entries) &&
           !overlaps(wanted.entries[own.entries.size()], used, mesh))
      own.entries.push_back(wanted.entries[own.entries.size()]);
  LayoutId from = table.intern(sliced);
  double best = kImpossible;
  auto complete = [&](Sharding sum) {
    sum.unreduced.clear();
    LayoutId middle = table.intern(std::move(sum));
    double seconds = getSeconds(from, middle, type);
    if (seconds < best)
      best = std::min(best, seconds + getSeconds(middle, home, type));
  };
  // Each axis is summed up everywhere, or scattered onto one of the dims.
  auto place = [&](auto &self, const Sharding &sum, size_t next) -> void {
    if (next == sums.size())
      return complete(sum);
    self(self, sum, next + 1);
    for (size_t d = 0; d < sum.dims.size(); ++d) {
      Sharding placed = sum;
      placed.dims[d].entries.push_back(sums[next]);
      if (divides(placed.dims[d].entries, type.getDimSize(d)))
        self(self, placed, next + 1);
    }
  };
  place(place, sliced, 0);
  // Or where they are wanted, in the order in which they stand there.
  for (auto [own, wanted] : llvm::zip(sliced.dims, to.dims))
    while (own.entries.size() < wanted.entries.size() && isPrefix(own.entries, wanted.entries) &&
           llvm::is_contained(sums, wanted.entries[own.entries.size()]))
      own.entries.push_back(wanted.entries[own.entries.size()]);
  complete(sliced);
  return producedSeconds[{produced, home, type}] = best;
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
             return !entry.isStride() && entry.size == mesh.axes[entry.axis].size;
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
        if (rule.factor(f).kind == FactorKind::Replicated)
          continue;
        std::optional<DimEntries> entries = projectFactor(rule, t, f, sharding);
        if (entries && !entries->empty() && !isWholeAxes(*entries, rule.factor(f).size) &&
            !overlaps(*entries, propagation.getManualAxes(node), mesh) && canShard(rule.factor(f), *entries, mesh) &&
            !llvm::is_contained(extra[f], *entries))
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
        nodes[id].computes = true;
        spaces.push_back({std::move(*pinned)});
        continue;
      }
    }
    ExtraCuts extra = getExtraCuts(node);
    ArrayRef<DimEntry> manual = propagation.getManualAxes(node);
    Key key{toKey(node.rule), node.manual};
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
      spaces.push_back(space.getStrategies(*node.rule, extra, manual, options.recompute));
    nodes[id].space = it->second;
    nodes[id].computes = true;
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
  return given.replicated.empty() &&
         llvm::all_of(given.dims, [](const DimSharding &dim) { return dim.open && dim.entries.empty(); });
}

const Sharding &ShardingProblem::getGiven(PlaceId id) {
  const Propagation::Place &place = propagation.getPlace(id);
  if (options.released.empty() || !options.released.test(id))
    return propagation.getShardings().get(place.given);
  Sharding &open = openGiven[place.type.getRank()];
  open.dims.assign(place.type.getRank(), DimSharding{{}, /*open=*/true});
  return open;
}

void ShardingProblem::addPlaces() {
  places.resize(propagation.getNumPlaces());
  // Per place: its definitions, and the last op with one.
  std::vector<std::pair<unsigned, NodeId>> definitions(places.size());
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
    const Sharding &given = getGiven(id);
    auto [count, definer] = definitions[id];
    const Propagation::Node *node = count > 0 ? &propagation.getNode(definer) : nullptr;
    bool isComputed = node && !node->handsOn;
    ArrayRef<int32_t> tensors = isComputed ? propagation.getTensors(*node) : ArrayRef<int32_t>();
    unsigned t = llvm::find(tensors, int32_t(id)) - tensors.begin();
    // An op that alone defines an open value, completely, hands it out as it computes it:
    // one variable stands for both.
    if (count == 1 && isComputed && isOpen(given) && t >= node->rule->numOperands() &&
        llvm::count_if(tensors.drop_front(node->rule->numOperands()), [](int32_t place) { return place >= 0; }) == 1) {
      const ShardingRule &rule = *node->rule;
      std::vector<LayoutId> produced;
      for (const FactorAxes &axes : spaces[nodes[definer].space])
        produced.push_back(table.intern(getTensorSharding(rule, t, axes)));
      if (llvm::none_of(produced, [&](LayoutId own) { return table.isPartial(own); })) {
        places[id].domain = internDomain(std::move(produced));
        nodes[definer].definesAlone = id;
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
  }
}

//===----------------------------------------------------------------------===//
// What readers need
//===----------------------------------------------------------------------===//

unsigned ShardingProblem::getStrategyNumber(NodeId id, ArrayRef<unsigned> choices) const {
  const Propagation::Node &node = propagation.getNode(id);
  return choices[node.handsOn ? places[propagation.getTensors(node)[1]].var : nodes[id].var];
}

RankedTensorType ShardingProblem::getType(NodeId id, unsigned t) const {
  return propagation.getPlace(propagation.getTensors(propagation.getNode(id))[t]).type;
}

unsigned ShardingProblem::getNumNeeds(NodeId id) const {
  const Propagation::Node &node = propagation.getNode(id);
  return node.handsOn ? domains[places[propagation.getTensors(node)[1]].domain].size() : spaces[nodes[id].space].size();
}

LayoutId ShardingProblem::getNeeded(NodeId id, unsigned t, unsigned strategy, LayoutId has) {
  const Propagation::Node &node = propagation.getNode(id);
  if (node.handsOn) {
    // Out of a manual computation comes what is left inside of the layout outside.
    PlaceId to = propagation.getTensors(node)[1];
    LayoutId wanted = domains[places[to].domain][strategy];
    ArrayRef<int64_t> outside = propagation.getPlace(to).type.getShape(), inside = getType(id, 0).getShape();
    return outside == inside ? wanted : table.intern(getFreeSharding(table.get(wanted), outside, inside));
  }
  const std::vector<FactorAxes> &strategies = spaces[nodes[id].space];
  if (node.rule->hasWindows())
    return table.intern(getNeededSharding(*node.rule, t, strategies[strategy], table.get(has)));
  std::vector<LayoutId> &all = needs[{node.rule, t, nodes[id].space}];
  if (all.empty())
    for (const FactorAxes &axes : strategies)
      all.push_back(table.intern(getTensorSharding(*node.rule, t, axes)));
  return all[strategy];
}

ShardingProblem::Kept ShardingProblem::getSource(NodeId id, unsigned t) const {
  const Propagation::Node &node = propagation.getNode(id);
  auto it = copies.find(propagation.getTensorValues(node)[t]);
  return it != copies.end() && !isGivenAnew({id, t}) ? it->second : places[propagation.getTensors(node)[t]];
}

/// What the needs of a use depend on.
ShardingProblem::Key ShardingProblem::getUseKey(NodeId id, unsigned t) const {
  const Propagation::Node &node = propagation.getNode(id);
  if (!node.handsOn)
    return {kNeeded, toKey(node.rule), t, nodes[id].space};
  PlaceId to = propagation.getTensors(node)[1];
  return {kHandedOn, toKey(getType(id, 0)), toKey(propagation.getPlace(to).type), places[to].domain};
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

/// True if a value produced as `own` is handed out as `home` when its sums are
/// completed, each axis of them in whole or by place: nothing else moves.
static bool isCompletion(const Sharding &own, const Sharding &home, const Mesh &mesh) {
  for (auto [a, b] : llvm::zip(own.dims, home.dims)) {
    DimEntries rest;
    for (const DimEntry &entry : b.entries)
      if (entry.isStride() || !overlaps(entry, own.unreduced, mesh))
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
  if (!node.handsOn && !nodes[id].computes)
    return;
  if (isDeadPin(node.op))
    return;
  if (node.handsOn && !propagation.getTensorValues(node)[0])
    return addEntry(id);
  Var own = node.handsOn ? places[tensors[1]].var : nodes[id].var;
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    if (tensors[t] < 0 || rule.tensor(t).role == OperandRole::ShapeOnly ||
        isMadeAnew(propagation.getTensorValues(node)[t]))
      continue;
    Kept source = getSource(id, t);
    RankedTensorType type = getType(id, t);
    int64_t count = propagation.getCount(node, t);
    auto reader = shared.find(propagation.getTensorValues(node)[t]);
    bool isAlone = isGivenAnew({id, t}), shares = reader != shared.end() && !isAlone;
    unsigned offer = shares ? reader->second.offer : 0;
    auto price = [&](unsigned choice, unsigned strategy) {
      LayoutId has = domains[source.domain][choice];
      LayoutId needed = getNeeded(id, t, strategy, has);
      double seconds = 0;
      // A slice is written in the layout that the shared output has.
      if (t == 1 && isa<tensor::ParallelInsertSliceOp>(node.op))
        return has == needed ? 0 : kImpossible;
      if (!source.sets || !llvm::is_contained(sets[source.sets][choice], needed))
        seconds = getSeconds(has, needed, type);
      if (source.sets && unoffered == Unoffered::OncePerValue && seconds <= covers[source.sets][choice] &&
          !offers[offer].hasPrice(needed))
        seconds = 0;
      return count * seconds;
    };
    Key key = getUseKey(id, t);
    key.insert(key.end(), {source.domain, source.sets, count, own == source.var,
                           isa<tensor::ParallelInsertSliceOp>(node.op), shares ? offer : -1, int64_t(unoffered)});
    if (shares)
      key.insert(key.end(), offers[offer].layouts.begin(), offers[offer].layouts.end());
    auto addMove = [&](Key key, const Kept &from, bool isShared, PaidMove::Kind kind,
                       llvm::function_ref<double(unsigned, unsigned)> price) {
      bool isLoop = own == from.var; // it yields what it is given
      unsigned prices = getTable(std::move(key), [&] {
        PriceTable prices;
        for (unsigned c = 0; c < domains[from.domain].size(); ++c)
          for (unsigned s = isLoop ? c : 0, e = isLoop ? c + 1 : getNumNeeds(id); s < e; ++s)
            prices.seconds.push_back(price(c, s));
        return prices;
      });
      costs.push_back({from.var, isLoop ? CostGraph::kNoVar : own, prices, isShared, true, id, t, kind});
    };
    if (isAlone || !isSharing(propagation.getTensorValues(node)[t]) ||
        (t == 1 && isa<tensor::ParallelInsertSliceOp>(node.op)))
      addMove(std::move(key), source, shares, PaidMove::Read, price);
    if (node.handsOn || !rule.hasWindows())
      continue;
    const Kept &home = places[tensors[t]];
    addMove({kHalos, toKey(node.rule), t, nodes[id].space, home.domain, count}, home, /*isShared=*/false,
            PaidMove::Windows, [&](unsigned choice, unsigned strategy) {
              LayoutId needed = getNeeded(id, t, strategy, domains[home.domain][choice]);
              auto windows = getWindows(rule, t, spaces[nodes[id].space][strategy], table.getMesh());
              return windows.empty() ? 0 : count * table.getSeconds(needed, windows, type);
            });
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
    setOrigin(id, rule.numOperands(), PaidMove::Picked);
  }
  for (unsigned i = 0; i < rule.numResults(); ++i) {
    unsigned t = rule.numOperands() + i;
    if (tensors[t] < 0 || places[tensors[t]].var == own ||
        llvm::all_of(propagation.getTensorValues(node)[t].getUsers(), isDeadPin))
      continue;
    const Kept &kept = places[tensors[t]];
    int64_t count = propagation.getCount(node, t);
    unsigned prices = getTable({kProduced, toKey(node.rule), i, nodes[id].space, kept.domain, count}, [&] {
      PriceTable prices;
      for (const FactorAxes &axes : strategies) {
        LayoutId produced = table.intern(getTensorSharding(rule, t, axes));
        for (LayoutId home : domains[kept.domain]) {
          // A move on the way there would be paid for all readers at once.
          bool allowed = options.regather != Regather::Always ||
                         isCompletion(table.get(produced), table.get(home), table.getMesh());
          prices.seconds.push_back(allowed ? count * getProducedSeconds(produced, home, getType(id, t)) : kImpossible);
        }
      }
      return prices;
    });
    costs.push_back({own, kept.var, prices});
    setOrigin(id, t, PaidMove::Completed);
  }
}

std::vector<PaidMove> ShardingProblem::getMovesAnew(ArrayRef<unsigned> choices, ArrayRef<Use> anew) {
  std::vector<PaidMove> moves;
  for (const Use &use : anew) {
    const Propagation::Node &node = propagation.getNode(use.node);
    Value value = propagation.getTensorValues(node)[use.tensor];
    // Readers that share nothing pay for themselves anyway, and the first of the others for all of them.
    auto own = shared.find(value);
    if (own == shared.end() || isGivenAnew(use))
      continue;
    PlaceId place = propagation.getId(value);
    LayoutId home = getLayout(place, choices), wanted = *getAsked(use, choices);
    if (*llvm::find_if(own->second.readers, [&](const Use &reader) { return getAsked(reader, choices) == wanted; }) ==
        use)
      continue;
    double seconds = getSeconds(home, wanted, propagation.getPlace(place).type);
    if (seconds != 0)
      moves.push_back({value, node.op, PaidMove::Read, home, wanted, seconds * propagation.getCount(node, use.tensor)});
  }
  return moves;
}

std::vector<PaidMove> ShardingProblem::getMoves(ArrayRef<unsigned> choices, ArrayRef<Use> anew) {
  std::vector<PaidMove> moves;
  auto getHome = [&](NodeId id, unsigned t) {
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
    LayoutId home = getHome(cost.node, cost.tensor), other = home;
    if (cost.kind == PaidMove::Read || cost.kind == PaidMove::Windows)
      other = getNeeded(cost.node, cost.tensor, strategy, home);
    else
      other = table.intern(getTensorSharding(*node.rule, cost.tensor, spaces[nodes[cost.node].space][strategy]));
    bool reads = cost.kind == PaidMove::Read || cost.kind == PaidMove::Windows;
    moves.push_back({propagation.getTensorValues(node)[cost.tensor], node.op, cost.kind, reads ? home : other,
                     reads ? other : home, seconds * times});
  }
  SmallVector<LayoutId> wanted;
  for (auto &[value, own] : shared) {
    wanted.clear();
    getWanted(value, own.readers, choices, wanted);
    LayoutId home = getLayout(propagation.getId(value), choices);
    const Use &use = own.readers[0];
    const Propagation::Node &first = propagation.getNode(use.node);
    for (LayoutId id : wanted)
      if (double seconds = getSeconds(home, id, propagation.getPlace(propagation.getId(value)).type))
        moves.push_back({value, first.op, PaidMove::Read, home, id, seconds * propagation.getCount(first, use.tensor)});
  }
  llvm::append_range(moves, getMovesAnew(choices, anew));
  return moves;
}

void ShardingProblem::require(std::vector<Requirement> wanted) {
  requirements = std::move(wanted);
  build();
}

void ShardingProblem::addDemands() {
  auto add = [&](Var var, PriceTable prices) {
    Key key{kDemanded};
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
    for (LayoutId id : getDomain(requirement.place))
      prices.seconds.push_back(requirement.price(id));
    add(places[requirement.place].var, std::move(prices));
  }
  if (!options.getComputeSeconds)
    return;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    if (!nodes[id].computes || !node.isOwnRule)
      continue;
    double alone = options.getComputeSeconds(node);
    if (alone == 0)
      continue;
    PriceTable prices;
    for (const FactorAxes &axes : spaces[nodes[id].space]) {
      int64_t devices = 1;
      for (const DimEntries &entries : axes)
        devices *= deviceFactor(entries);
      prices.seconds.push_back(alone / devices);
    }
    add(nodes[id].var, std::move(prices));
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
  for (const Cost &cost : costs)
    if (cost.b == CostGraph::kNoVar)
      graph.addCost(cost.a, ids[cost.table]);
    else
      graph.addCost(cost.a, cost.b, ids[cost.table]);
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
  LayoutId produced = table.intern(getTensorSharding(
      *node.rule, cost.tensor, spaces[nodes[cost.node].space][getStrategyNumber(cost.node, choices)]));
  LayoutId home = getLayout(propagation.getTensors(node)[cost.tensor], choices);
  int64_t times = propagation.getCount(node, cost.tensor);
  return {getSeconds(produced, home, getType(cost.node, cost.tensor)), times};
}

double ShardingProblem::getSeconds(ArrayRef<unsigned> choices, ArrayRef<Use> anew, bool onlyMoves) {
  std::map<double, int64_t> paid;
  for (const Cost &cost : costs)
    if (!cost.isShared && (!onlyMoves || cost.isMove))
      if (auto [seconds, times] = getPaid(cost, choices); seconds != 0)
        paid[seconds] += times;
  SmallVector<LayoutId> wanted;
  for (auto &[value, own] : shared) {
    wanted.clear();
    getWanted(value, own.readers, choices, wanted);
    PlaceId place = propagation.getId(value);
    const Use &use = own.readers[0];
    int64_t count = propagation.getCount(propagation.getNode(use.node), use.tensor);
    for (LayoutId id : wanted)
      if (double seconds = getSeconds(getLayout(place, choices), id, propagation.getPlace(place).type))
        paid[seconds] += count;
  }
  for (const PaidMove &move : getMovesAnew(choices, anew))
    if (move.seconds != 0)
      ++paid[move.seconds];
  double sum = 0;
  for (auto [seconds, times] : paid)
    sum += seconds * times;
  return sum;
}
