//===- SearchSpace.cpp - What automatic sharding chooses from -------------===//

#include "shardkit/AutoSharding/SearchSpace.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/PaddingNeeds.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// All ways to cut a row of places (dims, factors) by parts of a mesh, each used once
/// at most.
class Assignments {
public:
  /// `fits(place, entries)`: whether a place may be cut so; what does not fit does not
  /// with more behind it. `getExtra(place)`: other lists that it may be cut by.
  Assignments(const Mesh &mesh, ArrayRef<DimEntry> cuts, SmallVector<DimEntries, 8> start,
              llvm::function_ref<bool(unsigned, ArrayRef<DimEntry>)> fits,
              llvm::function_ref<ArrayRef<DimEntries>(unsigned)> getExtra,
              llvm::function_ref<void(ArrayRef<DimEntries>)> visit)
      : mesh(mesh), cuts(cuts), current(std::move(start)), used(cuts.size(), false), fits(fits), getExtra(getExtra),
        visit(visit) {
    for (const DimEntries &entries : current)
      markUsed(entries);
  }

  void markUsed(ArrayRef<DimEntry> entries) {
    for (auto [i, cut] : llvm::enumerate(cuts))
      used[i] = used[i] || overlaps(cut, entries, mesh);
  }

  void run() { cut(0); }

private:
  void cut(unsigned place) {
    if (place == current.size())
      return visit(current);
    append(place);
    for (const DimEntries &extra : getExtra(place)) {
      bool clashes = llvm::any_of(current, [&](const DimEntries &other) { return overlaps(other, extra, mesh); });
      if (clashes)
        continue;
      SmallVector<bool> before = used;
      DimEntries empty = std::exchange(current[place], extra);
      markUsed(extra);
      cut(place + 1);
      current[place] = std::move(empty);
      used = std::move(before);
    }
  }

  void append(unsigned place) {
    cut(place + 1);
    for (unsigned i = 0; i < cuts.size(); ++i) {
      if (used[i])
        continue;
      current[place].push_back(cuts[i]);
      if (fits(place, current[place])) {
        used[i] = true;
        append(place);
        used[i] = false;
      }
      current[place].pop_back();
    }
  }

  const Mesh &mesh;
  ArrayRef<DimEntry> cuts;
  SmallVector<DimEntries, 8> current;
  SmallVector<bool> used;
  llvm::function_ref<bool(unsigned, ArrayRef<DimEntry>)> fits;
  llvm::function_ref<ArrayRef<DimEntries>(unsigned)> getExtra;
  llvm::function_ref<void(ArrayRef<DimEntries>)> visit;
};

} // namespace

SearchSpace::SearchSpace(LayoutTable &table, bool allSubAxes)
    : table(table), mesh(table.getMesh()), allSubAxes(allSubAxes) {
  for (auto [a, axis] : llvm::enumerate(mesh.axes)) {
    if (axis.size == 1)
      continue;
    axes.push_back({int32_t(a), 1, axis.size});
    int64_t pre = 1;
    for (int64_t rest = axis.size, p = 2; rest > 1; ++p)
      for (; rest % p == 0; rest /= p, pre *= p)
        parts.push_back({int32_t(a), pre, p});
  }
}

const std::vector<LayoutId> &SearchSpace::getLayouts(RankedTensorType type, const Sharding &given) {
  SmallVector<int64_t, 32> key(type.getShape());
  appendKey(given, key);
  auto [found, isNew] = layouts.try_emplace(key);
  std::vector<LayoutId> &list = found;
  if (!isNew)
    return list;
  if (hasNoElements(type))
    return list = {table.getReplicated(type.getRank())}, list;
  SmallVector<DimEntries, 8> start;
  for (const DimSharding &dim : given.dims)
    start.push_back(canonicalize(dim.entries));
  auto fits = [&](unsigned d, ArrayRef<DimEntry> entries) {
    return given.dims[d].open && !type.isDynamicDim(d) && divides(entries, type.getDimSize(d));
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
  Assignments assignments(mesh, allSubAxes ? parts : axes, std::move(start), fits, getExtra, visit);
  assignments.markUsed(given.replicated);
  assignments.run();
  return list;
}

std::vector<FactorAxes> SearchSpace::getStrategies(const ShardingRule &rule, const ExtraCuts &extra,
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
  auto collect = [&](ArrayRef<DimEntry> cuts) {
    Assignments assignments(mesh, cuts, SmallVector<DimEntries, 8>(rule.numFactors()), fits, getExtra, visit);
    assignments.markUsed(manual);
    assignments.run();
  };
  collect(allSubAxes ? parts : axes);
  if (!rule.isContraction)
    return strategies;
  // An axis that divides no factor is used in parts.
  if (!allSubAxes && *llvm::max_element(spreads) < mesh.numDevices()) {
    DimEntries cuts;
    for (const DimEntry &axis : axes) {
      bool dividesAny = llvm::any_of(rule.getFactors(), [&](const Factor &factor) {
        return factor.kind != FactorKind::Replicated && !ShapedType::isDynamic(factor.size) &&
               divides(axis, factor.size);
      });
      if (dividesAny)
        cuts.push_back(axis);
      else
        for (const DimEntry &part : parts)
          if (part.axis == axis.axis)
            cuts.push_back(part);
    }
    if (cuts != axes)
      collect(cuts);
  }
  if (recompute)
    return strategies;
  int64_t most = *llvm::max_element(spreads);
  std::vector<FactorAxes> widest;
  for (auto [axes, spread] : llvm::zip(strategies, spreads))
    if (spread == most)
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
