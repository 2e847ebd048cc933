//===- ValueComparison.cpp - Values of two programs, as made --------------===//

#include "shardkit/rt/Execution/ValueComparison.h"

#include "shardkit/rt/Collectives/Reduce.h"
#include "shardkit/rt/Support/Buffer.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

namespace shardkit::rt {

namespace {

/// A value of the counterpart, and how far the ranks are with it.
struct FullValue {
  int64_t position = 0;
  Buffer data;
  double limit = 0; ///< The error that is accepted; negative: none in any bit.
  double largest = 0;
  int64_t toCompare = 0; ///< Ranks that have not compared theirs.
  /// Of a partial value: by the first rank of those that complete each other, what they have so far.
  struct Sum {
    Buffer data;
    int64_t count = 0;
  };
  std::map<int64_t, Sum> sums;
  Buffer mine; ///< What the ranks hold, if the value is watched.
  Difference difference;
  WrongValue wrong;
};

} // namespace

struct ValueComparison::Impl {
  Impl(const FunctionInfo &function, std::pair<int64_t, int64_t> ranks, const ComparisonOptions &options)
      : function(function), ranks(ranks), options(options), differences(function.probes.size()),
        full(function.probes.size()),
        times(size_t(ranks.second - ranks.first), std::vector<int64_t>(function.probes.size())),
        isWatched(function.probes.size()) {
    for (int64_t id : options.watched)
      isWatched[size_t(id)] = true;
  }

  Tolerance toleranceOf(const ValueInfo &value) const {
    Tolerance tolerance = Tolerance::forResult(value);
    tolerance.exact |= options.exact;
    if (options.rtol) {
      tolerance.rtol = *options.rtol;
      tolerance.atol = *options.rtol / 1000;
    }
    if (options.atol)
      tolerance.atol = *options.atol;
    return tolerance;
  }

  Status checkId(int64_t id) const {
    if (id < 0 || id >= int64_t(function.probes.size()))
      return internalError("the program passes value " + std::to_string(id) + ", which the manifest does not list");
    return {};
  }

  /// The lowest rank of those that complete each other, and their number.
  std::pair<int64_t, int64_t> groupOf(const ProbeInfo &probe, int64_t rank) const {
    int64_t first = probe.value.extents.rankInOrder(rank), count = 1;
    for (const RankDigit &digit : probe.partial) {
      first -= first / digit.stride % digit.size * digit.stride;
      count *= digit.size;
    }
    return {first, count};
  }

  /// Compares a complete shard, outside of the lock.
  void compareShard(const ProbeInfo &probe, int64_t rank, const void *data, FullValue &value);
  Status finish(int64_t id, int64_t time, FullValue &value);

  const FunctionInfo &function;
  const std::pair<int64_t, int64_t> ranks;
  const ComparisonOptions options;

