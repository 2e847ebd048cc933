//===- ProblemSharing.cpp - Copies that readers of a value share ----------===//

#include "ProblemTables.h"
#include <set>

using namespace mlir;
using namespace mlir::spmd;

/// Most layouts of a value that are paid once each in addition to the stored one.
static constexpr unsigned kMaxSet = 3;
/// Most choices of one value for which all layouts that readers may share are listed from the beginning.
static constexpr size_t kMaxListed = 1024;

/// Most readers that are priced together.
static constexpr size_t kMaxReaders = 6;

void ShardingProblem::addShared() {
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    ArrayRef<Value> values = propagation.getTensorValues(node);
    for (unsigned t = 0; t < node.rule->numOperands(); ++t)
      if (tensors[t] >= 0 && values[t] && !isDeadConstraint(node.op) && !isRematerialized(values[t]) &&
          node.rule->tensor(t).role != OperandRole::ShapeOnly &&
          !(options.isReshardedPerUse && options.isReshardedPerUse(values[t])) && !isUserReshardPerUse({id, t}))
        shared[values[t]].readers.push_back({id, t});
  }
  shared.remove_if([](auto &entry) { return entry.second.readers.size() < 2; });
  // Equal values with equal readers have equal choices.
  std::map<Key, unsigned> groups;
  for (auto &[value, entry] : shared) {
    ClassId valueClass = propagation.getId(value);
    Key key{toKey(propagation.getClass(valueClass).type), classes[valueClass].domain};
    for (const Use &use : entry.readers) {
      Key reader = getUseKey(use.node, use.tensor);
      key.insert(key.end(), reader.begin(), reader.end());
    }
    auto [it, isNew] = groups.try_emplace(std::move(key), groups.size());
    entry.group = it->second;
    if (isNew)
      sharedLayouts.push_back(findSharedLayouts(valueClass, entry.readers));
    entry.isSharing = hasManyAxes() && !sharedLayouts[entry.group].isComplete() &&
                      entry.readers.size() <= kMaxReaders &&
                      llvm::none_of(entry.readers, [&, valueClass = valueClass](const Use &use) {
                        const Propagation::Node &node = propagation.getNode(use.node);
                        if (node.isIdentity)
                          return propagation.getTensors(node)[1] == int32_t(valueClass);
                        return node.rule->hasWindows() || !nodes[use.node].computes ||
                               nodes[use.node].definesAlone == int64_t(valueClass);
                      });
  }
}

void ShardingProblem::addSharings() {
  sharings.clear();
  sharingPrices.clear();
  for (auto &[value, entry] : shared) {
    if (!isSharing(value))
      continue;
    const SharedLayouts &candidates = sharedLayouts[entry.group];
    ClassId valueClass = propagation.getId(value);
    RankedTensorType type = propagation.getClass(valueClass).type;
    std::vector<LayoutId> items;
    for (auto [id, count] : candidates.numReaders)
      items.push_back(id);
    CostGraph::Sharing sharing{classes[valueClass].var, {}, 0};
    for (const Use &use : entry.readers) {
      const Propagation::Node &node = propagation.getNode(use.node);
      if (use.tensor == 1 && isa<tensor::ParallelInsertSliceOp>(node.op))
        continue;
      CostGraph::Reader reader{node.isIdentity ? classes[propagation.getTensors(node)[1]].var : nodes[use.node].var,
                               {}};
      for (unsigned s = 0, e = getNumNeeds(use.node); s < e; ++s)
        reader.items.push_back(llvm::lower_bound(items, getNeeded(use.node, use.tensor, s, 0)) - items.begin());
      if (llvm::none_of(sharing.readers, [&](const CostGraph::Reader &other) {
            return other.var == reader.var && other.items == reader.items;
          }))
        sharing.readers.push_back(std::move(reader));
    }
    const Use &first = entry.readers[0];
    int64_t count = propagation.getCount(propagation.getNode(first.node), first.tensor);
    sharings.push_back(std::move(sharing));
    unsigned prices = getTable({kShared, toKey(type), entry.group, count}, [&] {
      PriceTable prices;
      for (LayoutId stored : domains[classes[valueClass].domain])
        for (LayoutId id : items)
          prices.seconds.push_back(count * getSeconds(stored, id, type));
      return prices;
    });
    sharingPrices.push_back(getRest(prices, getSharedRoom(value)));
  }
}

