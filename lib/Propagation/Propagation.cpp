//===- Propagation.cpp - Fixpoint over sharding rules ---------------------===//

#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include <map>

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-propagate"

using namespace mlir;
using namespace mlir::spmd;

FailureOr<Propagation::Options> Propagation::getOptions(Location loc, Conflicts conflicts,
                                                        StridedShardings stridedShardings, int64_t tripCount) {
  if (tripCount < 1)
    return emitError(loc) << "trip-count=" << tripCount << ", expected a positive number";
  Options options;
  options.conflicts = conflicts;
  options.stridedShardings = stridedShardings;
  options.tripCount = tripCount;
  return options;
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

void Propagation::touch(NodeId id, Flow directions) {
  Node &node = nodes[id];
  for (bool backward : {false, true}) {
    uint8_t direction = uint8_t(backward ? Flow::Backward : Flow::Forward);
    if (node.dirty[backward] || !(uint8_t(node.flow) & uint8_t(directions) & direction))
      continue;
    node.dirty[backward] = true;
    dirtyAt[backward][node.level].push_back(id);
    dirtyLevels[backward].set(node.level);
  }
}

void Propagation::touchAround(ClassId valueClass) {
  for (NodeId node : classes[valueClass].nodes)
    touch(node);
}

void Propagation::run() {
  unsigned levels = 1;
  for (const Node &node : nodes)
    levels = std::max(levels, node.level + 1);
  for (const ValueClass &valueClass : classes)
    levels = std::max(levels, valueClass.level + 1);
  for (bool backward : {false, true}) {
    dirtyAt[backward].resize(levels);
    dirtyLevels[backward].resize(levels);
  }
  // Per priority: the value classes with dims of that priority.
  std::map<int64_t, SmallVector<ClassId>> rounds;
  for (ClassId id = 0; id < classes.size(); ++id)
    for (auto [d, dim] : llvm::enumerate(get(id).dims))
      if (dim.priority != 0 || !dim.entries.empty()) {
        rounds[dim.priority].push_back(id);
        hasUneven |= !divides(dim.entries, classes[id].type.getDimSize(d));
      }
  if (hasUneven || hasWindows)
    markUneven();

  for (const auto &[current, seeds] : rounds) {
    priority = current;
    suggestions.clear();
    for (ClassId id : seeds)
      touchAround(id);
    forwardsSubAxes = false;
    for (uint8_t stage = kViews; stage < kNumStages; ++stage) {
      if (stage == kSubAxes) {
        if (rulesWithSubAxes.empty())
          break;
        forwardsSubAxes = true;
        suggestions.clear();
        for (NodeId id = 0; id < nodes.size(); ++id)
          if (rulesWithSubAxes.contains(nodes[id].rule))
            touch(id);
      }
      for (bool again = true; again;) {
        again = sweep(/*backward=*/false, stage);
        again |= sweep(/*backward=*/true, stage);
      }
    }
  }
}

void Propagation::markUneven() {
  for (Node &node : nodes) {
    if (!node.hasOpRule)
      continue;
    ShardingRule rule = getShardingRule(node.op);
    markUnevenFactors(rule, node.op);
    node.rule = rules.intern(std::move(rule));
  }
}

bool Propagation::sweep(bool backward, uint8_t stage) {
  bool any = false;
  llvm::BitVector &levels = dirtyLevels[backward];
  std::vector<Proposal> proposals;
  SmallVector<NodeId> waiting; // for a later stage
  auto settle = [&](MutableArrayRef<Proposal> list) {
    llvm::sort(list, [](const Proposal &a, const Proposal &b) { return a.valueClass < b.valueClass; });
    while (!list.empty()) {
      ClassId valueClass = list.front().valueClass;
      size_t count = llvm::find_if(list, [&](const Proposal &p) { return p.valueClass != valueClass; }) - list.begin();
      resolve(list.take_front(count), backward);
      list = list.drop_front(count);
    }
  };
  auto visitLevel = [&](unsigned level) {
    SmallVector<NodeId, 2> ready;
    std::swap(ready, dirtyAt[backward][level]);
    levels.reset(level);
    for (NodeId id : ready) {
      if (nodes[id].stage[backward] > stage) {
        waiting.push_back(id);
        continue;
      }
      nodes[id].dirty[backward] = false;
      any = true;
      propose(id, backward, proposals);
    }
  };

  if (!backward) {
    for (int level = levels.find_first(); level >= 0; level = levels.find_next(level)) {
      visitLevel(level);
      settle(proposals);
      proposals.clear();
    }
  } else {
    // A value is settled when the sweep has passed all its users.
    std::vector<SmallVector<Proposal, 0>> pending(levels.size());
    llvm::BitVector pendingLevels(levels.size());
    for (int next = int(levels.size()) - 1; next >= 0;) {
      if (pendingLevels.test(next)) {
        pendingLevels.reset(next);
        settle(pending[next]);
        pending[next].clear();
      }
      if (levels.test(next)) {
        visitLevel(next);
        for (Proposal &proposal : proposals) {
          unsigned level = classes[proposal.valueClass].level;
          // A value class of values of several levels may have a higher level.
          level = std::min(level, unsigned(next));
          pending[level].push_back(std::move(proposal));
          pendingLevels.set(level);
        }
        proposals.clear();
        if (pendingLevels.test(next))
          continue;
      }
      int pendingBelow = pendingLevels.find_prev(next);
      int dirtyBelow = levels.find_prev(next);
      next = std::max(pendingBelow, dirtyBelow);
    }
  }
  for (NodeId id : waiting) {
    dirtyAt[backward][nodes[id].level].push_back(id);
    levels.set(nodes[id].level);
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Choices of nodes
//===----------------------------------------------------------------------===//

namespace {
/// The longest common prefix.
DimEntries getCommonPrefix(ArrayRef<DimEntry> a, ArrayRef<DimEntry> b) {
  DimEntries common;
  for (auto [x, y] : llvm::zip(a, b)) {
    if (x == y) {
      common.push_back(x);
      continue;
    }
    if (!x.isStride() && x.axis == y.axis && x.pre == y.pre) {
      const DimEntry &shorter = x.size < y.size ? x : y;
      if (std::max(x.size, y.size) % shorter.size == 0)
        common.push_back(shorter);
    }
    break;
  }
  return canonicalize(common);
}

/// Truncates each of two lists before the first axis that the other has as well.
void dropCommonAxes(DimEntries &a, DimEntries &b, const Mesh &mesh) {
  DimEntries original = a;
  while (overlaps(a, b, mesh))
    a.pop_back();
  while (overlaps(b, original, mesh))
    b.pop_back();
}

/// Clears a common prefix that does not divide the dim, as no proposal contains it alone.
void dropRest(DimEntries &entries, int64_t size) {
  if (!divides(entries, size))
    entries.clear();
}
} // namespace

/// True if more of a dim that was split into `parts` would fit the factors if axes
/// that are neighbours on the dim and on the mesh were one axis.
///   {"x", "y"} x=2, y=3, factors [3, 4]: as one axis of 6 it is [3, 2]
static bool fitsBetterJoined(ArrayRef<DimEntry> entries, ArrayRef<int64_t> sizes, ArrayRef<DimEntries> perFactor,
                             const Mesh &mesh) {
  DimEntries joined;
  std::optional<RankDigit> last;
  for (const DimEntry &entry : entries) {
    if (entry.isStride()) {
      last.reset();
      joined.push_back(entry);
      continue;
    }
    RankDigit digit = getRankDigit(entry, mesh);
    if (last && last->stride == digit.stride * digit.size)
      joined.back().size *= digit.size;
    else // a name of its own, so that nothing else is joined
      joined.push_back({int32_t(joined.size()), 1, digit.size});
    last = digit;
  }
  auto countDevices = [](ArrayRef<DimEntries> perFactor) {
    int64_t count = 1;
    for (const DimEntries &subAxis : perFactor)
      count *= deviceFactor(subAxis);
    return count;
  };
  return countDevices(splitDim(joined, sizes)) > countDevices(perFactor);
}

FactorAxes Propagation::choose(const Node &node, bool *agreement) {
  const ShardingRule &rule = *node.rule;
  FactorAxes chosen(rule.numFactors());
  bool agreed = true;
  SmallVector<bool, 8> isConstrained(rule.numFactors(), false);
  auto offer = [&](int32_t f, ArrayRef<DimEntry> candidate) {
    if (candidate.empty() || rule.factor(f).kind == FactorKind::Replicated)
      return;
    DimEntries entries = canonicalize(candidate);
    if (entries.empty() || !canShard(rule.factor(f), entries, mesh))
      return;
    if (!isConstrained[f] || isRefinement(chosen[f], entries)) {
      chosen[f] = std::move(entries);
    } else if (!isRefinement(entries, chosen[f])) {
      agreed = false;
      chosen[f] = getCommonPrefix(entries, chosen[f]);
      dropRest(chosen[f], rule.factor(f).size);
    }
    isConstrained[f] = true;
  };
  SmallVector<int64_t> sizes;
  for (auto [t, id] : llvm::enumerate(getTensors(node))) {
    if (id < 0)
      continue;
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    for (unsigned d = 0; d < tensor.numDims; ++d) {
      ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
      const DimSharding &dim = get(id).dims[d];
      if (factors.empty() || dim.entries.empty() || !isActive(dim))
        continue;
      if (factors.size() == 1) {
        if (!rule.getWindow(tensor, d) || canShardWindows(dim.entries, rule.factor(factors.front()).size))
          offer(factors.front(), dim.entries);
        continue;
      }
      sizes.clear();
      for (int32_t f : factors)
        sizes.push_back(rule.factor(f).size);
      bool fits;
      SmallVector<DimEntries> perFactor = splitDim(dim.entries, sizes, &fits);
      needsFlatMesh |= !fits && fitsBetterJoined(dim.entries, sizes, perFactor, mesh);
      if (!fits)
        rulesWithSubAxes.insert(&rule);
      if (fits || forwardsSubAxes)
        for (auto [f, subAxis] : llvm::zip(factors, perFactor))
          offer(f, subAxis);
    }
  }
  // An axis that two factors want is a conflict too.
  for (unsigned f = 0; f < chosen.size(); ++f)
    for (unsigned g = f + 1; g < chosen.size(); ++g)
      if (overlaps(chosen[f], chosen[g], mesh)) {
        agreed = false;
        if (options.conflicts == Conflicts::Basic) {
          dropCommonAxes(chosen[f], chosen[g], mesh);
          dropRest(chosen[f], rule.factor(f).size);
          dropRest(chosen[g], rule.factor(g).size);
        }
      }
  if (agreement)
    *agreement = agreed;
  if (agreed || options.conflicts == Conflicts::Basic)
    return chosen;
  return chooseCompute(rule, getTensorLayouts(node), table);
}

SmallVector<TensorLayout> Propagation::getTensorLayouts(const Node &node) {
  SmallVector<TensorLayout> layouts;
  for (auto [t, id] : llvm::enumerate(getTensors(node))) {
    layouts.push_back({});
    if (id < 0)
      continue;
    layouts.back().type = classes[id].type;
    layouts.back().count = getCount(node, t);
    Sharding sharding = get(id);
    bool any = false;
    for (auto [d, dim] : llvm::enumerate(sharding.dims)) {
      if (!isActive(dim))
        dim.entries.clear();
      if (dim.open && d < 64)
        layouts.back().openDims |= uint64_t(1) << d;
      any |= !dim.entries.empty() || !dim.open;
    }
    if (any)
      layouts.back().layout = table.intern(std::move(sharding));
  }
  return layouts;
}

Propagation::DimsId Propagation::intern(Dims dims) {
  SmallVector<int64_t, 32> key;
  for (const DimEntries &entries : dims) {
    key.push_back(entries.size());
    for (const DimEntry &entry : entries)
      key.append({entry.axis, entry.pre, entry.size});
  }
  auto [id, isNew] = dimListIds.try_emplace(key, dimLists.size());
  if (isNew)
    dimLists.push_back(std::move(dims));
  return id;
}

bool Propagation::isOpen(ShardingId id) {
  return llvm::any_of(shardings.get(id).dims, [](const DimSharding &dim) { return dim.open; });
}

bool Propagation::mustBeUnstrided(const Node &node, unsigned t, unsigned d) const {
  if (options.stridedShardings == StridedShardings::Allow)
    return false;
  if (options.stridedShardings == StridedShardings::ForbidAtBoundary)
    return getTensors(node)[t] >= 0 && classes[getTensors(node)[t]].boundary;
  // Dims that the op takes apart or joins.
  const ShardingRule &rule = *node.rule;
  ArrayRef<int32_t> factors = rule.dimFactors(rule.tensor(t), d);
  if (factors.size() != 1)
    return true;
  for (unsigned u = 0; u < rule.numOperands() + rule.numResults(); ++u)
    for (unsigned e = 0; e < rule.tensor(u).numDims; ++e) {
      ArrayRef<int32_t> other = rule.dimFactors(rule.tensor(u), e);
      if (other.size() > 1 && llvm::is_contained(other, factors.front()))
        return true;
    }
  return false;
}

/// Truncates a list before its first stride, except for strides that `present` has.
static void dropStrided(DimEntries &entries, ArrayRef<DimEntry> present) {
  for (size_t i = present.size(); i < entries.size(); ++i)
    if (entries[i].isStride())
      return entries.truncate(i);
}

SmallVector<Propagation::Suggestion, 2> Propagation::getSuggestions(const Node &node, bool backward) {
  const ShardingRule &rule = *node.rule;
  ArrayRef<int32_t> tensorClasses = getTensors(node);
  unsigned first = backward ? 0 : rule.numOperands();
  unsigned last = backward ? rule.numOperands() : tensorClasses.size();
  auto canTake = [&](unsigned t) { return tensorClasses[t] >= 0 && isOpen(classes[tensorClasses[t]].sharding); };
  SmallVector<Suggestion, 2> result;
  bool any = false;
  for (unsigned t = first; t < last; ++t)
    any |= canTake(t);
  if (!any)
    return result;
  FactorAxes chosen = choose(node);
  SmallVector<int64_t> sizes;
  SmallVector<DimEntries> perFactor;
  for (unsigned t = first; t < last; ++t) {
    if (!canTake(t))
      continue;
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    Dims dims(tensor.numDims);
    bool isNew = false;
    for (unsigned d = 0; d < tensor.numDims; ++d) {
      ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
      DimEntries &entries = dims[d];
      if (factors.size() == 1) {
        entries = chosen[factors.front()];
        if (rule.getWindow(tensor, d) && !canShardWindows(entries, classes[tensorClasses[t]].type.getDimSize(d)))
          entries.clear();
      } else if (!factors.empty()) {
        sizes.clear();
        perFactor.clear();
        for (int32_t f : factors) {
          sizes.push_back(rule.factor(f).size);
          perFactor.push_back(chosen[f]);
        }
        entries = joinDim(perFactor, sizes);
      }
      const DimSharding &dim = get(tensorClasses[t]).dims[d];
      if (options.stridedShardings == StridedShardings::Forbid && mustBeUnstrided(node, t, d))
        dropStrided(entries, dim.entries);
      isNew |= dim.open && !entries.empty() && entries != dim.entries && isRefinement(dim.entries, entries);
    }
    if (isNew)
      result.push_back({t, intern(std::move(dims))});
  }
  return result;
}

void Propagation::propose(NodeId id, bool backward, std::vector<Proposal> &proposals) {
  const Node &node = nodes[id];
  // Ops of equal rules with equal shardings propose the same.
  SmallVector<int64_t, 8> key{int64_t(reinterpret_cast<uintptr_t>(node.rule)), backward, int64_t(node.counts)};
  ArrayRef<int32_t> tensorClasses = getTensors(node);
  for (int32_t valueClass : tensorClasses)
    key.push_back(valueClass < 0 ? -1 : int64_t(classes[valueClass].sharding));
  auto [known, isNew] = suggestions.try_emplace(key);
  if (isNew)
    known = getSuggestions(node, backward);
  for (const Suggestion &suggestion : known)
    proposals.push_back({ClassId(tensorClasses[suggestion.tensor]), id, suggestion.dims});
}

//===----------------------------------------------------------------------===//
// Extensions of value classes
//===----------------------------------------------------------------------===//

ShardingId Propagation::extend(ClassId id, DimsId dims) {
  const ValueClass &valueClass = classes[id];
  if (options.stridedShardings == StridedShardings::ForbidAtBoundary && valueClass.boundary)
    return shardings.intern(extend(shardings.get(valueClass.sharding), shardings.get(valueClass.userSharding),
                                   valueClass.type, dimLists[dims], /*unstrided=*/true));
  auto [it, isNew] = extended.try_emplace({{valueClass.sharding, valueClass.userSharding}, dims, valueClass.type}, 0);
  if (isNew)
    it->second = shardings.intern(extend(shardings.get(valueClass.sharding), shardings.get(valueClass.userSharding),
                                         valueClass.type, dimLists[dims], /*unstrided=*/false));
  return it->second;
}

/// The major sub-axis of an entry that dim `d` may take: it ends before sub-axes of other dims, forbidden ones, and
/// ones that the value is partial over.
///   "x" of 4, the value has    | sub-axis
///   no axis                    | "x"
///   replicated = {"x":(2)2}    | "x":(1)2
///   "x":(1)2 on another dim    | none (size 1)
DimEntry Propagation::getFreeSubAxis(const Sharding &sharding, unsigned d, DimEntry entry) const {
  if (entry.isStride())
    return entry;
  auto shorten = [&](ArrayRef<DimEntry> used) {
    for (const DimEntry &other : used)
      if (overlaps(entry, other, mesh)) {
        bool divides = other.pre > entry.pre && other.pre % entry.pre == 0 && entry.size % (other.pre / entry.pre) == 0;
        entry.size = divides ? other.pre / entry.pre : 1;
      }
  };
  shorten(sharding.replicated);
  shorten(sharding.unreduced);
  for (auto [e, other] : llvm::enumerate(sharding.dims))
    if (e != d)
      shorten(other.entries);
  return entry;
}

Sharding Propagation::extend(const Sharding &from, const Sharding &userSharding, RankedTensorType type,
                             ArrayRef<DimEntries> dims, bool unstrided) const {
  Sharding sharding = from;
  for (auto [d, list] : llvm::enumerate(dims)) {
    DimSharding &dim = sharding.dims[d];
    DimEntries wanted = list;
    if (unstrided)
      dropStrided(wanted, dim.entries);
    auto mayBecome = [&](ArrayRef<DimEntry> entries) {
      return isRefinement(dim.entries, entries) && isPrefix(userSharding.dims[d].entries, entries);
    };
    if (!dim.open || wanted.empty() || !mayBecome(wanted))
      continue;
    // The longest prefix that divides the dim; an uneven list completely or not at all.
    bool uneven = !divides(wanted, type.getDimSize(d));
    DimEntries taken;
    int64_t total = 1;
    for (const DimEntry &entry : wanted) {
      DimEntry subAxis = getFreeSubAxis(sharding, d, entry);
      total *= subAxis.size;
      if ((subAxis.size == 1 && entry.size != 1) ||
          (!uneven && !type.isDynamicDim(d) && type.getDimSize(d) % total != 0))
        break;
      taken.push_back(subAxis);
      if (subAxis.size != entry.size)
        break;
    }
    if (uneven && taken != wanted)
      continue;
    taken = canonicalize(taken);
    if (mayBecome(taken))
      dim.entries = std::move(taken);
  }
  return sharding;
}

bool Propagation::update(ClassId id, ShardingId sharding, ArrayRef<Proposal> proposals) {
  if (classes[id].sharding == sharding)
    return false;
  if (recording || llvm::DebugFlag)
    for (auto [d, dim] : llvm::enumerate(shardings.get(sharding).dims)) {
      if (dim.entries == get(id).dims[d].entries)
        continue;
      const Proposal *source = llvm::find_if(
          proposals, [&](const Proposal &proposal) { return isRefinement(dim.entries, dimLists[proposal.dims][d]); });
      add({id, unsigned(d), dim.entries, (source == proposals.end() ? proposals.begin() : source)->node});
    }
  classes[id].sharding = sharding;
  return true;
}

void Propagation::add(const Extension &extension) {
  if (recording)
    extensions.push_back(extension);
  const Node &node = nodes[extension.node];
  ArrayRef<int32_t> tensors = getTensors(node);
  size_t t = llvm::find(tensors, int32_t(extension.valueClass)) - tensors.begin();
  SPMD_LOG() << node.op->getName() << " at " << node.op->getLoc() << " shards dim " << extension.dim << " of "
             << (t < tensors.size() ? describeValue(getTensorValues(node)[t]) : "a value that is one with its own")
             << " as {" << toString(extension.entries, mesh) << "}";
}

void Propagation::resolve(MutableArrayRef<Proposal> proposals, bool backward) {
  ClassId id = proposals.front().valueClass;
  if (proposals.size() == 1) {
    // The proposal of the proposer does not change in this direction.
    NodeId proposer = proposals.front().node;
    if (update(id, extend(id, proposals.front().dims), proposals))
      for (NodeId node : classes[id].nodes)
        touch(node, node != proposer ? Flow::Both : backward ? Flow::Forward : Flow::Backward);
    return;
  }
  auto take = [&](DimsId dims) {
    if (update(id, extend(id, dims), proposals))
      touchAround(id);
  };
  // Equal proposals are one, in an order of their own.
  SmallVector<const Proposal *> distinct;
  for (const Proposal &proposal : proposals)
    if (llvm::none_of(distinct, [&](auto *other) { return other->dims == proposal.dims; }))
      distinct.push_back(&proposal);
  if (distinct.size() == 1)
    return take(distinct.front()->dims);
  auto dimsOf = [&](const Proposal *proposal) -> const Dims & { return dimLists[proposal->dims]; };
  llvm::sort(distinct, [&](auto *a, auto *b) { return dimsOf(a) < dimsOf(b); });

  // Merge the proposals: per dim the longest list, if the others are prefixes of it.
  unsigned rank = dimsOf(distinct.front()).size();
  Dims merged(rank);
  bool agreed = true;
  for (unsigned d = 0; d < rank; ++d) {
    for (const Proposal *proposal : distinct) {
      const DimEntries &entries = dimsOf(proposal)[d];
      if (entries.empty() || isRefinement(entries, merged[d]))
        continue;
      if (isRefinement(merged[d], entries)) {
        merged[d] = entries;
        continue;
      }
      agreed = false;
      merged[d] = getCommonPrefix(merged[d], entries);
    }
    for (unsigned e = 0; e < d; ++e)
      if (overlaps(merged[d], merged[e], mesh)) {
        agreed = false;
        dropCommonAxes(merged[d], merged[e], mesh);
      }
  }
  if (!agreed && options.conflicts == Conflicts::Basic)
    for (auto [d, entries] : llvm::enumerate(merged))
      if (llvm::none_of(distinct, [&, d = d](const Proposal *p) { return dimLists[p->dims][d] == merged[d]; }))
        dropRest(entries, classes[id].type.getDimSize(d));
  if (agreed || options.conflicts == Conflicts::Basic)
    return take(intern(std::move(merged)));

  // Choose the layout with the cheapest reshards to all others; then extend it by the others, in the same order.
  struct Choice {
    LayoutId layout;
    double seconds = 0;
    const Proposal *proposal;
  };
  SmallVector<Choice, 0> choices;
  for (const Proposal *proposal : distinct) {
    LayoutId layout = table.intern(shardings.get(extend(id, proposal->dims)));
    choices.push_back({layout, 0, proposal});
  }
  // A reshard to what an op wants runs as often as the most frequent of those
  // that want it.
  auto countOf = [&](const Proposal *wanted) {
    int64_t count = 0;
    for (const Proposal &proposal : proposals) {
      if (proposal.dims != wanted->dims)
        continue;
      const Node &node = nodes[proposal.node];
      for (auto [t, valueClass] : llvm::enumerate(getTensors(node)))
        if (valueClass == int32_t(id))
          count = std::max(count, getCount(node, t));
    }
    return count;
  };
  for (const Choice &other : choices) {
    int64_t count = countOf(other.proposal);
    for (Choice &choice : choices)
      choice.seconds += count * table.getSeconds(choice.layout, other.layout, classes[id].type);
  }
  llvm::sort(choices, [&](const Choice &a, const Choice &b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : dimsOf(a.proposal) < dimsOf(b.proposal);
  });
  bool changed = false;
  for (const Choice &choice : choices)
    changed |= update(id, extend(id, choice.proposal->dims), *choice.proposal);
  if (changed)
    touchAround(id);
}
