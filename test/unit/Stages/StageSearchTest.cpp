//===- StageSearchTest.cpp - The search for stages against enumeration ----===//

#include "shardkit/Stages/StageSearch.h"
#include "../Random.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

using namespace mlir::spmd;
using shardkit_test::Random;

namespace {

/// All plans, one after another.
class Enumeration {
public:
  Enumeration(const StageProblem &problem, StageCost cost) : problem(problem), cost(cost) {}

  std::optional<StagePlan> best;
  int64_t numBest = 0; // plans of the lowest objective

  void run() { extend(0, problem.numDevices); }

private:
  void extend(int64_t layer, int64_t devices) {
    if (layer == problem.numLayers) {
      if (devices == 0)
        consider();
      return;
    }
    for (int64_t end = layer + 1; end <= problem.numLayers; ++end) {
      if (end < problem.numLayers && problem.splitPoints && !llvm::is_contained(*problem.splitPoints, end))
        continue;
      for (auto [submesh, size] : llvm::enumerate(problem.submeshes)) {
        if (size > devices)
          continue;
        stages.push_back({layer, end - 1, int64_t(submesh), 0});
        extend(end, devices - size);
        stages.pop_back();
      }
    }
  }

  bool keepsPins() {
    int64_t n = stages.size();
    if (problem.numStages && n != *problem.numStages)
      return false;
    for (const StageConstraint &constraint : problem.constraints) {
      bool isKept = false;
      for (int64_t i = 0; i < n; ++i)
        isKept |= (!constraint.stage || *constraint.stage == i) &&
                  (!constraint.layers || *constraint.layers == std::pair(stages[i].firstLayer, stages[i].lastLayer)) &&
                  (!constraint.submesh || *constraint.submesh == stages[i].submesh);
      if (!isKept)
        return false;
    }
    return true;
  }

  using Key = std::vector<std::tuple<int64_t, int64_t, int64_t>>;
  Key getKey(const StagePlan &plan) {
    Key key;
    for (const ChosenStage &stage : plan.stages)
      key.push_back({problem.submeshes[stage.submesh], stage.submesh, stage.lastLayer});
    return key;
  }

  void consider() {
    if (!keepsPins())
      return;
    StagePlan plan;
    plan.stages = stages;
    double sum = 0, slowest = 0;
    int64_t n = stages.size();
    for (int64_t i = n - 1; i >= 0; --i) {
      ChosenStage &stage = plan.stages[i];
      std::optional<double> seconds =
          cost(stage.firstLayer, stage.lastLayer, stage.submesh, std::min(problem.numMicrobatches, n - i));
      if (!seconds)
        return;
      stage.seconds = *seconds;
      sum = *seconds + sum;
      slowest = std::max(slowest, *seconds);
    }
    plan.objective = sum + double(problem.numMicrobatches - 1) * slowest;
    if (best && plan.objective > best->objective)
      return;
    numBest = best && plan.objective == best->objective ? numBest + 1 : 1;
    if (!best || std::tuple(plan.objective, plan.stages.size(), getKey(plan)) <
                     std::tuple(best->objective, best->stages.size(), getKey(*best)))
      best = plan;
  }

  const StageProblem &problem;
  StageCost cost;
  llvm::SmallVector<ChosenStage> stages;
};

} // namespace

/// `[0-5]@2 [6-7]@2 = 39.6`
static std::string print(const StageProblem &problem, const std::optional<StagePlan> &plan) {
  if (!plan)
    return "none";
  std::string text;
  for (const ChosenStage &stage : plan->stages)
    text += "[" + std::to_string(stage.firstLayer) + "-" + std::to_string(stage.lastLayer) + "]@" +
            std::to_string(problem.submeshes[stage.submesh]) + " ";
  char objective[32];
  snprintf(objective, sizeof(objective), "= %.10g", plan->objective);
  return text + objective;
}

//===--- eight layers of the published table --------------------------------===//

