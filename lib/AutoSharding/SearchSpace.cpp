//===- SearchSpace.cpp - Candidates of automatic sharding -----------------===//

#include "shardkit/AutoSharding/SearchSpace.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/PaddingNeeds.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// All assignments of candidate (sub-)axes, each used at most once, to a row of slots (dims or factors).
class Assignments {
public:
  /// `fits(slot, entries)`: whether the entries may shard the slot; if not, no extension of them may.
  /// `getExtra(slot)`: further lists that may shard it.
  Assignments(const Mesh &mesh, ArrayRef<DimEntry> candidates, SmallVector<DimEntries, 8> start,
              llvm::function_ref<bool(unsigned, ArrayRef<DimEntry>)> fits,
              llvm::function_ref<ArrayRef<DimEntries>(unsigned)> getExtra,
              llvm::function_ref<void(ArrayRef<DimEntries>)> visit)
      : mesh(mesh), candidates(candidates), current(std::move(start)), used(candidates.size(), false), fits(fits),
        getExtra(getExtra), visit(visit) {
    for (const DimEntries &entries : current)
      markUsed(entries);
  }

  void markUsed(ArrayRef<DimEntry> entries) {
    for (auto [i, candidate] : llvm::enumerate(candidates))
      used[i] = used[i] || overlaps(candidate, entries, mesh);
  }

  void run() { assign(0); }

private:
  void assign(unsigned slot) {
    if (slot == current.size())
      return visit(current);
    append(slot);
    for (const DimEntries &extra : getExtra(slot)) {
      bool clashes = llvm::any_of(current, [&](const DimEntries &other) { return overlaps(other, extra, mesh); });
      if (clashes)
        continue;
      SmallVector<bool> before = used;
      DimEntries empty = std::exchange(current[slot], extra);
      markUsed(extra);
      assign(slot + 1);
      current[slot] = std::move(empty);
      used = std::move(before);
    }
  }

  void append(unsigned slot) {
    assign(slot + 1);
    for (unsigned i = 0; i < candidates.size(); ++i) {
      if (used[i])
        continue;
      current[slot].push_back(candidates[i]);
      if (fits(slot, current[slot])) {
        used[i] = true;
        append(slot);
        used[i] = false;
      }
      current[slot].pop_back();
    }
  }

  const Mesh &mesh;
  ArrayRef<DimEntry> candidates;
  SmallVector<DimEntries, 8> current;
  SmallVector<bool> used;
  llvm::function_ref<bool(unsigned, ArrayRef<DimEntry>)> fits;
  llvm::function_ref<ArrayRef<DimEntries>(unsigned)> getExtra;
  llvm::function_ref<void(ArrayRef<DimEntries>)> visit;
};

} // namespace

SearchSpace::SearchSpace(LayoutTable &table, ArrayRef<DimEntry> fullAxes, bool allSubAxes)
    : table(table), mesh(table.getMesh()), allSubAxes(allSubAxes), axes(fullAxes) {
  for (const DimEntry &axis : axes) {
    int64_t pre = 1;
    for (int64_t rest = axis.size, p = 2; rest > 1; ++p)
      for (; rest % p == 0; rest /= p, pre *= p)
        primeSubAxes.push_back({axis.axis, pre, p});
  }
}

