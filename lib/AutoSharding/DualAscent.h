//===- DualAscent.h - A lower bound by moving costs about -------*- C++ -*-===//
//
// Costs may be moved from pairs to their variables and back without changing the price
// of any solution. The sum of the least entries of all tables is a lower bound;
// sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006) moves costs such
// that it grows. What a table keeps above its least entry says which choices cannot be
// part of a solution that is as good as the best one known.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_AUTOSHARDING_DUALASCENT_H
#define SHARDKIT_LIB_AUTOSHARDING_DUALASCENT_H

#include "Problem.h"
#include <memory>

namespace mlir::spmd::solver {

class DualAscent {
public:
  /// Messages are rounded, the bound is not (see move): single precision only makes passes faster.
  using Real = float;

  /// `order`: in which variables are visited.
  DualAscent(const Problem &problem, llvm::ArrayRef<unsigned> order, TablePool &pool);

  /// Other tables of the same sizes: those of the variables (kNoTable: zeros), then those
  /// of the edges. `big` stands for impossible: more than any solution of interest costs.
  void setTables(llvm::ArrayRef<TableId> tables, double big);
  /// One pass forward and one back.
  void iterate();
  /// Choices by the messages, one variable after the other, then improved one by one.
  /// False if that ends at something impossible.
  bool decode(llvm::MutableArrayRef<unsigned> choices) const;

  /// The tables with the costs moved as they are now, in integers: the same prices exactly,
  /// and no entry below 0 once `bound` is subtracted.
  struct Moved {
    bool impossible = false;
    int64_t bound = 0;
    std::vector<std::vector<int64_t>> own;    // per variable and choice
    std::vector<std::vector<int64_t>> excess; // what a choice adds to the bound at least
    // Per edge what is added to its table by row and by column, less its least entry.
    std::vector<int64_t> shifts;
  };
  Moved move() const;

  /// The problem without the choices and pairs that add more than `slack` to the bound:
  /// all solutions within bound + slack, and maybe others. Bytes are those of the tables;
  /// tables are made in a pool of their own.
  struct Restricted {
    Problem problem;                                  // of all variables; without buffers
    std::vector<llvm::SmallVector<unsigned, 8>> kept; // per variable: the choices left
    bool impossible = false;
  };
  Restricted restrict(const Moved &moved, int64_t slack, TablePool &to) const;
  /// Entries that the pairs of it would have.
  double getRestrictedSize(const Moved &moved, int64_t slack) const;

private:
  struct Link {
    unsigned to, edge;
    bool forward;   // `to` comes later
    size_t message; // where the message from `to` to whom the link belongs to begins
    size_t back;    // and the one the other way
  };
  const Real *getTable(TableId id);
  void pass(bool forward);

  const Problem &problem;
  TablePool &pool;
  std::vector<unsigned> order, position;
  std::vector<unsigned> linkBegin; // per variable, into links
  std::vector<Link> links;
  std::vector<unsigned> forwardCount, backwardCount;
  std::vector<Real> messages;
  std::vector<TableId> tables, transposed;
  llvm::DenseMap<TableId, std::unique_ptr<Real[]>> reals;
  Real big = 0;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_AUTOSHARDING_DUALASCENT_H
