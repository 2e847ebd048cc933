//===- Loader.cpp - Each rank reads what it owns ----------------------------===//

#include "shardkit/rt/Loading/Loader.h"

#include <chrono>
#include <cstring>

namespace shardkit::rt {

Status checkSource(const ValueInfo &value, const TensorSource &source) {
  const auto *stored = std::get_if<StoredTensor>(&source);
  if (!stored)
    return {};
  auto fail = [&](const std::string &message) {
    return invalid(
        std::string(value.kind == ValueKind::Weight ? "weight" : "input") +
        " '" + value.name + "': " + message + " (" + stored->file->path() +
        ", bytes " + std::to_string(stored->offset) + " to " +
        std::to_string(stored->offset + stored->bytes) + ")");
  };
  if (!stored->dtype || !sameBits(*stored->dtype, value.dtype))
    return fail("stored as " + stored->storedType + ", expected " +
                dtypeName(value.dtype));
  if (stored->shape != value.globalShape)
    return fail("stored with shape " + shapeString(stored->shape) +
                ", expected " + shapeString(value.globalShape));
  if (stored->bytes != value.globalBytes() || stored->offset < 0 ||
      stored->offset + stored->bytes > stored->file->size())
    return fail("the file is truncated, it has " +
                std::to_string(stored->file->size()) + " bytes");
  return {};
}

namespace {

template <typename T>
void slice(const char *from, int64_t fromStride, char *to, int64_t toStride,
           int64_t count) {
  // Sources in files may be unaligned.
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * toStride * int64_t(sizeof(T)),
                from + i * fromStride * int64_t(sizeof(T)), sizeof(T));
}

void slicePiece(const char *from, int64_t fromStride, char *to,
                int64_t toStride, int64_t count, int64_t size) {
  if (fromStride == 1 && toStride == 1)
    std::memcpy(to, from, size_t(count * size));
  else if (size == 1)
    slice<uint8_t>(from, fromStride, to, toStride, count);
  else if (size == 2)
    slice<uint16_t>(from, fromStride, to, toStride, count);
  else if (size == 4)
    slice<uint32_t>(from, fromStride, to, toStride, count);
  else
    slice<uint64_t>(from, fromStride, to, toStride, count);
}

/// Reads pieces in ascending order through blocks of at most stagingBytes.
class BlockReader {
public:
  struct Piece {
    int64_t global, local, count, globalStride, localStride;
  };

  BlockReader(const StoredTensor &stored, int64_t size, char *local,
              Buffer &staging, LoadCounters &counters)
      : stored_(stored), size_(size), local_(local), staging_(staging),
        counters_(counters) {}

  Status add(Piece piece) {
    // A piece longer than the block is cut; so is one with wide gaps.
    int64_t most = piece.globalStride * size_ > maxGap
                       ? 1
                       : (stagingBytes / size_ - 1) /
                                 std::max<int64_t>(1, piece.globalStride) +
                             1;
    while (piece.count > most) {
      Piece part = piece;
      part.count = most;
      SK_RETURN_IF_ERROR(add(part));
      piece.global += most * piece.globalStride;
      piece.local += most * piece.localStride;
      piece.count -= most;
    }
    int64_t begin = piece.global;
    int64_t end = begin + (piece.count - 1) * piece.globalStride + 1;
    bool joins = !pieces_.empty() && begin >= begin_ &&
                 (std::max(end, end_) - begin_) * size_ <= stagingBytes &&
                 (begin - end_) * size_ <= maxGap;
    if (!joins) {
      SK_RETURN_IF_ERROR(flush());
      begin_ = begin;
      end_ = end;
    }
    end_ = std::max(end_, end);
    pieces_.push_back(piece);
    return pieces_.size() >= maxPieces ? flush() : Status();
  }

  Status flush() {
    if (pieces_.empty())
      return {};
    int64_t bytes = (end_ - begin_) * size_;
    staging_.reserve(std::min(stagingBytes, std::max<int64_t>(bytes, 1 << 20)));
    char *block = static_cast<char *>(staging_.data());
    SK_RETURN_IF_ERROR(
        stored_.file->read(block, stored_.offset + begin_ * size_, bytes));
    counters_.bytesRead += bytes;
    ++counters_.requests;
    for (const Piece &piece : pieces_)
      slicePiece(block + (piece.global - begin_) * size_, piece.globalStride,
                 local_ + piece.local * size_, piece.localStride, piece.count,
                 size_);
    pieces_.clear();
    return {};
  }

private:
  /// A gap larger than this is not worth reading.
  static constexpr int64_t maxGap = 64 << 10;
  static constexpr size_t maxPieces = 1 << 16;
  const StoredTensor &stored_;
  int64_t size_;
  char *local_;
  Buffer &staging_;
  LoadCounters &counters_;
  std::vector<Piece> pieces_;
  int64_t begin_ = 0, end_ = 0;
};

Status loadExtents(const ValueInfo &value, const Extents &extents,
                   const TensorSource &source, int64_t rank, void *local,
                   Buffer &staging, LoadCounters &counters) {
  std::vector<ExtentLoop> loops = coalesceLoops(extents, rank);
  int64_t base = extents.base(rank);
  int64_t size = dtypeSize(value.dtype);
  char *to = static_cast<char *>(local);
  if (const auto *random = std::get_if<RandomTensor>(&source)) {
    forEachPiece(loops, base,
                 [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                   random->fill(to + l * size, ls, g, gs, n);
                 });
    return {};
  }
  const StoredTensor &stored = std::get<StoredTensor>(source);
  bool inPlace =
      !loops.empty() && loops.back().globalStride == 1 &&
      loops.back().localStride == 1 && loops.back().size * size > shortRunBytes;
  Status status;
  BlockReader blocks(stored, size, to, staging, counters);
  forEachPiece(loops, base,
               [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                 if (!status.ok())
                   return;
                 counters.bytesNeeded += n * size;
                 if (!inPlace) {
                   status = blocks.add({g, l, n, gs, ls});
                   return;
                 }
                 counters.bytesRead += n * size;
                 ++counters.requests;
                 status = stored.file->read(to + l * size,
                                            stored.offset + g * size, n * size);
               });
  return status.ok() ? blocks.flush() : status;
}

} // namespace

Status loadLocal(const ValueInfo &value, const TensorSource &source,
                 int64_t rank, void *local, Buffer &staging,
                 LoadCounters &counters) {
  auto start = std::chrono::steady_clock::now();
  Status status = loadExtents(value, value.extents, source, rank, local,
                              staging, counters);
  counters.seconds += std::chrono::duration<double>(
                          std::chrono::steady_clock::now() - start)
                          .count();
  return status.withContext("rank " + std::to_string(rank) + ", '" +
                            value.name + "'");
}

Status loadGlobal(const ValueInfo &value, const TensorSource &source,
                  void *global) {
  Buffer staging;
  LoadCounters counters;
  return loadExtents(value, Extents::identity(value.globalElements), source, 0,
                     global, staging, counters)
      .withContext("'" + value.name + "'");
}

} // namespace shardkit::rt
