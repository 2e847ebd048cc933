//===- Contraction.h - A smaller graph of pairs -----------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_ELIMINATION_CONTRACTION_H
#define SHARDKIT_LIB_SOLVER_ELIMINATION_CONTRACTION_H

#include "Elimination.h"

namespace mlir::spmd::solver {

/// Eliminates variables of at most two neighbours, one after the other: what is left, the
/// core, is a graph of variables and pairs again. Chains and trees vanish, repeated ones at
/// the cost of one. Which variables go depends on the graph alone, so that it serves
/// other prices too.
class Contraction {
public:
  Contraction(const Problem &problem, JoinMemo &memo);

  /// The tables of a problem as in Elimination::run; sets those of the core. False if no
  /// choices are possible.
  bool run(llvm::ArrayRef<TableId> tables);
  const Problem &getCore() const { return core; }
  /// Choices of all variables, the best ones where the core has these.
  std::vector<unsigned> expand(llvm::ArrayRef<unsigned> coreChoices);
  /// Per variable of the core: which it is.
  llvm::ArrayRef<unsigned> getCoreVariables() const { return coreVars; }

private:
  static std::vector<unsigned> getOrder(const Problem &problem);

  const Problem &problem;
  JoinMemo &memo;
  Elimination elimination;
  Elimination::Run last;
  Problem core;
  std::vector<unsigned> coreVars; // per variable of the core
  // Summands: tables of the problem, or, with higher numbers, steps.
  std::vector<llvm::SmallVector<unsigned, 2>> unarySources, edgeSources;
};

/// The tables of a problem in the order in which Elimination::run takes them.
std::vector<TableId> getTables(const Problem &problem);

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_ELIMINATION_CONTRACTION_H