SharedLayouts ShardingProblem::findSharedLayouts(ClassId valueClass, ArrayRef<Use> readers) {
  SharedLayouts candidates;
  RankedTensorType type = propagation.getClass(valueClass).type;
  std::set<LayoutId> storedLayouts(domains[classes[valueClass].domain].begin(),
                                   domains[classes[valueClass].domain].end());
  std::map<LayoutId, std::pair<unsigned, size_t>> numReaders; // how many, and the last of them
  bool dependsOnStored = false;
  for (auto [i, use] : llvm::enumerate(readers)) {
    const Propagation::Node &node = propagation.getNode(use.node);
    dependsOnStored = !node.isIdentity && node.rule->hasWindows();
    for (LayoutId stored : storedLayouts) {
      for (unsigned s = 0, e = getNumNeeds(use.node); s < e; ++s) {
        auto &[count, last] =
            numReaders.try_emplace(getNeeded(use.node, use.tensor, s, stored), 0, ~size_t(0)).first->second;
        count += last != i;
        last = i;
      }
      if (!dependsOnStored)
        break;
    }
  }
  std::vector<LayoutId> wanted;
  for (auto [id, asked] : numReaders) {
    candidates.numReaders[id] = asked.first;
    if (asked.first > 1)
      wanted.push_back(id);
  }
  // Counting them costs a price for each pair.
  if (storedLayouts.size() * wanted.size() > 4 * kMaxListed)
    return candidates;
  size_t sets = 0;
  for (LayoutId stored : storedLayouts) {
    size_t paid = llvm::count_if(wanted, [&](LayoutId id) { return getSeconds(stored, id, type) > 0; });
    sets += 1 + paid;
    if (readers.size() > 3)
      sets += paid * (paid - 1) / 2;
    if (readers.size() > 5)
      sets += paid * (paid - 1) / 2 * (paid - 2) / 3;
  }
  if (sets <= kMaxListed)
    candidates.layouts = std::move(wanted);
  return candidates;
}

