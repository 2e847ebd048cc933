//===- StageSearch.cpp - The best split of layers into stages -------------===//
//
// The objective is the least, over limits T on the time of a stage, of (the least sum of times
// of stages within T) + (B - 1) T. The least sum for one limit is a dynamic program. The search
// over limits is best first:
//
//   1. Take the interval of limits with the lowest bound: the least sum at its upper end plus
//      B - 1 times its lower end.
//   2. If the bound is not tight, halve the interval.
//   3. Else run the dynamic program at the upper end. With M the time of the slowest stage of
//      its plan, limits above M are done; those below are the remaining interval.
//
// So times that no good plan has are never evaluated.
//
// The cost of a stage depends on the number of stages after it. The bound is a program that
// uses the lowest cost over all numbers. From the front it gives a lower bound for the layers
// and devices before a stage, so that the exact program, which runs from the last stage to the
// first, keeps only states that can still become a good plan.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Stages/StageSearch.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

using namespace mlir::spmd;
using llvm::SmallVector;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// An interval of limits is halved while its ends are further apart than this fraction of its
/// bound: a bound costs less than a plan.
static constexpr double kTight = 0.01;
/// The slack of sums above the bound: it starts at the first value and grows by a factor of 4.
static constexpr double kFirstSlack = 0.01, kLastSlack = 10;
/// Sums of equal terms in another order.
static constexpr double kRounding = 1 + 1e-9;

namespace {

/// Layers between two boundaries on a submesh.
struct Step {
  unsigned first; // boundary; the other one is what the list is for
  unsigned submesh;
  unsigned devices;
  double minSeconds;
  size_t memo;
};

/// The search over limits and the dynamic programs of a stage problem (see above). Example: 2
/// layers of 1 s each on 1 device or 0.6 s on 2 devices, 2 devices, B = 4. Two stages on 1 device
/// each cost 1 + 1 + 3 * 1 = 5 s, one stage on 2 devices costs 1.2 + 3 * 1.2 = 4.8 s and is chosen.
///
/// Boundaries are numbered 0 to `end`. A step is a stage between two boundaries on a submesh.
class Search {
public:
  Search(const StageProblem &problem, StageCost cost, StageSearchStatistics &statistics)
      : problem(problem), cost(cost), statistics(statistics), numDevices(problem.numDevices) {
    boundaries.push_back(0);
    if (problem.splitPoints)
      boundaries.append(problem.splitPoints->begin(), problem.splitPoints->end());
    else
      for (int64_t layer = 1; layer < problem.numLayers; ++layer)
        boundaries.push_back(layer);
    end = boundaries.size();
    boundaries.push_back(problem.numLayers);
    int64_t fewest = *llvm::min_element(problem.submeshes);
    maxStages = std::min<int64_t>(end, numDevices / fewest);
    memo.resize(end * (end + 1) / 2 * problem.submeshes.size());
  }

  std::optional<StagePlan> run();

private:
  /// Plans whose slowest stage takes from `low` to `high` have a sum of `sum` at least, and
  /// an objective of `bound`.
  struct Interval {
    double bound, low, high, sum;
    bool operator<(const Interval &other) const { return bound > other.bound; } // lowest first
  };
  /// The best suffix from a boundary on with some devices: its sum, where its first stage
  /// ends, and which of the steps to there that is.
  struct State {
    double sum = kInfinity;
    unsigned last = 0, step = 0;
  };

  //===--- steps that some plan can have ------------------------------------===//

  bool isAllowed(unsigned first, unsigned last, unsigned submesh) const;

  /// As stage number `index` from the front.
  bool isAllowedAt(unsigned first, unsigned last, unsigned submesh, int64_t index) const;

  /// The index of the stage after `index`, from the front. Indices are counted to the end if the
  /// number of stages is given, else up to the last index with a constraint; all later stages
  /// have `lastIndex`, where every plan ends.
  unsigned after(unsigned index) const { return std::min(index + 1, lastIndex); }
  /// Numbers that a stage may have.
  unsigned getNumIndices() const { return problem.numStages ? lastIndex : lastIndex + 1; }
  size_t at(unsigned index, unsigned boundary, unsigned devices) const {
    return (size_t(index) * (end + 1) + boundary) * (numDevices + 1) + devices;
  }
  size_t getSize() const { return at(lastIndex + 1, 0, 0); }

