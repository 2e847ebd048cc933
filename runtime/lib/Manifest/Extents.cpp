//===- Extents.cpp - Which elements a rank holds --------------------------===//

#include "shardkit/rt/Manifest/Extents.h"

#include "Manifest/PiecesCover.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace shardkit::rt {

bool isPermutation(const std::vector<int64_t> &order, int64_t size) {
  std::vector<bool> seen(static_cast<size_t>(size));
  for (int64_t rank : order) {
    if (rank < 0 || rank >= size || seen[size_t(rank)])
      return false;
    seen[size_t(rank)] = true;
  }
  return int64_t(order.size()) == size;
}

std::vector<ExtentLoop> coalesceLoops(const Extents &extents, int64_t rank) {
  std::vector<ExtentLoop> loops, own = extents.loops;
  for (const UnevenLoop &dim : extents.uneven) {
    int64_t &size = own[size_t(dim.loop)].size;
    auto [first, end] = dim.indices(extents.rankInOrder(rank), size);
    size = end - first;
  }
  for (const ExtentLoop &loop : own)
    if (loop.size != 1)
      loops.push_back(loop);
  std::sort(loops.begin(), loops.end(), [](const ExtentLoop &a, const ExtentLoop &b) {
    return a.globalStride != b.globalStride ? a.globalStride > b.globalStride : a.localStride > b.localStride;
  });
  std::vector<ExtentLoop> merged;
  for (const ExtentLoop &loop : loops) {
    if (!merged.empty() && merged.back().globalStride == loop.size * loop.globalStride &&
        merged.back().localStride == loop.size * loop.localStride) {
      merged.back() = {merged.back().size * loop.size, loop.globalStride, loop.localStride};
      continue;
    }
    merged.push_back(loop);
  }
  return merged;
}

/// The first rank of its order that holds what a rank of its order holds.
static int64_t firstInOrder(const Extents &extents, int64_t rank) {
  // The first rank with the same elements has zero in every digit that does not
  // move the base.
  int64_t first = 0;
  for (const OffsetDigit &digit : extents.offset)
    if (digit.globalStride != 0)
      first += (rank / digit.rankStride) % digit.size * digit.rankStride;
  for (const UnevenLoop &dim : extents.uneven)
    for (const RankDigit &digit : dim.ranks)
      first += rank / digit.stride % digit.size * digit.stride;
  return first;
}

int64_t firstOwner(const Extents &extents, int64_t rank) {
  const int64_t first = firstInOrder(extents, extents.rankInOrder(rank));
  if (extents.order.empty())
    return first;
  return std::find_if(extents.order.begin(), extents.order.end(),
                      [&](int64_t other) { return firstInOrder(extents, other) == first; }) -
         extents.order.begin();
}

bool isReplica(const Extents &extents, int64_t rank) { return firstOwner(extents, rank) != rank; }

DistinctShard distinctShard(const Extents &extents, int64_t rank) {
  rank = extents.rankInOrder(rank);
  struct Digit {
    int64_t globalStride, size, value;
  };
  std::vector<Digit> digits;
  for (const OffsetDigit &digit : extents.offset)
    if (digit.globalStride != 0)
      digits.push_back({digit.globalStride, digit.size, rank / digit.rankStride % digit.size});
  for (const UnevenLoop &dim : extents.uneven) {
    int64_t count = 1;
    for (const RankDigit &digit : dim.ranks)
      count *= digit.size;
    const ExtentLoop &loop = extents.loops[size_t(dim.loop)];
    digits.push_back({loop.globalStride * loop.size, count, dim.coordinate(rank)});
  }
  std::sort(digits.begin(), digits.end(),
            [](const Digit &a, const Digit &b) { return a.globalStride > b.globalStride; });
  DistinctShard shard;
  for (const Digit &digit : digits) {
    shard.index = shard.index * digit.size + digit.value;
    shard.count *= digit.size;
  }
  return shard;
}

