//===- MinSum.h - The least sum of tables -----------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SEARCH_MINSUM_H
#define SHARDKIT_LIB_SOLVER_SEARCH_MINSUM_H

#include "../DualAscent/DualAscent.h"
#include "../Elimination/Contraction.h"

namespace mlir::spmd::solver {

/// The choices of the lowest price, for one graph and any tables on it.
///
/// The graph is contracted to its core. If the joins of the core are small it is eliminated;
/// else dual ascent moves costs until few choices are left that can be part of an optimum,
/// and what they leave of the graph is eliminated, or searched in the same way. What is messaged stays for the next
/// tables, which converge faster if they are close.
class MinSum {
public:
  MinSum(const Problem &problem, const SolverOptions &options, JoinMemo &memo, const Clock &clock);

  struct Answer {
    bool impossible = false; // proven
    bool optimal = false;    // `price` is proven to be the least
    /// No choices cost less; exactly `price` if optimal.
    Price lower;
    Price price = Price::impossible();
    std::vector<unsigned> choices; // empty: none found
  };
  /// Choices to begin at, kNoVar where one is not known.
  void setStart(llvm::ArrayRef<unsigned> choices);
  /// Stops when the price is within `gap` (relative) of the bound, or no solution takes at most `cutoff`. Without
  /// `toTheEnd` also when passes do not help any more.
  Answer solve(llvm::ArrayRef<TableId> tables, double gap, int64_t cutoff = kInf, bool toTheEnd = true);

private:
  bool isSmall(const Elimination &elimination) const;

  const SolverOptions &options;
  JoinMemo &memo;
  const Clock &clock;
  Contraction contraction;
  std::unique_ptr<Elimination> direct; // for a small core
  std::unique_ptr<DualAscent> ascent;
  std::vector<unsigned> start; // for the core
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SEARCH_MINSUM_H