  /// Finds the steps that some plan has, with a lower bound on the cost of each.
  void findSteps();

  /// With `left` stages from this one to the last.
  double getSeconds(const Step &step, unsigned last, int64_t left);

  //===--- bounds -----------------------------------------------------------===//

  /// Fills `prefix`: a lower bound on the sum or the maximum of times before a boundary, if no
  /// stage takes longer than the limit. Returns that of all layers.
  template <bool isSum> double bound(double limit);

  //===--- plans ------------------------------------------------------------===//

  /// The plan of the least sum, at most `maxSum`, of stages of at most `limit` each.
  /// `prefix` has to be that of the limit.
  std::optional<StagePlan> findPlan(double limit, double maxSum);

  /// Adds stage `index` before the suffixes `suffixes`, which gives `count` stages. Returns
  /// whether there is any.
  bool extend(const std::vector<State> &suffixes, std::vector<State> &extended, unsigned index, unsigned count,
              double limit, double maxSum, const double *withFewer);

  /// Which of two suffixes of as many stages is better.
  std::tuple<double, unsigned, unsigned, unsigned> getRank(const State &state) const;

  /// The same; `maxSum` grows step by step from the lower bound.
  std::optional<StagePlan> findPlanFrom(double minSum, double limit, double maxSum);

  //===--- limits -----------------------------------------------------------===//

  double weigh(double slowest) const { return slowest == 0 ? 0 : double(problem.numMicrobatches - 1) * slowest; }

  bool isBetter(const StagePlan &plan, const StagePlan &other) const;
  void search();

  const StageProblem &problem;
  StageCost cost;
  StageSearchStatistics &statistics;
  unsigned numDevices;
  SmallVector<int64_t> boundaries; // layers before which a stage may start, and the end
  unsigned end;                    // the last boundary
  int64_t maxStages;
  /// Seconds by layers and submesh, then by microbatches in flight; -1: not evaluated yet.
  std::vector<std::vector<double>> memo;

