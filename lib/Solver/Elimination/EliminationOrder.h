//===- EliminationOrder.h - In which order variables go ---------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H
#define SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H

#include "../Problem.h"

namespace mlir::spmd::solver {

/// Min-fill: next is the variable whose neighbours lack the fewest edges among them,
/// then the one with the smallest join, then the lowest. Counts are kept up to date: near-linear
/// where the joins are small. `bySize`: the one with the smallest join first.
std::vector<unsigned> getMinFillOrder(const Problem &problem, bool bySize = false);

/// An order of part of the variables in which no join, without the others, has more than `maxJoin` entries, the
/// smallest ones first. Where one would, the variable in it goes that was left out the fewest times, which is
/// counted, then the one with the most neighbours.
std::vector<unsigned> getOrderWithin(const Problem &problem, int64_t maxJoin,
                                     llvm::MutableArrayRef<unsigned> timesLeftOut);

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H
