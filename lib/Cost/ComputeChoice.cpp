//===- ComputeChoice.cpp - Axes of the factors of an op -------------------===//

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Rules/PaddingNeeds.h"

using namespace mlir;
using namespace mlir::spmd;

Sharding spmd::getTensorSharding(const ShardingRule &rule, unsigned t, const FactorAxes &axes) {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  Sharding sharding;
  sharding.dims.resize(tensor.numDims);
  SmallVector<int64_t> sizes;
  SmallVector<DimEntries> perFactor;
  for (unsigned d = 0; d < tensor.numDims; ++d) {
    ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
    if (factors.size() == 1) {
      sharding.dims[d].entries = axes[factors.front()];
      continue;
    }
    sizes.clear();
    perFactor.clear();
    for (int32_t f : factors) {
      sizes.push_back(rule.factor(f).size);
      perFactor.push_back(axes[f]);
    }
    if (!factors.empty())
      sharding.dims[d].entries = joinDim(perFactor, sizes);
  }
  bool isResult = t >= rule.numOperands();
  bool isInit = !isResult && tensor.role == OperandRole::Init;
  if (!isResult && !isInit)
    return sharding;
  const ShardingRule::Tensor &result = isResult ? tensor : rule.results()[tensor.result];
  // Combining the init once per shard is correct for max and other idempotent reductions.
  if (isInit && isIdempotent(result.reduction))
    return sharding;
  for (unsigned f = 0; f < rule.numFactors(); ++f)
    if (rule.isPartial(result, f))
      for (const DimEntry &entry : axes[f])
        if (!entry.isStride())
          sharding.unreduced.push_back(entry);
  llvm::sort(sharding.unreduced);
  sharding.unreducedKind = result.reduction;
  return sharding;
}

LayoutId spmd::getNeededLayout(const ShardingRule &rule, unsigned t, const FactorAxes &axes, LayoutId has,
                               RankedTensorType type, LayoutTable &table) {
  Sharding full = getTensorSharding(rule, t, axes);
  Sharding needed = full;
  DimEntries present; // axes of all dims
  for (const DimSharding &dim : table.get(has).dims)
    llvm::append_range(present, llvm::make_filter_range(dim.entries, [](const DimEntry &e) { return !e.isStride(); }));
  bool isMoved = false;
  for (auto [d, dim] : llvm::enumerate(needed.dims)) {
    if (!rule.getWindow(rule.tensor(t), d) || !table.get(has).dims[d].entries.empty())
      continue;
    isMoved |= overlaps(dim.entries, present, table.getMesh());
    dim.entries.clear();
  }
  LayoutId result = table.intern(std::move(needed));
  if (!isMoved)
    return result;
  LayoutId moved = table.intern(std::move(full));
  SmallVector<UnevenDim, 1> windows = getWindows(rule, t, axes, table.getMesh());
  auto getSeconds = [&](LayoutId id) { return table.getSeconds(has, id, type) + table.getSeconds(id, windows, type); };
  return getSeconds(moved) < getSeconds(result) ? moved : result;
}

SmallVector<UnevenDim, 1> spmd::getWindows(const ShardingRule &rule, unsigned t, const FactorAxes &axes,
                                           const Mesh &mesh) {
  SmallVector<UnevenDim, 1> windows;
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  for (unsigned d = 0; d < tensor.numDims; ++d) {
    const DimWindow *window = rule.getWindow(tensor, d);
    if (!window)
      continue;
    int32_t f = rule.dimFactors(tensor, d).front();
    if (axes[f].empty())
      continue;
    UnevenDim &uneven = windows.emplace_back();
    uneven.dim = d;
    for (const DimEntry &entry : axes[f])
      if (!entry.isStride())
        uneven.ranks.push_back(getRankDigit(entry, mesh));
    uneven.window = window->ofChunk(llvm::divideCeil(rule.factor(f).size, uneven.count()), uneven.count());
  }
  return windows;
}

unsigned spmd::getTensorOfExchange(const ShardingRule &rule, unsigned t) {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  for (unsigned d = 0; d < tensor.numDims; ++d)
    if (rule.getWindow(tensor, d) && rule.factor(rule.dimFactors(tensor, d).front()).kind == FactorKind::Indexed)
      return rule.numOperands();
  return t;
}

std::optional<DimEntries> spmd::projectFactor(const ShardingRule &rule, unsigned t, int32_t f,
                                              const Sharding &sharding) {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  for (unsigned d = 0; d < tensor.numDims; ++d) {
    ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
    if (!llvm::is_contained(factors, f))
      continue;
    if (factors.size() == 1)
      return canonicalize(sharding.dims[d].entries);
    SmallVector<int64_t> sizes;
    for (int32_t g : factors)
      sizes.push_back(rule.factor(g).size);
    return splitDim(sharding.dims[d].entries, sizes)[llvm::find(factors, f) - factors.begin()];
  }
  return std::nullopt;
}