  unsigned lastIndex = 0;
  std::vector<std::vector<Step>> steps; // by their last boundary
  std::vector<double> prefix;
  std::optional<StagePlan> best;
};

std::optional<StagePlan> Search::run() {
  search();
  return std::move(best);
}

bool Search::isAllowed(unsigned first, unsigned last, unsigned submesh) const {
  for (const StageConstraint &constraint : problem.constraints) {
    if (!constraint.layers)
      continue;
    auto [from, to] = *constraint.layers;
    bool isOther = boundaries[last] <= from || boundaries[first] > to;
    bool isSame = boundaries[first] == from && boundaries[last] == to + 1;
    if (!isOther && (!isSame || (constraint.submesh && *constraint.submesh != submesh)))
      return false;
  }
  return true;
}

bool Search::isAllowedAt(unsigned first, unsigned last, unsigned submesh, int64_t index) const {
  for (const StageConstraint &constraint : problem.constraints) {
    if (!constraint.stage)
      continue;
    bool isStage = *constraint.stage == index;
    bool isSame = constraint.layers && boundaries[first] == constraint.layers->first &&
                  boundaries[last] == constraint.layers->second + 1;
    if (isStage ? (constraint.layers && !isSame) || (constraint.submesh && *constraint.submesh != submesh) : isSame)
      return false;
  }
  return true;
}

void Search::findSteps() {
  steps.assign(end + 1, {});
  std::vector<std::vector<std::pair<unsigned, unsigned>>> allowed(end + 1); // first, submesh
  for (unsigned last = 1; last <= end; ++last)
    for (unsigned first = 0; first < last; ++first)
      for (unsigned submesh = 0; submesh < problem.submeshes.size(); ++submesh)
        if (problem.submeshes[submesh] <= numDevices && isAllowed(first, last, submesh))
          allowed[last].push_back({first, submesh});

  llvm::BitVector reached(getSize()), completed(getSize());
  reached.set(at(0, 0, 0));
  for (unsigned last = 1; last <= end; ++last)
    for (auto [first, submesh] : allowed[last])
      for (unsigned index = 0; index < getNumIndices(); ++index)
        if (isAllowedAt(first, last, submesh, index))
          for (unsigned d = 0, devices = problem.submeshes[submesh]; d + devices <= numDevices; ++d)
            if (reached[at(index, first, d)])
              reached.set(at(after(index), last, d + devices));
  completed.set(at(lastIndex, end, numDevices));
  for (unsigned last = end; last >= 1; --last)
    for (auto [first, submesh] : allowed[last]) {
      std::optional<unsigned> latest;
      for (unsigned index = 0; index < getNumIndices(); ++index)
        if (isAllowedAt(first, last, submesh, index))
          for (unsigned d = 0, devices = problem.submeshes[submesh]; d + devices <= numDevices; ++d)
            if (completed[at(after(index), last, d + devices)]) {
              completed.set(at(index, first, d));
              if (reached[at(index, first, d)])
                latest = index;
            }
      if (!latest)
        continue;
      size_t layers = size_t(last) * (last - 1) / 2 + first;
      size_t number = layers * problem.submeshes.size() + submesh;
      Step step{first, submesh, unsigned(problem.submeshes[submesh]), 0, number};
      int64_t left = problem.numStages ? *problem.numStages - *latest : last == end ? 1 : 2;
      step.minSeconds = getSeconds(step, last, left);
      if (step.minSeconds < kInfinity)
        steps[last].push_back(step);
    }
}

double Search::getSeconds(const Step &step, unsigned last, int64_t left) {
  int64_t inFlight = std::min<int64_t>(left, problem.numMicrobatches);
  std::vector<double> &known = memo[step.memo];
  if (known.empty())
    known.assign(std::min<int64_t>(maxStages, problem.numMicrobatches) + 1, -1);
  double &seconds = known[inFlight];
  if (seconds < 0) {
    ++statistics.costCalls;
    std::optional<double> answer = cost(boundaries[step.first], boundaries[last] - 1, step.submesh, inFlight);
    assert((!answer || (*answer >= 0 && std::isfinite(*answer))) && "no time");
    seconds = answer.value_or(kInfinity);
  }
  return seconds;
}

template <bool isSum> double Search::bound(double limit) {
  ++statistics.bounds;
  prefix.assign(getSize(), kInfinity);
  prefix[at(0, 0, 0)] = 0;
  for (unsigned last = 1; last <= end; ++last)
    for (const Step &step : steps[last]) {
      if (step.minSeconds > limit)
        continue;
      for (unsigned index = 0; index < getNumIndices(); ++index) {
        if (!isAllowedAt(step.first, last, step.submesh, index))
          continue;
        const double *from = &prefix[at(index, step.first, 0)];
        double *to = &prefix[at(after(index), last, step.devices)];
        for (unsigned d = 0; d + step.devices <= numDevices; ++d) {
          double through = isSum ? from[d] + step.minSeconds : std::max(from[d], step.minSeconds);
          to[d] = std::min(to[d], through);
        }
      }
    }
  return prefix[at(lastIndex, end, numDevices)];
}

std::optional<StagePlan> Search::findPlan(double limit, double maxSum) {
  ++statistics.plans;
  // By number of stages, from the back, and by index of the first of them.
  std::vector<std::vector<std::vector<State>>> levels;
  size_t size = at(1, 0, 0);
  auto addLevel = [&] { levels.emplace_back(lastIndex + 1); };
  addLevel();
  levels[0][lastIndex].resize(size);
  levels[0][lastIndex][at(0, end, 0)].sum = 0;
  // With fewer stages: they cost those before them no more.
  std::vector<double> withFewer(getSize(), kInfinity);
  std::optional<unsigned> found;
  size_t target = at(0, 0, numDevices);
  for (unsigned count = 1; count <= maxStages; ++count) {
    addLevel();
    bool isAny = false;
    for (unsigned index = 0; index < getNumIndices(); ++index)
      isAny |= extend(levels[count - 1][after(index)], levels[count][index], index, count, limit, maxSum,
                      &withFewer[at(index, 0, 0)]);
    if (!isAny)
      break;
    for (auto [index, states] : llvm::enumerate(levels[count]))
      for (auto [at, state] : llvm::enumerate(states)) {
        double &fewer = withFewer[index * size + at];
        fewer = std::min(fewer, state.sum);
      }
    const std::vector<State> &complete = levels[count][0];
    if (!complete.empty() && complete[target].sum < kInfinity) {
      found = count;
      maxSum = std::min(maxSum, complete[target].sum);
    }
  }
  if (!found)
    return std::nullopt;

  StagePlan plan;
  double slowest = 0;
  plan.objective = levels[*found][0][target].sum;
  unsigned index = 0, boundary = 0, devices = numDevices;
  for (unsigned count = *found; count > 0; --count) {
    const State &state = levels[count][index][at(0, boundary, devices)];
    const Step &step = steps[state.last][state.step];
    double seconds = getSeconds(step, state.last, count);
    plan.stages.push_back({boundaries[boundary], boundaries[state.last] - 1, step.submesh, seconds});
    slowest = std::max(slowest, seconds);
    boundary = state.last;
    devices -= step.devices;
    index = after(index);
  }
  plan.objective += weigh(slowest);
  return plan;
}

bool Search::extend(const std::vector<State> &suffixes, std::vector<State> &extended, unsigned index, unsigned count,
                    double limit, double maxSum, const double *withFewer) {
  for (unsigned last = suffixes.empty() ? 0 : end; last >= 1; --last)
    for (unsigned used = 0; used < numDevices; ++used) {
      double remaining = suffixes[at(0, last, used)].sum;
      if (remaining == kInfinity)
        continue;
      for (auto [number, step] : llvm::enumerate(steps[last])) {
        unsigned devices = used + step.devices;
        if (devices > numDevices || step.minSeconds > limit)
          continue;
        size_t target = at(0, step.first, devices);
        double before = prefix[at(index, step.first, numDevices - devices)];
        auto canBe = [&](double seconds) {
          double sum = seconds + remaining;
          return seconds <= limit && before + sum <= maxSum * kRounding && sum < withFewer[target] &&
                 (extended.empty() || sum <= extended[target].sum);
        };
        if (!canBe(step.minSeconds) || !isAllowedAt(step.first, last, step.submesh, index))
          continue;
        double seconds = getSeconds(step, last, count);
        if (!canBe(seconds))
          continue;
        if (extended.empty())
          extended.resize(at(1, 0, 0));
        State state{seconds + remaining, last, unsigned(number)};
        if (getRank(state) < getRank(extended[target]))
          extended[target] = state;
      }
    }
  return !extended.empty();
}

std::tuple<double, unsigned, unsigned, unsigned> Search::getRank(const State &state) const {
  if (state.sum == kInfinity)
    return {kInfinity, 0, 0, 0};
  const Step &step = steps[state.last][state.step];
  return {state.sum, step.devices, step.submesh, state.last};
}

std::optional<StagePlan> Search::findPlanFrom(double minSum, double limit, double maxSum) {
  for (double slack = kFirstSlack;; slack *= 4) {
    double limitOfSum = slack > kLastSlack ? maxSum : std::min(maxSum, minSum * (1 + slack));
    std::optional<StagePlan> plan = findPlan(limit, limitOfSum);
    if (plan || limitOfSum == maxSum)
      return plan;
  }
}

bool Search::isBetter(const StagePlan &plan, const StagePlan &other) const {
  auto getKey = [](const StagePlan &plan) { return std::tuple(plan.objective, plan.stages.size()); };
  if (getKey(plan) != getKey(other))
    return getKey(plan) < getKey(other);
  for (auto [mine, theirs] : llvm::zip(plan.stages, other.stages)) {
    auto getStage = [&](const ChosenStage &stage) {
      return std::tuple(problem.submeshes[stage.submesh], stage.submesh, stage.lastLayer);
    };
    if (getStage(mine) != getStage(theirs))
      return getStage(mine) < getStage(theirs);
  }
  return false;
}

void Search::search() {
  if (problem.numStages.value_or(1) > maxStages)
    return;
  lastIndex = problem.numStages.value_or(0);
  for (const StageConstraint &constraint : problem.constraints)
    if (constraint.stage && !problem.numStages) {
      if (*constraint.stage >= maxStages)
        return;
      lastIndex = std::max<unsigned>(lastIndex, *constraint.stage + 1);
    }
  findSteps();
  double fastest = bound<false>(kInfinity), longest = 0;
  if (fastest == kInfinity)
    return;
  for (const std::vector<Step> &list : steps)
    for (const Step &step : list)
      longest = std::max(longest, step.minSeconds);

  std::priority_queue<Interval> queue;
  auto push = [&](double low, double high, double sum) {
    if (sum < kInfinity && low <= high)
      queue.push({sum + weigh(low), low, high, sum});
  };
  push(fastest, kInfinity, bound<true>(kInfinity));
  while (!queue.empty()) {
    Interval interval = queue.top();
    queue.pop();
    if (best && interval.bound > best->objective)
      break;
    auto [_, low, high, sum] = interval;
    // Limits above the longest step are equivalent.
    double middle = std::min(high == kInfinity ? 2 * low : (low + high) / 2, longest);
    if (low < middle && middle < high && weigh(std::min(high, longest) - low) > kTight * interval.bound) {
      push(low, middle, std::max(sum, bound<true>(middle)));
      push(std::nextafter(middle, kInfinity), high, sum);
      continue;
    }
    double lowerBound = bound<true>(high);
    std::optional<StagePlan> plan = findPlanFrom(lowerBound, high, best ? best->objective - weigh(low) : kInfinity);
    if (!plan)
      continue;
    double slowest = 0, total = 0;
    for (const ChosenStage &stage : llvm::reverse(plan->stages)) {
      slowest = std::max(slowest, stage.seconds);
      total = stage.seconds + total;
    }
    if (problem.numMicrobatches > 1) // else the slowest stage does not matter
      push(low, std::nextafter(slowest, -1), total);
    if (!best || isBetter(*plan, *best))
      best = std::move(plan);
  }
}

} // namespace

