//===- PiecesCover.cpp - Whether pieces write every element once ----------===//
//
// A piece has some places of each dim, independently: an element is its if all its
// places are. So the dims are taken one after the other: places of a dim that the
// same pieces have are alike, and for each such set of pieces the next dims decide.
//
//===----------------------------------------------------------------------===//

#include "PiecesCover.h"

#include <map>

namespace shardkit::rt {

namespace {

struct Loop {
  int64_t size, step; ///< In places of the dim.
};
/// The places that a piece has of a dim.
struct Places {
  int64_t first = 0;
  std::vector<Loop> loops;
  int64_t chunk = 0; ///< Not 0: the same in every chunk of the dim.
};

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

  bool prepare(const std::vector<ExtentPiece> &pieces) {
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

  bool run() {
    std::vector<int> all;
    for (size_t i = 0; i < pieces_.size(); ++i)
      all.push_back(int(i));
    return check(0, all);
  }

private:
  using Key = std::vector<int64_t>; ///< Local stride, chunk, rank digits.

  static Key keyOf(const ExtentPiece &piece, const UnevenLoop &uneven) {
    const ExtentLoop &loop = piece.extents.loops[size_t(uneven.loop)];
    Key key{loop.localStride, loop.size};
    for (const RankDigit &digit : uneven.ranks)
      key.insert(key.end(), {digit.stride, digit.size});
    return key;
  }

  /// Which dims are in chunks: one for each set of ranks that windows are on.
  bool findChunks(const std::vector<ExtentPiece> &pieces) {
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

  bool add(const ExtentPiece &piece) {
    std::vector<Places> places(local_.size());
    std::vector<bool> done(piece.extents.loops.size());
    for (size_t d = 0; d < local_.size(); ++d) {
      places[d].first = local_[d] == 0 ? 0 : piece.localBase / units_[d] % local_[d];
      places[d].chunk = ranks_[d].empty() ? 0 : local_[d];
    }
    for (const UnevenLoop &uneven : piece.extents.uneven) {
      Places &own = places[chunkDims_.at(keyOf(piece, uneven))];
      if (own.first != 0 || own.chunk == 0)
        return false;
      own = {uneven.begin, {{uneven.size, 1}}, 0};
      done[size_t(uneven.loop)] = true;
    }
    for (size_t i = 0; i < done.size(); ++i) {
      ExtentLoop loop = piece.extents.loops[i];
      if (done[i] || loop.size == 1)
        continue;
      // The part of the loop inside of each dim, from the finest that it moves in.
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
          if (places[d].chunk == 0 && !ranks_[d].empty())
            return false; // has a window there
          places[d].loops.push_back({inside, loop.localStride / units_[d]});
        }
        if (loop.size % inside != 0)
          return false;
        loop.size /= inside;
        loop.localStride = top;
      }
      if (loop.size > 1)
        return false;
    }
    pieces_.push_back(std::move(places));
    return true;
  }

  /// Calls fn for the places of a piece along a dim; false if one lies outside.
  template <typename Fn> bool forEachPlace(const Places &places, size_t d, Fn &&fn) {
    std::vector<int64_t> list{places.first};
    for (const Loop &loop : places.loops) {
      size_t count = list.size();
      if (int64_t(count) * loop.size > sizes_[d])
        return false;
      for (int64_t i = 1; i < loop.size; ++i)
        for (size_t k = 0; k < count; ++k)
          list.push_back(list[k] + i * loop.step);
    }
    int64_t limit = places.chunk ? places.chunk : sizes_[d];
    for (int64_t place : list) {
      if (place >= limit)
        return false;
      for (int64_t at = place; at < sizes_[d]; at += places.chunk) {
        fn(at);
        if (places.chunk == 0)
          break;
      }
    }
    return true;
  }

  bool check(size_t d, const std::vector<int> &among) {
    if (d == local_.size())
      return among.size() == 1;
    work_ += sizes_[d] * int64_t(among.size() + 1);
    if (work_ > maxWork)
      return false;
    std::vector<std::vector<int>> owners(static_cast<size_t>(sizes_[d]));
    for (int i : among)
      if (!forEachPlace(pieces_[size_t(i)][d], d, [&](int64_t place) { owners[size_t(place)].push_back(i); }))
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

  static constexpr int64_t maxWork = int64_t(1) << 27;
  const std::vector<int64_t> &local_;
  std::vector<int64_t> sizes_; ///< Local, or of all ranks where a dim is in chunks.
  const std::vector<int64_t> &global_;
  std::vector<int64_t> units_;
  std::vector<Key> ranks_; ///< Of a dim in chunks.
  std::map<Key, size_t> chunkDims_;
  std::vector<std::vector<Places>> pieces_;
  int64_t work_ = 0;
};

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
