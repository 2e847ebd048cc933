//===- Extents.cpp - Which elements a rank holds ----------------------------===//

#include "shardkit/rt/Extents.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace shardkit::rt {

std::vector<ExtentLoop> coalesceLoops(const Extents &extents, int64_t rank) {
  std::vector<ExtentLoop> loops, own = extents.loops;
  for (const UnevenLoop &dim : extents.uneven) {
    int64_t &size = own[size_t(dim.loop)].size;
    size = std::clamp(dim.size - dim.coordinate(rank) * size, int64_t(0), size);
  }
  for (const ExtentLoop &loop : own)
    if (loop.size != 1)
      loops.push_back(loop);
  std::sort(loops.begin(), loops.end(),
                   [](const ExtentLoop &a, const ExtentLoop &b) {
                     return a.globalStride != b.globalStride
                                ? a.globalStride > b.globalStride
                                : a.localStride > b.localStride;
                   });
  std::vector<ExtentLoop> merged;
  for (const ExtentLoop &loop : loops) {
    if (!merged.empty() &&
        merged.back().globalStride == loop.size * loop.globalStride &&
        merged.back().localStride == loop.size * loop.localStride) {
      merged.back() = {merged.back().size * loop.size, loop.globalStride,
                       loop.localStride};
      continue;
    }
    merged.push_back(loop);
  }
  return merged;
}

bool isReplica(const Extents &extents, int64_t rank) {
  // The first rank with the same elements has zero in every digit that does not
  // move the base.
  int64_t first = 0;
  for (const OffsetDigit &digit : extents.offset)
    if (digit.globalStride != 0)
      first += (rank / digit.rankStride) % digit.size * digit.rankStride;
  for (const UnevenLoop &dim : extents.uneven)
    for (const RankDigit &digit : dim.ranks)
      first += rank / digit.stride % digit.size * digit.stride;
  return first != rank;
}

namespace {

/// True if the (size, stride) pairs enumerate [0, elements) exactly once. A
/// direct sum of arithmetic progressions that fills an interval is always a
/// mixed radix, so this test is exact.
bool isMixedRadix(std::vector<std::pair<int64_t, int64_t>> digits,
                  int64_t elements) {
  for (auto [size, stride] : digits)
    if (size == 0)
      return elements == 0;
  std::erase_if(digits, [](auto &digit) { return digit.first == 1; });
  std::sort(digits.begin(), digits.end(),
            [](auto &a, auto &b) { return a.second < b.second; });
  int64_t next = 1;
  for (auto [size, stride] : digits) {
    if (stride != next || __builtin_mul_overflow(next, size, &next))
      return false;
  }
  return next == elements;
}

} // namespace

