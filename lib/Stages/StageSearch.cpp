//===- StageSearch.cpp - The best cut of layers into stages ---------------===//
//
// For a limit T on the time of a stage the least sum of times is a dynamic programme; the
// objective is the least, over T, of that sum plus (B - 1) T. Limits are searched best
// first: an interval of them has a bound, namely what the sum is at least at its upper end
// plus B - 1 times its lower end, and is halved until the bound is tight; then the
// programme is run at the upper end. Its plan has a slowest stage, of time M: limits above
// M are done with, those below are the rest of the interval. So times that no good plan
// has are never looked at.
//
// What a stage costs depends on how many follow it. The bound is a programme that does not
// know their number and takes the least that it can be; from the front it says what the
// layers and devices before a stage take at least, so that the exact programme, which goes
// from the last stage to the first, only keeps what can still become a plan worth having.
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
/// An interval of limits is halved while its ends are further apart than this part of its
/// bound: a bound costs less than a plan.
static constexpr double kTight = 0.01;
/// Sums are tried up to so much above the bound, then up to four times as much, ...
static constexpr double kFirstSlack = 0.01, kLastSlack = 10;
/// Sums of equal parts in another order.
static constexpr double kRounding = 1 + 1e-9;

namespace {

/// Layers between two boundaries on a submesh.
struct Step {
  unsigned first; // boundary; the other one is what the list is for
  unsigned submesh;
  unsigned devices;
  double least; // seconds, at least
  size_t memo;
};

class Search {
public:
  Search(const StageProblem &problem, StageCost cost, StageSearchStatistics &statistics)
      : problem(problem), cost(cost), statistics(statistics), numDevices(problem.numDevices) {
    boundaries.push_back(0);
    if (problem.cuts)
      boundaries.append(problem.cuts->begin(), problem.cuts->end());
    else
      for (int64_t layer = 1; layer < problem.numLayers; ++layer)
        boundaries.push_back(layer);
    end = boundaries.size();
    boundaries.push_back(problem.numLayers);
    int64_t fewest = *llvm::min_element(problem.submeshes);
    mostStages = std::min<int64_t>(end, numDevices / fewest);
    memo.resize(end * (end + 1) / 2 * problem.submeshes.size());
  }

  std::optional<StagePlan> run() {
    search();
    return std::move(best);
  }

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

  //===--- steps that can be part of a plan ---------------------------------===//

  bool isAllowed(unsigned first, unsigned last, unsigned submesh) const {
    for (const StagePin &pin : problem.pins) {
      if (!pin.layers)
        continue;
      auto [from, to] = *pin.layers;
      bool isOther = boundaries[last] <= from || boundaries[first] > to;
      bool isSame = boundaries[first] == from && boundaries[last] == to + 1;
      if (!isOther && (!isSame || (pin.submesh && *pin.submesh != submesh)))
        return false;
    }
    return true;
  }

  /// As stage number `index` from the front.
  bool isAllowedAt(unsigned first, unsigned last, unsigned submesh, int64_t index) const {
    for (const StagePin &pin : problem.pins) {
      if (!pin.stage)
        continue;
      bool isStage = *pin.stage == index;
      bool isSame = pin.layers && boundaries[first] == pin.layers->first && boundaries[last] == pin.layers->second + 1;
      if (isStage ? (pin.layers && !isSame) || (pin.submesh && *pin.submesh != submesh) : isSame)
        return false;
    }
    return true;
  }

  /// Where stages are numbered from the front, as far as someone asks: to the end if their
  /// number is given, else up to the last number that is pinned; all that come after that
  /// are `lastIndex`, where every plan ends.
  unsigned after(unsigned index) const { return std::min(index + 1, lastIndex); }
  /// Numbers that a stage may have.
  unsigned getNumIndices() const { return problem.numStages ? lastIndex : lastIndex + 1; }
  size_t at(unsigned index, unsigned boundary, unsigned devices) const {
    return (size_t(index) * (end + 1) + boundary) * (numDevices + 1) + devices;
  }
  size_t getSize() const { return at(lastIndex + 1, 0, 0); }

