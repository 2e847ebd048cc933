//===- Solver.cpp - The cheapest choices of a cost graph ------------------===//

#include "shardkit/AutoSharding/Solver.h"
#include "Contraction.h"
#include "DualAscent.h"
#include "EliminationOrder.h"
#include <chrono>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;

double Solution::getGap() const {
  if (choices.empty())
    return 1;
  if (objective.time <= lowerBound.time)
    return 0;
  return double(objective.time - lowerBound.time) / std::abs(double(objective.time));
}

Solution mlir::spmd::solve(const CostGraph &graph, const SolverOptions &options) {
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  TablePool pool;
  Reducer reducer(pool);
  JoinMemo memo(pool);
  Solution solution;
  Reduction reduction = reducer.reduce(readGraph(graph, false, pool));
  fprintf(stderr, "reduced: %zu of %u t=%.3f\n", reduction.problem.sizes.size(), graph.getNumVariables(), elapsed());
  Contraction contraction(reduction.problem, memo);
  bool ok = contraction.run(getTables(reduction.problem));
  fprintf(stderr, "contracted: %zu, %zu edges t=%.3f\n", contraction.getCore().sizes.size(), contraction.getCore().edges.size(), elapsed());
  Reduction core = reducer.reduce(contraction.getCore());
  fprintf(stderr, "reduced: %zu, dropped %zu t=%.3f\n", core.problem.sizes.size(), size_t(core.dropped), elapsed());
  Problem &problem = core.problem;
  {
    std::vector<unsigned> byNumber(problem.sizes.size());
    for (unsigned i = 0; i < byNumber.size(); ++i) byNumber[i] = i;
    DualAscent dual(problem, byNumber, pool);
    dual.setTables(getTables(problem), 1e13);
    int sweeps = atoi(getenv("SYM"));
    for (int it = 0; it < sweeps; ++it) {
      double b = dual.iterate();
      if (it % 10 == 9) {
        auto m = dual.move();
      fprintf(stderr, "%d: %.8g %.8g t=%.3f\n", it, b + problem.constant.time, double(m.bound + problem.constant.time), elapsed());
      for (double f = 1e-6; f < 1; f *= 4) {
        int64_t slack = f * m.bound;
        auto r = dual.restrict(m, slack);
        if (r.impossible) continue;
        Reducer red2(pool);
        auto rr = red2.reduce(r.problem);
        if (rr.problem.impossible) continue;
        auto ord = getMinFillOrder(rr.problem);
        JoinMemo m2(pool);
        Elimination el(rr.problem, ord, 1 << 22, m2);
        auto run = el.run(getTables(rr.problem));
        fprintf(stderr, "   f=%g, vars %zu, exact %d all %.3g largest %.3g: found %.8g within %d t=%.3f\n", f, rr.problem.sizes.size(), el.isExact(), el.getAllJoins(), el.getLargestJoin(), double((run.total + rr.problem.constant).time), run.total.time <= slack, elapsed());
        if (el.isExact() && (run.total.time+rr.problem.constant.time) <= slack + m.bound+problem.constant.time) exit(0);
        if (!el.isExact()) break;
      }
      }
    }
    exit(0);
  }
  return solution;
}