static bool check(const StageProblem &problem, std::string &error) {
  error.clear();
  llvm::raw_string_ostream os(error);
  for (auto [count, what] :
       {std::pair(problem.numLayers, "layers"), std::pair(problem.numDevices, "devices"),
        std::pair(problem.numMicrobatches, "microbatches"), std::pair(problem.numStages.value_or(1), "stages"),
        std::pair(int64_t(problem.submeshes.size()), "submeshes")})
    if (count < 1) {
      os << count << " " << what << ", expected at least 1";
      return false;
    }
  for (int64_t devices : problem.submeshes)
    if (devices < 1) {
      os << "a submesh of " << devices << " devices, expected at least 1";
      return false;
    }
  int64_t before = 0;
  if (problem.splitPoints)
    for (int64_t layer : *problem.splitPoints) {
      if (layer <= before || layer >= problem.numLayers) {
        os << "a split point before layer " << layer << ", expected rising layers from 1 to " << problem.numLayers - 1;
        return false;
      }
      before = layer;
    }
  auto isSplitPoint = [&](int64_t layer) {
    return layer == 0 || layer == problem.numLayers || !problem.splitPoints ||
           llvm::is_contained(*problem.splitPoints, layer);
  };
  for (const StageConstraint &constraint : problem.constraints) {
    if (constraint.layers) {
      auto [first, last] = *constraint.layers;
      if (first < 0 || last < first || last >= problem.numLayers) {
        os << "a stage of layers " << first << " to " << last << ", expected layers from 0 to "
           << problem.numLayers - 1;
        return false;
      }
      for (int64_t layer : {first, last + 1})
        if (!isSplitPoint(layer)) {
          os << "a stage of layers " << first << " to " << last << ", expected a split point before layer " << layer;
          return false;
        }
    }
    if (constraint.stage &&
        (*constraint.stage < 0 || *constraint.stage >= problem.numStages.value_or(*constraint.stage + 1))) {
      os << "stage number " << *constraint.stage << ", expected ";
      if (problem.numStages)
        os << "one of " << *problem.numStages << " stages";
      else
        os << "at least 0";
      return false;
    }
    if (constraint.submesh && (*constraint.submesh < 0 || *constraint.submesh >= int64_t(problem.submeshes.size()))) {
      os << "submesh number " << *constraint.submesh << ", expected one of " << problem.submeshes.size()
         << " submeshes";
      return false;
    }
    if (!constraint.layers && !constraint.stage) {
      os << "a constraint without layers and stage, expected one of both";
      return false;
    }
  }
  return true;
}

std::optional<StagePlan> mlir::spmd::searchStages(const StageProblem &problem, StageCost cost, std::string &error,
                                                  StageSearchStatistics *statistics) {
  if (!check(problem, error))
    return std::nullopt;
  StageSearchStatistics unused;
  std::optional<StagePlan> plan = Search(problem, cost, statistics ? *statistics : unused).run();
  if (!plan)
    error = "no stages for " + std::to_string(problem.numLayers) + " layers on " + std::to_string(problem.numDevices) +
            " devices, expected submeshes, split points, constraints and memory that allow some";
  return plan;
}