bool ShardMap::add(const Extents &extents, int64_t globalBase, int64_t localBase, int64_t firstRank) {
  Shards shards{globalBase, localBase, firstRank, {}, std::vector<int64_t>(extents.order.size())};
  for (size_t rank = 0; rank < extents.order.size(); ++rank)
    shards.holders[size_t(extents.order[rank])] = firstOwner(extents, int64_t(rank));
  std::vector<bool> isUneven(extents.loops.size());
  for (const ExtentLoop &loop : extents.loops)
    if (loop.size == 0)
      return true;
  for (const UnevenLoop &dim : extents.uneven) {
    const ExtentLoop &loop = extents.loops[size_t(dim.loop)];
    isUneven[size_t(dim.loop)] = true;
    shards.digits.push_back({dim.size, loop.globalStride, loop.localStride, loop.size, dim.begin, dim.ranks});
  }
  for (const OffsetDigit &digit : extents.offset)
    if (digit.size > 1 && digit.globalStride != 0)
      shards.digits.push_back({digit.size, digit.globalStride, 0, 0, 0, {{digit.rankStride, digit.size}}});
  for (size_t i = 0; i < extents.loops.size(); ++i)
    if (const ExtentLoop &loop = extents.loops[i];
        !isUneven[i] && loop.size > 1 && loop.globalStride != 0) // Else copies of one element.
      shards.digits.push_back({loop.size, loop.globalStride, loop.localStride, 0, 0, {}});
  std::sort(shards.digits.begin(), shards.digits.end(),
            [](const Digit &a, const Digit &b) { return a.globalStride < b.globalStride; });
  int64_t reach = 0;
  for (const Digit &digit : shards.digits) {
    if (digit.globalStride <= reach)
      return false;
    reach += (digit.size - 1) * digit.globalStride;
  }
  if (shards.digits.size() > maxDigits)
    return false;
  shards_.push_back(std::move(shards));
  return true;
}

ShardMap::Location ShardMap::find(int64_t global) const {
  Location location;
  for (const Shards &shards : shards_)
    if (global >= shards.globalBase && find(shards, global - shards.globalBase, location))
      return location;
  return {};
}

bool ShardMap::find(const Shards &shards, int64_t global, Location &location) {
  std::array<int64_t, maxDigits> values;
  for (size_t d = shards.digits.size(); d-- > 0;) {
    values[d] = global / shards.digits[d].globalStride;
    global %= shards.digits[d].globalStride;
    if (values[d] >= shards.digits[d].size)
      return false;
  }
  if (global != 0)
    return false;
  location = {shards.firstRank, shards.localBase, 1};
  bool contiguous = true;
  int64_t run = 1; // Product of the digits so far that keep local order.
  int64_t within = 0;
  for (size_t d = 0; d < shards.digits.size(); ++d) {
    const Digit &digit = shards.digits[d];
    const int64_t value = values[d];
    int64_t inside = value, length = digit.size;
    if (!digit.ranks.empty()) {
      int64_t coordinate = value;
      if (digit.chunk) {
        coordinate = (digit.begin + value) / digit.chunk;
        inside = (digit.begin + value) % digit.chunk;
        length = std::min(digit.chunk, digit.begin + digit.size - coordinate * digit.chunk);
      } else {
        inside = 0;
        length = 1;
      }
      for (size_t k = digit.ranks.size(); k-- > 0;) {
        location.rank += coordinate % digit.ranks[k].size * digit.ranks[k].stride;
        coordinate /= digit.ranks[k].size;
      }
    }
    location.local += inside * digit.localStride;
    // A digit continues the run if it is the next in the local buffer too.
    if (contiguous && digit.globalStride == run && (digit.localStride == run || length == 1)) {
      within += inside * run;
      run *= length;
      if (length != digit.size)
        contiguous = false;
    } else {
      contiguous = false;
    }
  }
  location.run = run - within;
  if (!shards.holders.empty())
    location.rank = shards.firstRank + shards.holders[size_t(location.rank - shards.firstRank)];
  return true;
}

namespace {

/// True if the (size, stride) pairs enumerate [0, elements) exactly once. A
/// direct sum of arithmetic progressions that fills an interval is always a
/// mixed radix, so this test is exact.
bool isMixedRadix(std::vector<std::pair<int64_t, int64_t>> digits, int64_t elements) {
  for (auto [size, stride] : digits)
    if (size == 0)
      return elements == 0;
  std::erase_if(digits, [](auto &digit) { return digit.first == 1; });
  std::sort(digits.begin(), digits.end(), [](auto &a, auto &b) { return a.second < b.second; });
  int64_t next = 1;
  for (auto [size, stride] : digits) {
    if (stride != next || __builtin_mul_overflow(next, size, &next))
      return false;
  }
  return next == elements;
}

} // namespace

