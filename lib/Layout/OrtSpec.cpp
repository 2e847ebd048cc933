//===- OrtSpec.cpp --------------------------------------------------------===//

#include "shardkit/Layout/OrtSpec.h"
#include "shardkit/Layout/Layout.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// A digit of the position in the list: the rank advances by stride per step
/// (0: stays).
struct ListDigit {
  int64_t size, stride;
};
} // namespace

/// If E[q*p + j] - E[q*p] == j * s for all q and j < p, returns s.
static std::optional<int64_t> minorStride(ArrayRef<int64_t> list, int64_t p) {
  int64_t stride = list[1] - list[0];
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i] - list[i - i % p] != static_cast<int64_t>(i % p) * stride)
      return std::nullopt;
  return stride;
}

std::optional<OrtAxes> mlir::spmd::peelOrtMesh(const OrtMesh &ort, ShardingError &error) {
  int64_t count = 1;
  for (int64_t size : ort.shape) {
    if (size < 1) {
      error = {"ort_shape", "mesh shape has " + std::to_string(size) + ", expected positive sizes"};
      return std::nullopt;
    }
    if (__builtin_mul_overflow(count, size, &count))
      count = -1;
  }
  if (count != static_cast<int64_t>(ort.elements.size())) {
    error = {"ort_shape",
             "mesh has " + std::to_string(ort.elements.size()) + " elements, expected the product of its shape"};
    return std::nullopt;
  }

  // 1. Number the distinct devices in the order of their first occurrence: the ranks.
  OrtAxes result;
  llvm::DenseMap<int64_t, int64_t> rankOf;
  SmallVector<int64_t> list;
  for (int64_t device : ort.elements) {
    if (device < 0) {
      error = {"ort_shape", "mesh has device " + std::to_string(device) + ", expected ids from 0"};
      return std::nullopt;
    }
    auto [it, isNew] = rankOf.try_emplace(device, result.mesh.deviceIds.size());
    if (isNew)
      result.mesh.deviceIds.push_back(device);
    list.push_back(it->second);
  }
  int64_t devices = result.mesh.deviceIds.size();
  result.mesh.axes.push_back({"x", devices});

  // 2. Split the list into digits, minor to major, axis by axis, so that no digit crosses an
  // axis.
  SmallVector<SmallVector<ListDigit, 4>> axes(ort.shape.size());
  int64_t covered = 1;
  SmallVector<RankDigit, 8> ranks;
  for (unsigned k = ort.shape.size(); k-- > 0;) {
    SmallVector<ListDigit, 4> &digits = axes[k]; // minor to major
    for (int64_t remaining = ort.shape[k]; remaining > 1;) {
      bool found = false;
      for (int64_t p = 2; p <= remaining && !found; ++p) {
        if (remaining % p != 0)
          continue;
        auto stride = minorStride(list, p);
        if (!stride || *stride < 0)
          continue; // if a composite p fits, its factors fitted before
        digits.push_back({p, *stride});
        for (size_t i = 0; i * p < list.size(); ++i)
          list[i] = list[i * p];
        list.resize(list.size() / p);
        remaining /= p;
        found = true;
      }
      if (!found) {
        error = {"ort_not_digits", "device list of mesh axis " + std::to_string(k) +
                                       " is not a regular pattern, expected full repeats or "
                                       "blocks of the devices"};
        return std::nullopt;
      }
    }
    for (const ListDigit &digit : digits)
      if (digit.stride != 0) {
        ranks.push_back({digit.stride, digit.size});
        covered *= digit.size;
      }
  }
  // 3. Check that each rank occurs exactly once per choice of the strides.
  coalesce(ranks);
  if (covered != devices || (devices > 1 && ranks.size() != 1)) {
    error = {"ort_uneven_ownership", "devices own different numbers of chunks, expected each of the " +
                                         std::to_string(devices) + " devices equally often"};
    return std::nullopt;
  }
  // 4. Convert the digits of each axis to entries of a dim.
  for (const auto &digits : axes) {
    DimEntries entries; // major to minor
    for (const ListDigit &digit : llvm::reverse(digits))
      entries.push_back(digit.stride == 0 ? DimEntry::stride(digit.size)
                                          : DimEntry{0, devices / (digit.stride * digit.size), digit.size});
    result.axes.push_back(canonicalize(entries));
  }
  return result;
}

