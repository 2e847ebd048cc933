//===- Propagation.cpp - Fixpoint over sharding rules ---------------------===//

#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Rules/PaddingNeeds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include <map>

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
// Building
//===----------------------------------------------------------------------===//

Propagation::ValueId Propagation::addPlace(RankedTensorType type, Sharding given) {
  for (DimSharding &dim : given.dims)
    dim.entries = canonicalize(dim.entries);
  ShardingId id = shardings.intern(std::move(given));
  values.push_back({id, id, type, 0, {}});
  return values.size() - 1;
}

Propagation::ValueId Propagation::addValue(Value value, Sharding given) {
  ValueId id = addPlace(cast<RankedTensorType>(value.getType()), std::move(given));
  ids[value] = {id, 0};
  return id;
}

void Propagation::addValue(Value value, ValueId place) { ids[value] = {place, values[place].level}; }

void Propagation::setGiven(ValueId id, Sharding given) {
  values[id].sharding = values[id].given = shardings.intern(std::move(given));
}

Propagation::NodeId Propagation::addNode(Node node, ArrayRef<int32_t> places, ArrayRef<Value> placed) {
  NodeId index = nodes.size();
  for (int32_t id : places)
    if (id >= 0 && (values[id].nodes.empty() || values[id].nodes.back() != index))
      values[id].nodes.push_back(index);
  node.manual = manual;
  node.firstTensor = tensors.size();
  tensors.insert(tensors.end(), places.begin(), places.end());
  tensorValues.insert(tensorValues.end(), placed.begin(), placed.end());
  nodes.push_back(node);
  return index;
}

void Propagation::setManualAxes(ArrayRef<DimEntry> axes) {
  auto it = llvm::find_if(manualLists, [&](const DimEntries &list) { return ArrayRef(list) == axes; });
  manual = it - manualLists.begin();
  if (it == manualLists.end())
    manualLists.emplace_back(axes);
}

int64_t Propagation::countExecutions(Block *block) {
  if (block != lastCount.first)
    lastCount = {block, spmd::countExecutions(block, options.tripCount)};
  return lastCount.second * partExecutions;
}

/// True for a result that is accumulated over microbatches as it is: it is completed
/// once, behind the last of them.
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

unsigned Propagation::internCounts(ArrayRef<int64_t> counts) {
  if (llvm::all_of(counts, [](int64_t count) { return count == 1; }))
    return 0;
  auto it = llvm::find_if(countLists, [&](const auto &list) { return list == counts; });
  if (it == countLists.end())
    it = countLists.insert(it, SmallVector<int64_t, 4>(counts));
  return it - countLists.begin();
}

Propagation::NodeId Propagation::addOp(Operation *op, ShardingRule rule) {
  Node node{op, nullptr, 0, 1, Flow::Both};
  SmallVector<int32_t, 8> places;
  SmallVector<Value, 8> placed;
  bool reduces = rule.isContraction ||
                 llvm::any_of(rule.getFactors(), [](const Factor &f) { return f.kind == FactorKind::Reduction; });
  if (reduces)
    node.stage[0] = node.stage[1] = kContractions;
  // A reshard of an operand stands beside the value; of a result, beside the op.
  SmallVector<int64_t, 8> counts;
  for (const ShardingRule::Tensor &tensor : rule.operands())
    counts.push_back(countExecutions(Value(tensor.value).getParentBlock()));
  int64_t resultCount = countExecutions(op->getBlock());
  if (partExecutions > 1 && isAccumulated(op)) {
    resultCount /= partExecutions;
    if (isa<StageOutputOp>(op))
      counts.assign(counts.size(), resultCount);
  }
  counts.append(rule.numResults(), resultCount);
  node.counts = internCounts(counts);
  // A factor of a result that no operand has is new: a broadcast.
  SmallVector<bool, 8> read(rule.numFactors(), false);
  for (const ShardingRule::Tensor &tensor : rule.operands()) {
    auto it = ids.find(tensor.value);
    placed.push_back(tensor.value);
    places.push_back(it == ids.end() ? -1 : int32_t(it->second.id));
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
    placed.push_back(tensor.value);
    places.push_back(it == ids.end() ? -1 : int32_t(it->second.id));
    if (it == ids.end())
      continue;
    it->second.level = node.level;
    values[it->second.id].level = node.level;
  }
  node.isOwnRule = !isa<CallOpInterface>(op);
  hasWindows |= rule.hasWindows();
  node.rule = rules.intern(std::move(rule));
  return addNode(node, places, placed);
}

