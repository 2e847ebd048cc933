//===- SolverTest.cpp - The solver against enumeration --------------------===//

#include "DualAscent/SharingSums.h"
#include "Elimination/Contraction.h"
#include "Elimination/EliminationOrder.h"
#include "Elimination/GrowingElimination.h"
#include "RandomGraphs.h"
#include "Search/Abstraction.h"
#include "Search/NeighbourhoodSearch.h"
#include "Search/Quotient.h"
#include "Support/StepSchedule.h"
#include <gtest/gtest.h>

using namespace shardkit_test;

static constexpr Shape kShapes[] = {Shape::Tree, Shape::Ladder, Shape::Dense};

/// Of the i-th graph; every fifth one with few different times, so with many ties.
static GraphOptions getOptions(unsigned i, int64_t maxProduct, int64_t fewTimes) {
  GraphOptions options;
  options.shape = kShapes[i % 3];
  options.maxProduct = maxProduct;
  options.maxTime = i % 5 == 0 ? fewTimes : 50;
  return options;
}

/// Graphs that have a solution, and the price of the best one.
static void forSolvable(unsigned count, unsigned seed, int64_t fewTimes, bool alwaysBytes,
                        llvm::function_ref<void(unsigned, Random &, const CostGraph &, Price)> check) {
  for (unsigned i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    Random random(seed + i);
    GraphOptions options = getOptions(i, 20000, fewTimes);
    options.bytes = alwaysBytes || i % 2;
    CostGraph graph = randomGraph(random, options);
    Price best = enumerate(graph, std::nullopt).best;
    if (!best.isImpossible())
      check(i, random, graph, best);
  }
}

static void expectValid(const CostGraph &graph, const Solution &solution) {
  ASSERT_EQ(solution.choices.size(), graph.getNumVariables());
  EXPECT_FALSE(graph.getPrice(solution.choices).isImpossible());
  EXPECT_EQ(graph.getPrice(solution.choices), solution.objective);
  EXPECT_EQ(graph.getPeak(solution.choices), solution.peak);
  EXPECT_LE(solution.lowerBound, solution.objective);
}

TEST(SolverTest, RandomGraphsWithoutBudgetHaveTheEnumeratedOptimum) {
  unsigned infeasible = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    Random random(i);
    GraphOptions options = getOptions(i, i % 10 == 0 ? 200000 : 5000, 2);
    options.impossible = i % 4 == 0 ? 0.4 : 0.1;
    CostGraph graph = randomGraph(random, options);
    Price best = enumerate(graph, std::nullopt).best;
    Solution solution = solve(graph);
    if (best.isImpossible()) {
      ++infeasible;
      EXPECT_EQ(solution.status, SolverStatus::Infeasible);
      EXPECT_TRUE(solution.choices.empty());
      continue;
    }
    EXPECT_EQ(solution.status, SolverStatus::Optimal);
    EXPECT_EQ(solution.objective, best);
    EXPECT_EQ(solution.lowerBound, best);
    expectValid(graph, solution);
  }
  // Both kinds occur.
  EXPECT_GT(infeasible, 20u);
  EXPECT_LT(infeasible, 500u);
}

TEST(SolverTest, SharedItemsArePaidOnce) {
  unsigned infeasible = 0, dear = 0;
  for (unsigned i = 0; i < 1500; ++i) {
    SCOPED_TRACE(i);
    Random random(12000 + i);
    GraphOptions options = getOptions(i, 5000, 3);
    options.sharings = 1 + i % 4;
    CostGraph graph = randomGraph(random, options);
    Price best = enumerate(graph, std::nullopt).best;
    Solution solution = solve(graph);
    if (best.isImpossible()) {
      ++infeasible;
      EXPECT_EQ(solution.status, SolverStatus::Infeasible);
      continue;
    }
    EXPECT_EQ(solution.status, SolverStatus::Optimal);
    EXPECT_EQ(solution.objective, best);
    EXPECT_EQ(solution.lowerBound, best);
    expectValid(graph, solution);
    // Nothing at most as expensive, or the same optimum.
    SolverOptions within;
    within.cutoff = best.time + random.below(5) - 2;
    Solution cut = solve(graph, within);
    if (within.cutoff < best.time) {
      ++dear;
      EXPECT_GT(cut.lowerBound.time, within.cutoff);
      EXPECT_LE(cut.lowerBound.time, best.time);
    } else {
      EXPECT_EQ(cut.objective.time, best.time);
    }
  }
  EXPECT_GT(infeasible, 20u);
  EXPECT_LT(infeasible, 700u);
  EXPECT_GT(dear, 100u);
}

