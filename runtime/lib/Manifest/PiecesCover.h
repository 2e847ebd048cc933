//===- PiecesCover.h - Whether pieces write every element once --*- C++ -*-===//

#ifndef SHARDKIT_RT_LIB_PIECESCOVER_H
#define SHARDKIT_RT_LIB_PIECESCOVER_H

#include "shardkit/rt/Manifest/Extents.h"

namespace shardkit::rt {

/// True if the pieces, whose loops and bases are legal, write every element of a
/// local buffer of `localShape` exactly once, on every rank and padding apart. Dims
/// that some piece has in chunks have `globalShape` places over all ranks. Goes
/// through the places of each dim, not through elements; false also where a piece is
/// no product of places of the dims, and where it takes too long.
bool piecesCover(const std::vector<ExtentPiece> &pieces, const std::vector<int64_t> &localShape,
                 const std::vector<int64_t> &globalShape);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LIB_PIECESCOVER_H
