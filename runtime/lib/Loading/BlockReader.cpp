//===- BlockReader.cpp - The pieces of one block, read and placed ---------===//

#include "BlockReader.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstring>
#include <iterator>

namespace shardkit::rt {

/// Runs of at least this many bytes on average are read straight into place by
/// one vectored request; shorter ones cost less when sliced in memory.
static constexpr int64_t straightRunBytes = 1024;
/// What is sliced in memory is read in requests that stay in a core's cache.
static constexpr int64_t stagedBytes = 512 << 10;

//===----------------------------------------------------------------------===//
// IoChooser
//===----------------------------------------------------------------------===//

IoMode IoChooser::choose(const File &file, int64_t offset, int64_t bytes, bool &measure) {
  measure = false;
  if (mode_ != IoMode::Auto)
    return mode_;
  if (bytes < (1 << 20) || file.isCached(offset))
    return IoMode::Pread;
  // Cold: some of both, then the better one. Buffered reads leave the page cache
  // filled for the next start, so direct ones must be clearly faster.
  if (buffered_.done >= probes && direct_.done >= probes) {
    double buffered = double(buffered_.bytes) / double(std::max<int64_t>(1, buffered_.nanoseconds));
    double direct = double(direct_.bytes) / double(std::max<int64_t>(1, direct_.nanoseconds));
    return direct > 1.1 * buffered ? IoMode::Direct : IoMode::Pread;
  }
  measure = true;
  Measured &less = direct_.requested < buffered_.requested ? direct_ : buffered_;
  ++less.requested;
  return &less == &direct_ ? IoMode::Direct : IoMode::Pread;
}

void IoChooser::record(IoMode mode, int64_t bytes, double seconds) {
  Measured &measured = mode == IoMode::Direct ? direct_ : buffered_;
  measured.bytes += bytes;
  measured.nanoseconds += int64_t(seconds * 1e9);
  ++measured.done;
}

//===----------------------------------------------------------------------===//
// BlockReader
//===----------------------------------------------------------------------===//

namespace {

/// Transposes a square of elements, a row of which is a word.
template <typename T> void transposeWords(uint64_t *words) {
  constexpr int count = 8 / sizeof(T), bits = 8 * sizeof(T);
  for (int half = count / 2; half > 0; half /= 2) {
    uint64_t mask = 0; // Of elements whose number lacks the bit `half`.
    for (int i = 0; i < count; ++i)
      mask |= i & half ? 0 : (~uint64_t(0) >> (64 - bits)) << (i * bits);
    for (int i = 0; i < count; ++i)
      if (!(i & half)) {
        const uint64_t a = words[i], b = words[i + half];
        words[i] = (a & mask) | ((b & mask) << (half * bits));
        words[i + half] = ((a >> (half * bits)) & mask) | (b & ~mask);
      }
  }
}

/// Columns of a square of `side` rows and `width` columns become rows at `to`, `stride` elements apart.
template <typename T, int64_t side>
void writeColumns(const T (&square)[side][side], int64_t width, char *to, int64_t stride) {
  constexpr int64_t count = 8 / sizeof(T);
  for (int64_t j = 0; j < width / count * count; j += count)
    for (int64_t i = 0; i < side; i += count) {
      uint64_t words[count];
      for (int64_t k = 0; k < count; ++k)
        std::memcpy(&words[k], &square[i + k][j], 8);
      transposeWords<T>(words);
      for (int64_t k = 0; k < count; ++k)
        std::memcpy(to + ((j + k) * stride + i) * int64_t(sizeof(T)), &words[k], 8);
    }
  for (int64_t j = width / count * count; j < width; ++j)
    for (int64_t i = 0; i < side; ++i)
      std::memcpy(to + (j * stride + i) * int64_t(sizeof(T)), &square[i][j], sizeof(T));
}

/// A square is copied to a small array first: rows of the tensor that are a power of 2 apart are in few sets of a
/// cache, in which the lines of a square have no room.
template <typename T> void copyTileOf(const char *from, const ExtentLoop &rows, const ExtentLoop &run, char *to) {
  constexpr int64_t size = sizeof(T), side = std::max<int64_t>(8, 64 / size);
  T square[side][side];
  for (int64_t i0 = 0; i0 < rows.size; i0 += side) {
    const int64_t height = std::min(side, rows.size - i0);
    for (int64_t j0 = 0; j0 < run.size; j0 += side) {
      const int64_t width = std::min(side, run.size - j0);
      for (int64_t i = 0; i < height; ++i) {
        const char *row = from + ((i0 + i) * rows.globalStride + j0 * run.globalStride) * size;
        if (run.globalStride == 1)
          std::memcpy(square[i], row, size_t(width * size));
        else
          for (int64_t j = 0; j < width; ++j)
            std::memcpy(&square[i][j], row + j * run.globalStride * size, size_t(size));
      }
      char *corner = to + (i0 * rows.localStride + j0 * run.localStride) * size;
      if (size <= 4 && height == side && rows.localStride == 1) {
        if constexpr (size <= 4)
          writeColumns<T, side>(square, width, corner, run.localStride);
        continue;
      }
      for (int64_t j = 0; j < width; ++j)
        for (int64_t i = 0; i < height; ++i)
          std::memcpy(corner + (i * rows.localStride + j * run.localStride) * size, &square[i][j], size_t(size));
    }
  }
}

/// Copies rows whose elements are apart at `to`, as of a transposed tensor, in squares that
/// stay in the cache.
void copyTile(const char *from, const ExtentLoop &rows, const ExtentLoop &run, char *to, int64_t size) {
  if (size == 1)
    copyTileOf<uint8_t>(from, rows, run, to);
  else if (size == 2)
    copyTileOf<uint16_t>(from, rows, run, to);
  else if (size == 4)
    copyTileOf<uint32_t>(from, rows, run, to);
  else if (size == 8)
    copyTileOf<uint64_t>(from, rows, run, to);
  else
    copyTileOf<std::array<uint64_t, 2>>(from, rows, run, to);
}

} // namespace

void BlockReader::start(const StoredTensor &stored) {
  stored_ = &stored;
  bits_ = stored.storedBits();
  items_.clear();
  pieces_.clear();
  items_.reserve(maxPieces); // Doubling would take twice what is needed.
}

bool BlockReader::areRows(const StoredTensor &stored, const ExtentLoop &run, int64_t rowStride, int64_t maxGap) {
  const int64_t bits = stored.storedBits(), bytes = ((run.size - 1) * run.globalStride + 1) * bits / 8;
  const bool isStaged = bytes < straightRunBytes || run.localStride != 1;
  const int64_t gap = std::max((run.globalStride - 1) * bits / 8, rowStride * bits / 8 - bytes);
  return isStaged && rowStride > 0 && gap <= maxGap;
}

void BlockReader::add(const Piece &piece) {
  if (piece.rows > 1) {
    // As many rows at a time as one request is made for.
    int64_t bits = bits_, size = dtypeSize(*stored_->dtype);
    int64_t maxRows = std::max<int64_t>(1, stagedBytes * 8 / bits / piece.rowStride);
    for (int64_t row = 0; row < piece.rows; row += maxRows) {
      Piece rows = piece;
      rows.rows = std::min(maxRows, piece.rows - row);
      rows.first += row * piece.rowStride;
      rows.to += row * piece.toRowStride * size;
      auto [begin, end] =
          stored_->byteRange(rows.first, (rows.rows - 1) * rows.rowStride + (rows.count - 1) * rows.stride + 1);
      push(begin, end, rows);
    }
    return;
  }
  // Elements far apart are requests of their own.
  if (piece.count > 1 && (piece.stride - 1) * bits_ / 8 > maxGap_) {
    Piece one = piece;
    one.count = 1;
    int64_t size = dtypeSize(*stored_->dtype);
    for (int64_t i = 0; i < piece.count; ++i) {
      add(one);
      one.first += piece.stride;
      one.to += piece.toStride * size;
    }
    return;
  }
  int64_t last = piece.first + (piece.count - 1) * piece.stride + 1;
  push(piece.first * bits_ / 8, (last * bits_ + 7) / 8, piece);
}

void BlockReader::push(int64_t begin, int64_t end, const Piece &piece) {
  const bool isRun = piece.rows == 1 && stored_->encoding == Encoding::Raw &&
                     (piece.count == 1 || (piece.stride == 1 && piece.toStride == 1));
  items_.push_back({begin, end, piece.to, int32_t(piece.rank), isRun ? -1 : int32_t(pieces_.size())});
  if (!isRun)
    pieces_.push_back(piece);
}

LoadCounters &BlockReader::counters(int64_t rank) {
  if (size_t(rank) >= ranks_.size())
    ranks_.resize(size_t(rank) + 1);
  return ranks_[size_t(rank)];
}

char *BlockReader::staging(int64_t bytes) {
  // Page-aligned, as direct I/O wants it.
  staging_.reserve(std::max<int64_t>(bytes + File::directAlignment, 64 << 10));
  uintptr_t at = reinterpret_cast<uintptr_t>(staging_.data());
  constexpr uintptr_t mask = File::directAlignment - 1;
  return reinterpret_cast<char *>((at + mask) & ~mask);
}

/// Sorts by place in the file, the longer first. What each rank wants is ascending
/// already, so a few runs are merged.
void BlockReader::putInOrder() {
  auto before = [&](uint32_t a, uint32_t b) {
    const Item &x = items_[a], &y = items_[b];
    return x.begin != y.begin ? x.begin < y.begin : x.end != y.end ? x.end > y.end : a < b;
  };
  order_.clear();
  runs_.assign(1, 0);
  for (size_t i = 1; i < items_.size(); ++i)
    if (before(uint32_t(i), uint32_t(i - 1)))
      runs_.push_back(i);
  if (runs_.size() == 1 || runs_.size() > 16) {
    for (size_t i = 0; i < items_.size(); ++i)
      order_.push_back(uint32_t(i));
    if (runs_.size() > 1)
      std::sort(order_.begin(), order_.end(), before);
    return;
  }
  // The next item of each run, sorted. Runs that take turns, as columns do, come
  // last again after one comparison.
  struct Head {
    uint32_t at, end;
  } heads[2 * 16];
  size_t first = 0, last = 0; // Live ones.
  auto insert = [&](Head head) {
    size_t scatter = last++;
    for (; scatter > first && before(head.at, heads[scatter - 1].at); --scatter)
      heads[scatter] = heads[scatter - 1];
    heads[scatter] = head;
  };
  for (size_t k = 0; k < runs_.size(); ++k)
    insert({uint32_t(runs_[k]), uint32_t(k + 1 < runs_.size() ? runs_[k + 1] : items_.size())});
  while (first < last) {
    Head head = heads[first++];
    order_.push_back(head.at);
    if (++head.at == head.end)
      continue;
    if (last == std::size(heads)) {
      std::copy(heads + first, heads + last, heads);
      last -= first;
      first = 0;
    }
    insert(head);
  }
}

std::pair<size_t, int64_t> BlockReader::groupFrom(size_t first) {
  size_t last = first + 1;
  int64_t end = item(first).end;
  // Short runs are sliced in memory: what is read at once stays in the cache.
  const int64_t maxBytes = hasRows(item(first)) ? 2 * stagedBytes : blockBytes;
  while (last < items_.size() && item(last).begin - end <= maxGap_ &&
         std::max(end, item(last).end) - item(first).begin <= maxBytes) {
    end = std::max(end, item(last).end);
    ++last;
  }
  return {last, end};
}

void BlockReader::announceGroups() {
  if (items_.empty() || stored_->file->isCached(stored_->offset + item(0).begin))
    return;
  for (size_t first = 0, groups = 0; first < items_.size(); ++groups) {
    auto [last, end] = groupFrom(first);
    const int64_t begin = item(first).begin;
    if (groups == 0 && last == items_.size())
      return;
    if (end - begin < (1 << 20))
      stored_->file->willRead(stored_->offset + begin, end - begin);
    first = last;
  }
}

Status BlockReader::finish(int64_t begin, int64_t count) {
  if (fullBlocks_ && begin >= 0) {
    order_.clear();
    for (size_t i = 0; i < items_.size(); ++i)
      order_.push_back(uint32_t(i));
    auto [from, to] = stored_->byteRange(begin, count);
    return readStaged(0, items_.size(), from, to);
  }
  putInOrder();
  announceGroups();
  for (size_t first = 0; first < items_.size();) {
    const size_t last = groupFrom(first).first;
    SK_RETURN_IF_ERROR(readGroup(first, last));
    first = last;
  }
  max_ =
      std::max(max_, staging_.bytes() + int64_t(items_.capacity() * sizeof(Item) + order_.capacity() * 4) +
                         int64_t(pieces_.capacity() * sizeof(Piece)) + int64_t(buffers_.capacity() * sizeof(::iovec)) +
                         int64_t(copies_.capacity() * sizeof(copies_[0])));
  return {};
}

Status BlockReader::readGroup(size_t first, size_t last) {
  // Straight into place: runs, of which no two overlap unless they are the same
  // (replicas).
  bool straight = true;
  int64_t end = item(first).begin, distinct = 0, runs = 0;
  for (size_t i = first; i < last && straight; ++i) {
    const Item &one = item(i);
    straight = one.piece < 0;
    if (i > first && one.begin == item(i - 1).begin && one.end == item(i - 1).end)
      continue;
    straight &= one.begin >= end;
    distinct += one.end - one.begin;
    ++runs;
    end = one.end;
  }
  straight &= runs > 0 && (runs == 1 || distinct / runs >= straightRunBytes);
  int64_t begin = item(first).begin;
  for (size_t i = first; i < last; ++i)
    end = std::max(end, item(i).end);
  bool measure;
  IoMode mode = io_.choose(*stored_->file, stored_->offset + begin, end - begin, measure);
  auto start = std::chrono::steady_clock::now();
  int64_t offset = stored_->offset + begin, bytes = end - begin;
  if (mode == IoMode::Mmap && stored_->file->map()) {
    // A file that shrank since would be a signal, not an error: asked first.
    char probe;
    SK_RETURN_IF_ERROR(stored_->file->read(&probe, offset + bytes - 1, 1));
    scatter(first, last, stored_->file->map() + offset, begin);
    mapped_ += bytes;
    return {};
  }
  bool done = false;
  if (mode == IoMode::Direct) {
    constexpr int64_t unit = File::directAlignment;
    int64_t from = offset / unit * unit, to = (offset + bytes + unit - 1) / unit * unit;
    char *at = staging(to - from);
    SK_ASSIGN_OR_RETURN(done, stored_->file->readDirect(at, from, to - from));
    if (done) {
      scatter(first, last, at + (offset - from), begin);
      direct_ += bytes;
    }
  }
  if (!done && straight)
    SK_RETURN_IF_ERROR(readStraight(first, last));
  else if (!done)
    SK_RETURN_IF_ERROR(readStaged(first, last, begin, end));
  if (measure)
    io_.record(mode, done || mode != IoMode::Direct ? bytes : 0,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return {};
}

void BlockReader::decode(const Item &item, const char *block, int64_t begin) const {
  if (item.piece < 0) {
    std::memcpy(item.to, block + (item.begin - begin), size_t(item.end - item.begin));
    return;
  }
  const Piece &piece = pieces_[size_t(item.piece)];
  int64_t first = piece.first, size = dtypeSize(*stored_->dtype);
  char *to = piece.to;
  if (piece.rows > 1 && stored_->encoding == Encoding::Raw && piece.toStride != 1)
    return copyTile(block + (first * size - begin), {piece.rows, piece.rowStride, piece.toRowStride},
                    {piece.count, piece.stride, piece.toStride}, to, size);
  if (piece.rows > 1 && stored_->encoding == Encoding::Raw && piece.stride == 1) {
    const char *from = block + (first * size - begin);
    int64_t bytes = piece.count * size;
    for (int64_t row = 0; row < piece.rows; ++row) {
      std::memcpy(to, from, size_t(bytes));
      from += piece.rowStride * size;
      to += piece.toRowStride * size;
    }
    return;
  }
  for (int64_t row = 0; row < piece.rows; ++row) {
    decodeElements(*stored_, block, begin, first, piece.stride, to, piece.toStride, piece.count);
    first += piece.rowStride;
    to += piece.toRowStride * size;
  }
}

void BlockReader::scatter(size_t first, size_t last, const char *block, int64_t begin) {
  ++counters(item(first).rank).requests;
  int64_t end = begin;
  for (size_t i = first; i < last; ++i)
    end = std::max(end, item(i).end);
  // A shared request counts for the ranks by what is theirs of it, gaps for the
  // first; replicas have their bytes from another rank.
  int64_t left = end - begin;
  newBytes_ += left;
  for (size_t i = first; i < last; ++i) {
    const Item &one = item(i);
    decode(one, block, begin);
    int64_t bytes = one.end - one.begin;
    if (one.piece >= 0)
      if (const Piece &piece = pieces_[size_t(one.piece)]; piece.rows > 1 || piece.stride > 1)
        bytes = piece.rows * ((piece.count * bits_ + 7) / 8);
    bytes = std::min(bytes, left);
    counters(one.rank).bytesRead += bytes;
    left -= bytes;
  }
  counters(item(first).rank).bytesRead += left;
}

Status BlockReader::readStraight(size_t first, size_t last) {
  buffers_.clear();
  copies_.clear();
  int64_t at = item(first).begin, begin = at;
  size_t source = first;
  char *gaps = last - first > 1 ? staging(maxGap_) : nullptr; // What nobody wants.
  for (size_t i = first; i < last; ++i) {
    const Item &one = item(i);
    if (i > first && one.begin == item(source).begin && one.end == item(source).end) {
      copies_.emplace_back(i, source);
      continue;
    }
    source = i;
    if (one.begin > at) // A gap, at most maxGap_.
      buffers_.push_back({gaps, size_t(one.begin - at)});
    buffers_.push_back({one.to, size_t(one.end - one.begin)});
    counters(one.rank).bytesRead += one.end - at;
    at = one.end;
  }
  // Neighbours that land side by side are one part.
  size_t kept = 0;
  for (size_t i = 1; i < buffers_.size(); ++i) {
    if (static_cast<char *>(buffers_[kept].iov_base) + buffers_[kept].iov_len == buffers_[i].iov_base)
      buffers_[kept].iov_len += buffers_[i].iov_len;
    else
      buffers_[++kept] = buffers_[i];
  }
  buffers_.resize(kept + 1);
  counters(item(first).rank).requests += int64_t((buffers_.size() + IOV_MAX - 1) / IOV_MAX);
  newBytes_ += at - begin;
  int64_t offset = stored_->offset + begin;
  SK_RETURN_IF_ERROR(buffers_.size() == 1 ? stored_->file->read(buffers_[0].iov_base, offset, at - begin)
                                          : stored_->file->read(buffers_, offset));
  for (auto [to, from] : copies_)
    std::memcpy(item(to).to, item(from).to, size_t(item(to).end - item(to).begin));
  return {};
}

Status BlockReader::readStaged(size_t first, size_t last, int64_t begin, int64_t end) {
  int64_t bytes = end - begin;
  char *block = staging(bytes);
  SK_RETURN_IF_ERROR(stored_->file->read(block, stored_->offset + begin, bytes));
  if (!fullBlocks_) {
    scatter(first, last, block, begin);
    return {};
  }
  for (size_t i = first; i < last; ++i)
    decode(item(i), block, begin);
  // The root reads everything.
  LoadCounters &counted = counters(0);
  ++counted.requests;
  counted.bytesRead += bytes;
  newBytes_ += bytes;
  max_ =
      std::max(max_, staging_.bytes() + int64_t(items_.capacity() * sizeof(Item) + pieces_.capacity() * sizeof(Piece)));
  return {};
}

void BlockReader::addTo(LoadStats &stats) const {
  stats.ranks.resize(std::max(stats.ranks.size(), ranks_.size()));
  for (size_t r = 0; r < ranks_.size(); ++r) {
    stats.ranks[r].add(ranks_[r]);
    stats.total.bytesRead += ranks_[r].bytesRead;
    stats.total.requests += ranks_[r].requests;
  }
  stats.bytesDirect += direct_;
  stats.bytesMapped += mapped_;
  stats.stagingBytes += max_;
}

} // namespace shardkit::rt
