//===- Measurements.cpp - What loads and steps took -----------------------===//

#include "shardkit/rt/Session/Measurements.h"

#include <algorithm>
#include <cstring>

namespace shardkit::rt {

namespace {

/// Values one after the other, as bytes.
struct Packer {
  std::string text;
  template <typename T> void add(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
};
struct Unpacker {
  const std::string &text;
  size_t at = 0;
  template <typename T> T take() {
    T value;
    std::memcpy(&value, text.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
};

} // namespace

Status Measurements::merge(const Runnable &what, Backend &backend) {
  const int64_t devices = what.devices();
  load.ranks.resize(size_t(devices));
  if (backend.processes() == 1)
    return {};
  Packer mine;
  mine.add(load.total);
  mine.add(loadMessages);
  mine.add(load.readers);
  for (int64_t value :
       {load.stagingBytes, load.bytesDirect, load.bytesMapped, load.scatters, load.broadcasts, load.exchanges})
    mine.add(value);
  for (const LoadCounters &counters : load.ranks)
    mine.add(counters);
  auto [begin, end] = backend.localRanks(devices);
  for (int64_t rank = begin; rank < end; ++rank)
    what.forEachCounter(run, rank, [&](const auto &counter) { mine.add(counter); });
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend.exchange(mine.text));
  LoadStats total;
  total.ranks.resize(size_t(devices));
  int64_t messages = 0;
  for (int p = 0; p < backend.processes(); ++p) {
    Unpacker theirs{all[size_t(p)]};
    LoadCounters sum = theirs.take<LoadCounters>();
    double longest = std::max(total.total.seconds, sum.seconds);
    total.total.add(sum);
    total.total.seconds = longest;
    messages += theirs.take<int64_t>();
    total.readers += theirs.take<int>();
    // At once, on every node.
    total.stagingBytes += theirs.take<int64_t>();
    for (int64_t *value :
         {&total.bytesDirect, &total.bytesMapped, &total.scatters, &total.broadcasts, &total.exchanges})
      *value += theirs.take<int64_t>();
    for (LoadCounters &counters : total.ranks) {
      counters.add(theirs.take<LoadCounters>());
      counters.seconds = longest;
    }
    auto [first, last] = backend.ranksOf(p, devices);
    for (int64_t rank = first; rank < last; ++rank)
      what.forEachCounter(run, rank,
                          [&](auto &counter) { counter = theirs.take<std::remove_reference_t<decltype(counter)>>(); });
  }
  load = std::move(total);
  loadMessages = messages;
  return {};
}

} // namespace shardkit::rt