int64_t spmd::getNumDevices(const FactorAxes &axes) {
  int64_t devices = 1;
  for (const DimEntries &entries : axes)
    devices *= deviceFactor(entries);
  return devices;
}

double spmd::getPickSeconds(const ShardingRule &rule, const FactorAxes &axes, LayoutTable &table) {
  double seconds = 0;
  for (auto [f, factor] : llvm::enumerate(rule.getFactors())) {
    if (factor.kind != FactorKind::Selection || axes[f].empty())
      continue;
    for (unsigned t = rule.numOperands(); t < rule.numOperands() + rule.numResults(); ++t) {
      RankedTensorType type = rule.tensor(t).type;
      Sharding from = getTensorSharding(rule, t, axes);
      from.dims.insert(from.dims.begin(), DimSharding());
      Sharding to = from;
      from.dims.front().entries = axes[f];
      SmallVector<int64_t> shape(type.getShape());
      shape.insert(shape.begin(), deviceFactor(axes[f]));
      seconds += table.getSeconds(table.intern(std::move(from)), table.intern(std::move(to)), type.clone(shape));
    }
  }
  return seconds;
}

DimEntries spmd::findFactorAxes(const ShardingRule &rule, int32_t f,
                                llvm::function_ref<const Sharding *(Value)> getSharding) {
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t)
    if (const Sharding *sharding = getSharding(rule.tensor(t).value))
      if (auto entries = projectFactor(rule, t, f, *sharding); entries && !entries->empty())
        return std::move(*entries);
  return {};
}

/// True if a tensor in `layout` becomes `wanted` by taking axes on open dims.
static bool isExtension(const Sharding &layout, const Sharding &wanted, uint64_t openDims) {
  if (!layout.unreduced.empty() || !wanted.unreduced.empty())
    return false;
  for (auto [d, dims] : llvm::enumerate(llvm::zip(layout.dims, wanted.dims))) {
    auto &[have, want] = dims;
    bool open = d < 64 && (openDims >> d & 1);
    if (have.entries != want.entries && !(open && isRefinement(have.entries, want.entries)))
      return false;
  }
  return true;
}

double spmd::getReshardSeconds(const ShardingRule &rule, ArrayRef<TensorLayout> tensors, const FactorAxes &axes,
                               LayoutTable &table) {
  // Results of one op run alike.
  double seconds = rule.numResults() == 0 ? 0 : tensors[rule.numOperands()].count * getPickSeconds(rule, axes, table);
  for (auto [t, tensor] : llvm::enumerate(tensors)) {
    if (!tensor.type)
      continue;
    LayoutId layout = table.intern(getTensorSharding(rule, t, axes));
    bool isResult = t >= rule.numOperands();
    if (isResult) { // completed first; then open dims may be extended for free
      LayoutId complete = table.getComplete(layout);
      if (!tensor.layout || isExtension(table.get(*tensor.layout), table.get(complete), tensor.openDims))
        seconds += tensor.count * table.getSeconds(layout, complete, tensor.type);
      else
        seconds += tensor.count * table.getSeconds(layout, *tensor.layout, tensor.type);
    } else if (tensor.layout) {
      SmallVector<UnevenDim, 1> windows;
      if (rule.hasWindows()) {
        layout = getNeededLayout(rule, t, axes, *tensor.layout, tensor.type, table);
        windows = getWindows(rule, t, axes, table.getMesh());
      }
      if (!isExtension(table.get(*tensor.layout), table.get(layout), tensor.openDims))
        seconds += tensor.count * table.getSeconds(*tensor.layout, layout, tensor.type);
      if (!windows.empty())
        seconds += tensors[getTensorOfExchange(rule, t)].count * table.getSeconds(layout, windows, tensor.type);
    }
  }
  return seconds;
}

namespace {

/// Enumerates the assignments: one candidate per factor, no (sub-)axis twice.
///
///   matmul i, k, j with %a [{"x"}, {}] and %b [{}, {"x"}]: candidates {"x"} or none for i and for
///   j; of the assignments i={"x"}, j={"x"} and none, the one with the cheapest reshards is chosen
class Search {
public:
  Search(const ShardingRule &rule, ArrayRef<TensorLayout> tensors, LayoutTable &table)
      : rule(rule), tensors(tensors), table(table), current(rule.numFactors()) {}

  FactorAxes run();

private:
  /// Collects the candidates of each factor from the tensors. A factor with several candidates may also stay unsharded.
  void collect();
  void offer(int32_t f, const DimEntries &entries);
  bool hasOverlap() const;