Propagation::NodeId Propagation::addIdentity(Operation *op, Value from, ValueId to, Value defined, Flow flow) {
  auto [source, level] = ids.lookup(from);
  return addIdentity(op, from, source, level, from.getParentBlock(), to, defined, flow);
}

Propagation::NodeId Propagation::addIdentity(Operation *op, Value value, ValueId from, unsigned level, Block *block,
                                             ValueId to, Value defined, Flow flow) {
  ShardingRule rule;
  ArrayRef<int64_t> sizes[2] = {values[from].type.getShape(), values[to].type.getShape()};
  SmallVector<SmallVector<int32_t, 2>> dims[2];
  // What goes into and comes out of local view is cut evenly.
  bool isManual = isa<ManualComputationOp>(op) || isa_and_present<ManualComputationOp>(op->getParentOp());
  for (auto [a, b] : llvm::zip(sizes[0], sizes[1])) {
    bool dynamic = ShapedType::isDynamic(a);
    // Whether manual axes cut it is not seen from its size.
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
  rule.addOperand(Value()).type = values[from].type;
  for (const auto &factors : dims[0])
    rule.addDim(factors);
  rule.addResult(Value()).type = values[to].type;
  for (const auto &factors : dims[1])
    rule.addDim(factors);
  Node node{op, rules.intern(std::move(rule)), 0, level + 1, flow};
  node.handsOn = true;
  if (auto it = ids.find(defined); defined && it != ids.end())
    it->second.level = std::max(it->second.level, node.level);
  node.counts = internCounts(SmallVector<int64_t, 2>(2, countExecutions(block)));
  values[to].level = std::max(values[to].level, node.level);
  return addNode(node, {int32_t(from), int32_t(to)}, {value, defined});
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

void Propagation::touchAround(ValueId place) {
  for (NodeId node : values[place].nodes)
    touch(node);
}

void Propagation::run() {
  unsigned levels = 1;
  for (const Node &node : nodes)
    levels = std::max(levels, node.level + 1);
  for (const Place &place : values)
    levels = std::max(levels, place.level + 1);
  for (bool backward : {false, true}) {
    dirtyAt[backward].resize(levels);
    dirtyLevels[backward].resize(levels);
  }
  // Per priority the places that have something to say then.
  std::map<int64_t, SmallVector<ValueId>> rounds;
  for (ValueId id = 0; id < values.size(); ++id)
    for (auto [d, dim] : llvm::enumerate(get(id).dims))
      if (dim.priority != 0 || !dim.entries.empty()) {
        rounds[dim.priority].push_back(id);
        hasUneven |= !divides(dim.entries, values[id].type.getDimSize(d));
      }
  if (hasUneven || hasWindows)
    markUneven();

  for (const auto &[current, places] : rounds) {
    priority = current;
    suggestions.clear();
    for (ValueId id : places)
      touchAround(id);
    handsOnParts = false;
    for (uint8_t stage = kViews; stage < kNumStages; ++stage) {
      if (stage == kParts) {
        if (rulesWithParts.empty())
          break;
        handsOnParts = true;
        suggestions.clear();
        for (NodeId id = 0; id < nodes.size(); ++id)
          if (rulesWithParts.contains(nodes[id].rule))
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
    if (!node.isOwnRule)
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
    llvm::sort(list, [](const Proposal &a, const Proposal &b) { return a.place < b.place; });
    while (!list.empty()) {
      ValueId place = list.front().place;
      size_t count = llvm::find_if(list, [&](const Proposal &p) { return p.place != place; }) - list.begin();
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
          unsigned level = values[proposal.place].level;
          // A place shared by values of several levels may stand higher.
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
// What an op does with the shardings of its tensors
//===----------------------------------------------------------------------===//

namespace {
/// Longest list that both begin with.
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

/// Cuts each of two lists before the first axis that the other has as well.
void dropCommonAxes(DimEntries &a, DimEntries &b, const Mesh &mesh) {
  DimEntries whole = a;
  while (overlaps(a, b, mesh))
    a.pop_back();
  while (overlaps(b, whole, mesh))
    b.pop_back();
}

/// What several agree on may be a part of each that leaves a rest: nobody asked
/// for that.
void dropRest(DimEntries &entries, int64_t size) {
  if (!divides(entries, size))
    entries.clear();
}
} // namespace

/// True if more of a dim that was split into `parts` would fit the factors if axes
/// that are neighbours on the dim and on the mesh were one axis.
///   {"x", "y"} x=2, y=3, factors [3, 4]: as one axis of 6 it is [3, 2]
static bool fitsBetterJoined(ArrayRef<DimEntry> entries, ArrayRef<int64_t> sizes, ArrayRef<DimEntries> parts,
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
  auto countDevices = [](ArrayRef<DimEntries> parts) {
    int64_t count = 1;
    for (const DimEntries &part : parts)
      count *= deviceFactor(part);
    return count;
  };
  return countDevices(splitDim(joined, sizes)) > countDevices(parts);
}

FactorAxes Propagation::choose(const Node &node, bool *agreement) {
  const ShardingRule &rule = *node.rule;
  FactorAxes chosen(rule.numFactors());
  bool agreed = true;
  SmallVector<bool, 8> asked(rule.numFactors(), false);
  auto offer = [&](int32_t f, ArrayRef<DimEntry> given) {
    if (given.empty() || rule.factor(f).kind == FactorKind::Replicated)
      return;
    DimEntries entries = canonicalize(given);
    if (entries.empty() || !canShard(rule.factor(f), entries, mesh))
      return;
    if (!asked[f] || isRefinement(chosen[f], entries)) {
      chosen[f] = std::move(entries);
    } else if (!isRefinement(entries, chosen[f])) {
      agreed = false;
      chosen[f] = getCommonPrefix(entries, chosen[f]);
      dropRest(chosen[f], rule.factor(f).size);
    }
    asked[f] = true;
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
      SmallVector<DimEntries> parts = splitDim(dim.entries, sizes, &fits);
      needsFlatMesh |= !fits && fitsBetterJoined(dim.entries, sizes, parts, mesh);
      if (!fits)
        rulesWithParts.insert(&rule);
      if (fits || handsOnParts)
        for (auto [f, part] : llvm::zip(factors, parts))
          offer(f, part);
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
    layouts.back().type = values[id].type;
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

bool Propagation::mustEndAtGap(const Node &node, unsigned t, unsigned d) const {
  if (options.stridedShardings == StridedShardings::Allow)
    return false;
  if (options.stridedShardings == StridedShardings::ForbidAtBoundary)
    return getTensors(node)[t] >= 0 && values[getTensors(node)[t]].boundary;
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

/// Cuts a list before its first gap; gaps that `given` has already stay.
static void endAtGap(DimEntries &entries, ArrayRef<DimEntry> given) {
  for (size_t i = given.size(); i < entries.size(); ++i)
    if (entries[i].isStride())
      return entries.truncate(i);
}

SmallVector<Propagation::Suggestion, 2> Propagation::getSuggestions(const Node &node, bool backward) {
  const ShardingRule &rule = *node.rule;
  ArrayRef<int32_t> places = getTensors(node);
  unsigned first = backward ? 0 : rule.numOperands();
  unsigned last = backward ? rule.numOperands() : places.size();
  auto canTake = [&](unsigned t) { return places[t] >= 0 && isOpen(values[places[t]].sharding); };
  SmallVector<Suggestion, 2> result;
  bool any = false;
  for (unsigned t = first; t < last; ++t)
    any |= canTake(t);
  if (!any)
    return result;
  FactorAxes chosen = choose(node);
  SmallVector<int64_t> sizes;
  SmallVector<DimEntries> parts;
  for (unsigned t = first; t < last; ++t) {
    if (!canTake(t))
      continue;
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    Dims dims(tensor.numDims);
    bool news = false;
    for (unsigned d = 0; d < tensor.numDims; ++d) {
      ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
      DimEntries &entries = dims[d];
      if (factors.size() == 1) {
        entries = chosen[factors.front()];
        if (rule.getWindow(tensor, d) && !canShardWindows(entries, values[places[t]].type.getDimSize(d)))
          entries.clear();
      } else if (!factors.empty()) {
        sizes.clear();
        parts.clear();
        for (int32_t f : factors) {
          sizes.push_back(rule.factor(f).size);
          parts.push_back(chosen[f]);
        }
        entries = joinDim(parts, sizes);
      }
      const DimSharding &dim = get(places[t]).dims[d];
      if (options.stridedShardings == StridedShardings::Forbid && mustEndAtGap(node, t, d))
        endAtGap(entries, dim.entries);
      news |= dim.open && !entries.empty() && entries != dim.entries && isRefinement(dim.entries, entries);
    }
    if (news)
      result.push_back({t, intern(std::move(dims))});
  }
  return result;
}

void Propagation::propose(NodeId id, bool backward, std::vector<Proposal> &proposals) {
  const Node &node = nodes[id];
  // Ops of equal rules with equal shardings propose the same.
  SmallVector<int64_t, 8> key{int64_t(reinterpret_cast<uintptr_t>(node.rule)), backward, int64_t(node.counts)};
  ArrayRef<int32_t> places = getTensors(node);
  for (int32_t place : places)
    key.push_back(place < 0 ? -1 : int64_t(values[place].sharding));
  auto [known, isNew] = suggestions.try_emplace(key);
  if (isNew)
    known = getSuggestions(node, backward);
  for (const Suggestion &suggestion : known)
    proposals.push_back({ValueId(places[suggestion.tensor]), id, suggestion.dims});
}

//===----------------------------------------------------------------------===//
// What a place takes
//===----------------------------------------------------------------------===//

ShardingId Propagation::extend(ValueId id, DimsId dims) {
  const Place &place = values[id];
  if (options.stridedShardings == StridedShardings::ForbidAtBoundary && place.boundary)
    return shardings.intern(
        extend(shardings.get(place.sharding), shardings.get(place.given), place.type, dimLists[dims], /*noGaps=*/true));
  auto [it, isNew] = extended.try_emplace({{place.sharding, place.given}, dims, place.type}, 0);
  if (isNew)
    it->second = shardings.intern(extend(shardings.get(place.sharding), shardings.get(place.given), place.type,
                                         dimLists[dims], /*noGaps=*/false));
  return it->second;
}

/// The major part of an axis that dim `d` may take: what other dims have, what
/// must not be used and what the value is partial over stops it.
///   "x" of 4, the value has    | part
///   nothing                    | "x"
///   replicated = {"x":(2)2}    | "x":(1)2
///   "x":(1)2 on another dim    | none (size 1)
DimEntry Propagation::getFreePart(const Sharding &sharding, unsigned d, DimEntry entry) const {
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

Sharding Propagation::extend(const Sharding &from, const Sharding &given, RankedTensorType type,
                             ArrayRef<DimEntries> dims, bool noGaps) const {
  Sharding sharding = from;
  for (auto [d, list] : llvm::enumerate(dims)) {
    DimSharding &dim = sharding.dims[d];
    DimEntries wanted = list;
    if (noGaps)
      endAtGap(wanted, dim.entries);
    auto mayBecome = [&](ArrayRef<DimEntry> entries) {
      return isRefinement(dim.entries, entries) && isPrefix(given.dims[d].entries, entries);
    };
    if (!dim.open || wanted.empty() || !mayBecome(wanted))
      continue;
    // The longest part that this place can take; what leaves a rest, whole.
    bool uneven = !divides(wanted, type.getDimSize(d));
    DimEntries taken;
    int64_t total = 1;
    for (const DimEntry &entry : wanted) {
      DimEntry part = getFreePart(sharding, d, entry);
      total *= part.size;
      if ((part.size == 1 && entry.size != 1) || (!uneven && !type.isDynamicDim(d) && type.getDimSize(d) % total != 0))
        break;
      taken.push_back(part);
      if (part.size != entry.size)
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

bool Propagation::update(ValueId id, ShardingId sharding, ArrayRef<Proposal> proposals) {
  if (values[id].sharding == sharding)
    return false;
  if (recording)
    for (auto [d, dim] : llvm::enumerate(shardings.get(sharding).dims)) {
      if (dim.entries == get(id).dims[d].entries)
        continue;
      const Proposal *source = llvm::find_if(
          proposals, [&](const Proposal &proposal) { return isRefinement(dim.entries, dimLists[proposal.dims][d]); });
      extensions.push_back(
          {id, unsigned(d), dim.entries, (source == proposals.end() ? proposals.begin() : source)->node});
    }
  values[id].sharding = sharding;
  return true;
}

void Propagation::resolve(MutableArrayRef<Proposal> proposals, bool backward) {
  ValueId id = proposals.front().place;
  if (proposals.size() == 1) {
    // The op that proposed it has nothing new to say in this direction.
    NodeId proposer = proposals.front().node;
    if (update(id, extend(id, proposals.front().dims), proposals))
      for (NodeId node : values[id].nodes)
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

  // What all agree on: per dim the longest list, where the others are prefixes.
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
        dropRest(entries, values[id].type.getDimSize(d));
  if (agreed || options.conflicts == Conflicts::Basic)
    return take(intern(std::move(merged)));

  // The layout that costs least to bring to what the others want; then what
  // goes with it, in the same order.
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
      for (auto [t, place] : llvm::enumerate(getTensors(node)))
        if (place == int32_t(id))
          count = std::max(count, getCount(node, t));
    }
    return count;
  };
  for (const Choice &other : choices) {
    int64_t count = countOf(other.proposal);
    for (Choice &choice : choices)
      choice.seconds += count * table.getSeconds(choice.layout, other.layout, values[id].type);
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
