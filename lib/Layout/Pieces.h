//===- Pieces.h - The units that reshard plans move -------------*- C++ -*-===//
//
// Internal to the layout library. A layout as a set of pieces: digits, split at the
// boundaries of the other layout of a plan and of the axes of the mesh, and uneven dims.
// Plans add, move and remove pieces.
//
// Pieces, atoms and segments: atoms (Atoms.h) are the common refinement of two layouts
// that split each other evenly; segments (Segments.h) exist for all layouts; pieces are
// digits of one layout, as fine as its plan needs.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_LAYOUT_PIECES_H
#define SHARDKIT_LIB_LAYOUT_PIECES_H

#include "shardkit/Layout/ReshardPlan.h"

namespace mlir::spmd::detail {

struct Piece {
  int64_t lo, hi;                        // interval of the index; the full interval of an uneven dim
  llvm::SmallVector<RankDigit, 2> ranks; // major to minor; one for a digit
  int uneven = -1;                       // the dim, or -1 for a digit

  bool operator==(const Piece &o) const { return lo == o.lo && hi == o.hi && uneven == o.uneven && ranks == o.ranks; }
  int64_t numRanks() const;
};
using Pieces = llvm::SmallVector<Piece, 8>;

/// Two layouts of one shape as pieces, split at each other's boundaries if these divide,
/// and between the axes of the mesh; with `coarse` only between axes.
std::pair<Pieces, Pieces> makePieces(const Layout &a, const Layout &b, const Mesh *mesh, bool coarse = false);

/// The layout of these pieces, with the shape and the partial ranks of `like`.
Layout layoutOf(llvm::ArrayRef<Piece> pieces, const Layout &like);

/// True if no piece of `pieces` intersects the interval (or dim) of `piece`.
bool isLocal(const Piece &piece, llvm::ArrayRef<Piece> pieces);
/// True if no piece uses one of the ranks of `piece`.
bool isFree(const Piece &piece, llvm::ArrayRef<Piece> pieces);
bool isFree(const Piece &piece, llvm::ArrayRef<RankDigit> ranks);

/// Digits that cover the ranks of all pieces that are in one set only.
llvm::SmallVector<RankDigit, 2> movedRanks(llvm::ArrayRef<Piece> a, llvm::ArrayRef<Piece> b);

/// The name of the move from `a` to `m`.
//   a -> m, x = y = 2, 8x8              | name
//   [{}, {}] -> [{"x"}, {}]             | all_slice
//   [{"x"}, {"y"}] -> [{}, {"y"}]       | all_gather
//   [{"x"}, {}] -> [{}, {"x"}]          | all_to_all: moves to a local interval
//   [{"x", "y"}, {}] -> [{"x"}, {"y"}]  | all_to_all, in groups of y
//   [{"x"}, {}] -> [{"y"}, {}]          | collective_permute: full blocks
//   [{"x"}, {"y"}] -> [{"y"}, {"x"}]    | collective_permute
//   [{"x"}, {"y"}] -> [{}, {"x", "y"}]  | exchange: the interval of y is in use
CollectiveKind nameMove(llvm::ArrayRef<Piece> a, llvm::ArrayRef<Piece> m);

} // namespace mlir::spmd::detail

#endif // SHARDKIT_LIB_LAYOUT_PIECES_H