Status validateExtents(const Extents &extents, int64_t localElements,
                       int64_t globalElements, int64_t devices,
                       bool coverGlobal) {
  std::vector<std::pair<int64_t, int64_t>> local, global, rank;
  int64_t last = 0;
  auto extend = [&](int64_t size, int64_t stride) {
    int64_t reach;
    return !__builtin_mul_overflow(size - 1, stride, &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  };
  bool empty = false;
  // Loops of uneven dims reach as far as their dims do.
  std::vector<const UnevenLoop *> unevenOf(extents.loops.size());
  for (const UnevenLoop &dim : extents.uneven) {
    if (dim.loop < 0 || dim.loop >= int64_t(extents.loops.size()) ||
        unevenOf[size_t(dim.loop)])
      return invalid("extents 'uneven' names loop " + std::to_string(dim.loop) +
                     ", expected one of " +
                     std::to_string(extents.loops.size()) + ", each once");
    unevenOf[size_t(dim.loop)] = &dim;
    int64_t covered = extents.loops[size_t(dim.loop)].size;
    for (const RankDigit &digit : dim.ranks) {
      int64_t reach;
      if (digit.size < 1 || digit.stride < 1 ||
          __builtin_mul_overflow(digit.stride, digit.size, &reach) ||
          devices % reach != 0)
        return invalid("extents 'uneven' has a rank digit that does not fit " +
                       std::to_string(devices) + " devices");
      if (__builtin_mul_overflow(covered, digit.size, &covered))
        return invalid("extents overflow");
      if (digit.size > 1)
        rank.emplace_back(digit.stride, digit.size);
    }
    if (dim.size < 1 || covered < dim.size)
      return invalid("extents 'uneven' has size " + std::to_string(dim.size) +
                     ", expected 1 to " + std::to_string(covered) +
                     ", the chunks of all ranks");
  }
  for (const OffsetDigit &digit : extents.offset) {
    if (digit.size < 1 || digit.rankStride < 1 || digit.globalStride < 0)
      return invalid("extents offset [" + std::to_string(digit.rankStride) +
                     ", " + std::to_string(digit.size) + ", " +
                     std::to_string(digit.globalStride) +
                     "], expected positive rank stride and size");
    int64_t reach;
    if (__builtin_mul_overflow(digit.rankStride, digit.size, &reach) ||
        devices % reach != 0)
      return invalid("extents offset digit with rank stride " +
                     std::to_string(digit.rankStride) + " and size " +
                     std::to_string(digit.size) + " does not fit " +
                     std::to_string(devices) + " devices");
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
      return invalid("extents loop [" + std::to_string(loop.size) + ", " +
                     std::to_string(loop.globalStride) + ", " +
                     std::to_string(loop.localStride) +
                     "], expected no negative number");
    empty |= loop.size == 0;
    if (reached > 0 && !extend(reached, loop.globalStride))
      return invalid("extents overflow");
    local.emplace_back(loop.size, loop.localStride);
    global.emplace_back(reached, loop.globalStride);
  }
  if (!isMixedRadix(local, localElements))
    return invalid("extents do not write every one of the " +
                   std::to_string(localElements) +
                   " local elements exactly once");
  if (!empty && last >= globalElements)
    return invalid("extents reach global element " + std::to_string(last) +
                   ", expected less than " + std::to_string(globalElements));
  if (coverGlobal && !isMixedRadix(global, globalElements)) {
    // Digits that do not move the base replicate; they cover nothing twice.
    std::erase_if(global, [](auto &digit) { return digit.second == 0; });
    if (!isMixedRadix(global, globalElements))
      return invalid("extents of all ranks together do not cover the " +
                     std::to_string(globalElements) + " global elements");
  }
  return {};
}

namespace {

template <typename T>
void copyStrided(T *to, int64_t toStride, const T *from, int64_t fromStride,
                 int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i * toStride] = from[i * fromStride];
}

void copyPiece(char *to, int64_t toStride, const char *from, int64_t fromStride,
               int64_t count, int64_t size) {
  if (toStride == 1 && fromStride == 1) {
    std::memcpy(to, from, size_t(count * size));
    return;
  }
  switch (size) {
  case 1:
    return copyStrided(to, toStride, from, fromStride, count);
  case 2:
    return copyStrided(reinterpret_cast<uint16_t *>(to), toStride,
                       reinterpret_cast<const uint16_t *>(from), fromStride,
                       count);
  case 4:
    return copyStrided(reinterpret_cast<uint32_t *>(to), toStride,
                       reinterpret_cast<const uint32_t *>(from), fromStride,
                       count);
  default:
    return copyStrided(reinterpret_cast<uint64_t *>(to), toStride,
                       reinterpret_cast<const uint64_t *>(from), fromStride,
                       count);
  }
}

} // namespace

void gatherLocal(const Extents &extents, int64_t rank, int64_t elementSize,
                 const void *global, void *local) {
  const char *from = static_cast<const char *>(global);
  char *to = static_cast<char *>(local);
  forEachPiece(coalesceLoops(extents, rank), extents.base(rank),
               [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                 copyPiece(to + l * elementSize, ls, from + g * elementSize, gs,
                           n, elementSize);
               });
}

void scatterLocal(const Extents &extents, int64_t rank, int64_t elementSize,
                  const void *local, void *global) {
  const char *from = static_cast<const char *>(local);
  char *to = static_cast<char *>(global);
  forEachPiece(coalesceLoops(extents, rank), extents.base(rank),
               [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                 copyPiece(to + g * elementSize, gs, from + l * elementSize, ls,
                           n, elementSize);
               });
}

} // namespace shardkit::rt