  std::mutex mutex;
  std::condition_variable changed;
  BufferPool idle; ///< Memory of full values that no rank needs any more.
  std::vector<ProbeDifference> differences;
  std::vector<std::map<int64_t, std::shared_ptr<FullValue>>> full; ///< By probe, then by how often it was made before.
  std::vector<std::vector<int64_t>> times;                         ///< By rank and probe.
  std::vector<bool> isWatched;
  std::map<int64_t, int64_t> fullTimes;
  std::optional<WrongValue> first;
  int64_t made = 0, bytes = 0, waiting = 0;
  bool hasFullEnded = false, haveRanksEnded = false;
};

ValueComparison::ValueComparison(const FunctionInfo &function, std::pair<int64_t, int64_t> ranks,
                                 const ComparisonOptions &options)
    : impl_(std::make_unique<Impl>(function, ranks, options)) {}

ValueComparison::~ValueComparison() = default;

Status ValueComparison::addFull(int64_t id, const void *data) {
  Impl &impl = *impl_;
  SK_RETURN_IF_ERROR(impl.checkId(id));
  const ValueInfo &info = impl.function.probes[size_t(id)].value;
  auto value = std::make_shared<FullValue>();
  {
    std::lock_guard lock(impl.mutex);
    SK_ASSIGN_OR_RETURN(value->data, impl.idle.take(info.globalBytes()));
  }
  std::memcpy(value->data.data(), data, size_t(info.globalBytes()));
  value->largest = largestMagnitude(info.dtype, data, info.globalElements);
  const Tolerance tolerance = impl.toleranceOf(info);
  value->limit = tolerance.exact ? -1 : tolerance.limit(value->largest);
  value->toCompare = impl.ranks.second - impl.ranks.first;
  if (impl.isWatched[size_t(id)])
    value->mine.reserve(info.globalBytes());
  std::unique_lock lock(impl.mutex);
  impl.changed.wait(lock, [&] {
    return impl.bytes == 0 || impl.bytes + info.globalBytes() <= impl.options.maxBytes || impl.waiting > 0 ||
           impl.haveRanksEnded;
  });
  value->position = impl.made++;
  impl.bytes += info.globalBytes();
  impl.full[size_t(id)].emplace(impl.fullTimes[id]++, std::move(value));
  impl.changed.notify_all();
  return {};
}

void ValueComparison::endFull() {
  std::lock_guard lock(impl_->mutex);
  impl_->hasFullEnded = true;
  impl_->changed.notify_all();
}

void ValueComparison::endRanks() {
  std::lock_guard lock(impl_->mutex);
  impl_->haveRanksEnded = true;
  impl_->changed.notify_all();
}

void ValueComparison::Impl::compareShard(const ProbeInfo &probe, int64_t rank, const void *data, FullValue &value) {
  const ValueInfo &info = probe.value;
  const Difference difference = compareLocal(info, rank, data, value.data.data(), value.largest);
  WrongElements wrong;
  const bool isWithin = value.limit < 0 || !isFloat(info.dtype)
                            ? difference.unequal == 0
                            : difference.incomparable == 0 && difference.maxAbs <= value.limit;
  if (!isWithin)
    wrong = findWrong(info, rank, data, value.data.data(), value.limit);
  std::lock_guard lock(mutex);
  value.difference.merge(difference);
  ++value.wrong.ranks;
  value.wrong.wrongElements += wrong.count;
  if (wrong.count > 0 && (value.wrong.wrongRanks++ == 0 || rank < value.wrong.rank)) {
    value.wrong.rank = rank;
    value.wrong.elements = wrong;
  }
  if (value.mine.data())
    scatterLocal(info.extents, rank, dtypeSize(info.dtype), data, value.mine.data());
}

/// Under the lock: all ranks have compared theirs.
Status ValueComparison::Impl::finish(int64_t id, int64_t time, FullValue &value) {
  ProbeDifference &known = differences[size_t(id)];
  ++known.times;
  known.difference.merge(value.difference);
  if (value.largest > 0)
    known.maxRel = std::max(known.maxRel, value.difference.maxAbs / value.largest);
  else if (value.difference.maxAbs > 0)
    known.maxRel = std::max(known.maxRel, value.difference.maxAbs);
  if (value.wrong.wrongRanks > 0) {
    known.isWithin = false;
    if (!first || value.position < first->position) {
      first = value.wrong;
      first->id = id;
      first->time = time;
      first->position = value.position;
      first->maxAbs = value.difference.maxAbs;
      first->limit = std::max(value.limit, 0.0);
    }
  }
  if (!value.mine.data())
    return {};
  return options.watch(id, time, value.mine.data(), value.data.data());
}

Status ValueComparison::compare(int64_t rank, int64_t id, const void *data, const std::function<bool()> &failed) {
  Impl &impl = *impl_;
  SK_RETURN_IF_ERROR(impl.checkId(id));
  const ProbeInfo &probe = impl.function.probes[size_t(id)];
  std::shared_ptr<FullValue> value;
  int64_t time = 0;
  {
    std::unique_lock lock(impl.mutex);
    time = impl.times[size_t(rank - impl.ranks.first)][size_t(id)]++;
    auto &made = impl.full[size_t(id)];
    ++impl.waiting;
    impl.changed.notify_all();
    constexpr std::chrono::milliseconds tick(20);
    while (made.find(time) == made.end() && !impl.hasFullEnded && !failed())
      impl.changed.wait_for(lock, tick);
    --impl.waiting;
    auto it = made.find(time);
    if (it == made.end()) {
      if (impl.hasFullEnded && (!impl.first || impl.made < impl.first->position)) {
        // The two take another way from here on.
        impl.first.emplace();
        impl.first->id = id;
        impl.first->time = time;
        impl.first->rank = rank;
        impl.first->position = impl.made;
        impl.first->isMissing = true;
        impl.differences[size_t(id)].isWithin = false;
      }
      return {};
    }
    value = it->second;
  }
  bool isElsewhere = false;
  if (probe.reduction == Reduction::None) {
    impl.compareShard(probe, rank, data, *value);
  } else {
    const auto [group, count] = impl.groupOf(probe, rank);
    FullValue::Sum *sum = nullptr;
    bool isComplete = false;
    {
      std::lock_guard lock(impl.mutex);
      sum = &value->sums[group];
      const int64_t bytes = probe.value.localBytes();
      if (sum->count++ == 0) {
        sum->data.reserve(bytes);
        std::memcpy(sum->data.data(), data, size_t(bytes));
      } else {
        const void *terms[] = {sum->data.data(), data};
        reduceStrided(probe.reduction, probe.value.dtype, terms, 2, 1, sum->data.data(), 1, probe.value.localElements);
      }
      isComplete = sum->count == count;
      isElsewhere = count > impl.ranks.second - impl.ranks.first;
    }
    if (isComplete)
      impl.compareShard(probe, rank, sum->data.data(), *value);
  }
  std::lock_guard lock(impl.mutex);
  impl.differences[size_t(id)].isPartlyElsewhere |= isElsewhere;
  if (--value->toCompare > 0)
    return {};
  Status status = impl.finish(id, time, *value);
  impl.idle.giveBack(std::move(value->data));
  impl.full[size_t(id)].erase(time);
  impl.bytes -= probe.value.globalBytes();
  impl.changed.notify_all();
  return status;
}

const std::vector<ProbeDifference> &ValueComparison::differences() const { return impl_->differences; }
const std::optional<WrongValue> &ValueComparison::first() const { return impl_->first; }

} // namespace shardkit::rt
