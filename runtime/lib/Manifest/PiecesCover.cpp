//===- PiecesCover.cpp - Exact cover of a buffer by pieces ----------------===//
//
// A piece has some indices of each dim, independently: it has an element if it has all of its
// indices. So the dims are processed one after the other: indices of a dim that the same pieces
// have are equivalent, and for each such set of pieces the next dims decide.
//
//===----------------------------------------------------------------------===//

#include "PiecesCover.h"

#include <map>

namespace shardkit::rt {

namespace {

struct Loop {
  int64_t size, step; ///< In indices of the dim.
};
/// The indices of a dim that a piece has.
struct Indices {
  int64_t first = 0;
  std::vector<Loop> loops;
  int64_t chunk = 0; ///< Not 0: the same in every chunk of the dim.
};

/// Decides whether pieces cover a buffer. Example: the pieces [0, 2) x [0, 4) and [2, 4) x [0, 4) of a
/// 4x4 buffer. Indices 0 and 1 of dim 0 belong to the first piece alone, indices 2 and 3 to the
/// second. For both sets the piece has all indices of dim 1 once: they cover the buffer.
class Cover {
public:
  Cover(const std::vector<int64_t> &localShape, const std::vector<int64_t> &globalShape)
      : local_(localShape), sizes_(localShape), global_(globalShape), units_(localShape.size()),
        ranks_(localShape.size()) {
    int64_t unit = 1;
    for (size_t d = local_.size(); d-- > 0;) {
      units_[d] = unit;
      unit *= local_[d];
    }
  }

  bool prepare(const std::vector<ExtentPiece> &pieces);
  bool run();

private:
  using Key = std::vector<int64_t>; ///< Local stride, chunk, rank digits.

  static Key keyOf(const ExtentPiece &piece, const UnevenLoop &uneven);

  /// Finds the dims in chunks: one for each set of ranks that windows are on.
  bool findChunks(const std::vector<ExtentPiece> &pieces);
  bool add(const ExtentPiece &piece);

