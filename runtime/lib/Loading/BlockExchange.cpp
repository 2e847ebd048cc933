//===- BlockExchange.cpp - Weights read in blocks, exchanged --------------===//

#include "shardkit/rt/Loading/BlockExchange.h"

#include <algorithm>

namespace shardkit::rt {

namespace {

/// Less is read by each rank that holds it.
constexpr int64_t minBytes = 64 << 10;
/// Runs below that are read with what lies between them (LoadPlan's requests).
constexpr int64_t minRunBytes = 64 << 10;

/// A factor of the index of an element: where it goes, of all ranks or of their buffers.
struct Digit {
  int64_t size, globalStride;
  bool isRank;
  int64_t stride; ///< Of ranks, or of local elements.
  int64_t end() const { return globalStride * size; }
};

const Digit *digitAt(const std::vector<Digit> &digits, int64_t globalStride) {
  for (const Digit &digit : digits)
    if (digit.globalStride <= globalStride && globalStride < digit.end())
      return &digit;
  return nullptr;
}

/// Whether each rank alone would read much more than a block.
bool isReadByMany(const Extents &extents, int64_t ranks, int64_t elementBytes) {
  int64_t shards = 1, run = 1;
  for (const OffsetDigit &digit : extents.offset)
    shards *= digit.size;
  const std::vector<ExtentLoop> loops = coalesceLoops(extents, 0);
  if (!loops.empty() && loops.back().globalStride == 1)
    run = loops.back().size;
  return shards < ranks || (loops.size() > 1 && run * elementBytes < minRunBytes);
}

} // namespace

std::optional<CollectiveInfo> moveFromBlocks(const ValueInfo &value, const TensorSource &source, int64_t ranks) {
  const auto *stored = std::get_if<StoredSource>(&source);
  if (!stored || (value.load && !stored->made))
    return std::nullopt;
  const Extents &extents = value.extents;
  const int64_t all = value.globalElements, bytes = dtypeSize(value.dtype);
  if (ranks < 2 || all * bytes < minBytes || all % ranks != 0 || !extents.uneven.empty() || !extents.order.empty() ||
      !isReadByMany(extents, ranks, bytes))
    return std::nullopt;
  const int64_t block = all / ranks;
  const std::vector<Digit> from = {{block, 1, false, 1}, {ranks, block, true, 1}};
  std::vector<Digit> to;
  for (const OffsetDigit &digit : extents.offset)
    if (digit.size != 1)
      to.push_back({digit.size, digit.globalStride, true, digit.rankStride});
  for (const ExtentLoop &loop : extents.loops)
    if (loop.size != 1)
      to.push_back({loop.size, loop.globalStride, false, loop.localStride});

  // Cuts of the index at which a digit of either side begins.
  std::vector<int64_t> bounds = {1, block, all};
  for (const Digit &digit : to)
    bounds.push_back(digit.globalStride);
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  CollectiveInfo move;
  for (size_t i = bounds.size() - 1; i-- > 0;) {
    const int64_t begin = bounds[i], end = bounds[i + 1];
    const Digit *mine = digitAt(from, begin), *theirs = digitAt(to, begin);
    if (end % begin != 0 || !mine || !theirs || mine->end() < end || theirs->end() < end ||
        begin % mine->globalStride != 0 || begin % theirs->globalStride != 0)
      return std::nullopt;
    move.atoms.push_back({end / begin, mine->isRank, begin / mine->globalStride * mine->stride, theirs->isRank,
                          begin / theirs->globalStride * theirs->stride});
  }
  move.kind = "exchange";
  move.dtype = value.dtype;
  move.inElements = block;
  move.outElements = value.localElements;
  move.group = {{1, ranks}};
  move.bytes = value.localBytes();
  move.loc = "weight '" + value.name + "'";
  return move;
}

} // namespace shardkit::rt