/// The same graph with a variable for each host's choice and each set of items, as pairs.
static CostGraph expandSharings(const CostGraph &graph) {
  CostGraph to;
  for (unsigned v = 0; v < graph.getNumVariables(); ++v)
    to.addVariable(graph.getNumChoices(v));
  auto copy = [&](unsigned table) { return to.addTable({graph.getTable(table).begin(), graph.getTable(table).end()}); };
  for (const CostGraph::Cost &cost : graph.getCosts()) {
    if (cost.b == CostGraph::kNoVar)
      to.addCost(cost.a, copy(cost.table));
    else
      to.addCost(cost.a, cost.b, copy(cost.table));
  }
  for (const CostGraph::Sharing &sharing : graph.getSharings()) {
    unsigned hosts = graph.getNumChoices(sharing.host);
    unsigned numItems = graph.getTable(sharing.prices).size() / hosts, sets = 1 << numItems;
    unsigned own = to.addVariable(hosts * sets);
    std::vector<Price> prices(hosts * sets), equal(size_t(hosts) * hosts * sets, Price::impossible());
    for (unsigned h = 0; h < hosts; ++h)
      for (unsigned set = 0; set < sets; ++set) {
        for (unsigned item = 0; item < numItems; ++item)
          if (set >> item & 1)
            prices[h * sets + set] = prices[h * sets + set] + graph.getTable(sharing.prices)[h * numItems + item];
        equal[size_t(h) * hosts * sets + h * sets + set] = Price();
      }
    to.addCost(own, to.addTable(prices));
    to.addCost(sharing.host, own, to.addTable(equal));
    for (const CostGraph::Reader &reader : sharing.readers) {
      std::vector<Price> has;
      for (unsigned item : reader.items)
        for (unsigned c = 0; c < hosts * sets; ++c)
          has.push_back((c % sets) >> item & 1 ? Price() : Price::impossible());
      to.addCost(reader.var, own, to.addTable(has));
    }
  }
  return to;
}

TEST(SolverTest, RepeatedLayersWithSharings) {
  for (unsigned i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    Random random(14000 + i);
    // One layer, many times; each begins where the last one ends.
    GraphOptions options;
    options.shape = kShapes[i % 3];
    options.maxProduct = 2000;
    options.sharings = 2;
    options.impossible = 0.05;
    CostGraph layer = randomGraph(random, options), graph;
    unsigned n = layer.getNumVariables();
    if (n < 2)
      continue;
    unsigned layers = 10 + random.below(30);
    unsigned numFirst = layer.getNumChoices(0), numLast = layer.getNumChoices(n - 1);
    std::vector<Price> link;
    for (unsigned k = 0; k < numFirst * numLast; ++k)
      link.push_back({random.below(12), 0});
    for (unsigned l = 0; l < layers; ++l) {
      unsigned base = graph.getNumVariables();
      for (unsigned v = 0; v < n; ++v)
        graph.addVariable(layer.getNumChoices(v));
      auto copy = [&](unsigned table) {
        return graph.addTable({layer.getTable(table).begin(), layer.getTable(table).end()});
      };
      for (const CostGraph::Cost &cost : layer.getCosts()) {
        if (cost.b == CostGraph::kNoVar)
          graph.addCost(base + cost.a, copy(cost.table));
        else
          graph.addCost(base + cost.a, base + cost.b, copy(cost.table));
      }
      for (const CostGraph::Sharing &sharing : layer.getSharings()) {
        std::vector<CostGraph::Reader> readers = sharing.readers;
        for (CostGraph::Reader &reader : readers)
          reader.var += base;
        graph.addSharing(base + sharing.host, std::move(readers), copy(sharing.prices));
      }
      if (l > 0)
        graph.addCost(base - 1, base, graph.addTable([&] {
          std::vector<Price> prices(numLast * numFirst);
          for (unsigned a = 0; a < numLast; ++a)
            for (unsigned b = 0; b < numFirst; ++b)
              prices[a * numFirst + b] = link[b * numLast + a];
          return prices;
        }()));
    }
    Solution expected = solve(expandSharings(graph)), solution = solve(graph);
    EXPECT_EQ(solution.status, expected.status);
    EXPECT_EQ(solution.objective, expected.objective);
    if (solution.status == SolverStatus::Optimal)
      expectValid(graph, solution);
    // Whatever it is stopped at, the bound is one.
    SolverOptions few;
    few.workLimit = 1 << (8 + i % 12);
    Solution stopped = solve(graph, few);
    EXPECT_LE(stopped.lowerBound, expected.objective);
    if (!stopped.choices.empty())
      EXPECT_GE(stopped.objective, expected.objective);
  }
}