static constexpr double kLayers[] = {1, 1, 1, 1, 2, 2, 4, 4};

static std::optional<double> getTableCost(int64_t first, int64_t last, int64_t submesh, int64_t) {
  static constexpr double kPart[] = {1, .55, .325, .2125};
  double sum = 0;
  for (int64_t layer = first; layer <= last; ++layer)
    sum += kLayers[layer];
  return sum * kPart[submesh];
}

static std::string searchTable(int64_t devices, int64_t microbatches) {
  StageProblem problem;
  problem.numLayers = 8;
  problem.numDevices = devices;
  problem.numMicrobatches = microbatches;
  problem.submeshes = {1, 2, 4, 8};
  std::string error;
  std::string text = print(problem, searchStages(problem, getTableCost, error));
  Enumeration all(problem, getTableCost);
  all.run();
  EXPECT_EQ(text, print(problem, all.best));
  EXPECT_EQ(all.numBest, 1);
  return text;
}

TEST(StageSearchTest, TableOfEightLayers) {
  EXPECT_EQ(searchTable(4, 1), "[0-7]@4 = 5.2");
  EXPECT_EQ(searchTable(4, 2), "[0-7]@4 = 10.4");
  EXPECT_EQ(searchTable(4, 4), "[0-7]@4 = 20.8");
  EXPECT_EQ(searchTable(4, 8), "[0-5]@2 [6-7]@2 = 39.6");
  EXPECT_EQ(searchTable(4, 32), "[0-3]@1 [4-5]@1 [6-6]@1 [7-7]@1 = 140");
  EXPECT_EQ(searchTable(8, 1), "[0-7]@8 = 3.4");
  EXPECT_EQ(searchTable(8, 8), "[0-5]@4 [6-7]@4 = 23.4");
  EXPECT_EQ(searchTable(8, 64), "[0-3]@2 [4-5]@2 [6-6]@2 [7-7]@2 = 147.4");
}

/// The same layers on 4 devices with 8 microbatches, where something is given.
static std::string searchConstrained(llvm::function_ref<void(StageProblem &)> change) {
  StageProblem problem;
  problem.numLayers = 8;
  problem.numDevices = 4;
  problem.numMicrobatches = 8;
  problem.submeshes = {1, 2, 4};
  change(problem);
  std::string error;
  std::optional<StagePlan> plan = searchStages(problem, getTableCost, error);
  Enumeration all(problem, getTableCost);
  all.run();
  EXPECT_EQ(print(problem, plan), print(problem, all.best));
  return plan ? print(problem, plan) : error;
}

TEST(StageSearchTest, PinsOfTheTable) {
  EXPECT_EQ(searchConstrained([](StageProblem &p) { p.numStages = 1; }), "[0-7]@4 = 41.6");
  EXPECT_EQ(searchConstrained([](StageProblem &p) { p.numStages = 4; }), "[0-3]@1 [4-5]@1 [6-6]@1 [7-7]@1 = 44");
  EXPECT_EQ(searchConstrained([](StageProblem &p) { p.splitPoints = {{4}}; }), "[0-7]@4 = 41.6");
  EXPECT_EQ(searchConstrained([](StageProblem &p) { p.constraints = {{{{0, 3}}, {}, {}}}; }),
            "[0-3]@1 [4-5]@1 [6-7]@2 = 43.2");
  EXPECT_EQ(searchConstrained([](StageProblem &p) { p.constraints = {{{}, 1, 0}}; }), "[0-3]@1 [4-5]@1 [6-7]@2 = 43.2");
  EXPECT_EQ(searchConstrained([](StageProblem &p) { p.constraints = {{{{6, 7}}, 2, {}}}; }),
            "[0-3]@1 [4-5]@1 [6-7]@2 = 43.2");
}

//===--- what cannot be -----------------------------------------------------===//

