//===- ProblemTables.h - What the parts of a problem share ------*- C++ -*-===//
//
// Internal to automatic sharding: keys of tables, and what is no reader and no value
// of its own.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_AUTOSHARDING_PROBLEMTABLES_H
#define SHARDKIT_LIB_AUTOSHARDING_PROBLEMTABLES_H

#include "shardkit/AutoSharding/ShardingProblem.h"
#include <limits>
#include <numeric>

namespace mlir::spmd {

/// Seconds of what cannot be done.
inline constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// What kind of table a key is of, and the rule or type that it depends on.
enum TableKind : int64_t {
  kBytes,
  kPicks,
  kProduced,
  kNeeded,
  kHandedOn,
  kHalos,
  kFilled,
  kEntry,
  kSets,
  kShared,
  kEqual,
  kDemanded
};

inline int64_t toKey(const void *pointer) { return int64_t(reinterpret_cast<uintptr_t>(pointer)); }
inline int64_t toKey(Type type) { return toKey(type.getAsOpaquePointer()); }

/// True for a pin that nobody reads, but for such pins: it is dropped.
inline bool isDeadPin(Operation *op) { return isConstraintLike(op) && llvm::all_of(op->getUsers(), isDeadPin); }

/// True for what is made anew in every layout that is asked for, pinned or not.
inline bool isMadeAnew(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isConstraintLike(op))
      return isConstantLike(op);
    value = op->getOperand(0);
  }
  return false;
}

/// Bytes at the points of a program.
class ShardingProblem::Profile {
public:
  void hold(int64_t begin, int64_t end, int64_t bytes) {
    if (size_t(end) + 1 >= changes.size())
      changes.resize(end + 2, 0);
    changes[begin] += bytes;
    changes[end + 1] -= bytes;
  }
  /// All that is held at each point.
  std::vector<int64_t> getPoints() const {
    std::vector<int64_t> points(changes.size());
    std::partial_sum(changes.begin(), changes.end(), points.begin());
    return points;
  }

private:
  std::vector<int64_t> changes;
};

/// True for what is made anew and then held: a constant of one element is not.
bool isFilled(Value value);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_AUTOSHARDING_PROBLEMTABLES_H
