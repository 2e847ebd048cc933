//===- ProblemSharing.cpp - What readers of a value share -----------------===//

#include "ProblemTables.h"
#include <set>

using namespace mlir;
using namespace mlir::spmd;

/// Most layouts of a value that are paid once each beside the one it is kept in.
static constexpr unsigned kMaxSet = 3;
/// Most choices of one value for which all layouts that readers may share are on offer
/// from the beginning.
static constexpr size_t kMaxListed = 1024;

/// Most readers that are priced together.
static constexpr size_t kMaxReaders = 6;

void ShardingProblem::addShared() {
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    ArrayRef<Value> values = propagation.getTensorValues(node);
    for (unsigned t = 0; t < node.rule->numOperands(); ++t)
      if (tensors[t] >= 0 && values[t] && !isDeadPin(node.op) && !isMadeAnew(values[t]) &&
          node.rule->tensor(t).role != OperandRole::ShapeOnly &&
          !(options.isGatheredPerUse && options.isGatheredPerUse(values[t])) && !isGivenAnew({id, t}))
        shared[values[t]].readers.push_back({id, t});
  }
  shared.remove_if([](auto &entry) { return entry.second.readers.size() < 2; });
  // Equal values with equal readers have equal choices.
  std::map<Key, unsigned> classes;
  for (auto &[value, own] : shared) {
    PlaceId place = propagation.getId(value);
    Key key{toKey(propagation.getPlace(place).type), places[place].domain};
    for (const Use &use : own.readers) {
      Key reader = getUseKey(use.node, use.tensor);
      key.insert(key.end(), reader.begin(), reader.end());
    }
    auto [it, isNew] = classes.try_emplace(std::move(key), classes.size());
    own.offer = it->second;
    if (isNew)
      offers.push_back(getOffer(place, own.readers));
    own.isSharing =
        hasManyAxes() && !offers[own.offer].isComplete() && own.readers.size() <= kMaxReaders &&
        llvm::none_of(own.readers, [&, place = place](const Use &use) {
          const Propagation::Node &node = propagation.getNode(use.node);
          if (node.handsOn)
            return propagation.getTensors(node)[1] == int32_t(place);
          return node.rule->hasWindows() || !nodes[use.node].computes || nodes[use.node].definesAlone == int64_t(place);
        });
  }
}

void ShardingProblem::addSharings() {
  sharings.clear();
  sharingPrices.clear();
  for (auto &[value, own] : shared) {
    if (!isSharing(value))
      continue;
    const Offer &offer = offers[own.offer];
    PlaceId place = propagation.getId(value);
    RankedTensorType type = propagation.getPlace(place).type;
    std::vector<LayoutId> items;
    for (auto [id, count] : offer.askers)
      items.push_back(id);
    CostGraph::Sharing sharing{places[place].var, {}, 0};
    for (const Use &use : own.readers) {
      const Propagation::Node &node = propagation.getNode(use.node);
      if (use.tensor == 1 && isa<tensor::ParallelInsertSliceOp>(node.op))
        continue;
      CostGraph::Reader reader{node.handsOn ? places[propagation.getTensors(node)[1]].var : nodes[use.node].var, {}};
      for (unsigned s = 0, e = getNumNeeds(use.node); s < e; ++s)
        reader.items.push_back(llvm::lower_bound(items, getNeeded(use.node, use.tensor, s, 0)) - items.begin());
      if (llvm::none_of(sharing.readers, [&](const CostGraph::Reader &other) {
            return other.var == reader.var && other.items == reader.items;
          }))
        sharing.readers.push_back(std::move(reader));
    }
    const Use &first = own.readers[0];
    int64_t count = propagation.getCount(propagation.getNode(first.node), first.tensor);
    sharings.push_back(std::move(sharing));
    sharingPrices.push_back(getTable({kShared, toKey(type), own.offer, count}, [&] {
      PriceTable prices;
      for (LayoutId home : domains[places[place].domain])
        for (LayoutId id : items)
          prices.seconds.push_back(count * getSeconds(home, id, type));
      return prices;
    }));
  }
}

