//===- Plan.h - From one layout to another ----------------------*- C++ -*-===//

#ifndef SHARDKIT_LAYOUT_PLAN_H
#define SHARDKIT_LAYOUT_PLAN_H

#include "shardkit/Layout/Layout.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::spmd {

enum class CollectiveKind : uint8_t {
  AllSlice,
  AllGather,
  AllReduce,
  ReduceScatter,
  AllToAll,
  CollectivePermute,
  Exchange
};
llvm::StringRef stringifyCollectiveKind(CollectiveKind kind);
/// Its inverse; nothing for any other name.
std::optional<CollectiveKind> parseCollectiveKind(llvm::StringRef name);

/// One step of a plan: one collective that leads from a layout to the next.
struct PlanStep {
  CollectiveKind kind;
  Layout from, to;
  /// Rank digits along which data moves (for reductions: those combined).
  llvm::SmallVector<RankDigit, 2> group;
  /// Where `to` counts the devices in another order than `from`: the rank that
  /// each device has in `to`, by its rank in `from`. Empty: the same.
  llvm::ArrayRef<int64_t> order = {};
};

using ReshardPlan = llvm::SmallVector<PlanStep, 3>;

/// Rank digits along which data moves from one layout to the other: those that
/// own or combine something on one side and not the same on the other.
///   [{"x"}, {"y"}] -> [{"x"}, {}]: y
llvm::SmallVector<RankDigit, 2> getMovedRanks(const Layout &from, const Layout &to);

struct ReshardOptions {
  /// Every layout on the way is a sharding of this mesh. Without one, any layout
  /// may be.
  const Mesh *mesh = nullptr;
  /// Predicted time of a step; `CostModel::planReshard` fills it in. Without it
  /// plans are compared by the elements that devices receive.
  llvm::function_ref<double(const PlanStep &)> seconds = nullptr;
  /// What any step takes at least in which a device receives so many (> 0) elements.
  llvm::function_ref<double(int64_t)> least = nullptr;
  /// The rank that each device has in `to`, by its rank in `from`; empty: the
  /// same. Steps up to one that has `PlanStep::order` (which refers to this
  /// list) count ranks as `from` does, later ones as `to`. Orders that only
  /// permute digits need none of this: see MeshViews.h. With an order, `to` must
  /// be complete and `mesh` is not used for layouts behind that step.
  llvm::ArrayRef<int64_t> order = {};
};
/// The order between two meshes of the same devices; nothing if they have others.
std::optional<llvm::SmallVector<int64_t>> rankOrder(const Mesh &from, const Mesh &to);

/// Collectives that lead from `from` to `to` (of the same shape) on one device
/// order; empty when equal.
///
/// Where nothing is to be reduced: a slice (free), an exchange, a gather, each
/// where needed. Whatever the layouts (digits that do not cut each other evenly,
/// uneven dims), the plan receives exactly `receivedElements(from, to)`, the
/// fewest possible: no value is gathered only to be sliced again. Among plans
/// that do, the lowest time wins, then a named collective (all_to_all,
/// collective_permute), then fewer steps.
///
/// Where ranks are partial: the sequence of the lowest time among those of
/// slices, moves, reduce_scatter and all_reduce between the places of `from`,
/// those of `to` and free ones; ties as above.
///
/// Partial ranks of `to` that are not partial in `from` are left out (neutral
/// elements are the caller's business, see `addedPartial`): the last step is
/// then complete over them.
ReshardPlan planReshard(const Layout &from, const Layout &to, const ReshardOptions &options = {});

/// Partial ranks of `to` that a plan from `from` leaves complete.
llvm::SmallVector<RankDigit, 2> addedPartial(const Layout &from, const Layout &to);

/// Sum over devices of elements that `to` owns and `from` does not (neither may
/// be partial), in closed form where the layouts cut each other evenly, else by
/// interval arithmetic over the devices of the rank digits involved.
int64_t receivedElements(const Layout &from, const Layout &to, int64_t numDevices);

/// The same, with the most that any one device receives (what an exchange is
/// priced by).
struct MoveVolume {
  int64_t total = 0, largest = 0;
};
MoveVolume moveVolume(const Layout &from, const Layout &to, int64_t numDevices);
/// The same where the ranks of `to` are in another order (see ReshardOptions):
/// device by device, by interval arithmetic.
MoveVolume moveVolume(const Layout &from, const Layout &to, llvm::ArrayRef<int64_t> order);

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
/// A loop that the two sides cut differently: each writes its index as a number
/// of its own parts, major to minor (`stride` as in an atom). The product of the
/// sizes may exceed that of the segment: a dim of 5 in chunks of 3 has parts 2
/// and 3, and the last place of the last chunk is padding.
struct TransferPart {
  int64_t size;
  bool isRank;
  int64_t stride;
};
struct TransferSegment {
  int64_t size;
  llvm::SmallVector<TransferPart, 3> src, dst;
  /// Set where the destination holds windows: ranks of `dst` with coordinate k
  /// hold places [step * k + offset, ...), as many as the local part behind the
  /// ranks has (1 without one). What is not in [0, size) is padding.
  struct Window {
    int64_t step, offset;
  };
  std::optional<Window> window = std::nullopt;
};
struct Transfer {
  llvm::SmallVector<TransferAtom, 6> atoms;
  /// Empty where the layouts cut each other evenly.
  llvm::SmallVector<TransferSegment, 1> segments;
  /// With segments, ranks that choose among replicas, so that senders share the
  /// work: such a digit of the source is the one of r plus, for each source rank
  /// of the segments, what r has there less what the source has, modulo its size.
  llvm::SmallVector<RankDigit, 1> spread;
  /// Ranks to combine, in ascending order, for reductions.
  llvm::SmallVector<RankDigit, 2> reduce;
};
/// The element (rank r, local offset d) of `to` is read from the rank that is r
/// with the digits of the source ranks replaced, at the sum of the local source
/// strides; the ranks of the destination are fixed by r. An atom of the same
/// rank digit on both sides needs no loop and is left out; an atom with both
/// ranks may also be no part of the index but choose among replicas, so that
/// senders share the work ([{"x"}] -> [{"y"}] reads from rank (y, x)). A rank
/// that owns an element in `from` reads it from itself, so a move receives
/// exactly `receivedElements`. Uneven dims of one shape: the padding of `to` is
/// not written, unless the dim is the same on both sides. Digits partial in
/// `from` and not in `to` become `reduce`; nothing if those are no rank digits
/// (half an axis of 6 less a third of it), or if uneven dims change their shape.
///
/// `reorders`: ranks of `to` are counted in another order than those of `from`.
/// Then all that is said of r holds for its number on the side in question, and
/// no loop is left out.
std::optional<Transfer> computeTransfer(const Layout &from, const Layout &to, bool reorders = false);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_PLAN_H
