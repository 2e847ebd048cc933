//===- ValueComparison.h - Values of two programs, as made ------*- C++ -*-===//
//
// A function and its unsharded counterpart run side by side. Both pass each value that has a probe to one
// ValueComparison (sk_probe): the counterpart the full value, the ranks their shards. A full value is kept until all
// ranks of this process have compared theirs with it. The counterpart waits while it is far ahead, unless a rank
// waits for a value that it has not made yet: neither can wait for the other.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_EXECUTION_VALUECOMPARISON_H
#define SHARDKIT_RT_EXECUTION_VALUECOMPARISON_H

#include "shardkit/rt/Execution/Compare.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shardkit::rt {

struct ComparisonOptions {
  bool exact = false;                  ///< Equal bits.
  std::optional<double> rtol, atol;    ///< In place of Tolerance::forResult; atol is a thousandth of a given rtol.
  int64_t maxBytes = int64_t(1) << 30; ///< Full values that are kept, unless ranks wait for more.
  /// Is called with each value of these probes when all ranks have compared it: how often it was made before, the value
  /// of the ranks and the full one.
  std::vector<int64_t> watched;
  std::function<Status(int64_t id, int64_t time, const void *mine, const void *theirs)> watch;
};

/// How the values of a probe compare, over all times that they were made and all ranks.
struct ProbeDifference {
  int64_t times = 0;     ///< How often it was compared.
  Difference difference; ///< With the largest errors.
  double maxRel = 0;     ///< The largest error by the largest magnitude of the full value at that time.
  bool isWithin = true;
  bool isPartlyElsewhere = false; ///< Ranks of other processes have the rest of a partial value.
};

/// The first value that is not within its tolerance.
struct WrongValue {
  int64_t position = 0; ///< Values of the counterpart that were made before it.
  int64_t id = 0, time = 0;
  int64_t rank = 0; ///< The lowest rank of this process with a wrong element.
  int64_t wrongRanks = 0, ranks = 0;
  WrongElements elements;    ///< The wrong ones of that rank.
  int64_t wrongElements = 0; ///< The number on all ranks.
  double maxAbs = 0, limit = 0;
  bool isMissing = false; ///< The counterpart did not make it at all.
};

class ValueComparison {
public:
  /// `ranks` are [begin, end) of this process. `function` outlives it.
  ValueComparison(const FunctionInfo &function, std::pair<int64_t, int64_t> ranks, const ComparisonOptions &options);
  ~ValueComparison();

  /// A value of the counterpart.
  Status addFull(int64_t id, const void *data);
  /// The counterpart has ended: no rank waits for it any more.
  void endFull();
  /// The shard of a rank. `failed` returns whether waiting is in vain.
  Status compare(int64_t rank, int64_t id, const void *data, const std::function<bool()> &failed);
  /// The ranks have ended: the counterpart does not wait any more.
  void endRanks();

  // After both have ended.
  const std::vector<ProbeDifference> &differences() const;
  const std::optional<WrongValue> &first() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_EXECUTION_VALUECOMPARISON_H
