//===- GrowingElimination.h - Mini-buckets that grow ------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_ELIMINATION_GROWINGELIMINATION_H
#define SHARDKIT_LIB_SOLVER_ELIMINATION_GROWINGELIMINATION_H

#include "Elimination.h"
#include <memory>
#include <optional>

namespace mlir::spmd::solver {

/// Elimination with small joins (mini-buckets), then with larger ones, until they are exact. Each elimination
/// yields lower bounds of the rest of the problem. The next one excludes entries that exceed the limit with these
/// bounds, so that its joins visit fewer entries. Choices without entries are dropped.
class GrowingElimination {
public:
  GrowingElimination(Problem problem, int64_t maxJoin, TablePool &pool, Reducer &reducer, int64_t firstJoin = 1 << 18);

  /// The next elimination, for solutions that take at most `most`; false if that takes more time
  /// than there is, or too much memory.
  bool run(int64_t maximum, const Clock &clock);
  /// Larger joins, or fewer choices; false if there are no larger ones.
  bool grow();

  /// No solutions within `most` of the last run take less; impossible if there are none.
  Price getLower() const { return last.total.isImpossible() ? last.total : last.total + problem.constant; }
  /// Whether that is the price of the choices that the last run leads to.
  bool isExact() const { return joins->elimination->isExact(); }
  /// These choices, of the variables that there were; empty if they end at something impossible.
  std::vector<unsigned> getChoices();
  const SolverStatistics &getStatistics() const { return statistics; }

private:
  /// Tables of one run, which are as large as all others together.
  struct Joins {
    TablePool pool;
    JoinMemo memo{pool};
    std::optional<Elimination> elimination;
  };
  void beginOrder();
  void beginJoins();

  TablePool &pool;
  Reducer &reducer;
  SolverStatistics statistics;
  Problem problem;
  std::vector<Reduction> reductions; // how the problem became what it is
  std::vector<unsigned> order;
  int64_t maxJoin, join;
  JoinMemo shapes{pool};
  std::optional<Elimination> tree; // joins of any size, never run
  std::unique_ptr<Joins> joins;
  Elimination::Run last;
  std::vector<int64_t> outside; // per variable, what others take at least
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_ELIMINATION_GROWINGELIMINATION_H
