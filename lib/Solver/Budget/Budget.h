//===- Budget.h - The best choices within a memory limit --------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_BUDGET_BUDGET_H
#define SHARDKIT_LIB_SOLVER_BUDGET_BUDGET_H

#include "../Search/MinSum.h"

namespace mlir::spmd::solver {

/// Minimizes the price within a budget, or the peak itself.
///
/// Lagrangian relaxation: multipliers on the points of the program turn bytes into
/// prices, which leaves a min-sum problem. Solutions of it are columns of a small linear
/// program (Dantzig-Wolfe, the dual of Kelley's cutting planes) whose duals are the next
/// multipliers. Choices that all columns agree on are fixed: on the others, relaxation
/// and repair are cheap. Branch and bound closes the remaining optimality gap.
class BudgetSearch {
public:
  /// `problem` has times only (no bytes that break ties) and a table per variable.
  /// Without a budget the peak is minimized.
  BudgetSearch(const Problem &problem, std::optional<int64_t> budget, TablePool &pool, const SolverOptions &options,
               const Clock &clock, SolverStatistics &statistics);

  struct Column {
    std::vector<unsigned> choices;
    int64_t price = 0, peak = 0;
    std::vector<int64_t> memory; // per point
    int64_t held = 0;            // the sum of it, which breaks ties
  };
  /// A solution from elsewhere.
  void addSolution(llvm::ArrayRef<unsigned> choices) { addColumn(choices); }
  /// Runs until the optimum is proven, the optimality gap is reached or time is over. If the peak is minimized, also
  /// until it is at most `enough`, or proven to exceed it.
  void run(int64_t enough = -1);
  /// Changes one variable of the best solution after the other (Descent.cpp), as long as that lowers the price within
  /// the budget, or for the same price what is held.
  void descend();
  /// Ends it after so many seconds of the clock where nothing within the budget was found until then.
  void setPatience(double seconds) { patience = seconds; }
  /// From elsewhere: no solution has a lower value.
  void raise(int64_t lower) { bound = std::max(bound, lower); }

  /// Whether the optimum is proven, the optimality gap is reached or time is over.
  bool isDone() const;
  /// Price, or peak: of the best solution, and a bound.
  bool hasBest() const { return best != kNoColumn; }
  const Column &getBest() const { return columns[best]; }
  int64_t getValue() const { return hasBest() ? valueOf(columns[best]) : kInf; }
  int64_t getBound() const { return bound; }
  llvm::ArrayRef<Column> getColumns() const { return columns; }

private:
  bool isPeak() const { return !budget; }
  int64_t valueOf(const Column &column) const { return isPeak() ? column.peak : column.price; }

  /// Multipliers in integers: `scale` is that of prices.
  struct Multipliers {
    int64_t scale = 1;
    std::vector<std::pair<unsigned, int64_t>> points; // ascending
  };
  Multipliers round(llvm::ArrayRef<std::pair<unsigned, double>> exact, bool everywhere) const;
  /// The tables of a problem under multipliers.
  std::vector<TableId> weigh(const Problem &of, const Multipliers &by, TablePool &in) const;
  /// The bound on values that a least sum of weighed tables gives.
  int64_t getBoundOf(int64_t minimum, const Multipliers &by, const Problem &of) const;

  static constexpr unsigned kNoColumn = ~0u;
  /// The number of the column; kNoColumn where the price is impossible.
  unsigned addColumn(llvm::ArrayRef<unsigned> choices);
  void dropLastColumn();

  /// Multipliers as they are computed: points, ascending, and what is paid per byte.
  using Exact = std::vector<std::pair<unsigned, double>>;
  /// weight * a + (1 - weight) * b.
  static Exact blend(const Exact &a, const Exact &b, double weight);
  struct Master {
    Exact multipliers;
    std::vector<double> shares; // per requested column
    double value = 0;
  };
  Master solveMaster(llvm::ArrayRef<unsigned> which, std::vector<unsigned> &rows) const;

  /// The subproblem of a node.
  struct Node {
    std::vector<std::pair<unsigned, std::vector<unsigned>>> allowed; // choices of variables
    std::vector<unsigned> columns;
  };
  struct Relaxed {
    bool impossible = false;
    int64_t bound = 0;
    Exact multipliers; // that gave it
    std::vector<unsigned> columns;
    std::vector<double> shares;
  };
  /// The choices that columns have somewhere.
  Node getNode(llvm::ArrayRef<unsigned> of) const;
  /// By elimination: for small problems, and for few choices (BudgetRelaxation.cpp).
  class Relaxation;
  Relaxed relax(const Node &node, unsigned iterations, bool repair);
  void searchLarge();
  class Descent;
  /// Without `proves` the root is only a subproblem, so that its bound is not a bound of the problem.
  void branch(Node root, bool proves, unsigned maxNodes);

  const Problem &problem;
  std::optional<int64_t> budget;
  int64_t limit = 0; // maximal peak of solutions
  TablePool &pool;
  const SolverOptions &options;
  const Clock &clock;
  SolverStatistics &statistics;
  std::vector<Column> columns;
  llvm::DenseMap<uint64_t, unsigned> columnOf; // by hash
  unsigned best = kNoColumn;
  int64_t bound = 0;
  int64_t enough = -1;
  double patience = std::numeric_limits<double>::infinity();
  double highest = 1; // no peak is higher
  double dearest = 1; // no price, less what is always paid
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_BUDGET_BUDGET_H
