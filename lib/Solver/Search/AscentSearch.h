//===- AscentSearch.h - The least sum of large graphs -----------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SEARCH_ASCENTSEARCH_H
#define SHARDKIT_LIB_SOLVER_SEARCH_ASCENTSEARCH_H

#include "Abstraction.h"
#include "MinSum.h"
#include "NeighbourhoodSearch.h"

namespace mlir::spmd::solver {

/// Dual ascent until few choices are left that can be part of an optimum; what they leave of the
/// graph is eliminated, or searched in the same way.
///
/// All solutions within base + slack, `base` being the bound that messages prove, are in the
/// rest of the problem within that slack. If the optimum of the rest is within, it is the
/// optimum; if not, base + slack is a better bound.
class AscentSearch {
public:
  using Answer = MinSum::Answer;

  /// As for MinSum::solve; `core` is eliminated nowhere yet. Messages stay in `ascent`.
  AscentSearch(const Problem &core, DualAscent &ascent, const SolverOptions &options, JoinMemo &memo,
               const Clock &clock, double gap, int64_t cutoff, bool toTheEnd);

  /// `start`: choices to begin at, kNoVar where one is not known; none if empty.
  Answer run(llvm::ArrayRef<unsigned> start);

private:
  struct Rest;

  /// Passes, and what they prove. False if they gain more than anything else would.
  bool pass(unsigned count);
  void take(std::vector<unsigned> choices);
  void raise(Price lower) { answer.lower = std::max(answer.lower, lower); }
  void nothingWithin(int64_t slack) { raise({base + slack + 1, INT64_MIN / 4}); }
  /// A larger slack than that is of no interest; kInf if there is nothing to compare with.
  int64_t getNeeded() const;
  /// Whether the best solution is far above the bound.
  bool isPoor() const { return double(getNeeded()) > std::abs(double(base)) / 64; }
  /// Whether it is so far above what is proven that neighbourhoods are searched.
  bool isFarOff() const;
  /// Whether to stop looking.
  bool isDone() const;
  /// Whether nothing takes less time than what is known, which may be that all takes too much.
  bool isSettled() const { return answer.optimal || answer.impossible || answer.lower.time > cutoff; }

  /// Whether little is still to be gained by passes over messages as fine as these.
  bool hasConverged() const { return isSlow || remaining < double(getNeeded()) / 32; }
  /// Whether passes will not help much any more.
  bool isExhausted() const { return stalled > 2 || (isSlow && ascent.isFinest()); }

  /// The solution that messages lead to from what is known of one.
  void decode(llvm::ArrayRef<unsigned> start = {});
  /// The best solution among those of which each choice is the best one's or close to the bound, until that is no
  /// better.
  void improveBest();
  void improveOnce();
  /// The best solution of those whose choices are at most `near` to the bound or some solution's. False if that is
  /// too much work.
  bool merge(llvm::ArrayRef<std::vector<unsigned>> solutions, int64_t near);
  /// If the known solutions stay poor: better choices of many variables at once.
  void searchNeighbourhoods();
  /// A solution in which variables that look alike choose alike.
  void solveQuotient();
  /// Searches the problem within growing slacks, as long as that is less work than passes.
  void eliminateWithin();
  /// Bounds from choices taken together, as long as that is less work than passes, or to the end.
  void solveAbstractions();
  /// If few choices are left, a search among these alone.
  void goOnWithFew();
  /// Searches all remaining choices, with mini-buckets that grow until they prove optimality or time is over. With
  /// bytes: among the choices of minimal time, those with the fewest bytes. False if these are too many to list.
  bool eliminateGrowing(bool withBytes);
  /// If the minimal time is proven, also proves the fewest bytes, as long as that is not much more work.
  void settleBytes();

  const Problem &core;
  DualAscent &ascent;
  const SolverOptions &options;
  JoinMemo &memo;
  const Clock &clock;
  double gap;
  int64_t cutoff;
  bool toTheEnd;

  Answer answer;
  Price &best = answer.price;
  bool timesOnly = true; // no bytes that would break ties
  DualAscent::Moved moved;
  int64_t base = 0, lastBound = 0;
  double work = 0;        // over all passes
  unsigned numRounds = 0; // passes with the current messages
  double lastGain = 0;
  std::vector<unsigned> lastDecoded; // by the last passes; empty if impossible
  std::optional<NeighbourhoodSearch> neighbourhoods;
  std::vector<std::vector<unsigned>> optima; // in their neighbourhoods
  Price descended = Price::impossible();     // the best one whose neighbourhoods have nothing better
  unsigned fruitless = 0;                    // searches of neighbourhoods that found nothing better
  std::optional<Abstraction> abstraction;    // with the coarsest messages
  bool isAbstracted = false;                 // to the full extent
  double abstractionGain = 0;                // gain of the last ones, which alternates
  unsigned stalled = 0;                      // rounds of passes that gained nothing
  bool isSlow = false, isGaining = true;
  double remaining = kInf; // remaining gain of passes with the current messages
  double bytesEnd = kInf;  // work of the clock after which bytes are not proven any more
  int64_t guess = 0;       // the slack to begin with
  int64_t tooMuch = kInf;  // a slack that left too much
  int64_t mayGoOn = kInf;  // maximal slack to continue with few choices
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SEARCH_ASCENTSEARCH_H
