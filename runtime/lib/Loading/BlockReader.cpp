//===- BlockReader.cpp - The pieces of one block, read and placed -----------===//

#include "BlockReader.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>

namespace shardkit::rt {

/// A gap larger than this is not worth reading.
static constexpr int64_t maxGap = 64 << 10;
/// Runs of at least this many bytes on average are read straight into place by
/// one vectored request; shorter ones cost less when sliced in memory.
static constexpr int64_t straightRunBytes = 1024;

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
  Measured &less = direct_.asked < buffered_.asked ? direct_ : buffered_;
  ++less.asked;
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

void BlockReader::start(const StoredTensor &stored) {
  stored_ = &stored;
  items_.clear();
}

void BlockReader::add(const Piece &piece) {
  // Elements far apart are requests of their own.
  if (piece.count > 1 && piece.stride * stored_->storedBits() / 8 > maxGap) {
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
  auto [begin, end] = stored_->byteRange(piece.first, (piece.count - 1) * piece.stride + 1);
  items_.push_back({begin, end, piece});
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

Status BlockReader::finish(int64_t begin, int64_t count) {
  if (wholeBlocks_ && begin >= 0) {
    auto [from, to] = stored_->byteRange(begin, count);
    return readStaged(0, items_.size(), from, to);
  }
  std::sort(items_.begin(), items_.end(), [](const Item &a, const Item &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  const int64_t most = blockBytes;
  for (size_t first = 0; first < items_.size();) {
    size_t last = first + 1;
    int64_t end = items_[first].end;
    while (last < items_.size() && items_[last].begin - end <= maxGap &&
           std::max(end, items_[last].end) - items_[first].begin <= most) {
      end = std::max(end, items_[last].end);
      ++last;
    }
    SK_RETURN_IF_ERROR(readGroup(first, last));
    first = last;
  }
  most_ = std::max(most_, staging_.bytes() + int64_t(items_.capacity() * sizeof(Item)) +
                              int64_t(parts_.capacity() * sizeof(::iovec)) +
                              int64_t(copies_.capacity() * sizeof(copies_[0])));
  return {};
}

Status BlockReader::readGroup(size_t first, size_t last) {
  // Straight into place: contiguous here and there, stored as in memory, and no
  // two pieces overlap unless they are the same (replicas).
  bool straight = stored_->encoding == Encoding::Raw;
  int64_t end = items_[first].begin, distinct = 0, runs = 0;
  for (size_t i = first; i < last && straight; ++i) {
    const Item &item = items_[i];
    const Piece &piece = item.piece;
    straight = piece.count == 1 || (piece.stride == 1 && piece.toStride == 1);
    if (i > first && item.begin == items_[i - 1].begin && item.end == items_[i - 1].end)
      continue;
    straight &= item.begin >= end;
    distinct += item.end - item.begin;
    ++runs;
    end = item.end;
  }
  straight &= runs > 0 && (runs == 1 || distinct / runs >= straightRunBytes);
  int64_t begin = items_[first].begin;
  for (size_t i = first; i < last; ++i)
    end = std::max(end, items_[i].end);
  bool measure;
  IoMode mode = io_.choose(*stored_->file, stored_->offset + begin, end - begin, measure);
  auto start = std::chrono::steady_clock::now();
  int64_t offset = stored_->offset + begin, bytes = end - begin;
  if (mode == IoMode::Mmap && stored_->file->map()) {
    // A file that shrank since would be a signal, not an error: asked first.
    char probe;
    SK_RETURN_IF_ERROR(stored_->file->read(&probe, offset + bytes - 1, 1));
    place(first, last, stored_->file->map() + offset, begin);
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
      place(first, last, at + (offset - from), begin);
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

void BlockReader::place(size_t first, size_t last, const char *block, int64_t begin) {
  ++counters(items_[first].piece.rank).requests;
  // A shared request counts for the ranks by what is theirs of it.
  int64_t at = begin;
  for (size_t i = first; i < last; ++i) {
    const Piece &piece = items_[i].piece;
    decodeElements(*stored_, block, begin, piece.first, piece.stride, piece.to, piece.toStride,
                   piece.count);
    int64_t upTo = std::max(at, items_[i].end);
    counters(piece.rank).bytesRead += upTo - at;
    newBytes_ += upTo - at;
    at = upTo;
  }
}

Status BlockReader::readStraight(size_t first, size_t last) {
  parts_.clear();
  copies_.clear();
  int64_t at = items_[first].begin, begin = at;
  size_t source = first;
  char *gaps = last - first > 1 ? staging(maxGap) : nullptr; // What nobody wants.
  for (size_t i = first; i < last; ++i) {
    const Item &item = items_[i];
    if (i > first && item.begin == items_[source].begin && item.end == items_[source].end) {
      copies_.emplace_back(i, source);
      continue;
    }
    source = i;
    if (item.begin > at) // A gap, at most maxGap.
      parts_.push_back({gaps, size_t(item.begin - at)});
    parts_.push_back({item.piece.to, size_t(item.end - item.begin)});
    counters(item.piece.rank).bytesRead += item.end - at;
    at = item.end;
  }
  // Neighbours that land side by side are one part.
  size_t kept = 0;
  for (size_t i = 1; i < parts_.size(); ++i) {
    if (static_cast<char *>(parts_[kept].iov_base) + parts_[kept].iov_len == parts_[i].iov_base)
      parts_[kept].iov_len += parts_[i].iov_len;
    else
      parts_[++kept] = parts_[i];
  }
  parts_.resize(kept + 1);
  counters(items_[first].piece.rank).requests += int64_t((parts_.size() + IOV_MAX - 1) / IOV_MAX);
  newBytes_ += at - begin;
  int64_t offset = stored_->offset + begin;
  SK_RETURN_IF_ERROR(parts_.size() == 1
                         ? stored_->file->read(parts_[0].iov_base, offset, at - begin)
                         : stored_->file->read(parts_, offset));
  for (auto [to, from] : copies_)
    std::memcpy(items_[to].piece.to, items_[from].piece.to,
                size_t(items_[to].end - items_[to].begin));
  return {};
}

Status BlockReader::readStaged(size_t first, size_t last, int64_t begin, int64_t end) {
  int64_t bytes = end - begin;
  char *block = staging(bytes);
  SK_RETURN_IF_ERROR(stored_->file->read(block, stored_->offset + begin, bytes));
  if (!wholeBlocks_) {
    place(first, last, block, begin);
    return {};
  }
  for (size_t i = first; i < last; ++i) {
    const Piece &piece = items_[i].piece;
    decodeElements(*stored_, block, begin, piece.first, piece.stride, piece.to, piece.toStride,
                   piece.count);
  }
  // The root reads everything.
  LoadCounters &own = counters(0);
  ++own.requests;
  own.bytesRead += bytes;
  newBytes_ += bytes;
  most_ = std::max(most_, staging_.bytes() + int64_t(items_.capacity() * sizeof(Item)));
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
  stats.stagingBytes += most_;
}

} // namespace shardkit::rt
