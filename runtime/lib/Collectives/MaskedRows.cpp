//===- MaskedRows.cpp - Collectives of which masks leave some rows --------===//
//
// In round 0 members send each other their masks, a bit for each row, in round 1 the rows that
// one has and the other needs. For example, an all-gather of 2 rows of each of 2 ranks:
//
//   rank 0 needs rows 0 and 3, rank 1 needs rows 2 and 3
//   -> rank 1 sends row 3; rank 0 sends nothing
//
// In a reduce-scatter who computed a row says so.
//
//===----------------------------------------------------------------------===//

#include "shardkit/rt/Collectives/Collective.h"

#include <cstring>

namespace shardkit::rt {

namespace {

using Bits = std::vector<uint8_t>;

size_t bytesOfBits(int64_t rows) { return size_t(rows + 7) / 8; }

bool hasBit(const uint8_t *bits, int64_t row) { return (bits[row / 8] >> (row % 8) & 1) != 0; }

/// The masks of the input and of the output, one after the other.
Bits packBits(const RowMasks &masks) {
  Bits bits(bytesOfBits(masks.input.rows) + bytesOfBits(masks.output.rows));
  uint8_t *at = bits.data();
  for (const RowMask *mask : {&masks.input, &masks.output}) {
    for (int64_t row = 0; row < mask->rows; ++row)
      at[row / 8] = uint8_t(at[row / 8] | (mask->data[row] != 0) << (row % 8));
    at += bytesOfBits(mask->rows);
  }
  return bits;
}

/// The masks of a member, whole.
struct ReadMasks : Reading {
  explicit ReadMasks(size_t size) : size(size) {}
  int64_t bytes(int, int, int64_t) const override { return int64_t(size); }
  void pack(int, int, int64_t, const void *buffer, void *packed) const override { std::memcpy(packed, buffer, size); }
  size_t size;
};

} // namespace

/// The elements that a member reads of the rows of another.
struct CollectivePlan::ReadRows : Reading {
  ReadRows(const CollectivePlan &plan, int64_t count, const RowMasks &own, Group &group)
      : plan(plan), group(group), count(count), inputRows(own.input.rows), outputRows(own.output.rows) {
    if (inputRows > 0)
      inputRow = count * plan.info_.inElements / inputRows;
    if (outputRows > 0)
      outputRow = count * plan.info_.outElements / outputRows;
  }

  /// Where elements that are side by side lie, in a row of each buffer; -1 of one without a mask.
  struct Run {
    int64_t source, destination, elements, inputRow, outputRow;
  };

  /// Calls `fn` with the runs of a piece of an item.
  template <typename Fn> void forEachRun(const Piece &piece, int64_t item, Fn &&fn) const {
    const std::vector<Loop> &loops = plan.loopSets_[piece.loops];
    const Loop &last = loops.back();
    const bool isRun = last.source == 1 && last.destination == 1;
    const size_t outer = isRun ? loops.size() - 1 : loops.size();
    std::vector<int64_t> index(outer);
    while (true) {
      int64_t source = item * plan.info_.inElements + piece.source;
      int64_t destination = item * plan.info_.outElements + piece.destination;
      for (size_t k = 0; k < outer; ++k) {
        source += index[k] * loops[k].source;
        destination += index[k] * loops[k].destination;
      }
      for (int64_t left = isRun ? last.size : 1; left > 0;) {
        Run run{source, destination, left, -1, -1};
        if (inputRows > 0) {
          run.inputRow = source / inputRow;
          run.elements = std::min(run.elements, inputRow - source % inputRow);
        }
        if (outputRows > 0) {
          run.outputRow = destination / outputRow;
          run.elements = std::min(run.elements, outputRow - destination % outputRow);
        }
        fn(run);
        source += run.elements;
        destination += run.elements;
        left -= run.elements;
      }
      size_t k = outer;
      while (k > 0 && ++index[k - 1] == loops[k - 1].size)
        index[--k] = 0;
      if (k == 0)
        return;
    }
  }

  /// Whether a member computed the row.
  bool has(int member, int64_t row) const { return row < 0 || hasBit(masks[size_t(member)], row); }
  /// Whether a member needs the row.
  bool needs(int member, int64_t row) const {
    return row < 0 || hasBit(masks[size_t(member)] + bytesOfBits(inputRows), row);
  }
  bool isRead(int from, int to, const Run &run) const { return has(from, run.inputRow) && needs(to, run.outputRow); }

  template <typename Fn> void forEachRead(int from, int to, Fn &&fn) const {
    for (int64_t item = 0; item < count; ++item)
      for (const Piece &piece : plan.pieces_[size_t(group.ranks()[size_t(to)])])
        if (std::find(piece.sources.begin(), piece.sources.end(), from) != piece.sources.end())
          forEachRun(piece, item, [&](const Run &run) {
            if (isRead(from, to, run))
              fn(run);
          });
  }

  int64_t bytes(int from, int to, int64_t) const override {
    int64_t sum = 0;
    forEachRead(group.indexOf(from), group.indexOf(to), [&](const Run &run) { sum += run.elements; });
    return sum * plan.elementSize_;
  }