TEST(SolverTest, DualAscentLeavesTheOptimum) {
  for (unsigned i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    Random random(5000 + i);
    GraphOptions options = getOptions(i, 5000, 2);
    CostGraph graph = randomGraph(random, options);
    Price best = enumerate(graph, std::nullopt).best;
    SolverOptions ascent;
    ascent.directJoinEntries = 0;
    // Wherever it begins.
    std::vector<unsigned> start;
    for (unsigned v = 0; i % 2 && v + i % 4 < graph.getNumVariables(); ++v)
      start.push_back(random.below(graph.getNumChoices(v)));
    ascent.start = start;
    Solution solution = solve(graph, ascent);
    if (best.isImpossible()) {
      EXPECT_EQ(solution.status, SolverStatus::Infeasible);
      continue;
    }
    EXPECT_EQ(solution.status, SolverStatus::Optimal);
    EXPECT_EQ(solution.objective, best);
    expectValid(graph, solution);
  }
}

TEST(SolverTest, GrowingJoinsBoundTheOptimumAndReachIt) {
  unsigned grown = 0;
  forSolvable(600, 8000, 3, /*alwaysBytes=*/false, [&](unsigned i, Random &random, const CostGraph &graph, Price best) {
    solver::TablePool pool;
    solver::Reducer reducer(pool);
    // As little as may be spent, or more.
    int64_t most = best.time + (i % 4) * random.below(10);
    solver::GrowingElimination growing(solver::readGraph(graph, false, pool), 1 << 26, pool, reducer,
                                       /*firstJoin=*/4);
    solver::Clock clock{SolverOptions()};
    unsigned runs = 0;
    do {
      ASSERT_TRUE(growing.run(most, clock));
      ASSERT_LE(growing.getLower(), best);
      ++runs;
    } while (!growing.isExact() && growing.grow());
    EXPECT_EQ(growing.getLower(), best);
    ASSERT_FALSE(growing.getChoices().empty());
    EXPECT_EQ(graph.getPrice(growing.getChoices()), best);
    grown += runs > 2;
  });
  EXPECT_GT(grown, 200u);
}

TEST(SolverTest, GroupedChoicesBoundTheOptimumAndReachIt) {
  unsigned refined = 0, nothing = 0;
  forSolvable(600, 9000, 3, /*alwaysBytes=*/false, [&](unsigned i, Random &random, const CostGraph &graph, Price best) {
    solver::TablePool pool;
    solver::Problem problem = solver::readGraph(graph, false, pool);
    std::vector<unsigned> order(problem.sizes.size());
    for (unsigned v = 0; v < order.size(); ++v)
      order[v] = v;
    solver::Clock clock{SolverOptions()};
    solver::DualAscent ascent(problem, order, pool, clock);
    ascent.setTables(solver::getTables(problem), 1e6);
    for (unsigned pass = 0; pass < i % 7; ++pass)
      ascent.iterate();
    solver::DualAscent::Moved moved = ascent.move();
    ASSERT_FALSE(moved.impossible);
    SolverStatistics statistics;
    solver::Abstraction abstraction(problem, ascent, moved, /*withBytes=*/i % 2, statistics);
    // Within what is less than the optimum, exactly that, or far more.
    int64_t most = i % 4 < 2 ? best.time - 1 + i % 4 : best.time + 1000;
    for (unsigned round = 0;; ++round) {
      solver::Abstraction::Optimum found = abstraction.solve(most, 1 << 26, clock);
      ASSERT_FALSE(found.isOver);
      if (most < best.time) {
        // Refuted at once, or when more is told apart.
        if (!found.lower.isImpossible()) {
          ASSERT_FALSE(found.isExact);
          continue;
        }
        ++nothing;
        break;
      }
      ASSERT_LE(found.lower, best);
      if (!found.isExact)
        continue;
      EXPECT_EQ(found.lower, best);
      EXPECT_EQ(graph.getPrice(found.choices), best);
      refined += round > 0;
      break;
    }
  });
  EXPECT_GT(refined, 60u);
  EXPECT_GT(nothing, 50u);
}

TEST(SolverTest, TiesAreComparedByBytes) {
  unsigned differ = 0;
  forSolvable(400, 11000, 2, /*alwaysBytes=*/true, [&](unsigned i, Random &random, const CostGraph &graph, Price best) {
    solver::TablePool pool;
    solver::Problem problem = solver::readGraph(graph, false, pool);
    std::vector<solver::TableId> tables = solver::getTables(problem), times;
    for (solver::TableId id : tables)
      times.push_back(id == solver::kNoTable ? id : pool.flatten(id, 0));
    solver::JoinMemo memo(pool);
    solver::Elimination elimination(problem, solver::getMinFillOrder(problem), 1 << 26, memo);
    ASSERT_TRUE(elimination.isExact());
    solver::Elimination::Run run = elimination.run(times);
    std::vector<unsigned> any(problem.sizes.size(), 0), fewest(any);
    ASSERT_TRUE(elimination.trace(run, any));
    EXPECT_EQ(elimination.traceFewest(run, tables, fewest) + problem.constant, best);
    EXPECT_EQ(graph.getPrice(fewest), best);
    EXPECT_EQ(graph.getPrice(any).time, best.time);
    differ += any != fewest;
  });
  EXPECT_GT(differ, 20u);
}