static std::string getError(llvm::function_ref<void(StageProblem &)> change) {
  StageProblem problem;
  problem.numLayers = 8;
  problem.numDevices = 4;
  problem.numMicrobatches = 8;
  problem.submeshes = {2, 4};
  change(problem);
  std::string error;
  EXPECT_FALSE(searchStages(problem, getTableCost, error));
  return error;
}

TEST(StageSearchTest, WhatCannotBeIsSaid) {
  std::string none = "no stages for 8 layers on 4 devices, expected submeshes, split points, constraints and "
                     "memory that allow some";
  EXPECT_EQ(getError([](StageProblem &p) { p.numLayers = 0; }), "0 layers, expected at least 1");
  EXPECT_EQ(getError([](StageProblem &p) { p.submeshes.clear(); }), "0 submeshes, expected at least 1");
  EXPECT_EQ(getError([](StageProblem &p) { p.submeshes = {4, 0}; }), "a submesh of 0 devices, expected at least 1");
  EXPECT_EQ(getError([](StageProblem &p) { p.splitPoints = {{3, 3}}; }),
            "a split point before layer 3, expected rising layers from 1 to 7");
  EXPECT_EQ(getError([](StageProblem &p) { p.splitPoints = {{8}}; }),
            "a split point before layer 8, expected rising layers from 1 to 7");
  EXPECT_EQ(getError([](StageProblem &p) { p.numStages = 0; }), "0 stages, expected at least 1");
  EXPECT_EQ(getError([](StageProblem &p) { p.constraints = {{{{3, 8}}, {}, {}}}; }),
            "a stage of layers 3 to 8, expected layers from 0 to 7");
  EXPECT_EQ(getError([](StageProblem &p) {
              p.splitPoints = {{4}};
              p.constraints = {{{{0, 2}}, {}, {}}};
            }),
            "a stage of layers 0 to 2, expected a split point before layer 3");
  EXPECT_EQ(getError([](StageProblem &p) {
              p.numStages = 2;
              p.constraints = {{{}, 2, 0}};
            }),
            "stage number 2, expected one of 2 stages");
  EXPECT_EQ(getError([](StageProblem &p) { p.constraints = {{{}, -1, 0}}; }), "stage number -1, expected at least 0");
  EXPECT_EQ(getError([](StageProblem &p) { p.constraints = {{{}, 1, 2}}; }),
            "submesh number 2, expected one of 2 submeshes");
  EXPECT_EQ(getError([](StageProblem &p) { p.constraints = {{{}, {}, 1}}; }),
            "a constraint without layers and stage, expected one of both");
  // Well-formed, but there is no such plan.
  EXPECT_EQ(getError([](StageProblem &p) { p.submeshes = {3}; }), none);
  EXPECT_EQ(getError([](StageProblem &p) { p.numStages = 3; }), none);
  EXPECT_EQ(getError([](StageProblem &p) { p.constraints = {{{}, 2, 0}}; }), none);
  EXPECT_EQ(getError([](StageProblem &p) { p.constraints = {{{{0, 3}}, {}, {}}, {{{2, 5}}, {}, {}}}; }), none);
  std::string error;
  StageProblem problem;
  problem.numLayers = 8;
  problem.numDevices = 4;
  problem.submeshes = {1, 2, 4};
  EXPECT_FALSE(searchStages(problem, [](int64_t, int64_t, int64_t, int64_t) { return std::nullopt; }, error));
  EXPECT_EQ(error, none);
}

//===--- random problems ----------------------------------------------------===//

namespace {

struct RandomProblem {
  StageProblem problem;
  bool hasLimits = false;
  /// By (first, last, submesh): seconds, what they grow by per microbatch in flight, and how
  /// many fit.
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::tuple<double, double, int64_t>> costs;

