//===- SmallProgram.cpp - A small linear program --------------------------===//

#include "SmallProgram.h"
#include <algorithm>
#include <cmath>
#include <cstddef>

using namespace mlir::spmd::solver;

void SmallProgram::solve() {
  size_t n = columns.size(), total = n + numRows, rows = numRows + 1;
  // Row 0 is the sum of shares, the others with their slacks; the last column is the
  // right-hand side, the last row the reduced costs.
  std::vector<std::vector<double>> t(rows + 1, std::vector<double>(total + 1, 0));
  std::vector<size_t> basis(rows);
  for (size_t j = 0; j < n; ++j) {
    t[0][j] = columns[j].share;
    for (size_t i = 0; i < numRows; ++i)
      t[i + 1][j] = columns[j].rows[i];
    t[rows][j] = columns[j].cost;
  }
  for (size_t i = 0; i < numRows; ++i) {
    t[i + 1][n + i] = 1;
    basis[i + 1] = n + i;
  }
  for (size_t i = 0; i < rows; ++i)
    t[i][total] = 1;
  auto pivot = [&](size_t r, size_t c) {
    double by = 1 / t[r][c];
    for (double &v : t[r])
      v *= by;
    for (size_t i = 0; i <= rows; ++i) {
      double f = t[i][c];
      if (i == r || f == 0)
        continue;
      for (size_t j = 0; j <= total; ++j)
        t[i][j] -= f * t[r][j];
    }
    basis[r] = c;
    work += double(rows + 1) * double(total + 1);
  };
  pivot(0, 0);
  double scale = 1e-12;
  for (size_t j = 0; j < n; ++j)
    scale = std::max(scale, std::abs(columns[j].cost));
  for (unsigned step = 0; step < 2000; ++step) {
    // The steepest column; the first one after many steps, which cannot go round in circles.
    size_t c = total;
    double minimum = -1e-10 * scale;
    for (size_t j = 0; j < total; ++j)
      if (t[rows][j] < minimum) {
        c = j;
        if (step > 500)
          break;
        minimum = t[rows][j];
      }
    if (c == total)
      break;
    size_t r = rows;
    double ratio = 0;
    for (size_t i = 0; i < rows; ++i) {
      if (t[i][c] <= 1e-10)
        continue;
      double q = t[i][total] / t[i][c];
      if (r == rows || q < ratio - 1e-14 || (q <= ratio + 1e-14 && basis[i] < basis[r])) {
        r = i;
        ratio = q;
      }
    }
    if (r == rows)
      break; // unbounded: not with shares that sum to 1
    pivot(r, c);
  }
  x.assign(n, 0);
  for (size_t i = 0; i < rows; ++i)
    if (basis[i] < n)
      x[basis[i]] = std::max(0.0, t[i][total]);
  duals.assign(numRows, 0);
  for (size_t i = 0; i < numRows; ++i)
    duals[i] = std::max(0.0, t[rows][n + i]);
  value = -t[rows][total];
}