ShardingProblem::Offer ShardingProblem::getOffer(PlaceId place, ArrayRef<Use> readers) {
  Offer offer;
  RankedTensorType type = propagation.getPlace(place).type;
  std::set<LayoutId> homes(domains[places[place].domain].begin(), domains[places[place].domain].end());
  std::map<LayoutId, std::pair<unsigned, size_t>> askers; // how many, and the last of them
  bool dependsOnHome = false;
  for (auto [i, use] : llvm::enumerate(readers)) {
    const Propagation::Node &node = propagation.getNode(use.node);
    dependsOnHome = !node.handsOn && node.rule->hasWindows();
    for (LayoutId home : homes) {
      for (unsigned s = 0, e = getNumNeeds(use.node); s < e; ++s) {
        auto &[count, last] = askers.try_emplace(getNeeded(use.node, use.tensor, s, home), 0, ~size_t(0)).first->second;
        count += last != i;
        last = i;
      }
      if (!dependsOnHome)
        break;
    }
  }
  std::vector<LayoutId> wanted;
  for (auto [id, asked] : askers) {
    offer.askers[id] = asked.first;
    if (asked.first > 1)
      wanted.push_back(id);
  }
  // Counting them costs a price for each pair.
  if (homes.size() * wanted.size() > 4 * kMaxListed)
    return offer;
  size_t sets = 0;
  for (LayoutId home : homes) {
    size_t paid = llvm::count_if(wanted, [&](LayoutId id) { return getSeconds(home, id, type) > 0; });
    sets += 1 + paid;
    if (readers.size() > 3)
      sets += paid * (paid - 1) / 2;
    if (readers.size() > 5)
      sets += paid * (paid - 1) / 2 * (paid - 2) / 3;
  }
  if (sets <= kMaxListed)
    offer.layouts = std::move(wanted);
  return offer;
}

