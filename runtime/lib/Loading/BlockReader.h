//===- BlockReader.h - The pieces of one block, read and placed -*- C++ -*-===//

#ifndef SHARDKIT_RT_LOADING_BLOCKREADER_H
#define SHARDKIT_RT_LOADING_BLOCKREADER_H

#include "shardkit/rt/Loading/LoadPlan.h"
#include "shardkit/rt/Support/Buffer.h"

#include <atomic>
#include <sys/uio.h>

namespace shardkit::rt {

/// How requests are made: fixed, or measured (IoMode::Auto). Shared by readers.
class IoChooser {
public:
  explicit IoChooser(IoMode mode) : mode_(mode) {}
  /// `measure`: the caller shall say how long it took.
  IoMode choose(const File &file, int64_t offset, int64_t bytes, bool &measure);
  void record(IoMode mode, int64_t bytes, double seconds);

private:
  static constexpr int64_t probes = 4; ///< Of each kind before one is chosen.
  const IoMode mode_;
  struct Measured {
    std::atomic<int64_t> requested{0}, done{0}, bytes{0}, nanoseconds{0};
  } buffered_, direct_;
};

/// Used by one thread. start(), add() for each piece, finish().
class BlockReader {
public:
  /// Elements first + i * stride of a stored tensor to element i * toStride at
  /// `to`, i < count; and that again for each of `rows`, which are `rowStride` and
  /// `toRowStride` apart.
  struct Piece {
    int64_t first, stride;
    char *to;
    int64_t toStride, count, rank;
    int64_t rows = 1, rowStride = 0, toRowStride = 0;
  };
  /// Rows of short runs that lie close together are one piece.
  static bool areRows(const StoredTensor &stored, const ExtentLoop &run, int64_t rowStride, int64_t maxGap);
  static constexpr int64_t maxPieces = 1 << 14;

  /// With `fullBlocks` blocks are read as they are and cut in memory, as a root
  /// does that scatters.
  BlockReader(IoChooser &io, bool fullBlocks, int64_t maxGap) : io_(io), fullBlocks_(fullBlocks), maxGap_(maxGap) {}

  void start(const StoredTensor &stored);
  void add(const Piece &piece);
  /// Reads what was added; elements [begin, begin + count) are the block.
  Status finish(int64_t begin, int64_t count);

  int64_t takeNewBytes() { return std::exchange(newBytes_, 0); }
  void addTo(LoadStats &stats) const;

private:
  /// Small, since there may be thousands for each block.
  struct Item {
    int64_t begin, end; ///< Bytes of the stored tensor.
    char *to;
    int32_t rank, piece; ///< Of pieces_; -1: a run that is stored as it is in memory.
  };
  /// The end of the items that are read with `first`, and that of their bytes.
  std::pair<size_t, int64_t> groupFrom(size_t first);
  /// Requests from a device what several short requests will read.
  void announceGroups();
  Status readGroup(size_t first, size_t last);
  Status readStraight(size_t first, size_t last);
  Status readStaged(size_t first, size_t last, int64_t begin, int64_t end);
  void decode(const Item &item, const char *block, int64_t begin) const;
  void scatter(size_t first, size_t last, const char *block, int64_t begin);
  char *staging(int64_t bytes);
  LoadCounters &counters(int64_t rank);

  IoChooser &io_;
  const bool fullBlocks_;
  const int64_t maxGap_; ///< As in LoadOptions.
  const StoredTensor *stored_ = nullptr;
  int64_t bits_ = 0; ///< Of a stored element.
  void putInOrder();
  void push(int64_t begin, int64_t end, const Piece &piece);
  Item &item(size_t i) { return items_[order_[i]]; }
  bool hasRows(const Item &item) const { return item.piece >= 0 && pieces_[size_t(item.piece)].rows > 1; }
  std::vector<Item> items_;   ///< As added: ascending for each rank.
  std::vector<Piece> pieces_; ///< Of items that are more than a run.
  std::vector<size_t> runs_;  ///< Where ascending items begin, and the end.
  std::vector<uint32_t> order_;
  std::vector<::iovec> buffers_;
  std::vector<std::pair<size_t, size_t>> copies_; ///< Item, and whose bytes it has.
  Buffer staging_;
  std::vector<LoadCounters> ranks_;
  int64_t newBytes_ = 0, direct_ = 0, mapped_ = 0, max_ = 0;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_BLOCKREADER_H
