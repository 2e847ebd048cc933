//===- Quotient.h - Equal choices of what looks alike -----------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SEARCH_QUOTIENT_H
#define SHARDKIT_LIB_SOLVER_SEARCH_QUOTIENT_H

#include "../Problem.h"

namespace mlir::spmd::solver {

/// A problem whose variables that look alike make the same choice (lifting by colour refinement): repeated layers
/// become one. Its solutions are some of the problem's, at the same price.
struct Quotient {
  Problem problem;          // times alone
  std::vector<unsigned> of; // variables to those of `problem`

  /// Variables are equal if their tables and links are equal up to a distance of `radius` links. Tables are created in
  /// pool `to`. Without sharings.
  Quotient(const Problem &original, const TablePool &from, unsigned radius, TablePool &to);

  std::vector<unsigned> expand(llvm::ArrayRef<unsigned> choices) const;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SEARCH_QUOTIENT_H