  /// Calls fn for the indices of a piece along a dim; false if one lies outside.
  template <typename Fn> bool forEachIndex(const Indices &indices, size_t d, Fn &&fn);
  bool check(size_t d, const std::vector<int> &among);
  static constexpr int64_t maxWork = int64_t(1) << 27;
  const std::vector<int64_t> &local_;
  std::vector<int64_t> sizes_; ///< Local, or over all ranks for a dim in chunks.
  const std::vector<int64_t> &global_;
  std::vector<int64_t> units_;
  std::vector<Key> ranks_; ///< The ranks of each dim in chunks.
  std::map<Key, size_t> chunkDims_;
  std::vector<std::vector<Indices>> pieces_;
  int64_t work_ = 0;
};

bool Cover::prepare(const std::vector<ExtentPiece> &pieces) {
  if (!findChunks(pieces))
    return false;
  for (const ExtentPiece &piece : pieces) {
    bool empty = false;
    for (const ExtentLoop &loop : piece.extents.loops)
      empty |= loop.size == 0;
    if (!empty && !add(piece))
      return false;
  }
  return true;
}

bool Cover::run() {
  std::vector<int> all;
  for (size_t i = 0; i < pieces_.size(); ++i)
    all.push_back(int(i));
  return check(0, all);
}

Cover::Key Cover::keyOf(const ExtentPiece &piece, const UnevenLoop &uneven) {
  const ExtentLoop &loop = piece.extents.loops[size_t(uneven.loop)];
  Key key{loop.localStride, loop.size};
  for (const RankDigit &digit : uneven.ranks)
    key.insert(key.end(), {digit.stride, digit.size});
  return key;
}

bool Cover::findChunks(const std::vector<ExtentPiece> &pieces) {
  std::map<Key, int64_t> ends;
  for (const ExtentPiece &piece : pieces)
    for (const UnevenLoop &uneven : piece.extents.uneven) {
      int64_t &end = ends[keyOf(piece, uneven)];
      end = std::max(end, uneven.begin + uneven.size);
    }
  // Dims of local size 1 look alike: first those that end where windows do.
  for (bool exact : {true, false})
    for (const auto &[key, end] : ends)
      for (size_t d = 0; d < local_.size() && !chunkDims_.count(key); ++d)
        if (units_[d] == key[0] && local_[d] == key[1] && ranks_[d].empty() &&
            (exact ? global_[d] == end : global_[d] > end)) {
          ranks_[d] = key;
          sizes_[d] = global_[d];
          chunkDims_[key] = d;
        }
  return chunkDims_.size() == ends.size();
}

bool Cover::add(const ExtentPiece &piece) {
  std::vector<Indices> indices(local_.size());
  std::vector<bool> done(piece.extents.loops.size());
  for (size_t d = 0; d < local_.size(); ++d) {
    indices[d].first = local_[d] == 0 ? 0 : piece.localBase / units_[d] % local_[d];
    indices[d].chunk = ranks_[d].empty() ? 0 : local_[d];
  }
  for (const UnevenLoop &uneven : piece.extents.uneven) {
    Indices &own = indices[chunkDims_.at(keyOf(piece, uneven))];
    if (own.first != 0 || own.chunk == 0)
      return false;
    own = {uneven.begin, {{uneven.size, 1}}, 0};
    done[size_t(uneven.loop)] = true;
  }
  for (size_t i = 0; i < done.size(); ++i) {
    ExtentLoop loop = piece.extents.loops[i];
    if (done[i] || loop.size == 1)
      continue;
    // The section of the loop inside of each dim, from the finest that it moves in.
    for (size_t d = local_.size(); d-- > 0 && loop.size > 1;) {
      int64_t top = units_[d] * local_[d];
      if (loop.localStride >= top)
        continue;
      if (loop.localStride % units_[d] != 0)
        return false;
      int64_t inside = loop.size;
      if ((loop.size - 1) * loop.localStride >= top) {
        if (top % loop.localStride != 0)
          return false;
        inside = top / loop.localStride;
      }
      if (inside > 1) {
        if (indices[d].chunk == 0 && !ranks_[d].empty())
          return false; // has a window there
        indices[d].loops.push_back({inside, loop.localStride / units_[d]});
      }
      if (loop.size % inside != 0)
        return false;
      loop.size /= inside;
      loop.localStride = top;
    }
    if (loop.size > 1)
      return false;
  }
  pieces_.push_back(std::move(indices));
  return true;
}

template <typename Fn> bool Cover::forEachIndex(const Indices &indices, size_t d, Fn &&fn) {
  std::vector<int64_t> list{indices.first};
  for (const Loop &loop : indices.loops) {
    size_t count = list.size();
    if (int64_t(count) * loop.size > sizes_[d])
      return false;
    for (int64_t i = 1; i < loop.size; ++i)
      for (size_t k = 0; k < count; ++k)
        list.push_back(list[k] + i * loop.step);
  }
  int64_t limit = indices.chunk ? indices.chunk : sizes_[d];
  for (int64_t index : list) {
    if (index >= limit)
      return false;
    for (int64_t at = index; at < sizes_[d]; at += indices.chunk) {
      fn(at);
      if (indices.chunk == 0)
        break;
    }
  }
  return true;
}

bool Cover::check(size_t d, const std::vector<int> &among) {
  if (d == local_.size())
    return among.size() == 1;
  work_ += sizes_[d] * int64_t(among.size() + 1);
  if (work_ > maxWork)
    return false;
  std::vector<std::vector<int>> owners(static_cast<size_t>(sizes_[d]));
  for (int i : among)
    if (!forEachIndex(pieces_[size_t(i)][d], d, [&](int64_t index) { owners[size_t(index)].push_back(i); }))
      return false;
  std::map<std::vector<int>, bool> seen;
  const std::vector<int> *last = nullptr; // Neighbours are mostly alike.
  for (const std::vector<int> &own : owners) {
    if (last && *last == own)
      continue;
    last = &own;
    if (own.empty() || (seen.emplace(own, true).second && !check(d + 1, own)))
      return false;
  }
  return true;
}

} // namespace

bool piecesCover(const std::vector<ExtentPiece> &pieces, const std::vector<int64_t> &localShape,
                 const std::vector<int64_t> &globalShape) {
  for (int64_t size : localShape)
    if (size == 0)
      return true;
  Cover cover(localShape, globalShape);
  return cover.prepare(pieces) && cover.run();
}

} // namespace shardkit::rt
