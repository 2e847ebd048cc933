//===- Problem.h - A cost graph as the solver works on it -------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_PROBLEM_H
#define SHARDKIT_LIB_SOLVER_PROBLEM_H

#include "TablePool.h"
#include "shardkit/Solver/Solver.h"

namespace mlir::spmd::solver {

class Clock;

constexpr unsigned kNoVar = ~0u;

/// One table per variable and per pair that has costs, and the buffers.
struct Problem {
  struct Edge {
    unsigned a, b; // a < b
    TableId table; // a-major; never kNoTable
  };
  /// Live at the points [begin, end), which are numbers of `points`.
  struct Buffer {
    unsigned begin, end;
    unsigned a, b; // b may be kNoVar
    TableId bytes; // a-major
  };

  /// The requested items of the readers of a host, each paid once; the items of a reader are a list of the pool.
  struct Sharing {
    unsigned host;
    TableId prices;                                              // host-major
    llvm::SmallVector<std::pair<unsigned, unsigned>, 6> readers; // variable, items
  };

  std::vector<unsigned> sizes;
  std::vector<TableId> unary; // kNoTable: zeros
  std::vector<Edge> edges;    // sorted, one per pair; every pair of a buffer has one
  std::vector<Buffer> buffers;
  std::vector<Sharing> sharings;
  /// Bytes that are always live, per point. Only points that can be the peak are kept.
  std::vector<int64_t> fixed;
  /// Times of tables are at least 0; this is what was subtracted.
  Price constant;
  bool impossible = false;

  /// Bytes that are live per point.
  void getMemory(llvm::ArrayRef<unsigned> choices, const TablePool &pool, std::vector<int64_t> &memory) const;
  Price getPrice(llvm::ArrayRef<unsigned> choices, const TablePool &pool) const;
  /// Replaces choices of kNoVar, one after the other, by the cheapest ones given the others; then again for impossible
  /// ones.
  void complete(llvm::MutableArrayRef<unsigned> choices, const TablePool &pool) const;
  /// Whether they are part of something that is shared.
  std::vector<bool> getSharingVariables() const;
};

/// A smaller problem with the same optimum, and the way back.
struct Reduction {
  Problem problem;

  /// Choices of the variables that were there before.
  std::vector<unsigned> expand(llvm::ArrayRef<unsigned> choices, const TablePool &pool) const;
  /// The way there, from choices of the first variables that there were: kNoVar where one is not left.
  std::vector<unsigned> narrow(llvm::ArrayRef<unsigned> before, const TablePool &pool) const;

  /// Per variable of `problem`: which it was, and the choices that are left (a list of
  /// the pool).
  std::vector<unsigned> kept, choiceLists;
  /// `v` follows `u`: per former choice of `u` that of `v`.
  struct Merge {
    unsigned v, u, list;
  };
  std::vector<Merge> merges; // in the order in which they happened
  unsigned numBefore = 0;
  uint64_t dropped = 0;
};

/// Reads a cost graph: sums up costs of the same variables, keeps the points that can
/// be the peak.
Problem readGraph(const CostGraph &graph, bool withBuffers, TablePool &pool);

/// Drops choices that are impossible or never better than another one (dead-end
/// elimination, Goldstein's criterion; where there are buffers, the other one must not
/// need more bytes in any of them) and merges variables whose choice is that of a
/// neighbour, repeatedly. What it finds is remembered in the reducer, for problems of
/// the same pool.
class Reducer {
public:
  explicit Reducer(TablePool &pool) : pool(pool) {}
  /// Leaves more where `clock` is over before it is done.
  Reduction reduce(Problem problem, const Clock *clock = nullptr);

private:
  friend class ReductionRun;
  unsigned findUndominated(llvm::ArrayRef<unsigned> signature);

  TablePool &pool;
  SequenceMap signatures;
  std::vector<unsigned> undominated; // per signature: list of choices, kNoTable for all
  SequenceMap functionKeys;
  std::vector<unsigned> functions; // per (table, rows, columns): list, or kNoTable
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_PROBLEM_H
