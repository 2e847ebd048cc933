//===- MeshTransfer.cpp - From one mesh to another ------------------------===//

#include "shardkit/Layout/MeshTransfer.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using llvm::SmallVector;

std::optional<Transfer> mlir::spmd::computeMeshTransfer(const Layout &from, int64_t senders, const Layout &to,
                                                        int64_t receivers) {
  if (!from.partial.empty() || !to.partial.empty())
    return std::nullopt;
  std::optional<Transfer> transfer = computeTransfer(from, to, /*reorders=*/true);
  if (!transfer || !transfer->segments.empty())
    return transfer;
  // Digits of the sender's rank without elements are replicas: the receiver's rank,
  // from its minor digits on, chooses among them.
  SmallVector<Digit> owning(from.digits.begin(), from.digits.end());
  llvm::sort(owning, [](const Digit &a, const Digit &b) { return a.stride < b.stride; });
  int64_t stride = 1, chosen = 1;
  auto choose = [&](int64_t size) {
    int64_t factor = std::gcd(size, receivers / chosen);
    if (factor > 1) {
      transfer->atoms.push_back({factor, true, true, stride, chosen});
      chosen *= factor;
    }
  };
  for (const Digit &digit : owning) {
    if (digit.stride > stride)
      choose(digit.stride / stride);
    stride = digit.stride * digit.size();
  }
  if (senders > stride)
    choose(senders / stride);
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