/// Each layer is a dense graph at random, tied to the next one by two of its variables.
static CostGraph repeatedLayers(Random &random, unsigned layers, int64_t most) {
  unsigned width = 4 + random.below(3);
  CostGraph graph;
  std::vector<unsigned> sizes, unary;
  auto table = [&](size_t size) {
    std::vector<Price> prices;
    for (size_t k = 0; k < size; ++k)
      prices.push_back({random.below(most), random.below(5)});
    return graph.addTable(std::move(prices));
  };
  for (unsigned v = 0; v < width; ++v) {
    sizes.push_back(2 + random.below(5));
    unary.push_back(table(sizes[v]));
  }
  std::vector<std::array<unsigned, 3>> within, across; // from, to, table
  for (unsigned v = 0; v < width; ++v)
    for (unsigned w = 0; w < v; ++w)
      if (random.below(4))
        within.push_back({v, w, table(sizes[v] * sizes[w])});
  for (unsigned v = 0; v < 2; ++v)
    for (unsigned w = 0; w < 2; ++w)
      across.push_back({v, width - 1 - w, table(sizes[v] * sizes[width - 1 - w])});
  for (unsigned l = 0; l < layers; ++l) {
    unsigned first = l * width;
    for (unsigned v = 0; v < width; ++v)
      graph.addCost(graph.addVariable(sizes[v]), unary[v]);
    for (auto [v, w, t] : within)
      graph.addCost(first + v, first + w, t);
    for (auto [v, w, t] : across)
      if (l > 0)
        graph.addCost(first - width + v, first + w, t);
  }
  return graph;
}

TEST(SolverTest, RepeatedLayersHaveTheSameSolution) {
  unsigned repeated = 0;
  for (unsigned i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    Random random(12000 + i);
    unsigned layers = 20 + random.below(30);
    CostGraph graph = repeatedLayers(random, layers, i % 3 == 0 ? 3 : 100);
    Solution expected = solve(graph);
    ASSERT_EQ(expected.status, SolverStatus::Optimal);
    SolverOptions ascent;
    ascent.directJoinEntries = 0;
    Solution solution = solve(graph, ascent);
    EXPECT_EQ(solution.status, SolverStatus::Optimal);
    EXPECT_EQ(solution.objective, expected.objective);
    expectValid(graph, solution);
    repeated += solution.statistics.joins * 4 < solution.statistics.eliminated * 3;
  }
  EXPECT_GT(repeated, 30u);
}

TEST(SolverTest, EqualVariablesMayHaveEqualChoices) {
  for (unsigned i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    Random random(14000 + i);
    unsigned layers = 8 + random.below(8);
    CostGraph graph = repeatedLayers(random, layers, 100);
    solver::TablePool pool, own;
    solver::Problem problem = solver::readGraph(graph, false, pool);
    solver::Quotient quotient(problem, pool, /*radius=*/i % 4, own);
    ASSERT_LT(quotient.problem.sizes.size() * layers, problem.sizes.size() * 8);
    std::vector<unsigned> choices;
    for (unsigned size : quotient.problem.sizes)
      choices.push_back(random.below(size));
    EXPECT_EQ(quotient.problem.getPrice(choices, own).time, graph.getPrice(quotient.expand(choices)).time);
  }
}

TEST(SolverTest, NeighborhoodsOfAllVariablesReachTheOptimum) {
  unsigned better = 0, local = 0;
  forSolvable(400, 15000, 3, /*alwaysBytes=*/false,
              [&](unsigned i, Random &random, const CostGraph &graph, Price best) {
                solver::TablePool pool;
                solver::Problem problem = solver::readGraph(graph, false, pool);
                // Joins of part of the variables are as small as they may be.
                std::vector<unsigned> leftOut(problem.sizes.size(), 0);
                int64_t most = 8 << random.below(3);
                std::vector<unsigned> order = solver::getOrderWithin(problem, most, leftOut);
                for (unsigned v = 0; v < leftOut.size(); ++v)
                  EXPECT_EQ(leftOut[v], !llvm::is_contained(order, v));
                solver::Problem part = problem;
                llvm::erase_if(part.edges,
                               [&](const solver::Problem::Edge &edge) { return leftOut[edge.a] || leftOut[edge.b]; });
                solver::JoinMemo memo(pool);
                EXPECT_LE(solver::Elimination(part, order, 1 << 26, memo).getLargestJoin(), double(most));

                std::vector<unsigned> choices(problem.sizes.size());
                for (unsigned &x : choices)
                  x = solver::kNoVar;
                problem.complete(choices, pool);
                Price first = graph.getPrice(choices);
                if (first.isImpossible())
                  return;
                SolverStatistics statistics;
                solver::NeighbourhoodSearch search(problem, pool, statistics);
                solver::Clock clock{SolverOptions()};
                double all = std::numeric_limits<double>::infinity();
                ASSERT_TRUE(search.descend(choices, 4 * most, all, clock, /*firstJoin=*/most));
                Price then = graph.getPrice(choices);
                EXPECT_LE(then.time, first.time);
                EXPECT_GE(then.time, best.time);
                better += then.time < first.time;
                local += then.time > best.time;
                ASSERT_TRUE(search.descend(choices, 1 << 20, all, clock));
                EXPECT_EQ(graph.getPrice(choices).time, best.time);
              });
  EXPECT_GT(better, 50u);
  EXPECT_GT(local, 5u);
}

