//===- Elimination.h - Variables one by one ---------------------*- C++ -*-===//
//
// Bucket elimination over a fixed order. The structure (which tables are joined in which
// bucket) is computed once; a run computes the tables. A bucket with the same tables in the same
// order as an earlier one, of this run or another, is a look-up.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATION_H
#define SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATION_H

#include "../Problem.h"
#include "../Support/Clock.h"
#include "Join.h"
#include <deque>

namespace mlir::spmd::solver {

/// Results of buckets, over all eliminations that share a pool.
class JoinMemo {
public:
  explicit JoinMemo(TablePool &pool) : pool(pool) {}

  /// Sums of `limit` or more are of no interest: they count as impossible from now on.
  void setLimit(int64_t to) { limit = to; }
  /// Entries that joins visited.
  double getWork() const { return work; }

  struct Entry {
    unsigned shape;
    TableId result;
    Price minimum;
    size_t inputs;          // offset of the tables in `inputs`
    unsigned lastRound = 0; // the latest round with a look-up
  };
  /// The number of the entry. Sums of `limit` or more are of no interest here, either. No sum of the tables may be
  /// less than 0, single entries may.
  unsigned join(unsigned shape, llvm::ArrayRef<TableId> tables, int64_t limit = kInf);
  unsigned addShape(const JoinShape &shape);
  /// Releases the results that were not looked up since the last call. Earlier runs become invalid.
  void forgetUnused();

  const Entry &get(unsigned entry) const { return entries[entry]; }
  const JoinShape &getShape(unsigned entry) const { return shapes[entries[entry].shape]; }
  llvm::ArrayRef<TableId> getInputs(unsigned entry) const {
    return llvm::ArrayRef(inputs).slice(entries[entry].inputs, shapes[entries[entry].shape].inputs.size());
  }
  /// As findMinimum, remembered.
  unsigned findMinimum(unsigned entry, llvm::ArrayRef<unsigned> at);
  /// A mini-bucket of a bucket: its tables, and the dims of all mini-buckets.
  struct MiniBucket {
    unsigned shape;
    llvm::SmallVector<TableId, 8> tables;
    llvm::ArrayRef<unsigned> shared;
  };
  /// Tables to add to each mini-bucket so that all have equal minima for any choices of the shared dims (min-marginal
  /// matching, Ihler et al. 2012): the sum of all does not change, but their separate minima become a better bound.
  llvm::ArrayRef<TableId> match(llvm::ArrayRef<MiniBucket> miniBuckets);
  void addSlice(unsigned entry, llvm::ArrayRef<unsigned> at, llvm::MutableArrayRef<Price> sums) const;

  TablePool &pool;
  SolverStatistics statistics;

private:
  llvm::SmallVector<const Table *, 8> getTables(unsigned entry) const;

  int64_t limit = kInf;
  double work = 0;
  unsigned round = 0; // how often what was not used was forgotten
  SequenceMap shapeKeys;
  std::vector<JoinShape> shapes;
  SequenceMap keys;
  std::vector<unsigned> entryOfKey;
  std::vector<Entry> entries;
  std::vector<TableId> inputs;
  llvm::DenseMap<std::pair<unsigned, uint64_t>, unsigned> minima;
  SequenceMap matchKeys;
  std::deque<llvm::SmallVector<TableId, 4>> matches; // stay where they are
};

class Elimination {
public:
  /// `order` may leave out variables: see getRests. A join of more than `maxJoin` entries is split
  /// (mini-buckets): the result is a lower bound then, and isExact() false.
  Elimination(const Problem &problem, llvm::ArrayRef<unsigned> order, int64_t maxJoin, JoinMemo &memo);

  bool isExact() const { return exact; }
  /// Entries of the largest join, and of all together, as if nothing were repeated.
  double getLargestJoin() const { return largest; }
  double getAllJoins() const { return all; }

  struct Run {
    Price total = Price::impossible(); // a lower bound unless exact
    std::vector<unsigned> entries;     // per step
    bool isOver = false;               // ended early
  };
  /// `tables`: the problem's tables of single variables, then those of its edges; others of the
  /// same sizes may replace them. kNoTable among the first is zeros.
  /// Ends early once joins have visited more entries than it may, or, given a clock, when that is over or
  /// tables take gigabytes. `limits`, if any:
  /// per variable an exclusive upper bound of its joins with all their inputs.
  Run run(llvm::ArrayRef<TableId> tables, double mayVisit = std::numeric_limits<double>::infinity(),
          const Clock *clock = nullptr, llvm::ArrayRef<int64_t> limits = {});

  /// Per variable a lower bound of the time of everything that is neither an input of it nor has it as an input, from a
  /// run of `other`, an elimination in the same order with smaller joins.
  /// Only if isExact().
  std::vector<int64_t> getOutside(const Elimination &other, const Run &run) const;

  /// Per variable the choices that are in something possible in all joined tables.
  std::vector<std::vector<bool>> getPossible(const Run &run) const;

  /// Choices that reach the total (if exact), the last eliminated first, each the lowest
  /// choice that does; variables that were not eliminated have one already. With several
  /// runs: step i follows runs[labels[i]]. False where a choice is impossible.
  bool trace(llvm::ArrayRef<const Run *> runs, llvm::ArrayRef<uint8_t> labels, llvm::MutableArrayRef<unsigned> choices);
  bool trace(const Run &run, llvm::MutableArrayRef<unsigned> choices) { return trace({&run}, {}, choices); }

  /// Among the choices with the total of a run over times alone, those with the fewest bytes: `tables` are the
  /// same with bytes. Looks at ties only. Their price minus the problem's constant; impossible if that is too much
  /// work. Only if isExact() and all variables are eliminated.
  Price traceFewest(const Run &run, llvm::ArrayRef<TableId> tables, llvm::MutableArrayRef<unsigned> choices);

  struct Step {
    unsigned v;
    unsigned shape;
    llvm::SmallVector<unsigned, 6> scope; // the other variables, in elimination order
    // Below the number of tables: a table; else a step, whose result is taken.
    llvm::SmallVector<unsigned, 6> inputs;
    unsigned parent; // step that takes the result; ~0u: none
    // For a mini-bucket: the dims of all mini-buckets, and the shape without the last input, which matches it to the
    // others.
    llvm::SmallVector<unsigned, 6> shared;
    unsigned unmatched = ~0u;
  };
  llvm::ArrayRef<Step> getSteps() const { return steps; }
  /// Steps whose results only have variables that the order leaves out, by number.
  llvm::ArrayRef<unsigned> getRests() const { return rests; }

private:
  JoinMemo *memo;
  std::vector<Step> steps;
  std::vector<unsigned> rests;
  std::vector<unsigned> sizes;
  unsigned numTables;
  // Which tables of edges are read with rows and columns swapped, and their sizes.
  std::vector<bool> transposed;
  std::vector<std::pair<unsigned, unsigned>> edgeSizes;
  bool exact = true;
  double largest = 0, all = 0;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATION_H
