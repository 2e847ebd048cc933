//===- CollectiveCheck.cpp - Is a collective's closed form sound? ---------===//

#include "CollectiveCheck.h"

#include <algorithm>

namespace shardkit::rt {

namespace {

Status checkDigit(int64_t stride, int64_t size, int64_t devices, const char *what) {
  int64_t reach;
  if (stride < 1 || size < 1 || __builtin_mul_overflow(stride, size, &reach) || devices % reach != 0)
    return invalid("a rank digit of '" + std::string(what) + "' has stride " + std::to_string(stride) + " and size " +
                   std::to_string(size) + ", which " + std::to_string(devices) + " devices do not have");
  return {};
}

Status checkDisjoint(std::vector<RankDigit> digits, const char *what) {
  std::erase_if(digits, [](const RankDigit &d) { return d.size == 1; });
  std::sort(digits.begin(), digits.end(), [](const RankDigit &a, const RankDigit &b) { return a.stride < b.stride; });
  for (size_t i = 1; i < digits.size(); ++i)
    if (digits[i].stride % (digits[i - 1].stride * digits[i - 1].size) != 0)
      return invalid("the rank digits of '" + std::string(what) + "' overlap");
  return {};
}

/// Checks that rank digits come first, then at most one local digit, and that no index overflows.
Status checkWindow(const Segment &segment) {
  int64_t windows = 1, length = 1, locals = 0;
  for (const SegmentDigit &digit : segment.destination) {
    if (digit.isRank && locals > 0)
      return invalid("'segments' has a window with a rank digit after the local one");
    if (!digit.isRank) {
      ++locals;
      length = digit.size;
    } else if (__builtin_mul_overflow(windows, digit.size, &windows)) {
      return invalid("'segments' overflow");
    }
  }
  if (locals > 1)
    return invalid("'segments' has a window with more than one local digit");
  int64_t last, end;
  if (__builtin_mul_overflow(windows - 1, segment.window->step, &last) ||
      __builtin_add_overflow(last, segment.window->offset, &last) || __builtin_add_overflow(last, length, &end) ||
      __builtin_add_overflow(segment.window->offset, length, &end))
    return invalid("'segments' overflow");
  const int64_t most = std::max({std::abs(segment.window->offset), std::abs(last), length});
  if (segment.window->added >= 0 && most > maxOffset)
    return invalid("'segments' overflow");
  return {};
}

/// Checks that the offsets that are known at run time are numbered from 0, once each.
Status checkOffsets(const CollectiveInfo &move) {
  std::vector<int64_t> numbers;
  for (const Segment &segment : move.segments)
    if (segment.window && segment.window->added != -1)
      numbers.push_back(segment.window->added);
  std::sort(numbers.begin(), numbers.end());
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != int64_t(i))
      return invalid("'segments' has windows at offset " + std::to_string(numbers[i]) + ", expected each of 0 to " +
                     std::to_string(numbers.size() - 1) + " once");
  return {};
}

} // namespace

Status validateMove(const CollectiveInfo &move, int64_t sourceDevices, int64_t destinationDevices) {
  std::vector<RankDigit> sources;
  std::vector<std::pair<int64_t, int64_t>> writes;
  int64_t lastRead = 0;
  bool empty = false;
  for (const Atom &atom : move.atoms) {
    if (atom.size < 0 || atom.sourceStride < 0 || atom.destinationStride < 0)
      return invalid("'atoms' has a negative number");
    empty |= atom.size == 0;
    if (atom.sourceIsRank) {
      SK_RETURN_IF_ERROR(checkDigit(atom.sourceStride, atom.size, sourceDevices, "atoms"));
      sources.push_back({atom.sourceStride, atom.size});
    } else if (atom.size > 0) {
      int64_t reach;
      if (__builtin_mul_overflow(atom.size - 1, atom.sourceStride, &reach) ||
          __builtin_add_overflow(lastRead, reach, &lastRead))
        return invalid("'atoms' overflow");
    }
    if (atom.destinationIsRank)
      SK_RETURN_IF_ERROR(checkDigit(atom.destinationStride, atom.size, destinationDevices, "atoms"));
    else
      writes.emplace_back(atom.size, atom.destinationStride);
  }
  for (const Segment &segment : move.segments) {
    empty |= segment.size == 0;
    for (const auto *digits : {&segment.source, &segment.destination}) {
      int64_t indices = 1;
      for (const SegmentDigit &digit : *digits) {
        int64_t reach;
        if (digit.size < 1 || digit.stride < 0 || segment.size < 0)
          return invalid("'segments' has a number that is too small");
        if (__builtin_mul_overflow(indices, digit.size, &indices) ||
            __builtin_mul_overflow(digit.size - 1, digit.stride, &reach))
          return invalid("'segments' overflow");
        bool isSource = digits == &segment.source;
        if (digit.isRank) {
          SK_RETURN_IF_ERROR(
              checkDigit(digit.stride, digit.size, isSource ? sourceDevices : destinationDevices, "segments"));
          if (isSource)
            sources.push_back({digit.stride, digit.size});
        } else if (!isSource) {
          writes.emplace_back(digit.size, digit.stride);
        } else if (__builtin_add_overflow(lastRead, reach, &lastRead)) {
          return invalid("'segments' overflow");
        }
      }
      bool isWindow = segment.window && digits == &segment.destination;
      if (isWindow)
        SK_RETURN_IF_ERROR(checkWindow(segment));
      if (indices < segment.size && !isWindow)
        return invalid("'segments' has digits for " + std::to_string(indices) + " elements, expected " +
                       std::to_string(segment.size) + " or more");
    }
  }
  SK_RETURN_IF_ERROR(checkOffsets(move));
  for (const RankDigit &digit : move.spread) {
    SK_RETURN_IF_ERROR(checkDigit(digit.stride, digit.size, sourceDevices, "spread"));
    sources.push_back(digit);
  }
  for (const RankDigit &digit : move.group)
    SK_RETURN_IF_ERROR(checkDigit(digit.stride, digit.size, sourceDevices, "group"));
  SK_RETURN_IF_ERROR(checkDisjoint(sources, "atoms"));
  // Moves list the digits of both sides, which may share ranks; a reduction counts every rank of
  // its group once.
  if (move.reduction != Reduction::None)
    SK_RETURN_IF_ERROR(checkDisjoint(move.group, "group"));

  // A direct sum of arithmetic progressions that fills an interval is always a
  // mixed radix, so this test of exact cover is itself exact.
  Status cover = invalid("'atoms' do not write every one of the " + std::to_string(move.outElements) +
                         " output elements exactly once");
  if (empty)
    return move.outElements == 0 ? Status() : cover;
  std::erase_if(writes, [](auto &digit) { return digit.first == 1; });
  std::sort(writes.begin(), writes.end(), [](auto &a, auto &b) { return a.second < b.second; });
  int64_t next = 1;
  for (auto [size, stride] : writes)
    if (stride != next || __builtin_mul_overflow(next, size, &next))
      return cover;
  if (next != move.outElements)
    return cover;
  if (lastRead >= move.inElements)
    return invalid("'atoms' read input element " + std::to_string(lastRead) + ", expected less than " +
                   std::to_string(move.inElements));
  return {};
}

} // namespace shardkit::rt