TEST(SolverTest, RandomGraphsWithBudgetHaveTheEnumeratedOptimum) {
  unsigned infeasible = 0, binding = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    Random random(10000 + i);
    GraphOptions options = getOptions(i, i % 20 == 0 ? 200000 : 3000, 2);
    options.buffers = true;
    CostGraph graph = randomGraph(random, options);
    BruteForce truth = enumerate(graph, std::nullopt);
    if (truth.smallestPeak < 0) {
      EXPECT_EQ(solve(graph).status, SolverStatus::Infeasible);
      continue;
    }
    SolverOptions limited;
    int64_t low = truth.smallestPeak - 2, high = truth.freePeak + 1;
    limited.budget = std::max<int64_t>(0, low + random.below(std::max<int64_t>(1, high - low + 1)));
    Solution solution = solve(graph, limited);
    if (*limited.budget < truth.smallestPeak) {
      ++infeasible;
      EXPECT_EQ(solution.status, SolverStatus::Infeasible);
      EXPECT_EQ(solution.smallestBudget, truth.smallestPeak);
      EXPECT_EQ(solution.smallestBudgetBound, truth.smallestPeak);
      EXPECT_TRUE(solution.choices.empty());
      ASSERT_EQ(solution.smallest.size(), graph.getNumVariables());
      EXPECT_EQ(graph.getPeak(solution.smallest), truth.smallestPeak);
      EXPECT_FALSE(graph.getPrice(solution.smallest).isImpossible());
      continue;
    }
    binding += *limited.budget < truth.freePeak;
    EXPECT_EQ(solution.status, SolverStatus::Optimal);
    EXPECT_EQ(solution.objective, enumerate(graph, limited.budget).best);
    EXPECT_LE(solution.peak, *limited.budget);
    expectValid(graph, solution);
  }
  EXPECT_GT(infeasible, 100u);
  EXPECT_GT(binding, 200u);
}

TEST(SolverTest, SolutionsWithinBudgetMayCostFarMore) {
  for (int64_t dear : {int64_t(1000), int64_t(1) << 40, int64_t(1) << 50}) {
    SCOPED_TRACE(dear);
    CostGraph graph;
    unsigned v = graph.addVariable(3), w = graph.addVariable(3);
    graph.addCost(v, graph.addTable({{0, 0}, {dear, 0}, {2 * dear, 0}}));
    graph.addCost(v, w, graph.addTable({{0, 0}, {1, 0}, {2, 0}, {1, 0}, {0, 0}, {5, 0}, {2, 0}, {5, 0}, {0, 0}}));
    graph.addBuffer(0, 2, v, graph.addBytes({1000, 100, 10}));
    graph.addBuffer(1, 3, w, graph.addBytes({1000, 100, 10}));
    for (int64_t entries : {0, 1 << 16}) {
      SolverOptions options;
      options.directJoinEntries = entries;
      options.budget = 300;
      Solution solution = solve(graph, options);
      EXPECT_LE(solution.lowerBound.time, dear);
      EXPECT_GE(solution.objective.time, dear);
      if (entries > 0)
        EXPECT_EQ(solution.choices, (std::vector<unsigned>{1, 1}));
    }
  }
}