ShardingProblem::Kept ShardingProblem::getCopies(ClassId valueClass, ArrayRef<Use> readers, unsigned group) {
  Key key(sharedLayouts[group].layouts.begin(), sharedLayouts[group].layouts.end());
  key.insert(key.end(), {group, int64_t(unlisted)});
  auto [it, isNew] = copiesOf.try_emplace(std::move(key));
  if (!isNew)
    return it->second;
  RankedTensorType type = propagation.getClass(valueClass).type;
  // With k readers, at most k / 2 layouts have two readers.
  unsigned most = std::min<unsigned>(kMaxSet, readers.size() / 2);
  std::vector<LayoutId> storedLayouts;
  std::vector<SmallVector<LayoutId, 2>> also;
  std::vector<double> covered;
  llvm::SmallDenseSet<LayoutId> done;
  for (LayoutId stored : domains[classes[valueClass].domain]) {
    if (!done.insert(stored).second)
      continue;
    SmallVector<LayoutId> wanted;
    for (LayoutId id : sharedLayouts[group].layouts)
      if (double seconds = getSeconds(stored, id, type); seconds > 0 && seconds < kImpossible)
        wanted.push_back(id);
    std::set<double> prices{0};
    for (auto [id, count] : sharedLayouts[group].numReaders)
      if (unlisted == Unlisted::OncePerValue && !sharedLayouts[group].hasPrice(id))
        if (double seconds = getSeconds(stored, id, type); seconds < kImpossible)
          prices.insert(seconds);
    SmallVector<LayoutId, 2> set;
    auto extend = [&](auto &self, size_t from) -> void {
      for (double seconds : prices) {
        storedLayouts.push_back(stored);
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
  it->second.domain = internDomain(std::move(storedLayouts));
  sets.push_back(std::move(also));
  covers.push_back(std::move(covered));
  return it->second;
}

void ShardingProblem::addCopies(Value value) {
  const Shared &entry = shared.find(value)->second;
  ClassId valueClass = propagation.getId(value);
  Kept kept = getCopies(valueClass, entry.readers, entry.group);
  kept.var = graph.addVariable(domains[kept.domain].size());
  copies[value] = kept;
  RankedTensorType type = propagation.getClass(valueClass).type;
  int64_t count = propagation.getCount(propagation.getNode(entry.readers[0].node), entry.readers[0].tensor);
  unsigned prices = getTable({kSets, toKey(type), kept.sets, count}, [&] {
    PriceTable prices;
    for (auto [stored, set, cover] : llvm::zip(domains[kept.domain], sets[kept.sets], covers[kept.sets])) {
      double seconds = count * cover;
      int64_t bytes = 0;
      for (LayoutId other : set) {
        seconds += count * getSeconds(stored, other, type);
        bytes += space.getLocalBytes(other, type);
      }
      prices.seconds.push_back(seconds);
      prices.bytes.push_back(bytes);
    }
    return prices;
  });
  costs.push_back({kept.var, CostGraph::kNoVar, prices, /*isShared=*/true});
  costs.back().rest = getRest(prices, getSharedRoom(value));
  addCost(classes[valueClass].var, kept.var, getTable({kEqual, classes[valueClass].domain, kept.domain}, [&] {
            PriceTable prices;
            for (LayoutId a : domains[classes[valueClass].domain])
              for (LayoutId b : domains[kept.domain])
                prices.seconds.push_back(a == b ? 0 : kImpossible);
            return prices;
          }));
  costs.back().isShared = true;
}

void ShardingProblem::getRequestedLayouts(Value value, ArrayRef<Use> readers, ArrayRef<unsigned> choices,
                                          SmallVectorImpl<LayoutId> &wanted, unsigned minReaders) {
  LayoutId stored = getLayout(propagation.getId(value), choices);
  SmallVector<std::pair<LayoutId, unsigned>> asked; // and by how many
  for (const Use &use : readers) {
    LayoutId needed = getNeeded(use.node, use.tensor, getStrategyNumber(use.node, choices), stored);
    if (needed == stored)
      continue;
    auto it = llvm::find_if(asked, [&](auto &request) { return request.first == needed; });
    if (it == asked.end())
      it = asked.insert(it, {needed, 0});
    ++it->second;
  }
  for (auto [id, count] : asked)
    if (count >= minReaders)
      wanted.push_back(id);
}

void ShardingProblem::setGraph(Unlisted how, bool withMemory) {
  if (unlisted == how && countsMemory == withMemory)
    return;
  unlisted = how;
  countsMemory = withMemory;
  build();
}

void ShardingProblem::setCountsHeldCopies(bool counts) {
  countsHeld = counts;
  build();
}

bool ShardingProblem::refine(ArrayRef<unsigned> choices, ArrayRef<Use> perUse) {
  bool changed = false, isOnce = unlisted == Unlisted::OncePerValue;
  llvm::DenseSet<std::pair<Value, LayoutId>> repeated;
  for (const Use &use : perUse)
    repeated.insert(
        {propagation.getTensorValues(propagation.getNode(use.node))[use.tensor], *getRequested(use, choices)});
  SmallVector<LayoutId> wanted;
  for (auto &[value, entry] : shared) {
    wanted.clear();
    if (isSharing(value))
      continue;
    getRequestedLayouts(value, entry.readers, choices, wanted, /*minReaders=*/isOnce ? 1 : 2);
    ClassId valueClass = propagation.getId(value);
    std::vector<LayoutId> &offered = sharedLayouts[entry.group].layouts;
    SmallVector<std::pair<double, LayoutId>> unpaid;
    for (LayoutId id : wanted)
      if (double seconds = getSeconds(getLayout(valueClass, choices), id, propagation.getClass(valueClass).type);
          seconds > 0 && !sharedLayouts[entry.group].hasPrice(id))
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
