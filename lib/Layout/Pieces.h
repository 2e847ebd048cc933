//===- Pieces.h - What a plan moves around ----------------------*- C++ -*-===//
//
// Internal to the layout library. A layout as a set of pieces: digits, cut where
// the other layout of a plan and the axes of the mesh have borders, and dims
// that are cut unevenly. Plans place, move and drop whole pieces.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_LAYOUT_PIECES_H
#define SHARDKIT_LIB_LAYOUT_PIECES_H

#include "shardkit/Layout/Plan.h"

namespace mlir::spmd::detail {

struct Piece {
  int64_t lo, hi;                        // of the index; of an uneven dim, all of the dim
  llvm::SmallVector<RankDigit, 2> ranks; // major to minor; of a digit, one
  int uneven = -1;                       // the dim, or -1 for a digit

  bool operator==(const Piece &o) const { return lo == o.lo && hi == o.hi && uneven == o.uneven && ranks == o.ranks; }
  int64_t numRanks() const;
};
using Pieces = llvm::SmallVector<Piece, 8>;

/// Two layouts of one shape as pieces, cut at each other's borders wherever this
/// divides, and between the axes of the mesh; with `coarse` only there.
std::pair<Pieces, Pieces> cutPieces(const Layout &a, const Layout &b, const Mesh *mesh, bool coarse = false);

/// The layout of these pieces, with the shape and the partial ranks of `like`.
Layout layoutOf(llvm::ArrayRef<Piece> pieces, const Layout &like);

/// True if no piece of `pieces` has a part of the interval (or dim) of `piece`.
bool isLocal(const Piece &piece, llvm::ArrayRef<Piece> pieces);
/// True if no piece owns a part of the ranks of `piece`.
bool isFree(const Piece &piece, llvm::ArrayRef<Piece> pieces);
bool isFree(const Piece &piece, llvm::ArrayRef<RankDigit> ranks);

/// Digits that cover the ranks of all pieces that are in one set only.
llvm::SmallVector<RankDigit, 2> movedRanks(llvm::ArrayRef<Piece> a, llvm::ArrayRef<Piece> b);

/// What the move from `a` to `m` is called.
//   a -> m, x = y = 2, 8x8              | name
//   [{}, {}] -> [{"x"}, {}]             | all_slice
//   [{"x"}, {"y"}] -> [{}, {"y"}]       | all_gather
//   [{"x"}, {}] -> [{}, {"x"}]          | all_to_all: moves to a local place
//   [{"x", "y"}, {}] -> [{"x"}, {"y"}]  | all_to_all, in groups of y
//   [{"x"}, {}] -> [{"y"}, {}]          | collective_permute: whole blocks
//   [{"x"}, {"y"}] -> [{"y"}, {"x"}]    | collective_permute
//   [{"x"}, {"y"}] -> [{}, {"x", "y"}]  | exchange: the place of y is taken
CollectiveKind nameMove(llvm::ArrayRef<Piece> a, llvm::ArrayRef<Piece> m);

} // namespace mlir::spmd::detail

#endif // SHARDKIT_LIB_LAYOUT_PIECES_H
