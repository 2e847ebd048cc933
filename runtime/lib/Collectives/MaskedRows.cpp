//===- MaskedRows.cpp - Collectives of which a mask leaves some rows ------===//
//
// In round 0 members send each other their masks, in round 1 the rows. For example, an
// all-gather of 2 rows of each of 2 ranks:
//
//   rank 0 needs rows 0 and 3, rank 1 needs rows 2 and 3
//   -> rank 1 sends row 3; rank 0 sends nothing
//
// A reduce-scatter is the reverse: who computed a row says so.
//
//===----------------------------------------------------------------------===//

#include "shardkit/rt/Collectives/Collective.h"

#include <cstring>

namespace shardkit::rt {

namespace {

/// Masks of all members, as one of them knows them.
using Masks = std::vector<const uint8_t *>;

/// The mask of a member, whole.
struct ReadMask : Reading {
  explicit ReadMask(int64_t rows) : rows(rows) {}
  int64_t bytes(int, int, int64_t) const override { return rows; }
  void pack(int, int, int64_t, const void *buffer, void *packed) const override {
    std::memcpy(packed, buffer, size_t(rows));
  }
  int64_t rows;
};

} // namespace

/// The elements that a member reads of the rows of another.
struct CollectivePlan::ReadRows : Reading {
  ReadRows(const CollectivePlan &plan, const RowMask &mask, Group &group)
      : plan(plan), isOfInput(mask.isOfInput), group(group) {
    rowElements = (isOfInput ? plan.info_.inElements : plan.info_.outElements) / mask.rows;
  }

  /// Calls `fn(source, destination, elements, row)` with the runs of a piece that are side by side in both buffers and
  /// in one row.
  template <typename Fn> void forEachRun(const Piece &piece, Fn &&fn) const {
    const std::vector<Loop> &loops = plan.loopSets_[piece.loops];
    const Loop &last = loops.back();
    const bool isRun = last.source == 1 && last.destination == 1;
    const size_t outer = isRun ? loops.size() - 1 : loops.size();
    std::vector<int64_t> index(outer);
    while (true) {
      int64_t source = piece.source, destination = piece.destination;
      for (size_t k = 0; k < outer; ++k) {
        source += index[k] * loops[k].source;
        destination += index[k] * loops[k].destination;
      }
      for (int64_t left = isRun ? last.size : 1; left > 0;) {
        const int64_t at = isOfInput ? source : destination;
        const int64_t elements = std::min(left, rowElements - at % rowElements);
        fn(source, destination, elements, at / rowElements);
        source += elements;
        destination += elements;
        left -= elements;
      }
      size_t k = outer;
      while (k > 0 && ++index[k - 1] == loops[k - 1].size)
        index[--k] = 0;
      if (k == 0)
        return;
    }
  }

  /// Whether member `to` reads this row of member `from`.
  bool isRead(int from, int to, int64_t row) const { return masks[size_t(isOfInput ? from : to)][row] != 0; }

  template <typename Fn> void forEachRead(int from, int to, Fn &&fn) const {
    for (const Piece &piece : plan.pieces_[size_t(group.ranks()[size_t(to)])])
      if (std::find(piece.sources.begin(), piece.sources.end(), from) != piece.sources.end())
        forEachRun(piece, [&](int64_t source, int64_t, int64_t elements, int64_t row) {
          if (isRead(from, to, row))
            fn(source, elements);
        });
  }

  int64_t bytes(int from, int to, int64_t) const override {
    int64_t sum = 0;
    forEachRead(group.indexOf(from), group.indexOf(to), [&](int64_t, int64_t elements) { sum += elements; });
    return sum * plan.elementSize_;
  }

  void pack(int from, int to, int64_t, const void *buffer, void *packed) const override {
    char *at = static_cast<char *>(packed);
    forEachRead(group.indexOf(from), group.indexOf(to), [&](int64_t source, int64_t elements) {
      std::memcpy(at, static_cast<const char *>(buffer) + source * plan.elementSize_,
                  size_t(elements * plan.elementSize_));
      at += elements * plan.elementSize_;
    });
  }

  const CollectivePlan &plan;
  const bool isOfInput;
  Group &group;
  int64_t rowElements;
  Masks masks;
};

void CollectivePlan::computeRows(const ReadRows &rows, int index, void *out) {
  const int rank = rows.group.ranks()[size_t(index)];
  if (padded_)
    std::memset(out, 0, size_t(info_.outElements * elementSize_));
  // Packed rows are in the order in which they are read here.
  std::vector<int64_t> packed(size_t(rows.group.size()));
  std::vector<CopyEngine::Source> sources;
  for (const Piece &piece : pieces_[size_t(rank)])
    rows.forEachRun(piece, [&](int64_t source, int64_t destination, int64_t elements, int64_t row) {
      sources.clear();
      for (int from : piece.sources) {
        if (!rows.isRead(from, index, row))
          continue;
        int64_t &next = packed[size_t(from)];
        sources.push_back(
            {rows.group.published(index, from, 1, 0) + (packed_ ? next : source) * elementSize_, nullptr});
        next += elements;
      }
      char *to = static_cast<char *>(out) + destination * elementSize_;
      const CopyEngine::Loop loop{elements, 1, 1};
      if (sources.size() == 1)
        std::memcpy(to, sources[0].data, size_t(elements * elementSize_));
      else if (!sources.empty())
        hostCopyEngine().reduce(info_.reduction, info_.dtype, sources, to, {&loop, 1});
      else if (rows.isOfInput)
        std::memset(to, 0, size_t(elements * elementSize_));
    });
}

bool CollectivePlan::takesRows(int rank, const RowMask &mask) const {
  const int64_t elements = mask.isOfInput ? info_.inElements : info_.outElements;
  return mask.rows > 0 && elements % mask.rows == 0 && !empty_ &&
         (info_.reduction == Reduction::None || (info_.reduction == Reduction::Sum && mask.isOfInput)) &&
         !isShared(1, *groups_[size_t(rank)]);
}

bool CollectivePlan::runRows(int rank, const RowMask &mask, const void *in, void *out, int64_t &received) {
  if (!takesRows(rank, mask))
    return run(rank, 1, in, out);
  Group &group = *groups_[size_t(rank)];
  const int index = group.indexOf(rank);
  auto text = [&] { return describe(); };
  const ReadMask masks(mask.rows);
  const PublishedBuffer ownMask{group.world().fault().announced(rank, info_.id), mask.data, &masks, 1,
                                &hostCopyEngine()};
  group.publish(index, 0, {&ownMask, 1});
  if (!group.wait(index, 0, text))
    return false;
  ReadRows rows(*this, mask, group);
  for (int peer = 0; peer < group.size(); ++peer)
    rows.masks.push_back(peer == index ? mask.data
                                       : reinterpret_cast<const uint8_t *>(group.published(index, peer, 0, 0)));
  const PublishedBuffer own{info_.id, in, &rows, 1, &hostCopyEngine()};
  group.publish(index, 1, {&own, 1});
  if (!group.wait(index, 1, text))
    return false;
  computeRows(rows, index, out);
  for (int peer = 0; peer < group.size(); ++peer)
    received += peer == index ? 0 : mask.rows + rows.bytes(group.ranks()[size_t(peer)], rank, 1);
  return group.release(index, text);
}

} // namespace shardkit::rt