  RandomProblem(uint64_t seed, bool isExact) {
    Random random(seed);
    StageProblem &p = problem;
    p.numLayers = 1 + random.below(7);
    p.numDevices = 1 + random.below(6);
    p.numMicrobatches = random.chance(0.2) ? 1 : 1 + random.below(12);
    for (int64_t size : {1, 2, 3, 4, 6})
      if (random.chance(size < 3 ? 0.9 : 0.5))
        p.submeshes.push_back(size);
    if (p.submeshes.empty() || random.chance(0.2))
      p.submeshes.push_back(1 + random.below(3)); // maybe a second one of the same size
    if (random.chance(0.3)) {
      p.splitPoints.emplace();
      for (int64_t layer = 1; layer < p.numLayers; ++layer)
        if (random.chance(0.7))
          p.splitPoints->push_back(layer);
    }
    if (random.chance(0.2))
      p.numStages = 1 + random.below(4);
    for (int64_t i = random.chance(0.4) ? 1 + random.below(2) : 0; i > 0; --i) {
      StageConstraint constraint;
      if (random.chance(0.5)) {
        int64_t first = pickCut(random, 0), last = pickCut(random, first + 1) - 1;
        constraint.layers = {first, last};
      }
      if (!constraint.layers || random.chance(0.3))
        constraint.stage = random.below(p.numStages.value_or(3));
      if (random.chance(0.5))
        constraint.submesh = random.below(p.submeshes.size());
      p.constraints.push_back(constraint);
    }
    hasLimits = random.chance(0.6);
    bool grows = random.chance(0.5);
    int64_t range = random.chance(0.5) ? 4 : 40; // few: many ties
    std::vector<int64_t> layers;
    for (int64_t layer = 0; layer < p.numLayers; ++layer)
      layers.push_back(1 + random.below(range));
    bool isWild = random.chance(0.4);
    for (int64_t first = 0; first < p.numLayers; ++first)
      for (int64_t last = first; last < p.numLayers; ++last)
        for (int64_t submesh = 0; submesh < int64_t(p.submeshes.size()); ++submesh) {
          double seconds = 0;
          for (int64_t layer = first; layer <= last; ++layer)
            seconds += layers[layer];
          // Multiples of 1 / 64 have exact sums.
          seconds =
              isWild ? random.below(range * 4) : std::floor(seconds * 64 / std::pow(p.submeshes[submesh], .8)) / 64;
          if (!isExact)
            seconds += double(random.below(1 << 20)) * 0x1p-22;
          costs[{first, last, submesh}] = {seconds, grows && random.chance(0.3) ? double(random.below(3)) : 0,
                                           hasLimits && random.chance(0.5) ? random.below(4) : 100};
        }
  }

  std::optional<double> getCost(int64_t first, int64_t last, int64_t submesh, int64_t inFlight) const {
    auto [seconds, grows, most] = costs.at({first, last, submesh});
    if (inFlight > most)
      return std::nullopt;
    return seconds + grows * double(inFlight - 1);
  }

private:
  /// A layer from `from` on before which a stage may start, or the end.
  int64_t pickCut(Random &random, int64_t from) const {
    for (int64_t layer = from + random.below(problem.numLayers - from + 1);; ++layer) {
      if (layer >= problem.numLayers && from > 0)
        return problem.numLayers;
      if (layer >= problem.numLayers)
        return 0;
      if (layer == 0 || !problem.splitPoints || llvm::is_contained(*problem.splitPoints, layer))
        return layer;
    }
  }
};

} // namespace

/// Nothing is asked twice, and only what some plan may have.
static std::optional<StagePlan> searchCounted(const RandomProblem &random, int64_t &calls) {
  std::set<std::tuple<int64_t, int64_t, int64_t, int64_t>> asked;
  const StageProblem &p = random.problem;
  auto cost = [&](int64_t first, int64_t last, int64_t submesh, int64_t inFlight) {
    EXPECT_TRUE(asked.insert({first, last, submesh, inFlight}).second);
    EXPECT_TRUE(0 <= first && first <= last && last < p.numLayers);
    int64_t rest = p.numDevices - p.submeshes[submesh];
    EXPECT_GE(rest, (first > 0) + (last + 1 < p.numLayers));
    EXPECT_GE(inFlight, std::min<int64_t>(p.numMicrobatches, last + 1 < p.numLayers ? 2 : 1));
    EXPECT_LE(inFlight, p.numMicrobatches);
    return random.getCost(first, last, submesh, inFlight);
  };
  std::string error;
  StageSearchStatistics statistics;
  std::optional<StagePlan> plan = searchStages(p, cost, error, &statistics);
  EXPECT_EQ(plan.has_value(), error.empty()) << error;
  EXPECT_EQ(statistics.costCalls, int64_t(asked.size()));
  calls = asked.size();
  return plan;
}

