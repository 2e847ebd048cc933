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
  // Digits of the sender's rank that own nothing are replicas: the receiver's rank,
  // from its minor digits on, chooses among them.
  SmallVector<Digit> owning(from.digits.begin(), from.digits.end());
  llvm::sort(owning, [](const Digit &a, const Digit &b) { return a.stride < b.stride; });
  int64_t stride = 1, chosen = 1;
  auto choose = [&](int64_t size) {
    int64_t part = std::gcd(size, receivers / chosen);
    if (part > 1) {
      transfer->atoms.push_back({part, true, true, stride, chosen});
      chosen *= part;
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
  // A receiver reads of as many senders as there are digits of theirs that its own rank
  // does not say.
  int64_t senders = 1;
  for (const TransferAtom &atom : transfer->atoms) // atoms of both sides are in step
    if (atom.srcIsRank && !atom.dstIsRank)
      senders *= atom.size;
  for (const TransferSegment &segment : transfer->segments)
    for (const TransferPart &part : segment.src)
      if (part.isRank)
        senders *= part.size;
  volume.messages = receivers * senders;
  volume.elements = receivers * to.numLocalElements();
  return volume;
}

Sharding mlir::spmd::getArrival(const Layout &from, const Sharding &to, const Mesh &mesh) {
  SmallVector<bool> used(mesh.axes.size(), false);
  for (const DimSharding &dim : to.dims)
    for (const DimEntry &entry : dim.entries)
      if (!entry.isGap())
        used[entry.axis] = true;
  Sharding best = to;
  std::optional<MeshTransferVolume> least;
  int64_t rank = to.dims.size();
  for (int64_t first = 0; first < rank; ++first) {
    Sharding cut = to;
    SmallVector<DimEntry> rest;
    for (auto [a, axis] : llvm::enumerate(mesh.axes))
      if (!used[a] && axis.size > 1)
        rest.push_back({int32_t(a), 1, axis.size});
    // This dim, then the others in order.
    SmallVector<int64_t> order{first};
    for (int64_t d = 0; d < rank; ++d)
      if (d != first)
        order.push_back(d);
    for (int64_t d : order) {
      DimEntries &entries = cut.dims[d].entries;
      int64_t size = from.shape[d], taken = totalFactor(entries);
      if (size <= 0 || size % taken != 0)
        continue;
      int64_t local = size / taken;
      for (DimEntry &axis : rest) {
        int64_t part = std::gcd(local, axis.size);
        if (part <= 1)
          continue;
        entries.push_back({axis.axis, axis.pre, part});
        axis.pre *= part;
        axis.size /= part;
        local /= part;
      }
      entries = canonicalize(entries);
    }
    MeshTransferVolume volume = getTransferVolume(from, Layout::get(cut, mesh, from.shape), mesh.numDevices());
    if (!least || std::pair(volume.elements, volume.messages) < std::pair(least->elements, least->messages)) {
      least = volume;
      best = std::move(cut);
    }
  }
  return best;
}
