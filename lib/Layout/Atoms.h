//===- Atoms.h - The common refinement of two layouts -----------*- C++ -*-===//
//
// Internal to the layout library. Two layouts over the same index and the same
// ranks are split, in index space and in rank space, at each other's boundaries.
// The results are atoms: intervals of the index that each side assigns to one rank
// atom or keeps local.
//
//   from (2, 8, 1), to (1, 2, 2) of 8 elements on 4 ranks
//   index boundaries 1 2 4 8, rank boundaries 1 2 4
//   index atom   [1,2)  [2,4)  [4,8)
//   from         local  rank 0 rank 1
//   to           rank 1 local  local
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_LAYOUT_ATOMS_H
#define SHARDKIT_LIB_LAYOUT_ATOMS_H

#include "shardkit/Layout/Layout.h"

namespace mlir::spmd::detail {

/// Rank atom that owns each index atom, or -1.
using Owners = llvm::SmallVector<int, 12>;

struct Atoms {
  /// Boundaries, ascending, each dividing the next, from 1.
  llvm::SmallVector<int64_t, 12> index, rank;
  Owners from, to;

  unsigned numIndex() const { return index.size() - 1; }
  unsigned numRank() const { return rank.size() - 1; }
  int64_t indexSize(unsigned i) const { return index[i + 1] / index[i]; }
  int64_t rankSize(unsigned p) const { return rank[p + 1] / rank[p]; }
  RankDigit rankDigit(unsigned p) const { return {rank[p], rankSize(p)}; }

  /// The atoms, as rank atom numbers, that rank digits cover.
  void rankAtoms(llvm::ArrayRef<RankDigit> digits, llvm::SmallVectorImpl<bool> &covered) const;
  /// Coalesced digits of an assignment.
  llvm::SmallVector<Digit, 4> digits(const Owners &owners) const;
};

/// std::nullopt if a boundary does not divide. Uneven dims are ignored.
/// `atDims`: splits at the boundaries of the dims of `from` too, so that any set of the
/// atoms is a layout of that shape. `mesh`: splits between its axes too, so that any set
/// of the rank atoms is one of (sub-)axes.
std::optional<Atoms> align(const Layout &from, const Layout &to, bool atDims, const Mesh *mesh = nullptr);

/// Sum over all ranks of the elements that both sides own, in units of the
/// ranks that the rank boundaries cover.
int64_t commonElements(const Atoms &atoms, const Owners &a, const Owners &b);

/// The rank digits of `a` that are not in `b`; std::nullopt if a boundary does not divide.
std::optional<llvm::SmallVector<RankDigit, 2>> subtract(llvm::ArrayRef<RankDigit> a, llvm::ArrayRef<RankDigit> b);

/// True unless the rank digits are known to be independent.
bool overlap(const RankDigit &a, const RankDigit &b);

} // namespace mlir::spmd::detail

#endif // SHARDKIT_LIB_LAYOUT_ATOMS_H