  bool isSettled() const {
    return llvm::all_of(candidates, [](const auto &list) { return list.size() == 1; });
  }

  /// Keeps the product of the choices bounded: ops with very many disagreeing
  /// factors keep two candidates each, then one.
  void limit();
  bool clashes(ArrayRef<DimEntry> entries, unsigned upTo) const;
  void enumerate(unsigned f);
  void evaluate();

  const ShardingRule &rule;
  ArrayRef<TensorLayout> tensors;
  LayoutTable &table;
  SmallVector<SmallVector<DimEntries, 2>, 8> candidates;
  FactorAxes current, best;
  bool found = false;
  double bestSeconds = 0;
  int64_t bestSpread = 0;
};

} // namespace

FactorAxes Search::run() {
  collect();
  if (isSettled()) {
    for (auto [f, list] : llvm::enumerate(candidates))
      current[f] = list.front();
    return current;
  }
  enumerate(0);
  return best;
}

void Search::collect() {
  candidates.resize(rule.numFactors());
  for (unsigned t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].layout)
      continue;
    const Sharding &sharding = table.get(*tensors[t].layout);
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    for (unsigned d = 0; d < tensor.numDims; ++d)
      for (int32_t f : rule.dimFactors(tensor, d))
        if (rule.factor(f).kind != FactorKind::Replicated)
          if (auto entries = projectFactor(rule, t, f, sharding))
            if (canShard(rule.factor(f), *entries, table.getMesh()))
              offer(f, *entries);
  }
  for (auto &list : candidates) {
    if (list.empty())
      list.push_back({});
    if (list.size() > 1 && !llvm::is_contained(list, DimEntries()))
      list.push_back({});
    // The first of equals wins: axes on early factors, in mesh order.
    llvm::sort(list,
               [](const DimEntries &a, const DimEntries &b) { return a.empty() != b.empty() ? b.empty() : a < b; });
  }
  if (hasOverlap()) // unanimous, but on one axis twice
    for (auto &list : candidates)
      if (list.size() == 1 && !list.front().empty())
        list.push_back(DimEntries());
  // Completing a lookup may cost more than gathering the table, and gathering candidates more than the tensor.
  for (auto [f, list] : llvm::enumerate(candidates))
    if ((rule.factor(f).kind == FactorKind::Indexed || rule.factor(f).kind == FactorKind::Selection) &&
        !llvm::is_contained(list, DimEntries()))
      list.push_back(DimEntries());
  limit();
}

void Search::offer(int32_t f, const DimEntries &entries) {
  if (!llvm::is_contained(candidates[f], entries))
    candidates[f].push_back(entries);
}

bool Search::hasOverlap() const {
  DimEntries used;
  for (const auto &list : candidates)
    if (list.size() == 1)
      for (const DimEntry &entry : list.front()) {
        if (entry.isStride())
          continue;
        if (overlaps(entry, used, table.getMesh()))
          return true;
        used.push_back(entry);
      }
  return false;
}

void Search::limit() {
  for (size_t keep : {size_t(2), size_t(1)}) {
    size_t product = 1;
    for (const auto &list : candidates)
      product = std::min<size_t>(product * list.size(), 1 << 20);
    if (product <= 4096)
      return;
    for (auto &list : candidates)
      if (list.size() > keep)
        list.truncate(keep); // the empty candidate sorts last
  }
}

bool Search::clashes(ArrayRef<DimEntry> entries, unsigned upTo) const {
  for (unsigned g = 0; g < upTo; ++g)
    if (overlaps(current[g], entries, table.getMesh()))
      return true;
  return false;
}

void Search::enumerate(unsigned f) {
  if (f == candidates.size())
    return evaluate();
  bool any = false;
  for (const DimEntries &entries : candidates[f]) {
    if (clashes(entries, f))
      continue;
    any = true;
    current[f] = entries;
    enumerate(f + 1);
  }
  if (!any) {
    current[f] = {};
    enumerate(f + 1);
  }
}

void Search::evaluate() {
  int64_t spread = 1;
  for (const DimEntries &entries : current)
    spread *= deviceFactor(entries);
  double seconds = getReshardSeconds(rule, tensors, current, table);
  bool better;
  if (!found)
    better = true;
  else if (rule.isContraction && spread != bestSpread)
    better = spread > bestSpread;
  else if (seconds != bestSeconds)
    better = seconds < bestSeconds;
  else
    better = spread > bestSpread;
  if (!better)
    return;
  found = true;
  best = current;
  bestSeconds = seconds;
  bestSpread = spread;
}

FactorAxes spmd::chooseCompute(const ShardingRule &rule, ArrayRef<TensorLayout> tensors, LayoutTable &table) {
  return Search(rule, tensors, table).run();
}