ShardingProblem::Kept ShardingProblem::getCopies(PlaceId place, ArrayRef<Use> readers, unsigned offer) {
  Key key(offers[offer].layouts.begin(), offers[offer].layouts.end());
  key.insert(key.end(), {offer, int64_t(unoffered)});
  auto [it, isNew] = copiesOf.try_emplace(std::move(key));
  if (!isNew)
    return it->second;
  RankedTensorType type = propagation.getPlace(place).type;
  // Of k readers, k / 2 layouts at most have two.
  unsigned most = std::min<unsigned>(kMaxSet, readers.size() / 2);
  std::vector<LayoutId> homes;
  std::vector<SmallVector<LayoutId, 2>> also;
  std::vector<double> covered;
  llvm::SmallDenseSet<LayoutId> done;
  for (LayoutId home : domains[places[place].domain]) {
    if (!done.insert(home).second)
      continue;
    SmallVector<LayoutId> wanted;
    for (LayoutId id : offers[offer].layouts)
      if (double seconds = getSeconds(home, id, type); seconds > 0 && seconds < kImpossible)
        wanted.push_back(id);
    std::set<double> prices{0};
    for (auto [id, count] : offers[offer].askers)
      if (unoffered == Unoffered::OncePerValue && !offers[offer].hasPrice(id))
        if (double seconds = getSeconds(home, id, type); seconds < kImpossible)
          prices.insert(seconds);
    SmallVector<LayoutId, 2> set;
    auto extend = [&](auto &self, size_t from) -> void {
      for (double seconds : prices) {
        homes.push_back(home);
        also.push_back(set);
        covered.push_back(seconds);
      }
      if (set.size() == most) {
        limitedSets |= readers.size() / 2 > most && from < wanted.size();
        return;
      }
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
  covers.push_back(std::move(covered));
  return it->second;
}

void ShardingProblem::addCopies(Value value) {
  const Shared &own = shared.find(value)->second;
  PlaceId place = propagation.getId(value);
  Kept kept = getCopies(place, own.readers, own.offer);
  kept.var = graph.addVariable(domains[kept.domain].size());
  copies[value] = kept;
  RankedTensorType type = propagation.getPlace(place).type;
  int64_t count = propagation.getCount(propagation.getNode(own.readers[0].node), own.readers[0].tensor);
  unsigned prices = getTable({kSets, toKey(type), kept.sets, count}, [&] {
    PriceTable prices;
    for (auto [home, set, cover] : llvm::zip(domains[kept.domain], sets[kept.sets], covers[kept.sets])) {
      double seconds = count * cover;
      int64_t bytes = 0;
      for (LayoutId other : set) {
        seconds += count * getSeconds(home, other, type);
        bytes += space.getLocalBytes(other, type);
      }
      prices.seconds.push_back(seconds);
      prices.bytes.push_back(bytes);
    }
    return prices;
  });
  costs.push_back({kept.var, CostGraph::kNoVar, prices, /*isShared=*/true});
  addCost(places[place].var, kept.var, getTable({kEqual, places[place].domain, kept.domain}, [&] {
            PriceTable prices;
            for (LayoutId a : domains[places[place].domain])
              for (LayoutId b : domains[kept.domain])
                prices.seconds.push_back(a == b ? 0 : kImpossible);
            return prices;
          }));
  costs.back().isShared = true;
}

void ShardingProblem::getWanted(Value value, ArrayRef<Use> readers, ArrayRef<unsigned> choices,
                                SmallVectorImpl<LayoutId> &wanted, unsigned byAtLeast) {
  LayoutId home = getLayout(propagation.getId(value), choices);
  SmallVector<std::pair<LayoutId, unsigned>> asked; // and by how many
  for (const Use &use : readers) {
    LayoutId needed = getNeeded(use.node, use.tensor, getStrategyNumber(use.node, choices), home);
    if (needed == home)
      continue;
    auto it = llvm::find_if(asked, [&](auto &own) { return own.first == needed; });
    if (it == asked.end())
      it = asked.insert(it, {needed, 0});
    ++it->second;
  }
  for (auto [id, count] : asked)
    if (count >= byAtLeast)
      wanted.push_back(id);
}

void ShardingProblem::setGraph(Unoffered how, bool withMemory) {
  if (unoffered == how && countsMemory == withMemory)
    return;
  unoffered = how;
  countsMemory = withMemory;
  build();
}

void ShardingProblem::setCountsHeld(bool counts) {
  countsHeld = counts;
  build();
}

bool ShardingProblem::refine(ArrayRef<unsigned> choices, ArrayRef<Use> anew) {
  bool changed = false, isOnce = unoffered == Unoffered::OncePerValue;
  llvm::DenseSet<std::pair<Value, LayoutId>> repeated;
  for (const Use &use : anew)
    repeated.insert({propagation.getTensorValues(propagation.getNode(use.node))[use.tensor], *getAsked(use, choices)});
  SmallVector<LayoutId> wanted;
  for (auto &[value, own] : shared) {
    wanted.clear();
    if (isSharing(value))
      continue;
    getWanted(value, own.readers, choices, wanted, /*byAtLeast=*/isOnce ? 1 : 2);
    PlaceId place = propagation.getId(value);
    std::vector<LayoutId> &offered = offers[own.offer].layouts;
    SmallVector<std::pair<double, LayoutId>> unpaid;
    for (LayoutId id : wanted)
      if (double seconds = getSeconds(getLayout(place, choices), id, propagation.getPlace(place).type);
          seconds > 0 && !offers[own.offer].hasPrice(id))
        unpaid.push_back({seconds, id});
    llvm::sort(unpaid);
    // The most expensive one is paid once anyway.
    if (isOnce && !unpaid.empty() && !repeated.contains({value, unpaid.back().second}))
      unpaid.pop_back();
    for (auto [seconds, id] : unpaid) {
      offered.insert(llvm::lower_bound(offered, id), id);
      changed = true;
    }
  }
  if (changed)
    build();
  return changed;
}
