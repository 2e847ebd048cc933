//===- Elimination.h - Variables one by one ---------------------*- C++ -*-===//
//
// Bucket elimination over a fixed order. What is known before the prices are (which
// tables meet where) is computed once; a run fills in tables. A bucket whose tables
// were met before, in the same places, is a look-up, in this run or any earlier one.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATION_H
#define SHARDKIT_LIB_SOLVER_ELIMINATION_ELIMINATION_H

#include "../Problem.h"
#include "../Support/Clock.h"
#include "Join.h"
#include <deque>

namespace mlir::spmd::solver {

/// What buckets gave, over all eliminations that share a pool.
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
    Price least;
    size_t inputs;          // where the tables begin in `inputs`
    unsigned lastRound = 0; // in which it was asked for last
  };
  /// The number of the entry. Sums of `limit` or more are of no interest here, either. No sum of the tables may be
  /// less than 0, single entries may.
  unsigned join(unsigned shape, llvm::ArrayRef<TableId> tables, int64_t limit = kInf);
  unsigned addShape(const JoinShape &shape);
  /// Gives back the results that were not asked for since the last time. Runs from before mean nothing any more.
  void forgetUnused();

  const Entry &get(unsigned entry) const { return entries[entry]; }
  const JoinShape &getShape(unsigned entry) const { return shapes[entries[entry].shape]; }
  llvm::ArrayRef<TableId> getInputs(unsigned entry) const {
    return llvm::ArrayRef(inputs).slice(entries[entry].inputs, shapes[entries[entry].shape].inputs.size());
  }
  /// As findMinimum, remembered.
  unsigned findMinimum(unsigned entry, llvm::ArrayRef<unsigned> at);
  /// A part of a bucket that was split: its tables, and which dims all parts have.
  struct Part {
    unsigned shape;
    llvm::SmallVector<TableId, 8> tables;
    llvm::ArrayRef<unsigned> shared;
  };
  /// What to add to each part such that all cost the same at least, for any choices of what they share (min-marginal
  /// matching, Ihler et al. 2012): the sum of all stays, what each is by itself becomes a better bound.
  llvm::ArrayRef<TableId> match(llvm::ArrayRef<Part> parts);
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
  /// same sizes may stand in their place. kNoTable among the first is zeros.
  /// Ends early once joins have visited more entries than it may, or, given a clock, when that is over or
  /// tables take gigabytes. `limits`, if any:
  /// per variable what its joins, with all that is joined into them, must stay below to be of interest.
  Run run(llvm::ArrayRef<TableId> tables, double mayVisit = std::numeric_limits<double>::infinity(),
          const Clock *clock = nullptr, llvm::ArrayRef<int64_t> limits = {});

  /// Per variable the time that all takes at least that is neither joined into it nor has it joined
  /// into, as a run of `other` says, an elimination in the same order with smaller joins.
  /// Only if isExact().
  std::vector<int64_t> getOutside(const Elimination &other, const Run &run) const;

  /// Per variable the choices that are in something possible in all joined tables.
  std::vector<std::vector<bool>> getPossible(const Run &run) const;

  /// Choices that reach the total (if exact), the last eliminated first, each the lowest
  /// choice that does; variables that were not eliminated have one already. With several
  /// runs: step i follows runs[labels[i]]. False where a choice is impossible.
  bool trace(llvm::ArrayRef<const Run *> runs, llvm::ArrayRef<uint8_t> labels, llvm::MutableArrayRef<unsigned> choices);
  bool trace(const Run &run, llvm::MutableArrayRef<unsigned> choices) { return trace({&run}, {}, choices); }

  /// Of the choices that reach the total of a run over times alone those of the fewest bytes: `tables` are the
  /// same with bytes. Looks at ties only. Their price less the problem's constant; impossible if that is too much
  /// work. Only if isExact() and all variables are eliminated.
  Price traceFewest(const Run &run, llvm::ArrayRef<TableId> tables, llvm::MutableArrayRef<unsigned> choices);

  struct Step {
    unsigned v;
    unsigned shape;
    llvm::SmallVector<unsigned, 6> scope; // the other variables, in elimination order
    // Below the number of tables: a table; else a step, whose result is taken.
    llvm::SmallVector<unsigned, 6> inputs;
    unsigned parent; // step that takes the result; ~0u: none
    // Of a part of a bucket that was split: the dims that all parts have, and the shape without the input, the
    // last one, that matches it to the others.
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