  /// The steps that some plan has, with the least that each costs.
  void findSteps() {
    steps.assign(end + 1, {});
    std::vector<std::vector<std::pair<unsigned, unsigned>>> allowed(end + 1); // first, submesh
    for (unsigned last = 1; last <= end; ++last)
      for (unsigned first = 0; first < last; ++first)
        for (unsigned submesh = 0; submesh < problem.submeshes.size(); ++submesh)
          if (problem.submeshes[submesh] <= numDevices && isAllowed(first, last, submesh))
            allowed[last].push_back({first, submesh});

    llvm::BitVector before(getSize()), behind(getSize());
    before.set(at(0, 0, 0));
    for (unsigned last = 1; last <= end; ++last)
      for (auto [first, submesh] : allowed[last])
        for (unsigned index = 0; index < getNumIndices(); ++index)
          if (isAllowedAt(first, last, submesh, index))
            for (unsigned d = 0, own = problem.submeshes[submesh]; d + own <= numDevices; ++d)
              if (before[at(index, first, d)])
                before.set(at(after(index), last, d + own));
    behind.set(at(lastIndex, end, numDevices));
    for (unsigned last = end; last >= 1; --last)
      for (auto [first, submesh] : allowed[last]) {
        std::optional<unsigned> latest;
        for (unsigned index = 0; index < getNumIndices(); ++index)
          if (isAllowedAt(first, last, submesh, index))
            for (unsigned d = 0, own = problem.submeshes[submesh]; d + own <= numDevices; ++d)
              if (behind[at(after(index), last, d + own)]) {
                behind.set(at(index, first, d));
                if (before[at(index, first, d)])
                  latest = index;
              }
        if (!latest)
          continue;
        size_t layers = size_t(last) * (last - 1) / 2 + first;
        size_t number = layers * problem.submeshes.size() + submesh;
        Step step{first, submesh, unsigned(problem.submeshes[submesh]), 0, number};
        int64_t left = problem.numStages ? *problem.numStages - *latest : last == end ? 1 : 2;
        step.least = getSeconds(step, last, left);
        if (step.least < kInfinity)
          steps[last].push_back(step);
      }
  }

  /// With `left` stages from this one to the last.
  double getSeconds(const Step &step, unsigned last, int64_t left) {
    int64_t inFlight = std::min<int64_t>(left, problem.numMicrobatches);
    std::vector<double> &known = memo[step.memo];
    if (known.empty())
      known.assign(std::min<int64_t>(mostStages, problem.numMicrobatches) + 1, -1);
    double &seconds = known[inFlight];
    if (seconds < 0) {
      ++statistics.costCalls;
      std::optional<double> answer = cost(boundaries[step.first], boundaries[last] - 1, step.submesh, inFlight);
      assert((!answer || (*answer >= 0 && std::isfinite(*answer))) && "no time");
      seconds = answer.value_or(kInfinity);
    }
    return seconds;
  }

  //===--- bounds -----------------------------------------------------------===//

  /// Fills `prefix`: what the layers before a boundary take at least, as a sum or the
  /// longest, if no stage takes longer than the limit. Returns it for all layers.
  template <bool isSum> double bound(double limit) {
    ++statistics.bounds;
    prefix.assign(getSize(), kInfinity);
    prefix[at(0, 0, 0)] = 0;
    for (unsigned last = 1; last <= end; ++last)
      for (const Step &step : steps[last]) {
        if (step.least > limit)
          continue;
        for (unsigned index = 0; index < getNumIndices(); ++index) {
          if (!isAllowedAt(step.first, last, step.submesh, index))
            continue;
          const double *from = &prefix[at(index, step.first, 0)];
          double *to = &prefix[at(after(index), last, step.devices)];
          for (unsigned d = 0; d + step.devices <= numDevices; ++d) {
            double through = isSum ? from[d] + step.least : std::max(from[d], step.least);
            to[d] = std::min(to[d], through);
          }
        }
      }
    return prefix[at(lastIndex, end, numDevices)];
  }

  //===--- plans ------------------------------------------------------------===//

