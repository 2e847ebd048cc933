//===- Abstraction.h - Bounds from choices taken together -------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SEARCH_ABSTRACTION_H
#define SHARDKIT_LIB_SOLVER_SEARCH_ABSTRACTION_H

#include "../DualAscent/DualAscent.h"
#include "../Elimination/Elimination.h"

namespace mlir::spmd::solver {

/// A relaxation that is refined where its optimum is none of the problem (counterexample-guided abstraction
/// refinement, on domains): choices that are far from the bound of messages are one choice, which costs the least that
/// any of them does. So few are left that all can be eliminated exactly, in far larger joins, and once for all layers
/// whose messages are the same. It closes what no messages between pairs could.
class Abstraction {
public:
  /// With the messages as they are now. Without sharings.
  Abstraction(const Problem &core, const DualAscent &ascent, const DualAscent::Moved &moved, bool withBytes,
              SolverStatistics &statistics);

  /// The optimum of the relaxation.
  struct Optimum {
    /// There was too little time, or it would be too much work, for good.
    bool isOver = false;
    /// No solution takes less; kImpossible: none takes at most `most`.
    Price lower;
    std::vector<unsigned> choices; // kNoVar where it is one for several
    bool isExact = false;          // it is one of the problem itself, of the price `lower`
  };
  /// Bounds solutions that take at most `maximum`; splits the groups that the next bound has to separate. Makes no
  /// joins of more than `maxJoin` entries.
  Optimum solve(int64_t maximum, int64_t maxJoin, const Clock &clock);

  /// Entries that were visited so far.
  double getWork() const { return work; }

private:
  struct Tables {
    TablePool pool;
    Reducer reducer{pool};
    JoinMemo memo{pool};
  };

  const Problem &core;
  const DualAscent &ascent;
  DualAscent::Moved moved;
  bool withBytes;
  std::vector<DualAscent::Groups> groups;
  std::unique_ptr<Tables> tables;
  double work = 0;
  SolverStatistics &statistics;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SEARCH_ABSTRACTION_H