namespace {

using Digits = std::vector<std::pair<int64_t, int64_t>>; ///< [size, stride]

/// What holds of one piece: digits that fit the devices, no element beyond the
/// global value. `reach` is the last local element of a rank without padding.
Status checkDigits(const Extents &extents, int64_t globalElements, int64_t devices, Digits &local, Digits &global,
                   int64_t &reachLocal) {
  Digits rank;
  int64_t last = 0;
  reachLocal = 0;
  auto extend = [&](int64_t size, int64_t stride) {
    int64_t reach;
    return !__builtin_mul_overflow(size - 1, stride, &reach) && !__builtin_add_overflow(last, reach, &last);
  };
  bool empty = false;
  // Loops of uneven dims reach as far as their dims do.
  std::vector<const UnevenLoop *> unevenOf(extents.loops.size());
  for (const UnevenLoop &dim : extents.uneven) {
    if (dim.loop < 0 || dim.loop >= int64_t(extents.loops.size()) || unevenOf[size_t(dim.loop)])
      return invalid("extents 'uneven' names loop " + std::to_string(dim.loop) + ", expected one of " +
                     std::to_string(extents.loops.size()) + ", each once");
    unevenOf[size_t(dim.loop)] = &dim;
    int64_t covered = extents.loops[size_t(dim.loop)].size;
    for (const RankDigit &digit : dim.ranks) {
      int64_t reach;
      if (digit.size < 1 || digit.stride < 1 || __builtin_mul_overflow(digit.stride, digit.size, &reach) ||
          devices % reach != 0)
        return invalid("extents 'uneven' has a rank digit that does not fit " + std::to_string(devices) + " devices");
      if (__builtin_mul_overflow(covered, digit.size, &covered))
        return invalid("extents overflow");
      if (digit.size > 1)
        rank.emplace_back(digit.stride, digit.size);
    }
    if (dim.begin < 0 || dim.begin > covered)
      return invalid("extents 'uneven' begins at " + std::to_string(dim.begin) + ", expected 0 to " +
                     std::to_string(covered));
    if (dim.size < 1 || covered - dim.begin < dim.size)
      return invalid("extents 'uneven' has size " + std::to_string(dim.size) + ", expected 1 to " +
                     std::to_string(covered - dim.begin) + ", the chunks of all ranks");
  }
  if (!extents.order.empty() && !isPermutation(extents.order, devices))
    return invalid("extents 'order' does not list the ranks 0 to " + std::to_string(devices - 1) + " once each");
  for (const OffsetDigit &digit : extents.offset) {
    if (digit.size < 1 || digit.rankStride < 1 || digit.globalStride < 0)
      return invalid("extents offset [" + std::to_string(digit.rankStride) + ", " + std::to_string(digit.size) + ", " +
                     std::to_string(digit.globalStride) + "], expected positive rank stride and size");
    int64_t reach;
    if (__builtin_mul_overflow(digit.rankStride, digit.size, &reach) || devices % reach != 0)
      return invalid("extents offset digit with rank stride " + std::to_string(digit.rankStride) + " and size " +
                     std::to_string(digit.size) + " does not fit " + std::to_string(devices) + " devices");
    if (!extend(digit.size, digit.globalStride))
      return invalid("extents overflow");
    global.emplace_back(digit.size, digit.globalStride);
    if (digit.size > 1)
      rank.emplace_back(digit.rankStride, digit.size);
  }
  std::sort(rank.begin(), rank.end());
  for (size_t i = 1; i < rank.size(); ++i)
    if (rank[i].first % (rank[i - 1].first * rank[i - 1].second) != 0)
      return invalid("extents offset digits overlap in the rank");
  for (size_t i = 0; i < extents.loops.size(); ++i) {
    const ExtentLoop &loop = extents.loops[i];
    int64_t reached = unevenOf[i] ? unevenOf[i]->size : loop.size;
    if (loop.size < 0 || loop.globalStride < 0 || loop.localStride < 0)
      return invalid("extents loop [" + std::to_string(loop.size) + ", " + std::to_string(loop.globalStride) + ", " +
                     std::to_string(loop.localStride) + "], expected no negative number");
    empty |= loop.size == 0;
    if (reached > 0 && !extend(reached, loop.globalStride))
      return invalid("extents overflow");
    int64_t reach;
    if (loop.size > 0 && (__builtin_mul_overflow(loop.size - 1, loop.localStride, &reach) ||
                          __builtin_add_overflow(reachLocal, reach, &reachLocal)))
      return invalid("extents overflow");
    local.emplace_back(loop.size, loop.localStride);
    global.emplace_back(reached, loop.globalStride);
  }
  if (!empty && last >= globalElements)
    return invalid("extents reach global element " + std::to_string(last) + ", expected less than " +
                   std::to_string(globalElements));
  return {};
}

/// The loops of a piece, its first local element and its last.
struct Box {
  Digits loops; ///< By stride, the largest first; neighbours joined; none of size 1.
  int64_t base, last;
};

void normalise(Box &box) {
  std::erase_if(box.loops, [](auto &loop) { return loop.first == 1; });
  std::sort(box.loops.begin(), box.loops.end(), [](auto &a, auto &b) { return a.second > b.second; });
  Digits merged;
  for (auto [size, stride] : box.loops) {
    if (!merged.empty() && merged.back().second == size * stride)
      merged.back() = {merged.back().first * size, stride};
    else
      merged.emplace_back(size, stride);
  }
  box.loops = std::move(merged);
  box.last = box.base;
  for (auto [size, stride] : box.loops)
    box.last += (size - 1) * stride;
}

/// True if the boxes enumerate [begin, begin + count) exactly once. Boxes that
/// follow one another are told apart; those that interleave must share their
/// outermost loop, which is then taken off all of them.
bool boxesCover(std::vector<Box> boxes, int64_t begin, int64_t count) {
  if (boxes.empty())
    return count == 0;
  for (Box &box : boxes)
    normalise(box);
  if (boxes.size() == 1)
    return boxes[0].base == begin && isMixedRadix(boxes[0].loops, count);
  std::sort(boxes.begin(), boxes.end(), [](const Box &a, const Box &b) { return a.base < b.base; });
  if (boxes[0].base != begin)
    return false;
  std::vector<size_t> starts = {0};
  int64_t last = boxes[0].last;
  for (size_t i = 1; i < boxes.size(); ++i) {
    if (boxes[i].base > last)
      starts.push_back(i);
    last = std::max(last, boxes[i].last);
  }
  if (starts.size() > 1) {
    for (size_t k = 0; k < starts.size(); ++k) {
      size_t end = k + 1 < starts.size() ? starts[k + 1] : boxes.size();
      int64_t from = boxes[starts[k]].base;
      int64_t to = end < boxes.size() ? boxes[end].base : begin + count;
      if (!boxesCover({boxes.begin() + int64_t(starts[k]), boxes.begin() + int64_t(end)}, from, to - from))
        return false;
    }
    return true;
  }
  int64_t stride = 0;
  for (const Box &box : boxes)
    if (!box.loops.empty())
      stride = std::max(stride, box.loops[0].second);
  if (stride == 0 || count % stride != 0)
    return false;
  for (Box &box : boxes) {
    if (box.loops.empty())
      return false;
    auto &[size, own] = box.loops[0];
    if (own != stride) {
      // [6, s] is [2, 3 s] of [3, s]. A loop that stays in place writes twice.
      if (own == 0 || stride % own != 0 || size % (stride / own) != 0)
        return false;
      std::pair<int64_t, int64_t> inner(stride / own, own);
      size /= stride / own;
      own = stride;
      box.loops.insert(box.loops.begin() + 1, inner);
    }
    if (box.loops[0].first != count / stride)
      return false;
    box.loops.erase(box.loops.begin());
  }
  return boxesCover(std::move(boxes), begin, stride);
}

} // namespace