// Times too large to be one number with their bytes. At the first point there is room for either choice of `v`, which
// cost the same as long as `w` takes the cheap one.
TEST(SolverTest, WithinBudgetTiesHoldLess) {
  constexpr int64_t kDear = int64_t(1) << 41;
  CostGraph graph;
  unsigned v = graph.addVariable(2), w = graph.addVariable(2), x = graph.addVariable(2);
  graph.addCost(v, w, graph.addTable({{0, 0}, {0, 0}, {0, 0}, {1, 0}}));
  graph.addCost(w, graph.addTable({{0, 0}, {2 * kDear, 0}}));
  graph.addCost(x, graph.addTable({{0, 0}, {kDear, 0}}));
  graph.addBuffer(0, 1, v, graph.addBytes({100, 10}));
  graph.addBuffer(1, 2, w, graph.addBytes({50, 1}));
  graph.addBuffer(1, 2, x, graph.addBytes({200, 10}));
  for (int64_t entries : {0, 1 << 16}) {
    SolverOptions options;
    options.directJoinEntries = entries;
    options.budget = 150;
    EXPECT_EQ(solve(graph, options).choices, (std::vector<unsigned>{1, 0, 1}));
  }
}

// The search for graphs that are too large to eliminate, on small graphs: its bounds must hold,
// though it need not find the optimum.
TEST(SolverTest, LargeSearchIsSoundOnSmallGraphs) {
  unsigned within = 0, close = 0, refuted = 0;
  for (unsigned i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    Random random(20000 + i);
    GraphOptions options;
    options.shape = kShapes[i % 3];
    options.maxProduct = 3000;
    options.buffers = true;
    options.impossible = i % 2 ? 0.1 : 0;
    CostGraph graph = randomGraph(random, options);
    BruteForce truth = enumerate(graph, std::nullopt);
    if (truth.smallestPeak < 0)
      continue;
    SolverOptions limited;
    limited.directJoinEntries = 0;
    limited.budget =
        std::max<int64_t>(0, truth.smallestPeak - 2 + random.below(truth.freePeak - truth.smallestPeak + 3));
    Solution solution = solve(graph, limited);
    if (*limited.budget < truth.smallestPeak) {
      EXPECT_TRUE(solution.status == SolverStatus::Infeasible || solution.choices.empty());
      EXPECT_LE(solution.smallestBudgetBound, truth.smallestPeak);
      if (solution.smallestBudget >= 0)
        EXPECT_GE(solution.smallestBudget, truth.smallestPeak);
      refuted += solution.status == SolverStatus::Infeasible;
      continue;
    }
    EXPECT_NE(solution.status, SolverStatus::Infeasible);
    Price best = enumerate(graph, limited.budget).best;
    EXPECT_LE(solution.lowerBound, best);
    if (solution.choices.empty())
      continue;
    ++within;
    expectValid(graph, solution);
    EXPECT_LE(solution.peak, *limited.budget);
    EXPECT_GE(solution.objective, best);
    close += solution.objective == best;
  }
  EXPECT_GT(within, 150u);
  EXPECT_GT(close, within / 2);
  EXPECT_GT(refuted, 20u);
}

TEST(SolverTest, TimeLimitYieldsChoicesAndABound) {
  unsigned found = 0, worse = 0, startedWorse = 0;
  for (unsigned i = 0; i < 50; ++i) {
    SCOPED_TRACE(i);
    Random random(30000 + i);
    GraphOptions options;
    options.shape = Shape::Dense;
    options.maxProduct = 3000;
    options.impossible = 0;
    options.maxTime = 50;
    CostGraph graph = randomGraph(random, options);
    SolverOptions none;
    none.timeLimit = 0;
    none.directJoinEntries = 0;
    Price best = enumerate(graph, std::nullopt).best;
    if (best.isImpossible())
      continue;
    Solution solution = solve(graph, none);
    EXPECT_NE(solution.status, SolverStatus::Infeasible);
    EXPECT_LE(solution.lowerBound, best);
    if (solution.choices.empty())
      continue;
    ++found;
    worse += solution.objective > best;
    expectValid(graph, solution);
    EXPECT_GE(solution.objective, best);
    // Where the best is known, it is not lost.
    std::vector<unsigned> start = solve(graph).choices;
    none.start = start;
    solution = solve(graph, none);
    startedWorse += solution.choices.empty() || solution.objective > best;
    EXPECT_LE(solution.lowerBound, best);
  }
  EXPECT_GT(found, 20u);
  EXPECT_GT(worse, 0u); // else there was time for all
  EXPECT_EQ(startedWorse, 0u);
}

TEST(SolverTest, CbcAgrees) {
  std::string error;
  solveWithCbc(CostGraph(), {}, error);
  if (!error.empty())
    GTEST_SKIP() << error;
  for (unsigned i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    Random random(40000 + i);
    GraphOptions options;
    options.shape = kShapes[i % 3];
    options.maxProduct = 20000;
    options.bytes = false; // CBC minimizes times only
    options.buffers = i % 2;
    options.sharings = i % 4 == 0 ? 3 : 0;
    CostGraph graph = randomGraph(random, options);
    SolverOptions limited;
    Solution free = solve(graph, limited);
    if (i % 2 && !free.choices.empty())
      limited.budget = std::max<int64_t>(0, free.peak - random.below(6));
    Solution own = solve(graph, limited), other = solveWithCbc(graph, limited, error);
    EXPECT_EQ(error, "");
    EXPECT_EQ(own.status, other.status);
    if (own.status == SolverStatus::Optimal) {
      EXPECT_EQ(own.objective, other.objective);
      if (limited.budget)
        EXPECT_LE(other.peak, *limited.budget);
    }
  }
}

