//===- MinSum.h - The least sum of tables -----------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_AUTOSHARDING_MINSUM_H
#define SHARDKIT_LIB_AUTOSHARDING_MINSUM_H

#include "Contraction.h"
#include "DualAscent.h"
#include <chrono>

namespace mlir::spmd::solver {

class Clock {
public:
  explicit Clock(const SolverOptions &options)
      : limit(options.timeLimit), workLimit(options.workLimit) {}
  /// Entries of tables that were visited.
  void spend(double entries) const { work += entries; }
  double getWork() const { return work; }
  double getSeconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  bool isOver() const { return work >= workLimit || getSeconds() >= limit; }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  double limit, workLimit;
  mutable double work = 0;
};

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
  /// Stops early once the price is within `gap` (relative) of the bound, or nothing is left
  /// that takes at most `cutoff`.
  Answer solve(llvm::ArrayRef<TableId> tables, double gap, int64_t cutoff = kInf);

private:
  void searchByAscent(Answer &answer, double gap, int64_t cutoff);
  bool isSmall(const Elimination &elimination) const;

  const SolverOptions &options;
  JoinMemo &memo;
  const Clock &clock;
  Contraction contraction;
  std::unique_ptr<Elimination> direct; // of the core, where it is small
  std::unique_ptr<DualAscent> ascent;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_AUTOSHARDING_MINSUM_H