Status validateExtents(const Extents &extents, int64_t localElements, int64_t globalElements, int64_t devices,
                       bool coverGlobal) {
  for (const UnevenLoop &dim : extents.uneven)
    if (dim.begin != 0)
      return invalid("extents 'uneven' begins at " + std::to_string(dim.begin) + ", expected 0 but for pieces");
  Digits local, global;
  int64_t reach = 0;
  SK_RETURN_IF_ERROR(checkDigits(extents, globalElements, devices, local, global, reach));
  if (!isMixedRadix(local, localElements))
    return invalid("extents do not write every one of the " + std::to_string(localElements) +
                   " local elements exactly once");
  if (coverGlobal && !isMixedRadix(global, globalElements)) {
    // Digits that do not move the base replicate; they cover nothing twice.
    std::erase_if(global, [](auto &digit) { return digit.second == 0; });
    if (!isMixedRadix(global, globalElements))
      return invalid("extents of all ranks together do not cover the " + std::to_string(globalElements) +
                     " global elements");
  }
  return {};
}

/// Checks a piece of a source of `elements` elements. `local` are its loops; empty if it has no
/// element.
static Status checkPiece(const ExtentPiece &piece, int64_t elements, int64_t localElements, int64_t devices,
                         Digits &local) {
  int64_t reach = 0;
  if (!piece.extents.order.empty())
    return invalid("'order' is on the extents of a piece");
  if (piece.globalBase < 0 || piece.globalBase > elements || piece.localBase < 0 || piece.localBase > localElements)
    return invalid("'base' [" + std::to_string(piece.globalBase) + ", " + std::to_string(piece.localBase) +
                   "] lies outside of " + std::to_string(elements) + " stored and " + std::to_string(localElements) +
                   " local elements");
  Digits global;
  SK_RETURN_IF_ERROR(checkDigits(piece.extents, elements - piece.globalBase, devices, local, global, reach));
  bool empty = std::any_of(local.begin(), local.end(), [](auto &loop) { return loop.first == 0; });
  if (!empty && reach >= localElements - piece.localBase)
    return invalid("it reaches local element " + std::to_string(piece.localBase) + " + " + std::to_string(reach) +
                   ", expected less than " + std::to_string(localElements));
  return {};
}

