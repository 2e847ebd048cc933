//===- CopyEngine.h - Copies and reductions of collectives -------*- C++ -*-===//
//
// A rank has one copy engine: that of the host, which works at once, or that of its
// device, which works in the order of a stream. Asynchronous engines are ordered as CUDA
// streams are ordered by events: an engine that writes a buffer calls record(), and an
// engine that reads the buffer calls waitFor() on the first one before it copies.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVES_COPYENGINE_H
#define SHARDKIT_RT_COLLECTIVES_COPYENGINE_H

#include "shardkit/rt/Manifest/Manifest.h"

#include <span>

namespace shardkit::rt {

class CopyEngine {
public:
  virtual ~CopyEngine() = default;

  /// Strides in elements, none negative.
  struct Loop {
    int64_t size, from, to;
  };
  /// A buffer, and the copy engine of its rank.
  struct Source {
    const void *data;
    CopyEngine *owner;
  };
  virtual void zero(void *to, int64_t bytes) = 0;
  /// One element per iteration of all loops, of which there is one at least.
  virtual void copy(int64_t elementSize, Source from, void *to, std::span<const Loop> loops) = 0;
  /// As reduceStrided; all sources have the same loops.
  virtual void reduce(Reduction reduction, DType dtype, std::span<const Source> from, void *to,
                      std::span<const Loop> loops) = 0;

  /// Records a point in the order of the work given so far.
  virtual void record() {}
  /// Later work starts once `other` has done all work before its last record().
  virtual void waitFor(CopyEngine &other) {}
  /// The first error since the last call.
  virtual Status takeStatus() { return {}; }
};

CopyEngine &hostCopyEngine();

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_COPYENGINE_H
