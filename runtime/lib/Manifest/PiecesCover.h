//===- PiecesCover.h - Exact cover of a buffer by pieces --------*- C++ -*-===//

#ifndef SHARDKIT_RT_LIB_PIECESCOVER_H
#define SHARDKIT_RT_LIB_PIECESCOVER_H

#include "shardkit/rt/Manifest/Extents.h"

namespace shardkit::rt {

/// True if the pieces, whose loops and bases are valid, write every element of a local buffer of
/// `localShape` exactly once, on every rank, padding excluded. Dims that some piece has in chunks
/// have `globalShape` indices over all ranks. Visits the indices of each dim, not the elements.
/// False also for a piece that is not a product of indices of dims, and if the work exceeds a
/// limit.
bool piecesCover(const std::vector<ExtentPiece> &pieces, const std::vector<int64_t> &localShape,
                 const std::vector<int64_t> &globalShape);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LIB_PIECESCOVER_H
