//===- Plan.h - From one layout to another ----------------------*- C++ -*-===//

#ifndef SHARDKIT_LAYOUT_PLAN_H
#define SHARDKIT_LAYOUT_PLAN_H

#include "shardkit/Layout/Layout.h"

namespace mlir::spmd {

enum class CollectiveKind : uint8_t {
  AllSlice, AllGather, AllReduce, ReduceScatter, AllToAll, CollectivePermute,
  Exchange
};
llvm::StringRef stringifyCollectiveKind(CollectiveKind kind);

/// One step of a plan: one collective that leads from a layout to the next.
struct PlanStep {
  CollectiveKind kind;
  Layout from, to;
  /// Rank digits along which data moves (for reductions: those combined).
  llvm::SmallVector<RankDigit, 2> group;
};

/// Collectives that lead from `from` to `to` (of the same shape) on one device
/// order; empty when equal. In this order, each where needed: one slice (free,
/// and it makes the rest cheaper, a reduction too), reduce_scatter and
/// all_reduce of partial ranks, one exchange, one gather. Where the layouts cut
/// each other evenly and nothing is partial, the plan receives the fewest
/// elements possible; among such plans one with a named collective, then the
/// fewest steps. With `mesh`, every layout on the way is a sharding of it. Digits that do not cut each other evenly, and uneven dims, are
/// gathered and sliced again (more steps of these two kinds). Partial ranks of
/// `to` that are not partial in `from` are left out (neutral elements are the
/// caller's business, see `addedPartial`): the last step is then complete over
/// them.
llvm::SmallVector<PlanStep, 3> planReshard(const Layout &from, const Layout &to,
                                           const Mesh *mesh = nullptr);

/// Partial ranks of `to` that a plan from `from` leaves complete.
llvm::SmallVector<RankDigit, 2> addedPartial(const Layout &from,
                                             const Layout &to);

/// Sum over devices of elements that `to` owns and `from` does not (neither may
/// be partial), in closed form where the layouts cut each other evenly, else by
/// interval arithmetic over the devices of the rank digits involved.
int64_t receivedElements(const Layout &from, const Layout &to,
                         int64_t numDevices);

/// The same, with the most that any one device receives (what an exchange is
/// priced by).
struct MoveVolume {
  int64_t total = 0, largest = 0;
};
MoveVolume moveVolume(const Layout &from, const Layout &to, int64_t numDevices);

/// A step seen on the local value that all its devices share: the digits that
/// stay as they are on both sides are taken out of the index space.
///   [{"x"}, {"y"}] -> [{"x"}, {}] of 8x16 becomes [{}, {"y"}] -> [{}, {}] of 4x16
void removeCommonDigits(Layout &from, Layout &to);

/// A move of elements in closed form, evaluated by each rank: nested loops over
/// atoms, major to minor. Each atom has on each side either a local stride (in
/// elements of that side's buffer) or a rank stride.
struct TransferAtom {
  int64_t size;
  bool srcIsRank, dstIsRank;
  int64_t srcStride, dstStride;
};
struct Transfer {
  llvm::SmallVector<TransferAtom, 6> atoms;
  /// Ranks to combine, in ascending order, for reductions.
  llvm::SmallVector<RankDigit, 2> reduce;
};
/// The element (rank r, local offset d) of `to` is read from the rank that is r
/// with the digits of the source-rank atoms replaced, at the sum of the local
/// source strides; rank atoms of the destination are fixed by r. An atom of the
/// same rank digit on both sides needs no loop and is left out; an atom with
/// both ranks may also be no part of the index but choose among replicas, so
/// that senders share the work ([{"x"}] -> [{"y"}] reads from rank (y, x)). A
/// rank that owns an element in `from` reads it from itself. Nothing if the
/// layouts do not cut each other evenly (uneven dims, 3x4 against 2x6). Digits
/// partial in `from` and not in `to` become `reduce`.
std::optional<Transfer> computeTransfer(const Layout &from, const Layout &to);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_PLAN_H
