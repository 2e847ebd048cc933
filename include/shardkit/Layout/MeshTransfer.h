//===- MeshTransfer.h - From one mesh to another ----------------*- C++ -*-===//
//
// Transfers of a value from the devices of one mesh to the devices of another. Each
// needed byte is sent once; data that the receivers replicate are sent to one of them
// and gathered there.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_MESHTRANSFER_H
#define SHARDKIT_LAYOUT_MESHTRANSFER_H

#include "shardkit/Layout/ReshardPlan.h"

namespace mlir::spmd {

/// The transfer `from` a mesh of `senders` devices `to` one of `receivers`. Ranks of
/// each side are those of its mesh. Replicas of the source share the work. std::nullopt
/// if the source is partial, or if uneven dims change their shape.
std::optional<Transfer> computeMeshTransfer(const Layout &from, int64_t senders, const Layout &to, int64_t receivers);

/// The volume of a transfer: pairs of a sender and a receiver, and elements.
struct MeshTransferVolume {
  int64_t messages = 0, elements = 0;
};
/// The volume of a transfer `from` one mesh `to` another with `receivers` devices.
/// Exact for layouts that split each other evenly, else an upper bound of messages.
MeshTransferVolume getTransferVolume(const Layout &from, const Layout &to, int64_t receivers);

/// The sharding in which a value arrives that must be in layout `to` on `mesh`. It is
/// also sharded by the (sub-)axes that `to` does not use, to the extent that sizes
/// allow, along the dims that need the fewest messages.
///   f32[4,8,16] R(2) -> R(2)            arrives as S0: 2 messages, 2048 bytes
///   f32[4,8,16] S1(2) -> R(2)           arrives as S1: 2 messages, 2048 bytes
///   f32[3,8,2] R(2) -> R(2)             arrives as S1: 3 is odd
///   f32[6,8,16] R(4) -> R(4)            arrives as 2 x 2 along dims 0 and 1
Sharding getArrival(const Layout &from, const Sharding &to, const Mesh &mesh);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_MESHTRANSFER_H
