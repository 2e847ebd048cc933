//===- CopyEngine.h - Copies and reductions of collectives -------*- C++ -*-===//
//
// A rank has one mover: the host's, which works at once, or one of its device, which
// works behind all that its stream was given before. Ranks whose movers work later
// order themselves by marks: what others read was given before the mark, and they go on
// behind it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVES_COPYENGINE_H
#define SHARDKIT_RT_COLLECTIVES_COPYENGINE_H

#include "shardkit/rt/Manifest/Manifest.h"

#include <span>

namespace shardkit::rt {

class Mover {
public:
  virtual ~Mover() = default;

  /// Strides in elements, none negative.
  struct Loop {
    int64_t size, from, to;
  };
  /// A buffer, and the mover of the rank that has it.
  struct Source {
    const void *data;
    Mover *owner;
  };
  virtual void zero(void *to, int64_t bytes) = 0;
  /// One element per iteration of all loops, of which there is one at least.
  virtual void copy(int64_t elementSize, Source from, void *to, std::span<const Loop> loops) = 0;
  /// As reduceStrided; all sources have the same loops.
  virtual void reduce(Reduction reduction, DType dtype, std::span<const Source> from, void *to,
                      std::span<const Loop> loops) = 0;

  virtual void mark() {}
  /// Goes on once what `other` was given before its last mark is done.
  virtual void follow(Mover &other) {}
  /// The first error since the last call.
  virtual Status takeStatus() { return {}; }
};

Mover &hostMover();

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_COPYENGINE_H