  /// The plan of the least sum, at most `mostSum`, of stages of at most `limit` each.
  /// `prefix` has to be that of the limit.
  std::optional<StagePlan> findPlan(double limit, double mostSum) {
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
    for (unsigned count = 1; count <= mostStages; ++count) {
      addLevel();
      bool isAny = false;
      for (unsigned index = 0; index < getNumIndices(); ++index)
        isAny |= extend(levels[count - 1][after(index)], levels[count][index], index, count, limit, mostSum,
                        &withFewer[at(index, 0, 0)]);
      if (!isAny)
        break;
      for (auto [index, states] : llvm::enumerate(levels[count]))
        for (auto [place, state] : llvm::enumerate(states)) {
          double &fewer = withFewer[index * size + place];
          fewer = std::min(fewer, state.sum);
        }
      const std::vector<State> &whole = levels[count][0];
      if (!whole.empty() && whole[target].sum < kInfinity) {
        found = count;
        mostSum = std::min(mostSum, whole[target].sum);
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

  /// Puts stage `index` in front of the suffixes `behind`, which makes `count` stages.
  /// Returns whether there is any.
  bool extend(const std::vector<State> &behind, std::vector<State> &own, unsigned index, unsigned count, double limit,
              double mostSum, const double *withFewer) {
    for (unsigned last = behind.empty() ? 0 : end; last >= 1; --last)
      for (unsigned used = 0; used < numDevices; ++used) {
        double rest = behind[at(0, last, used)].sum;
        if (rest == kInfinity)
          continue;
        for (auto [number, step] : llvm::enumerate(steps[last])) {
          unsigned devices = used + step.devices;
          if (devices > numDevices || step.least > limit)
            continue;
          size_t place = at(0, step.first, devices);
          double before = prefix[at(index, step.first, numDevices - devices)];
          auto canBe = [&](double seconds) {
            double sum = seconds + rest;
            return seconds <= limit && before + sum <= mostSum * kRounding && sum < withFewer[place] &&
                   (own.empty() || sum <= own[place].sum);
          };
          if (!canBe(step.least) || !isAllowedAt(step.first, last, step.submesh, index))
            continue;
          double seconds = getSeconds(step, last, count);
          if (!canBe(seconds))
            continue;
          if (own.empty())
            own.resize(at(1, 0, 0));
          State state{seconds + rest, last, unsigned(number)};
          if (getRank(state) < getRank(own[place]))
            own[place] = state;
        }
      }
    return !own.empty();
  }

  /// Which of two suffixes of as many stages is better.
  std::tuple<double, unsigned, unsigned, unsigned> getRank(const State &state) const {
    if (state.sum == kInfinity)
      return {kInfinity, 0, 0, 0};
    const Step &step = steps[state.last][state.step];
    return {state.sum, step.devices, step.submesh, state.last};
  }

  /// The same, `mostSum` being raised step by step from what is needed at least.
  std::optional<StagePlan> findPlanFrom(double leastSum, double limit, double mostSum) {
    for (double slack = kFirstSlack;; slack *= 4) {
      double most = slack > kLastSlack ? mostSum : std::min(mostSum, leastSum * (1 + slack));
      std::optional<StagePlan> plan = findPlan(limit, most);
      if (plan || most == mostSum)
        return plan;
    }
  }

  //===--- limits -----------------------------------------------------------===//

  double weigh(double slowest) const { return slowest == 0 ? 0 : double(problem.numMicrobatches - 1) * slowest; }

  bool isBetter(const StagePlan &plan, const StagePlan &other) const {
    auto getKey = [](const StagePlan &plan) { return std::tuple(plan.objective, plan.stages.size()); };
    if (getKey(plan) != getKey(other))
      return getKey(plan) < getKey(other);
    for (auto [own, theirs] : llvm::zip(plan.stages, other.stages)) {
      auto getStage = [&](const ChosenStage &stage) {
        return std::tuple(problem.submeshes[stage.submesh], stage.submesh, stage.lastLayer);
      };
      if (getStage(own) != getStage(theirs))
        return getStage(own) < getStage(theirs);
    }
    return false;
  }

  void search() {
    if (problem.numStages.value_or(1) > mostStages)
      return;
    lastIndex = problem.numStages.value_or(0);
    for (const StagePin &pin : problem.pins)
      if (pin.stage && !problem.numStages) {
        if (*pin.stage >= mostStages)
          return;
        lastIndex = std::max<unsigned>(lastIndex, *pin.stage + 1);
      }
    findSteps();
    double fastest = bound<false>(kInfinity), longest = 0;
    if (fastest == kInfinity)
      return;
    for (const std::vector<Step> &list : steps)
      for (const Step &step : list)
        longest = std::max(longest, step.least);

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
      // Above the longest step of all nothing is left to halve.
      double middle = std::min(high == kInfinity ? 2 * low : (low + high) / 2, longest);
      if (low < middle && middle < high && weigh(std::min(high, longest) - low) > kTight * interval.bound) {
        push(low, middle, std::max(sum, bound<true>(middle)));
        push(std::nextafter(middle, kInfinity), high, sum);
        continue;
      }
      double least = bound<true>(high);
      std::optional<StagePlan> plan = findPlanFrom(least, high, best ? best->objective - weigh(low) : kInfinity);
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

  const StageProblem &problem;
  StageCost cost;
  StageSearchStatistics &statistics;
  unsigned numDevices;
  SmallVector<int64_t> boundaries; // layers before which a cut may be, and the end
  unsigned end;                    // the last boundary
  int64_t mostStages;
  /// Seconds by layers and submesh, then by microbatches in flight; -1: not asked yet.
  std::vector<std::vector<double>> memo;

  unsigned lastIndex = 0;
  std::vector<std::vector<Step>> steps; // by their last boundary
  std::vector<double> prefix;
  std::optional<StagePlan> best;
};

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
  if (problem.cuts)
    for (int64_t cut : *problem.cuts) {
      if (cut <= before || cut >= problem.numLayers) {
        os << "a cut before layer " << cut << ", expected rising layers from 1 to " << problem.numLayers - 1;
        return false;
      }
      before = cut;
    }
  auto isCut = [&](int64_t layer) {
    return layer == 0 || layer == problem.numLayers || !problem.cuts || llvm::is_contained(*problem.cuts, layer);
  };
  for (const StagePin &pin : problem.pins) {
    if (pin.layers) {
      auto [first, last] = *pin.layers;
      if (first < 0 || last < first || last >= problem.numLayers) {
        os << "a stage of layers " << first << " to " << last << ", expected layers from 0 to "
           << problem.numLayers - 1;
        return false;
      }
      for (int64_t layer : {first, last + 1})
        if (!isCut(layer)) {
          os << "a stage of layers " << first << " to " << last << ", expected a cut to be allowed before layer "
             << layer;
          return false;
        }
    }
    if (pin.stage && (*pin.stage < 0 || *pin.stage >= problem.numStages.value_or(*pin.stage + 1))) {
      os << "stage number " << *pin.stage << ", expected ";
      if (problem.numStages)
        os << "one of " << *problem.numStages << " stages";
      else
        os << "at least 0";
      return false;
    }
    if (pin.submesh && (*pin.submesh < 0 || *pin.submesh >= int64_t(problem.submeshes.size()))) {
      os << "submesh number " << *pin.submesh << ", expected one of " << problem.submeshes.size() << " submeshes";
      return false;
    }
    if (!pin.layers && !pin.stage) {
      os << "a pin of no stage, expected its layers or its number";
      return false;
    }
  }
  return true;
}

std::optional<StagePlan> mlir::spmd::searchStages(const StageProblem &problem, StageCost cost, std::string &error,
                                                  StageSearchStatistics *statistics) {
  if (!check(problem, error))
    return std::nullopt;
  StageSearchStatistics own;
  std::optional<StagePlan> plan = Search(problem, cost, statistics ? *statistics : own).run();
  if (!plan)
    error = "no stages for " + std::to_string(problem.numLayers) + " layers on " + std::to_string(problem.numDevices) +
            " devices, expected submeshes, cuts, pins and memory that allow some";
  return plan;
}