Status validateOperand(const std::vector<ExtentPiece> &pieces, const std::vector<int64_t> &sourceElements,
                       int64_t operandElements, int64_t devices) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string where = "piece " + std::to_string(i);
    int64_t source = pieces[i].source;
    if (source < -1 || source >= int64_t(sourceElements.size()))
      return invalid(where + ": 'source' is " + std::to_string(source) + ", expected less than " +
                     std::to_string(sourceElements.size()));
    Digits local;
    SK_RETURN_IF_ERROR(
        checkPiece(pieces[i], source < 0 ? INT32_MAX : sourceElements[size_t(source)], operandElements, devices, local)
            .withContext(where));
  }
  return {};
}

Status validatePieces(const std::vector<ExtentPiece> &pieces, const std::vector<int64_t> &sourceElements,
                      const std::vector<int64_t> &localShape, const std::vector<int64_t> &globalShape,
                      int64_t devices) {
  int64_t localElements = 1;
  for (int64_t size : localShape)
    localElements *= size;
  std::vector<Box> boxes;
  bool inChunks = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const ExtentPiece &piece = pieces[i];
    auto fail = [&](const std::string &message) { return invalid("piece " + std::to_string(i) + ": " + message); };
    if (piece.source < 0 || piece.source >= int64_t(sourceElements.size()))
      return fail("'source' is " + std::to_string(piece.source) + ", expected less than " +
                  std::to_string(sourceElements.size()));
    Digits local;
    Status status = checkPiece(piece, sourceElements[size_t(piece.source)], localElements, devices, local);
    if (!status.ok())
      return fail(status.message());
    if (std::any_of(local.begin(), local.end(), [](auto &loop) { return loop.first == 0; }))
      continue;
    inChunks |= !piece.extents.uneven.empty();
    boxes.push_back({std::move(local), piece.localBase, 0});
  }
  // Boxes are mostly told apart without a look at places.
  if ((inChunks || !boxesCover(std::move(boxes), 0, localElements)) && !piecesCover(pieces, localShape, globalShape))
    return invalid("the pieces do not write every one of the " + std::to_string(localElements) +
                   " local elements exactly once");
  return {};
}

namespace {

template <typename T> void copyStrided(T *to, int64_t toStride, const T *from, int64_t fromStride, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i * toStride] = from[i * fromStride];
}

void copyPiece(char *to, int64_t toStride, const char *from, int64_t fromStride, int64_t count, int64_t size) {
  if (toStride == 1 && fromStride == 1) {
    std::memcpy(to, from, size_t(count * size));
    return;
  }
  switch (size) {
  case 1:
    return copyStrided(to, toStride, from, fromStride, count);
  case 2:
    return copyStrided(reinterpret_cast<uint16_t *>(to), toStride, reinterpret_cast<const uint16_t *>(from), fromStride,
                       count);
  case 4:
    return copyStrided(reinterpret_cast<uint32_t *>(to), toStride, reinterpret_cast<const uint32_t *>(from), fromStride,
                       count);
  default:
    return copyStrided(reinterpret_cast<uint64_t *>(to), toStride, reinterpret_cast<const uint64_t *>(from), fromStride,
                       count);
  }
}

} // namespace

void gatherLocal(const Extents &extents, int64_t rank, int64_t elementSize, const void *global, void *local) {
  const char *from = static_cast<const char *>(global);
  char *to = static_cast<char *>(local) + extents.localBase(rank) * elementSize;
  forEachPiece(coalesceLoops(extents, rank), extents.base(rank),
               [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                 copyPiece(to + l * elementSize, ls, from + g * elementSize, gs, n, elementSize);
               });
}

void scatterLocal(const Extents &extents, int64_t rank, int64_t elementSize, const void *local, void *global) {
  const char *from = static_cast<const char *>(local) + extents.localBase(rank) * elementSize;
  char *to = static_cast<char *>(global);
  forEachPiece(coalesceLoops(extents, rank), extents.base(rank),
               [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                 copyPiece(to + g * elementSize, gs, from + l * elementSize, ls, n, elementSize);
               });
}

} // namespace shardkit::rt