TEST(SolverTest, NoChoices) {
  CostGraph empty;
  EXPECT_EQ(solve(empty).status, SolverStatus::Optimal);
  EXPECT_EQ(solve(empty).objective, (Price{0, 0}));

  SolverOptions nothing;
  nothing.budget = 0;
  EXPECT_EQ(solve(empty, nothing).status, SolverStatus::Optimal);
  empty.addFixedBuffer(0, 1, 5);
  EXPECT_EQ(solve(empty, nothing).status, SolverStatus::Infeasible);
  EXPECT_EQ(solve(empty, nothing).smallestBudget, 5);

  CostGraph fixed;
  fixed.addVariable(1);
  fixed.addFixedBuffer(3, 5, 7);
  SolverOptions little;
  little.budget = 6;
  Solution solution = solve(fixed, little);
  EXPECT_EQ(solution.status, SolverStatus::Infeasible);
  EXPECT_EQ(solution.smallestBudget, 7);
  EXPECT_EQ(solution.smallestBudgetBound, 7);
  EXPECT_EQ(solution.peakPoint, 3);
  little.budget = 7;
  EXPECT_EQ(solve(fixed, little).status, SolverStatus::Optimal);

  CostGraph impossible;
  unsigned v = impossible.addVariable(2);
  impossible.addCost(v, impossible.addTable({Price::impossible(), Price::impossible()}));
  EXPECT_EQ(solve(impossible).status, SolverStatus::Infeasible);
  EXPECT_TRUE(solve(impossible).choices.empty());
}

TEST(SolverTest, EqualTablesAreInterned) {
  CostGraph graph;
  unsigned a = graph.addTable({{1, 2}, Price::impossible()});
  EXPECT_EQ(a, graph.addTable({{1, 2}, {Price::kImpossible + 5, 3}}));
  EXPECT_NE(a, graph.addTable({{1, 3}, Price::impossible()}));
  EXPECT_EQ(graph.addBytes({1, 2}), graph.addBytes({1, 2}));
}

/// `layers` equal layers of four variables, forward and backward.
static CostGraph layeredChain(unsigned layers, unsigned choices) {
  CostGraph graph;
  Random random(7);
  auto table = [&](size_t size) {
    std::vector<Price> prices;
    for (size_t i = 0; i < size; ++i)
      prices.push_back({random.below(1000), random.below(100)});
    return graph.addTable(std::move(prices));
  };
  unsigned one = table(choices), step = table(choices * choices), side = table(choices * choices),
           back = table(choices * choices);
  unsigned last = ~0u;
  std::vector<unsigned> forward;
  for (unsigned l = 0; l < layers; ++l) {
    unsigned v = graph.addVariable(choices), w = graph.addVariable(choices);
    graph.addCost(w, one);
    graph.addCost(v, w, side);
    if (last != ~0u)
      graph.addCost(last, v, step);
    last = v;
    forward.push_back(v);
  }
  for (unsigned l = layers; l-- > 0;) {
    unsigned v = graph.addVariable(choices);
    graph.addCost(v, one);
    graph.addCost(last, v, step);
    graph.addCost(forward[l], v, back);
    last = v;
  }
  return graph;
}

TEST(SolverTest, EqualLayersAreJoinedOnce) {
  Solution small = solve(layeredChain(500, 6)), large = solve(layeredChain(5000, 6));
  EXPECT_EQ(large.status, SolverStatus::Optimal);
  // Messages repeat after some layers: what is computed does not grow with the depth.
  EXPECT_EQ(small.statistics.joins, large.statistics.joins);
  EXPECT_EQ(large.statistics.eliminated, large.statistics.variables);
  EXPECT_LT(large.statistics.joins * 100, large.statistics.eliminated);
}

TEST(SolverTest, EqualGraphsHaveEqualSolutions) {
  for (unsigned i = 0; i < 50; ++i) {
    GraphOptions options;
    options.shape = kShapes[i % 3];
    options.maxTime = 2;
    options.impossible = 0.05;
    Random a(i), b(i);
    options.buffers = i % 2;
    CostGraph graph = randomGraph(a, options), same = randomGraph(b, options);
    SolverOptions limited;
    if (options.buffers)
      limited.budget = solve(graph).peak * 9 / 10;
    Solution x = solve(graph, limited), y = solve(same, limited);
    EXPECT_EQ(x.choices, y.choices);
    EXPECT_EQ(x.objective, y.objective);
    EXPECT_EQ(x.lowerBound, y.lowerBound);
    EXPECT_EQ(x.statistics.joins, y.statistics.joins);
  }
}