const std::vector<LayoutId> &SearchSpace::getLayouts(RankedTensorType type, const Sharding &userSharding) {
  SmallVector<int64_t, 32> key(type.getShape());
  appendKey(userSharding, key);
  auto [found, isNew] = layouts.try_emplace(key);
  std::vector<LayoutId> &list = found;
  if (!isNew)
    return list;
  if (hasNoElements(type))
    return list = {table.getReplicated(type.getRank())}, list;
  SmallVector<DimEntries, 8> start;
  for (const DimSharding &dim : userSharding.dims)
    start.push_back(canonicalize(dim.entries));
  auto fits = [&](unsigned d, ArrayRef<DimEntry> entries) {
    return userSharding.dims[d].open && !type.isDynamicDim(d) && divides(entries, type.getDimSize(d));
  };
  auto getExtra = [](unsigned) { return ArrayRef<DimEntries>(); };
  llvm::SmallDenseSet<LayoutId> known;
  auto visit = [&](ArrayRef<DimEntries> dims) {
    Sharding sharding;
    for (const DimEntries &entries : dims)
      sharding.dims.push_back({entries});
    LayoutId id = table.intern(std::move(sharding));
    if (known.insert(id).second)
      list.push_back(id);
  };
  Assignments assignments(mesh, allSubAxes ? primeSubAxes : axes, std::move(start), fits, getExtra, visit);
  assignments.markUsed(userSharding.replicated);
  assignments.run();
  return list;
}

std::vector<FactorAxes> SearchSpace::getStrategies(const ShardingRule &rule, const ExtraShardings &extra,
                                                   ArrayRef<DimEntry> manual, bool recompute) const {
  std::vector<FactorAxes> strategies;
  llvm::SmallVector<int64_t> spreads;
  KeyedTable<bool> known;
  auto fits = [&](unsigned f, ArrayRef<DimEntry> entries) {
    const Factor &factor = rule.factor(f);
    return factor.kind != FactorKind::Replicated && !ShapedType::isDynamic(factor.size) &&
           divides(entries, factor.size) && canShard(factor, canonicalize(entries), mesh);
  };
  auto getExtra = [&](unsigned f) { return ArrayRef<DimEntries>(extra[f]); };
  auto visit = [&](ArrayRef<DimEntries> factors) {
    FactorAxes axes;
    SmallVector<int64_t, 32> key;
    int64_t spread = 1;
    for (const DimEntries &entries : factors) {
      axes.push_back(canonicalize(entries));
      spread *= deviceFactor(entries);
      key.push_back(axes.back().size());
      for (const DimEntry &entry : axes.back())
        key.append({entry.axis, entry.pre, entry.size});
    }
    if (!known.try_emplace(key, true).second)
      return;
    strategies.push_back(std::move(axes));
    spreads.push_back(spread);
  };
  auto collect = [&](ArrayRef<DimEntry> candidates) {
    Assignments assignments(mesh, candidates, SmallVector<DimEntries, 8>(rule.numFactors()), fits, getExtra, visit);
    assignments.markUsed(manual);
    assignments.run();
  };
  collect(allSubAxes ? primeSubAxes : axes);
  if (!rule.isContraction)
    return strategies;
  // An axis that divides no factor is split into sub-axes.
  if (!allSubAxes && *llvm::max_element(spreads) < mesh.numDevices()) {
    DimEntries candidates;
    for (const DimEntry &axis : axes) {
      bool dividesAny = llvm::any_of(rule.getFactors(), [&](const Factor &factor) {
        return factor.kind != FactorKind::Replicated && !ShapedType::isDynamic(factor.size) &&
               divides(axis, factor.size);
      });
      if (dividesAny)
        candidates.push_back(axis);
      else
        for (const DimEntry &subAxis : primeSubAxes)
          if (subAxis.axis == axis.axis)
            candidates.push_back(subAxis);
    }
    if (candidates != axes)
      collect(candidates);
  }
  if (recompute)
    return strategies;
  int64_t maximum = *llvm::max_element(spreads);
  std::vector<FactorAxes> widest;
  for (auto [axes, spread] : llvm::zip(strategies, spreads))
    if (spread == maximum)
      widest.push_back(std::move(axes));
  return widest;
}

int64_t SearchSpace::getLocalBytes(LayoutId id, RankedTensorType type) const {
  if (!type.hasStaticShape())
    return 0;
  auto [it, isNew] = localBytes.try_emplace({id, type}, 0);
  if (isNew)
    it->second =
        Layout::get(table.get(id), mesh, type.getShape()).numLocalElements() * getElementBytes(type.getElementType());
  return it->second;
}