  void pack(int from, int to, int64_t, const void *buffer, void *packed) const override {
    char *at = static_cast<char *>(packed);
    forEachRead(group.indexOf(from), group.indexOf(to), [&](const Run &run) {
      const size_t size = size_t(run.elements * plan.elementSize_);
      std::memcpy(at, static_cast<const char *>(buffer) + run.source * plan.elementSize_, size);
      at += size;
    });
  }

  /// Bytes that all members read of others.
  int64_t allBytes() const {
    int64_t sum = 0;
    for (int from : group.ranks())
      for (int to : group.ranks())
        sum += from == to ? 0 : bytes(from, to, count);
    return sum;
  }

  const CollectivePlan &plan;
  Group &group;
  const int64_t count, inputRows, outputRows;
  int64_t inputRow = 0, outputRow = 0; ///< Elements.
  std::vector<const uint8_t *> masks;  ///< Of each member, as bits.
};

void CollectivePlan::computeRows(const ReadRows &rows, int index, void *out) {
  const int rank = rows.group.ranks()[size_t(index)];
  if (padded_)
    std::memset(out, 0, size_t(rows.count * info_.outElements * elementSize_));
  // Packed rows are in the order in which they are read here.
  std::vector<int64_t> packed(size_t(rows.group.size()));
  std::vector<CopyEngine::Source> sources;
  auto compute = [&](const Piece &piece, const ReadRows::Run &run) {
    if (!rows.needs(index, run.outputRow))
      return;
    sources.clear();
    for (int from : piece.sources) {
      if (!rows.has(from, run.inputRow))
        continue;
      int64_t &next = packed[size_t(from)];
      sources.push_back(
          {rows.group.published(index, from, 1, 0) + (packed_ ? next : run.source) * elementSize_, nullptr});
      next += run.elements;
    }
    char *to = static_cast<char *>(out) + run.destination * elementSize_;
    const CopyEngine::Loop loop{run.elements, 1, 1};
    if (sources.size() == 1)
      std::memcpy(to, sources[0].data, size_t(run.elements * elementSize_));
    else if (!sources.empty())
      hostCopyEngine().reduce(info_.reduction, info_.dtype, sources, to, {&loop, 1});
    else
      std::memset(to, 0, size_t(run.elements * elementSize_));
  };
  for (int64_t item = 0; item < rows.count; ++item)
    for (const Piece &piece : pieces_[size_t(rank)])
      rows.forEachRun(piece, item, [&](const ReadRows::Run &run) { compute(piece, run); });
}

bool CollectivePlan::takesRows(int64_t count, const RowMasks &masks) const {
  auto isOf = [&](const RowMask &mask, int64_t elements) {
    return mask.rows == 0 || (mask.rows % count == 0 && elements * count % mask.rows == 0);
  };
  return !empty_ && count > 0 && masks.input.rows + masks.output.rows > 0 && isOf(masks.input, info_.inElements) &&
         isOf(masks.output, info_.outElements) &&
         (masks.input.rows == 0 || info_.reduction == Reduction::None || info_.reduction == Reduction::Sum);
}

int64_t CollectivePlan::bytesOfWhole(int rank, int64_t count) const {
  const Group &group = *groups_[size_t(rank)];
  if (!isShared(count, group))
    return count * receivedBytes(rank);
  // Its chunk of all others, and their chunks.
  const int64_t own = chunkOf(group.indexOf(rank), count, group).second;
  return ((group.size() - 1) * own + loopSets_[0][0].size * count - own) * elementSize_;
}

bool CollectivePlan::runRows(int rank, int64_t count, const RowMasks &masks, const void *in, void *out,
                             int64_t &received) {
  auto runWhole = [&] {
    received += bytesOfWhole(rank, count);
    return run(rank, count, in, out);
  };
  if (!takesRows(count, masks))
    return runWhole();
  Group &group = *groups_[size_t(rank)];
  const int index = group.indexOf(rank);
  auto text = [&] { return describe(); };
  const Bits ownBits = packBits(masks);
  const ReadMasks readMasks(ownBits.size());
  const PublishedBuffer ownMasks{group.world().fault().announced(rank, info_.id), ownBits.data(), &readMasks, count,
                                 &hostCopyEngine()};
  group.publish(index, 0, {&ownMasks, 1});
  if (!group.wait(index, 0, text))
    return false;
  ReadRows rows(*this, count, masks, group);
  for (int peer = 0; peer < group.size(); ++peer)
    rows.masks.push_back(peer == index ? ownBits.data()
                                       : reinterpret_cast<const uint8_t *>(group.published(index, peer, 0, 0)));
  received += int64_t(ownBits.size()) * (group.size() - 1);
  if (isShared(count, group)) {
    int64_t whole = 0;
    for (int peer : group.ranks())
      whole += bytesOfWhole(peer, count);
    if (rows.allBytes() >= whole)
      return group.release(index, text) && runWhole();
  }
  const PublishedBuffer own{info_.id, in, &rows, count, &hostCopyEngine()};
  group.publish(index, 1, {&own, 1});
  if (!group.wait(index, 1, text))
    return false;
  computeRows(rows, index, out);
  for (int peer : group.ranks())
    received += peer == rank ? 0 : rows.bytes(peer, rank, count);
  return group.release(index, text);
}

} // namespace shardkit::rt