/// Sums of sharings by enumeration: `least(host, items)` for each.
template <typename T> static void checkSharingSums(Random &random, T impossible) {
  // Few items and hosts, or more than fit into a register.
  size_t hosts = 1 + random.below(random.below(2) ? 4 : 20), items = 1 + random.below(random.below(2) ? 5 : 21);
  size_t readers = 1 + random.below(items > 8 ? 2 : 4);
  auto draw = [&] { return random.below(8) == 0 ? impossible : T(random.below(12)); };
  std::vector<T> byHost(hosts * items), byItem(hosts * items), ofHost(hosts), ofReader(readers * items);
  for (size_t h = 0; h < hosts; ++h)
    for (size_t i = 0; i < items; ++i)
      byHost[h * items + i] = byItem[i * hosts + h] = draw();
  std::generate(ofHost.begin(), ofHost.end(), draw);
  std::generate(ofReader.begin(), ofReader.end(), draw);
  solver::SharingSums<T> sums(byHost.data(), byItem.data(), hosts, items, readers, impossible);
  llvm::copy(ofHost, sums.getHost());
  for (size_t r = 0; r < readers; ++r)
    std::copy_n(ofReader.begin() + r * items, items, sums.getItems(r));

  std::vector<T> hostSums(hosts, impossible), itemSums(readers * items, impossible);
  std::vector<size_t> asked(readers, 0);
  for (size_t h = 0; h < hosts; ++h) {
    std::fill(asked.begin(), asked.end(), 0);
    for (bool isDone = false; !isDone;) {
      T paid = 0, host = ofHost[h];
      for (size_t r = 0; r < readers; ++r)
        if (!llvm::is_contained(llvm::ArrayRef(asked).take_front(r), asked[r]))
          paid = std::min(impossible, paid + byHost[h * items + asked[r]]);
      T all = paid;
      for (size_t r = 0; r < readers; ++r)
        all = std::min(impossible, all + ofReader[r * items + asked[r]]);
      hostSums[h] = std::min(hostSums[h], all + host);
      for (size_t r = 0; r < readers; ++r) {
        T sum = std::min(impossible, paid + host);
        for (size_t o = 0; o < readers; ++o)
          sum = std::min(impossible, sum + (o == r ? 0 : ofReader[o * items + asked[o]]));
        T &own = itemSums[r * items + asked[r]];
        own = std::min(own, sum);
      }
      isDone = true;
      for (size_t &item : asked)
        if (isDone) {
          isDone = ++item == items;
          item %= items;
        }
    }
  }
  std::vector<T> found(std::max(hosts, items));
  sums.prepare();
  sums.getHostSums(found.data());
  EXPECT_EQ(hostSums, llvm::ArrayRef(found).take_front(hosts).vec());
  for (size_t r = 0; r < readers; ++r) {
    if (random.below(2))
      sums.prepare(/*but=*/r);
    sums.getItemSums(r, found.data());
    EXPECT_EQ(llvm::ArrayRef(itemSums).slice(r * items, items).vec(), llvm::ArrayRef(found).take_front(items).vec());
    sums.prepare();
  }
}

TEST(SolverTest, SumsOfSharingsAreMinimal) {
  for (unsigned i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    Random random(21000 + i);
    checkSharingSums<int64_t>(random, Price::kImpossible);
    checkSharingSums<float>(random, 1e6f);
  }
}

TEST(SolverTest, ParallelStepsEqualSequentialSteps) {
  for (unsigned i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    Random random(22000 + i);
    std::vector<solver::StepSchedule::Step> steps(1 + random.below(400));
    size_t numCells = 1 + random.below(60);
    for (auto &step : steps) {
      for (size_t n = random.below(4); n > 0; --n)
        step.reads.push_back(random.below(numCells));
      for (size_t n = random.below(3); n > 0; --n)
        step.writes.push_back(random.below(numCells));
    }
    std::vector<uint64_t> cells(numCells, 1), expected(numCells, 1);
    auto run = [&](unsigned s, std::vector<uint64_t> &cells) {
      uint64_t sum = s;
      for (size_t cell : steps[s].reads)
        sum = 31 * sum + cells[cell];
      for (size_t cell : steps[s].writes)
        cells[cell] = 17 * cells[cell] + sum;
    };
    for (unsigned s = 0; s < steps.size(); ++s)
      run(s, expected);
    solver::StepSchedule schedule(steps);
    schedule.run([&](unsigned s) { run(s, cells); });
    EXPECT_EQ(cells, expected);
  }
}
