//===- Join.h - The minimum of a sum of tables ------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_ELIMINATION_JOIN_H
#define SHARDKIT_LIB_SOLVER_ELIMINATION_JOIN_H

#include "../TablePool.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::spmd::solver {

/// Tables of one variable and what is around it: `sizes[0]` is the variable that goes,
/// the others are the dims of the result, in order.
struct JoinShape {
  llvm::SmallVector<unsigned, 8> sizes;
  /// Dims of each table, ascending, 0 first; tables are row-major in them.
  llvm::SmallVector<llvm::SmallVector<unsigned, 6>, 8> inputs;

  size_t getResultSize() const;
};

/// Minimum over the first variable of the sum of the tables, per choices of the others,
/// less the least entry, which is returned in `least`. Sums of `limit` or more are impossible.
/// Adds to `work` the entries that were visited.
Table joinAndMinimize(const JoinShape &shape, llvm::ArrayRef<const Table *> tables, int64_t limit, Price &minimum,
                      double &work);

/// Per choices of some dims, 0 first, the least time of the sum of the tables, whatever the others are. Adds to
/// `work` the entries that were visited.
Table getMinMarginal(const JoinShape &shape, llvm::ArrayRef<const Table *> tables, llvm::ArrayRef<unsigned> dims,
                     double &work);

/// The lowest choice of the first variable that reaches the minimum, where `at` are the
/// choices of the others; kNoTable if all are impossible.
unsigned findMinimum(const JoinShape &shape, llvm::ArrayRef<const Table *> tables, llvm::ArrayRef<unsigned> at);
/// Adds the tables to a price per choice of the first variable.
void addSlice(const JoinShape &shape, llvm::ArrayRef<const Table *> tables, llvm::ArrayRef<unsigned> at,
              llvm::MutableArrayRef<Price> sums);

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_ELIMINATION_JOIN_H
