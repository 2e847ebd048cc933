//===- MeshTransfer.h - From one mesh to another ----------------*- C++ -*-===//
//
// A value goes from the devices of one mesh to those of another, which has other
// devices: each needed byte is sent once, and what the receivers replicate is sent to
// one of them and gathered there.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_MESHTRANSFER_H
#define SHARDKIT_LAYOUT_MESHTRANSFER_H

#include "shardkit/Layout/Plan.h"

namespace mlir::spmd {

/// The move `from` a mesh of `senders` devices `to` another of `receivers`: what is said
/// of ranks holds for the mesh of that side. Replicas of the source share the work.
/// Nothing where the source is partial, or uneven dims change their shape.
std::optional<Transfer> computeMeshTransfer(const Layout &from, int64_t senders, const Layout &to, int64_t receivers);

/// What goes from mesh to mesh: pairs of a sender and a receiver, and elements.
struct MeshTransferVolume {
  int64_t messages = 0, elements = 0;
};
/// Of a move `from` one mesh `to` another with `receivers` devices. Exact for layouts
/// that cut each other evenly, else messages are at most that many.
MeshTransferVolume getTransferVolume(const Layout &from, const Layout &to, int64_t receivers);

/// The layout in which a value arrives that shall be in layout `to` on `mesh`: cut by the
/// axes, or parts of axes, that `to` does not use, as far as sizes allow, along the dims
/// that need fewest messages; `to` itself where it uses all.
///   f32[4,8,16] R(2) -> R(2)            arrives as S0: 2 messages, 2048 bytes
///   f32[4,8,16] S1(2) -> R(2)           arrives as S1: 2 messages, 2048 bytes
///   f32[3,8,2] R(2) -> R(2)             arrives as S1: 3 is odd
///   f32[6,8,16] R(4) -> R(4)            arrives as 2 x 2 along dims 0 and 1
Sharding getArrival(const Layout &from, const Sharding &to, const Mesh &mesh);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_MESHTRANSFER_H
