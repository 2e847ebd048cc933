//===- Array.h - Values that stay on the ranks of a session ----*- C++ -*--===//

#ifndef SHARDKIT_RT_SESSION_ARRAY_H
#define SHARDKIT_RT_SESSION_ARRAY_H

#include "shardkit/rt/Manifest/Manifest.h"

#include <memory>
#include <string>
#include <vector>

namespace shardkit::rt {

/// The global type of a value of a session, and the elements that each rank holds. A value of
/// a pipeline may have several copies, one for each stage that holds it.
struct ArrayLayout {
  struct Copy {
    ValueInfo value;
    std::vector<int64_t> ranks; ///< Ranks of the world, by rank of the mesh of `value`.
    std::vector<size_t> first;  ///< By rank of the mesh: the first one of its process with the same elements.
    /// Each rank holds contiguous elements of the row-major value, from offset[rank] on: all of them
    /// (replicated), or rows. Then a full value in memory has the shards in place. Else empty.
    std::vector<int64_t> offset;
    bool operator==(const Copy &other) const;
  };
  int64_t devices = 1;
  std::vector<Copy> copies; ///< Never empty.

  const ValueInfo &value() const { return copies[0].value; }
  /// Bytes of all shards.
  int64_t bytes() const;
  /// "f32 8x16, sharding <@pod, [{"data"}, {}]>"
  std::string text() const;
  bool operator==(const ArrayLayout &other) const;
};

class Session;

/// A resident value of a session: on every rank its shard. A handle; copies refer to one
/// value, whose memory is freed with the last of them or with the session. The value may still
/// be computed: what needs its elements waits.
class Array {
public:
  Array() = default;
  explicit operator bool() const { return state_ != nullptr; }
  bool operator==(const Array &) const = default;

  const std::string &name() const;
  const ArrayLayout &layout() const;
  DType dtype() const { return layout().value().dtype; }
  const Shape &shape() const { return layout().value().globalShape; }
  int64_t bytes() const { return layout().value().globalBytes(); }

  struct State;

private:
  friend class Session;
  friend struct SessionImpl;
  explicit Array(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// The memory of one shard, which stays as long as this object does.
struct ShardView {
  void *data = nullptr;
  Shape shape; ///< Row-major and contiguous; uneven shards end in padding.
  DType dtype = DType::F32;
  int64_t rank = 0;
  int gpu = -1; ///< The GPU that `data` is on, by the number that CUDA has for it; -1: the host.
  std::shared_ptr<void> owner;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SESSION_ARRAY_H
