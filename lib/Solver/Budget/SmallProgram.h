//===- SmallProgram.h - A small linear program ------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_BUDGET_SMALLPROGRAM_H
#define SHARDKIT_LIB_SOLVER_BUDGET_SMALLPROGRAM_H

#include <vector>

namespace mlir::spmd::solver {

/// Minimizes cost * x over x >= 0 with sum of share * x = 1 and rows * x <= 1. Some dozens
/// of columns and rows; the primal simplex on a dense tableau.
struct SmallProgram {
  struct Column {
    double cost, share;
    std::vector<double> rows;
  };
  /// The first column must have share 1 and fit alone: the simplex begins there.
  std::vector<Column> columns;
  unsigned numRows = 0;

  std::vector<double> x;     // per column
  std::vector<double> duals; // per row, at least 0: what one unit more of it would save
  double value = 0;
  double work = 0; // entries of the tableau that were visited, since the beginning
  void solve();
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_BUDGET_SMALLPROGRAM_H