std::optional<MeshSharding> mlir::spmd::importOrtSpec(llvm::StringRef spec, const OrtMesh &ort, ShardingError &error) {
  auto axes = peelOrtMesh(ort, error);
  if (!axes)
    return std::nullopt;
  MeshSharding result;
  result.mesh = axes->mesh;
  SmallVector<bool> used(ort.shape.size(), false);
  llvm::StringRef remaining = spec;
  while (!remaining.empty()) {
    if (remaining.consume_front("R")) {
      result.sharding.dims.emplace_back();
      continue;
    }
    unsigned k;
    if (!remaining.consume_front("S[") || remaining.consumeInteger(10, k) || !remaining.consume_front("]")) {
      error = {"syntax", "malformed spec '" + spec.str() + "', expected R or S[axis] per dimension"};
      return std::nullopt;
    }
    if (k >= ort.shape.size() || used[k]) {
      error = {k >= ort.shape.size() ? "unknown_axis" : "axis_reused",
               "spec '" + spec.str() + "' names mesh axis " + std::to_string(k) + ", expected each of " +
                   std::to_string(ort.shape.size()) + " at most once"};
      return std::nullopt;
    }
    used[k] = true;
    result.sharding.dims.emplace_back().entries = axes->axes[k];
  }
  return result;
}

std::optional<OrtSpec> mlir::spmd::exportOrtSpec(const Sharding &sharding, const Mesh &mesh, ShardingError &error) {
  if (!sharding.unreduced.empty()) {
    error = {"ort_partial", "value is unreduced, expected a complete one"};
    return std::nullopt;
  }
  OrtSpec result;
  // One mesh axis per sharded dim, its digits as they stand, and in front one
  // for the ranks that replicate. A digit is (size, rank stride, 0 for a stride).
  SmallVector<SmallVector<ListDigit, 4>> axes;
  SmallVector<RankDigit, 8> used;
  int64_t devices = mesh.numDevices();
  for (const DimSharding &dim : sharding.dims) {
    DimEntries entries = canonicalize(dim.entries);
    if (entries.empty()) {
      result.spec += 'R';
      continue;
    }
    result.spec += "S[" + std::to_string(axes.size()) + "]";
    auto &digits = axes.emplace_back();
    for (const DimEntry &entry : entries) {
      if (entry.isStride()) {
        digits.push_back({entry.size, 0});
        continue;
      }
      int64_t size = mesh.axes[entry.axis].size;
      int64_t stride = mesh.axisStride(entry.axis) * (size / (entry.pre * entry.size));
      digits.push_back({entry.size, stride});
      used.push_back({stride, entry.size});
    }
  }
  coalesce(used);
  auto &replicating = axes.emplace_back();
  int64_t top = devices;
  used.push_back({1, 1});
  for (const RankDigit &digit : used) {
    int64_t end = digit.stride * digit.size;
    if (top % end != 0) {
      error = {"ort_axes", "sub-axes do not nest, expected ones that a device list can express"};
      return std::nullopt;
    }
    if (top != end)
      replicating.push_back({top / end, end});
    top = digit.stride;
  }
  if (replicating.empty())
    axes.pop_back();

  result.mesh.elements.push_back(0);
  for (const auto &digits : axes) {
    int64_t size = 1;
    for (const ListDigit &digit : digits) {
      size *= digit.size;
      SmallVector<int64_t> wider;
      for (int64_t rank : result.mesh.elements)
        for (int64_t j = 0; j < digit.size; ++j)
          wider.push_back(rank + j * digit.stride);
      result.mesh.elements = std::move(wider);
    }
    result.mesh.shape.push_back(size);
  }
  if (axes.empty())
    result.mesh.shape.push_back(1);
  for (int64_t &rank : result.mesh.elements)
    rank = mesh.device(rank);
  return result;
}
