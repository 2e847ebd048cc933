//===- MeshTransfer.cpp - From one mesh to another ------------------------===//

#include "shardkit/Layout/MeshTransfer.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using llvm::SmallVector;

/// The digits of the ranks of `layout`, on `devices` devices, that own no elements: they distinguish replicas.
static SmallVector<RankDigit, 2> getReplicaDigits(const Layout &layout, int64_t devices) {
  SmallVector<RankDigit> owning;
  for (const Digit &digit : layout.digits)
    owning.push_back({digit.stride, digit.size()});
  for (const UnevenDim &dim : layout.uneven)
    owning.append(dim.ranks.begin(), dim.ranks.end());
  llvm::sort(owning, [](const RankDigit &a, const RankDigit &b) { return a.stride < b.stride; });
  owning.push_back({devices, 1});
  SmallVector<RankDigit, 2> digits;
  int64_t stride = 1;
  for (const RankDigit &digit : owning) {
    if (digit.stride > stride)
      digits.push_back({stride, digit.stride / stride});
    stride = digit.stride * digit.size;
  }
  return digits;
}

std::optional<Transfer> mlir::spmd::computeMeshTransfer(const Layout &from, int64_t senders, const Layout &to,
                                                        int64_t receivers) {
  if (!from.partial.empty() || !to.partial.empty())
    return std::nullopt;
  std::optional<Transfer> transfer = computeTransfer(from, to, /*reorders=*/true);
  if (!transfer)
    return transfer;
  // The receiver's rank, from its minor digits on, chooses among replicas of the source.
  SmallVector<RankDigit, 2> replicas = getReplicaDigits(from, senders);
  if (!transfer->segments.empty()) {
    transfer->spread.assign(replicas.begin(), replicas.end());
    return transfer;
  }
  int64_t chosen = 1;
  for (const RankDigit &digit : replicas)
    if (int64_t factor = std::gcd(digit.size, receivers / chosen); factor > 1) {
      transfer->atoms.push_back({factor, true, true, digit.stride, chosen});
      chosen *= factor;
    }
  return transfer;
}

MeshTransferVolume mlir::spmd::getTransferVolume(const Layout &from, const Layout &to, int64_t receivers) {
  MeshTransferVolume volume;
  std::optional<Transfer> transfer = computeTransfer(from, to, /*reorders=*/true);
  if (!transfer)
    return volume;
  // The number of senders of a receiver is the product of the sender digits that its rank
  // does not determine.
  int64_t senders = 1;
  for (const TransferAtom &atom : transfer->atoms) // atoms of both sides are in step
    if (atom.srcIsRank && !atom.dstIsRank)
      senders *= atom.size;
  for (const TransferSegment &segment : transfer->segments)
    for (const TransferDigit &digit : segment.src)
      if (digit.isRank)
        senders *= digit.size;
  volume.messages = receivers * senders;
  volume.elements = receivers * to.numLocalElements();
  return volume;
}

Sharding mlir::spmd::getArrival(const Layout &from, const Sharding &to, const Mesh &mesh) {
  SmallVector<bool> used(mesh.axes.size(), false);
  for (const DimSharding &dim : to.dims)
    for (const DimEntry &entry : dim.entries)
      if (!entry.isStride())
        used[entry.axis] = true;
  Sharding best = to;
  std::optional<MeshTransferVolume> lowest;
  int64_t rank = to.dims.size();
  for (int64_t first = 0; first < rank; ++first) {
    Sharding sharded = to;
    SmallVector<DimEntry> unused;
    for (auto [a, axis] : llvm::enumerate(mesh.axes))
      if (!used[a] && axis.size > 1)
        unused.push_back({int32_t(a), 1, axis.size});
    // This dim, then the others in order.
    SmallVector<int64_t> order{first};
    for (int64_t d = 0; d < rank; ++d)
      if (d != first)
        order.push_back(d);
    for (int64_t d : order) {
      DimEntries &entries = sharded.dims[d].entries;
      int64_t size = from.shape[d], used = totalFactor(entries);
      if (size <= 0 || size % used != 0)
        continue;
      int64_t local = size / used;
      for (DimEntry &axis : unused) {
        int64_t factor = std::gcd(local, axis.size);
        if (factor <= 1)
          continue;
        entries.push_back({axis.axis, axis.pre, factor});
        axis.pre *= factor;
        axis.size /= factor;
        local /= factor;
      }
      entries = canonicalize(entries);
    }
    MeshTransferVolume volume = getTransferVolume(from, Layout::get(sharded, mesh, from.shape), mesh.numDevices());
    if (!lowest || std::pair(volume.elements, volume.messages) < std::pair(lowest->elements, lowest->messages)) {
      lowest = volume;
      best = std::move(sharded);
    }
  }
  return best;
}
