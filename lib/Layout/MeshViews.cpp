//===- MeshViews.cpp - Meshes over the same devices -----------------------===//

#include "shardkit/Layout/MeshViews.h"
#include "shardkit/Layout/ReshardPlan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

//===----------------------------------------------------------------------===//
// Device orders
//===----------------------------------------------------------------------===//

/// Rank on `first` of each rank of `mesh`; empty if they are equal, std::nullopt
/// if the devices differ.
static std::optional<SmallVector<int64_t>> getOrder(const Mesh &first, const Mesh &mesh) {
  int64_t n = first.numDevices();
  if (n != mesh.numDevices())
    return std::nullopt;
  if (first.sameDevices(mesh))
    return SmallVector<int64_t>();
  llvm::DenseMap<int64_t, int64_t> rankOf;
  for (int64_t rank = 0; rank < n; ++rank)
    rankOf[first.device(rank)] = rank;
  SmallVector<int64_t> order;
  for (int64_t rank = 0; rank < n; ++rank) {
    auto it = rankOf.find(mesh.device(rank));
    if (it == rankOf.end())
      return std::nullopt;
    order.push_back(it->second);
  }
  return order;
}

/// Splits an order into digits, minor first: runs of p ranks with distance s.
static std::optional<SmallVector<RankDigit>> peel(SmallVector<int64_t> order) {
  SmallVector<RankDigit> digits;
  while (order.size() > 1) {
    int64_t p = 2, n = order.size();
    auto isDigit = [&] {
      int64_t stride = order[1] - order[0];
      for (int64_t i = 0; i < n; ++i)
        if (order[i] - order[i - i % p] != i % p * stride)
          return false;
      return stride > 0;
    };
    while (p <= n && (n % p != 0 || !isDigit()))
      ++p;
    if (p > n)
      return std::nullopt;
    digits.push_back({order[1] - order[0], p});
    for (int64_t i = 0; i * p < n; ++i)
      order[i] = order[i * p];
    order.resize(n / p);
  }
  if (order.front() != 0)
    return std::nullopt;
  return digits;
}

/// Sets the axes of a mesh between boundaries, which are ascending.
static void setAxes(Mesh &mesh, ArrayRef<int64_t> boundaries) {
  mesh.axes.clear();
  for (unsigned i = boundaries.size(); i-- > 1;)
    mesh.axes.push_back({"d" + std::to_string(boundaries.size() - 1 - i), boundaries[i] / boundaries[i - 1]});
}

/// Copies link costs to the axes of a mesh from another mesh with the same device order:
/// from the axes that contain them, or that they contain.
static void setLinkCosts(Mesh &mesh, const Mesh &from) {
  mesh.alpha.clear();
  mesh.beta.clear();
  if (from.alpha.empty() || from.beta.empty())
    return;
  for (unsigned i = 0; i < mesh.axes.size(); ++i) {
    int64_t low = mesh.axisStride(i), high = low * mesh.axes[i].size;
    double alpha = 0, beta = 0;
    for (unsigned a = 0; a < from.axes.size(); ++a)
      if (std::max(low, from.axisStride(a)) < std::min(high, from.axisStride(a) * from.axes[a].size)) {
        alpha += from.alpha[a];
        beta = std::max(beta, from.beta[a]);
      }
    mesh.alpha.push_back(alpha);
    mesh.beta.push_back(beta);
  }
}

