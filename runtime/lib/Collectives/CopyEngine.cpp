//===- CopyEngine.cpp - Moving and combining on the host ------------------===//

#include "shardkit/rt/Collectives/CopyEngine.h"

#include "shardkit/rt/Collectives/Reduce.h"

#include <array>
#include <cstring>

namespace shardkit::rt {

namespace {

template <typename T> void copyLoop(const char *from, int64_t fromStride, char *to, int64_t toStride, int64_t count) {
  const T *source = reinterpret_cast<const T *>(from);
  T *destination = reinterpret_cast<T *>(to);
  for (int64_t i = 0; i < count; ++i)
    destination[i * toStride] = source[i * fromStride];
}

void copyElements(int64_t elementSize, const char *from, int64_t fromStride, char *to, int64_t toStride,
                  int64_t count) {
  if (fromStride == 1 && toStride == 1)
    std::memcpy(to, from, size_t(count * elementSize));
  else if (elementSize == 1)
    copyLoop<uint8_t>(from, fromStride, to, toStride, count);
  else if (elementSize == 2)
    copyLoop<uint16_t>(from, fromStride, to, toStride, count);
  else if (elementSize == 4)
    copyLoop<uint32_t>(from, fromStride, to, toStride, count);
  else if (elementSize == 8)
    copyLoop<uint64_t>(from, fromStride, to, toStride, count);
  else
    copyLoop<std::array<uint64_t, 2>>(from, fromStride, to, toStride, count);
}

/// Calls fn(from, to) at every iteration of all loops but the innermost.
template <typename Fn> void forEachRow(std::span<const CopyEngine::Loop> loops, Fn &&fn) {
  const size_t outer = loops.size() - 1;
  for (const CopyEngine::Loop &loop : loops)
    if (loop.size == 0)
      return;
  if (outer == 0)
    return fn(0, 0);
  std::vector<int64_t> index(outer, 0);
  int64_t from = 0, to = 0;
  while (true) {
    fn(from, to);
    size_t k = outer;
    bool done = true;
    while (k > 0 && done) {
      --k;
      from += loops[k].from;
      to += loops[k].to;
      if (++index[k] < loops[k].size) {
        done = false;
      } else {
        from -= loops[k].size * loops[k].from;
        to -= loops[k].size * loops[k].to;
        index[k] = 0;
      }
    }
    if (done)
      return;
  }
}

class HostCopyEngine : public CopyEngine {
public:
  void zero(void *to, int64_t bytes) override { std::memset(to, 0, size_t(bytes)); }

  void copy(int64_t elementSize, Source from, void *to, std::span<const Loop> loops) override {
    const Loop &inner = loops.back();
    forEachRow(loops, [&](int64_t f, int64_t t) {
      copyElements(elementSize, static_cast<const char *>(from.data) + f * elementSize, inner.from,
                   static_cast<char *>(to) + t * elementSize, inner.to, inner.size);
    });
  }

  void reduce(Reduction reduction, DType dtype, std::span<const Source> from, void *to,
              std::span<const Loop> loops) override {
    const Loop &inner = loops.back();
    const int64_t size = dtypeSize(dtype);
    std::vector<const void *> sources(from.size());
    forEachRow(loops, [&](int64_t f, int64_t t) {
      for (size_t i = 0; i < from.size(); ++i)
        sources[i] = static_cast<const char *>(from[i].data) + f * size;
      reduceStrided(reduction, dtype, sources.data(), int64_t(sources.size()), inner.from,
                    static_cast<char *>(to) + t * size, inner.to, inner.size);
    });
  }
};

} // namespace

CopyEngine &hostCopyEngine() {
  static HostCopyEngine engine; // Has no state.
  return engine;
}

} // namespace shardkit::rt