TEST(StageSearchTest, RandomProblemsHaveTheEnumeratedPlan) {
  unsigned infeasible = 0, ties = 0, limited = 0, pinned = 0, staged = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed, /*isExact=*/true);
    const StageProblem &p = random.problem;
    auto cost = [&](int64_t first, int64_t last, int64_t submesh, int64_t inFlight) {
      return random.getCost(first, last, submesh, inFlight);
    };
    Enumeration all(p, cost);
    all.run();
    int64_t calls;
    std::optional<StagePlan> plan = searchCounted(random, calls);
    ASSERT_EQ(print(p, plan), print(p, all.best));
    infeasible += !plan;
    if (!plan)
      continue;
    for (auto [own, other] : llvm::zip_equal(plan->stages, all.best->stages)) {
      EXPECT_EQ(own.submesh, other.submesh);
      EXPECT_EQ(own.seconds, other.seconds);
    }
    ties += all.numBest > 1;
    pinned += !p.constraints.empty() || p.numStages;
    staged += plan->stages.size() > 1;
    // Whether more in flight cost anything.
    auto free = [&](int64_t first, int64_t last, int64_t submesh, int64_t) {
      return random.getCost(first, last, submesh, 1);
    };
    Enumeration unlimited(p, free);
    unlimited.run();
    limited += unlimited.best->objective < plan->objective;
  }
  // All kinds occur.
  EXPECT_GT(infeasible, 100u);
  EXPECT_LT(infeasible, 1500u);
  EXPECT_GT(ties, 100u);
  EXPECT_GT(limited, 100u);
  EXPECT_GT(pinned, 100u);
  EXPECT_GT(staged, 500u);
}

TEST(StageSearchTest, RandomTimesHaveTheEnumeratedObjective) {
  for (unsigned seed = 10000; seed < 11000; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed, /*isExact=*/false);
    auto cost = [&](int64_t first, int64_t last, int64_t submesh, int64_t inFlight) {
      return random.getCost(first, last, submesh, inFlight);
    };
    Enumeration all(random.problem, cost);
    all.run();
    int64_t calls;
    std::optional<StagePlan> plan = searchCounted(random, calls);
    ASSERT_EQ(plan.has_value(), all.best.has_value());
    if (plan)
      ASSERT_EQ(plan->objective, all.best->objective);
  }
}

//===--- large problems -----------------------------------------------------===//

TEST(StageSearchTest, ManyEqualLayersNeedFewTables) {
  StageProblem problem;
  problem.numLayers = 96;
  problem.numDevices = 64;
  problem.numMicrobatches = 64;
  problem.submeshes = {1, 2, 4, 8, 16, 32, 64};
  auto cost = [&](int64_t first, int64_t last, int64_t submesh, int64_t) -> std::optional<double> {
    return double(last - first + 1) / std::pow(double(problem.submeshes[submesh]), 0.9);
  };
  std::string error;
  StageSearchStatistics statistics;
  std::optional<StagePlan> plan = searchStages(problem, cost, error, &statistics);
  ASSERT_TRUE(plan);
  // 12 layers on 8 devices each.
  EXPECT_EQ(plan->stages.size(), 8u);
  EXPECT_LT(statistics.plans, 100);
  EXPECT_LT(statistics.bounds, 200);
}
