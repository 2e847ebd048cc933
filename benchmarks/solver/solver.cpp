//===- solver.cpp - How fast choices are found ----------------------------===//
//
// solver [--layers=N,N,...] [--mesh=8,8] [--budget=PERCENT] [--cbc] [--time-limit=S] [--gap=G]
//
//===----------------------------------------------------------------------===//

#include "shardkit/Solver/Solver.h"
#include "TrainingGraph.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace mlir::spmd;

static std::vector<int64_t> parseList(const char *text) {
  std::vector<int64_t> list;
  for (char *end; *text; text = *end ? end + 1 : end)
    list.push_back(std::strtoll(text, &end, 10));
  return list;
}

static void print(const char *name, const Solution &s) {
  static const char *status[] = {"optimal", "gap", "infeasible"};
  std::printf("%-8s %-10s %9.3f s  objective %14lld  bound %14lld  gap %.4f%%  peak %.4g", name, status[int(s.status)],
              s.seconds, (long long)s.objective.time, (long long)s.lowerBound.time, s.getGap() * 100, double(s.peak));
  if (s.smallestBudget >= 0)
    std::printf("  smallest budget [%.6g, %.6g]", double(s.smallestBudgetBound), double(s.smallestBudget));
  const SolverStatistics &t = s.statistics;
  std::printf("\n         variables %llu, merged %llu, dropped %llu, eliminated %llu, joins %llu, "
              "entries %.3g, largest %.3g, runs %llu, nodes %llu\n",
              (unsigned long long)t.variables, (unsigned long long)t.merged, (unsigned long long)t.dropped,
              (unsigned long long)t.eliminated, (unsigned long long)t.joins, double(t.joinEntries),
              double(t.largestJoin), (unsigned long long)t.runs, (unsigned long long)t.nodes);
  std::fflush(stdout);
}

int main(int argc, char **argv) {
  std::vector<int64_t> layers = {1, 4, 16, 96}, budgets;
  TrainingOptions options;
  SolverOptions solver;
  bool cbc = false;
  for (int i = 1; i < argc; ++i) {
    auto value = [&](const char *name) -> const char * {
      size_t n = std::strlen(name);
      return std::strncmp(argv[i], name, n) == 0 ? argv[i] + n : nullptr;
    };
    if (const char *v = value("--max-join="))
      solver.maxJoinEntries = std::strtoll(v, nullptr, 10);
    else if (const char *v = value("--layers="))
      layers = parseList(v);
    else if (const char *v = value("--mesh="))
      options.mesh = parseList(v);
    else if (const char *v = value("--budget="))
      budgets = parseList(v);
    else if (const char *v = value("--time-limit="))
      solver.timeLimit = std::strtod(v, nullptr);
    else if (const char *v = value("--gap="))
      solver.gap = std::strtod(v, nullptr);
    else if (std::strcmp(argv[i], "--cbc") == 0)
      cbc = true;
    else {
      std::fprintf(stderr, "error: unknown option %s\n", argv[i]);
      return 1;
    }
  }
  for (int64_t n : layers) {
    options.layers = n;
    CostGraph graph = makeTrainingGraph(options);
    std::printf("%lld layers: %u variables, %zu costs, %u tables\n", (long long)n, graph.getNumVariables(),
                graph.getCosts().size(), graph.getNumTables());
    SolverOptions free = solver;
    free.budget.reset();
    Solution best = solve(graph, free);
    print("free", best);
    if (cbc) {
      std::string error;
      Solution other = solveWithCbc(graph, free, error);
      if (!error.empty())
        std::printf("cbc: %s\n", error.c_str());
      else {
        print("cbc", other);
        std::printf("         cbc / own: %.1f\n", other.seconds / best.seconds);
      }
    }
    if (budgets.empty())
      continue;
    SolverOptions none = solver;
    none.budget = 0;
    Solution least = solve(graph, none);
    print("least", least);
    for (int64_t percent : budgets) {
      SolverOptions limited = solver;
      limited.budget = least.smallestBudget + (best.peak - least.smallestBudget) * percent / 100;
      char name[16];
      std::snprintf(name, sizeof name, "%lld%%", (long long)percent);
      Solution found = solve(graph, limited);
      print(name, found);
      std::string error;
      if (cbc) {
        Solution other = solveWithCbc(graph, limited, error);
        if (error.empty()) {
          print("cbc", other);
          std::printf("         cbc / own: %.1f\n", other.seconds / found.seconds);
        }
      }
    }
  }
  return 0;
}
