//===- NeighbourhoodSearch.h - Better choices of many at once ---*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SEARCH_NEIGHBOURHOODSEARCH_H
#define SHARDKIT_LIB_SOLVER_SEARCH_NEIGHBOURHOODSEARCH_H

#include "../Elimination/Elimination.h"
#include <memory>

namespace mlir::spmd::solver {

/// Large neighbourhood search: as many variables as can be eliminated in small joins get
/// their best choices, while the few others stay; then another neighborhood follows. Ignores bytes and sharings.
class NeighbourhoodSearch {
public:
  /// `from`: the pool of the problem's tables.
  NeighbourhoodSearch(const Problem &problem, const TablePool &from, SolverStatistics &statistics);

  /// Continues with growing joins until those of `maxJoin` entries yield no improvement. `choices` are possible. False
  /// if it ends before, because joins have visited `mayVisit` entries in total, or time is over.
  bool descend(llvm::MutableArrayRef<unsigned> choices, int64_t maxJoin, double mayVisit, const Clock &clock,
               int64_t firstJoin = 1 << 16);

private:
  /// Tables of what is left of the problem, times alone.
  struct Tables {
    TablePool pool;
    JoinMemo memo{pool};
    llvm::DenseMap<TableId, TableId> times; // times of tables of the problem
  };
  TableId getTimes(TableId id);
  /// One neighborhood. False without an improvement.
  bool improve(llvm::MutableArrayRef<unsigned> choices, int64_t maxJoin, const Clock &clock);

  const Problem &problem;
  const TablePool &from;
  SolverStatistics &statistics;
  std::unique_ptr<Tables> tables;
  std::vector<unsigned> timesLeftOut;
  double work = 0; // entries that joins visited
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SEARCH_NEIGHBOURHOODSEARCH_H
