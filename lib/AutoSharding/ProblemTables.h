//===- ProblemTables.h - Keys and predicates of a problem -------*- C++ -*-===//
// Internal to automatic sharding: keys of tables, and values and readers without a variable.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_AUTOSHARDING_PROBLEMTABLES_H
#define SHARDKIT_LIB_AUTOSHARDING_PROBLEMTABLES_H

#include "shardkit/AutoSharding/ShardingProblem.h"
#include "shardkit/Dialect/SPMD/IR/OpQueries.h"
#include <limits>
#include <numeric>

namespace mlir::spmd {

/// Seconds of an impossible choice.
inline constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// The kind of a table, the first number of its key.
enum TableKind : int64_t {
  kBytes,
  kPicks,
  kComputed,
  kNeeded,
  kForwarded,
  kHalos,
  kFilled,
  kEntry,
  kSets,
  kShared,
  kEqual,
  kRequired,
  kRest,
  kUncounted
};

inline int64_t toKey(const void *pointer) { return int64_t(reinterpret_cast<uintptr_t>(pointer)); }
inline int64_t toKey(Type type) { return toKey(type.getAsOpaquePointer()); }

/// Bytes at the points of a program.
class ShardingProblem::Profile {
public:
  void hold(int64_t begin, int64_t end, int64_t bytes) {
    if (size_t(end) + 1 >= changes.size())
      changes.resize(end + 2, 0);
    changes[begin] += bytes;
    changes[end + 1] -= bytes;
  }
  /// The bytes that are held at each point.
  std::vector<int64_t> getPoints() const {
    std::vector<int64_t> points(changes.size());
    std::partial_sum(changes.begin(), changes.end(), points.begin());
    return points;
  }

private:
  std::vector<int64_t> changes;
};

/// True for a value that is rematerialized and occupies memory: a fill, but not a splat constant.
bool isFilled(Value value);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_AUTOSHARDING_PROBLEMTABLES_H
