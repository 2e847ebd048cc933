//===- WindowParts.cpp - Windows of even shards ---------------------------===//

#include "WindowParts.h"

using namespace mlir;
using namespace mlir::spmd;

RankedTensorType spmd::withDim(Value value, int64_t d, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[d] = size;
  return type.clone(shape);
}

SmallVector<RankDigit> spmd::getDimDigits(const ShardingOnMesh &on, unsigned dim) {
  return llvm::map_to_vector(on.sharding.dims[dim].entries,
                             [&](const DimEntry &entry) { return getRankDigit(entry, *on.mesh); });
}

std::optional<SmallVector<WindowedDim>> spmd::getWindows(HaloExchangeOp op, const ClosedForm &form,
                                                         const MeshCache &meshes) {
  auto emit = [&] { return op.emitError(); };
  FailureOr<ShardingOnMesh> from = meshes.read(op.getFrom(), emit), to = meshes.read(op.getTo(), emit);
  if (failed(from) || failed(to) || !op.getDynamicOffsets().empty() || form.isReordered() || form.inElements == 0)
    return std::nullopt;
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(op.getGlobalType()).getShape()))
    if (!divides(from->sharding.dims[dim].entries, size))
      return std::nullopt;
  SmallVector<WindowedDim> windows;
  for (auto [dim, step, offset] : llvm::zip(op.getDims(), op.getSteps(), op.getOffsets()))
    windows.push_back(
        {dim, {step, offset, op.getType().getDimSize(dim)}, getDimDigits(*from, dim), getDimDigits(*to, dim)});
  return windows;
}

SmallVector<WindowPart> spmd::getWindowParts(const Window &window, int64_t shard) {
  const int64_t begin = window.offset, end = window.offset + window.size;
  SmallVector<WindowPart> parts;
  for (int64_t shift = llvm::divideFloorSigned(begin, shard); shift * shard < end; ++shift)
    parts.push_back({shift, std::max(begin - shift * shard, int64_t(0)), std::min(end - shift * shard, shard)});
  return parts;
}
