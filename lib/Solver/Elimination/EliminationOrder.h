//===- EliminationOrder.h - In which order variables go ---------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H
#define SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H

#include "../Problem.h"

namespace mlir::spmd::solver {

/// Min-fill: next is the variable whose neighbours lack the fewest edges among them,
/// then the one with the smallest join, then the lowest. Counts are kept up to date: near-linear
/// where the joins are small. `bySize`: the one with the smallest join first.
std::vector<unsigned> getMinFillOrder(const Problem &problem, bool bySize = false);

/// An order of some variables in which no join has more than `maxJoin` entries, the smallest joins first. If a join
/// would have more, one of its variables is excluded: the one with the fewest exclusions so far, which are counted,
/// then the one with the most neighbors.
std::vector<unsigned> getOrderWithin(const Problem &problem, int64_t maxJoin,
                                     llvm::MutableArrayRef<unsigned> timesLeftOut);

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H