std::optional<MeshViews> MeshViews::get(ArrayRef<const Mesh *> meshes, ShardingError &error, bool flat) {
  // 1. Express the device order of each mesh as digits of the order of the first.
  MeshViews result;
  int64_t n = meshes.front()->numDevices();
  for (const Mesh *mesh : meshes) {
    View view{mesh, {}};
    auto order = getOrder(*meshes.front(), *mesh);
    if (!order) {
      error = {"mesh_devices", "meshes @" + meshes.front()->name + " and @" + mesh->name +
                                   " have different devices, expected views of the same "
                                   "devices"};
      return std::nullopt;
    }
    auto digits = order->empty() ? std::nullopt : peel(*order);
    view.isReordered = !order->empty() && !digits;
    if (!digits) {
      view.pieces.push_back({1, 1, n});
    } else {
      int64_t stride = 1;
      for (const RankDigit &digit : *digits) {
        Piece *last = view.pieces.empty() ? nullptr : &view.pieces.back();
        if (last && digit.stride == last->common * last->size)
          last->size *= digit.size;
        else
          view.pieces.push_back({stride, digit.stride, digit.size});
        stride *= digit.size;
      }
    }
    // Axes that are no digits of the common rank.
    for (unsigned a = 0; a < mesh->axes.size() && digits; ++a)
      if (SmallVector<RankDigit> mapped;
          mesh->axes[a].size > 1 && !map({mesh->axisStride(a), mesh->axes[a].size}, view, true, mapped)) {
        view.pieces.assign({{1, 1, n}});
        view.isReordered = true;
        break;
      }
    result.views.push_back(std::move(view));
  }
  if (result.views.size() == 1 && (!flat || meshes.front()->axes.size() <= 1)) {
    result.common = *meshes.front();
    result.single = true;
    return result;
  }

  // 2. Collect the boundaries of all axes, in the order of the ranks.
  SmallVector<int64_t> boundaries;
  for (const View &view : result.views) {
    auto &strides = result.common.viewBoundaries.emplace_back();
    strides.append({1, n});
    for (unsigned a = 0; a < view.mesh->axes.size(); ++a) {
      SmallVector<RankDigit> digits;
      if (view.mesh->axes[a].size > 1 && map({view.mesh->axisStride(a), view.mesh->axes[a].size}, view, true, digits))
        for (const RankDigit &digit : digits)
          strides.append({digit.stride, digit.stride * digit.size});
    }
    boundaries.append(strides.begin(), strides.end());
  }
  llvm::sort(boundaries);
  boundaries.erase(llvm::unique(boundaries), boundaries.end());
  // 3. Keep those that divide, or are divided by, all others: the axes of the common mesh.
  SmallVector<int64_t> kept;
  for (int64_t boundary : boundaries)
    if ((!flat || boundary == 1 || boundary == n) &&
        llvm::all_of(boundaries, [&](int64_t other) { return boundary % other == 0 || other % boundary == 0; }))
      kept.push_back(boundary);
  const Mesh &first = *meshes.front();
  result.common.name = first.name;
  result.common.deviceIds = first.deviceIds;
  result.common.flops = first.flops;
  result.common.bandwidth = first.bandwidth;
  result.common.memory = first.memory;
  setAxes(result.common, kept);
  if (result.common.axes.empty())
    result.common.axes.push_back({"d0", 1});
  // 4. Copy the link costs of the first view with the same order that has some.
  for (const View &view : result.views) {
    if (view.isReordered || view.pieces.size() > 1 || view.mesh->alpha.empty() || view.mesh->beta.empty())
      continue;
    setLinkCosts(result.common, *view.mesh);
    break;
  }
  // 5. A view with all boundaries is the common mesh.
  for (const View &view : result.views)
    if (!view.isReordered && view.pieces.size() <= 1 &&
        llvm::equal(llvm::make_filter_range(view.mesh->axes, [](const MeshAxis &axis) { return axis.size > 1; }),
                    result.common.axes, [](const MeshAxis &a, const MeshAxis &b) { return a.size == b.size; })) {
      auto inside = std::move(result.common.viewBoundaries);
      result.common = *view.mesh;
      result.common.viewBoundaries = std::move(inside);
      break;
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

/// Appends the digits, major to minor, that a digit of one rank is in the other.
bool MeshViews::map(const RankDigit &digit, const View &view, bool toCommon, SmallVectorImpl<RankDigit> &out) {
  int64_t low = digit.stride, high = digit.stride * digit.size, covered = 1;
  SmallVector<Piece> pieces(view.pieces.begin(), view.pieces.end());
  llvm::sort(pieces, [&](const Piece &a, const Piece &b) { return toCommon ? a.view > b.view : a.common > b.common; });
  for (const Piece &piece : pieces) {
    int64_t start = toCommon ? piece.view : piece.common;
    int64_t other = toCommon ? piece.common : piece.view;
    int64_t end = start * piece.size;
    int64_t lo = std::max(low, start), hi = std::min(high, end);
    if (lo >= hi)
      continue;
    if (lo % start || end % hi || hi % lo || lo % low || high % hi)
      return false;
    out.push_back({other * (lo / start), hi / lo});
    covered *= hi / lo;
  }
  return covered == digit.size;
}

/// Entries of one mesh on another, with `map` from rank to rank. Strides stay.
static std::optional<DimEntries>
convertAxes(ArrayRef<DimEntry> entries, const Mesh &from, const Mesh &to,
            llvm::function_ref<bool(const RankDigit &, SmallVectorImpl<RankDigit> &)> map) {
  DimEntries result;
  SmallVector<RankDigit> run; // axes without a stride between them
  auto flush = [&] {
    SmallVector<RankDigit> mapped;
    for (const RankDigit &digit : run)
      if (!map(digit, mapped))
        return false;
    run.clear();
    for (unsigned i = 0; i < mapped.size(); ++i) {
      RankDigit digit = mapped[i];
      while (i + 1 < mapped.size() && mapped[i + 1].stride * mapped[i + 1].size == digit.stride) {
        digit.stride = mapped[++i].stride;
        digit.size *= mapped[i].size;
      }
      if (digit.size > 1 && !appendAxes(digit, to, result))
        return false;
    }
    return true;
  };
  for (const DimEntry &entry : entries) {
    if (!entry.isStride()) {
      RankDigit digit = getRankDigit(entry, from);
      if (!run.empty() && run.back().stride == digit.stride * digit.size)
        run.back() = {digit.stride, run.back().size * digit.size};
      else
        run.push_back(digit);
      continue;
    }
    if (!flush())
      return std::nullopt;
    result.push_back(entry);
  }
  if (!flush())
    return std::nullopt;
  return result;
}

std::optional<DimEntries> MeshViews::toCommon(ArrayRef<DimEntry> entries, unsigned v) const {
  const View &view = views[v];
  if (single)
    return DimEntries(entries);
  return convertAxes(entries, *view.mesh, common, [&](const RankDigit &digit, SmallVectorImpl<RankDigit> &out) {
    return map(digit, view, /*toCommon=*/true, out);
  });
}

std::optional<DimEntries> MeshViews::fromCommon(ArrayRef<DimEntry> entries, unsigned v) const {
  const View &view = views[v];
  if (single)
    return DimEntries(entries);
  return convertAxes(entries, common, *view.mesh, [&](const RankDigit &digit, SmallVectorImpl<RankDigit> &out) {
    return map(digit, view, /*toCommon=*/false, out);
  });
}

/// A sharding with every list of entries converted.
static std::optional<Sharding> convertAxes(const Sharding &sharding,
                                           llvm::function_ref<std::optional<DimEntries>(ArrayRef<DimEntry>)> fn) {
  Sharding result = sharding;
  auto change = [&](DimEntries &entries) {
    auto changed = fn(entries);
    if (changed)
      entries = std::move(*changed);
    return changed.has_value();
  };
  for (DimSharding &dim : result.dims)
    if (!change(dim.entries))
      return std::nullopt;
  if (!change(result.replicated) || !change(result.unreduced))
    return std::nullopt;
  return result;
}

std::optional<Sharding> MeshViews::toCommon(const Sharding &sharding, unsigned view) const {
  return convertAxes(sharding, [&](ArrayRef<DimEntry> e) { return toCommon(e, view); });
}

std::optional<Sharding> MeshViews::fromCommon(const Sharding &sharding, unsigned view) const {
  return convertAxes(sharding, [&](ArrayRef<DimEntry> e) { return fromCommon(e, view); });
}

std::optional<MeshViews::Refined> MeshViews::refine(const Sharding &sharding) const {
  // Without the boundaries that are inside its axes.
  Mesh plain = common;
  plain.viewBoundaries.clear();
  SmallVector<int64_t> boundaries{common.numDevices()};
  for (unsigned a = 0; a < common.axes.size(); ++a)
    boundaries.push_back(common.axisStride(a));
  const size_t before = boundaries.size();
  for (const DimSharding &dim : sharding.dims)
    if (allowsPadding(dim.entries, common) && !allowsPadding(dim.entries, plain))
      for (const DimEntry &entry : dim.entries) {
        if (entry.isStride())
          continue; // size 1
        const RankDigit digit = getRankDigit(entry, common);
        boundaries.push_back(digit.stride);
        boundaries.push_back(digit.stride * digit.size);
      }
  if (boundaries.size() == before)
    return std::nullopt;
  llvm::sort(boundaries);
  boundaries.erase(llvm::unique(boundaries), boundaries.end());
  for (unsigned i = 1; i < boundaries.size(); ++i)
    if (boundaries[i] % boundaries[i - 1] != 0)
      return std::nullopt;
  Refined result{plain, {}};
  setAxes(result.mesh, boundaries);
  setLinkCosts(result.mesh, common);
  auto same = [](const RankDigit &digit, SmallVectorImpl<RankDigit> &out) {
    out.push_back(digit);
    return true;
  };
  std::optional<Sharding> expressed = convertAxes(
      sharding, [&](ArrayRef<DimEntry> entries) { return convertAxes(entries, common, result.mesh, same); });
  if (!expressed)
    return std::nullopt;
  result.sharding = std::move(*expressed);
  return result;
}

SmallVector<int64_t> mlir::spmd::getReordering(const Mesh &from, const Mesh &to) {
  ShardingError error;
  std::optional<MeshViews> views = MeshViews::get({&from, &to}, error);
  return views && views->isReordered(1) ? *rankOrder(from, to) : SmallVector<int64_t>();
}
