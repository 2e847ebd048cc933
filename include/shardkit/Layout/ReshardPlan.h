//===- ReshardPlan.h - From one layout to another ---------------*- C++ -*-===//

#ifndef SHARDKIT_LAYOUT_RESHARDPLAN_H
#define SHARDKIT_LAYOUT_RESHARDPLAN_H

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
/// The inverse; std::nullopt for any other name.
std::optional<CollectiveKind> parseCollectiveKind(llvm::StringRef name);

/// One step of a plan: one collective that leads from a layout to the next.
struct PlanStep {
  CollectiveKind kind;
  Layout from, to;
  /// Rank digits along which data moves (for reductions: those combined).
  llvm::SmallVector<RankDigit, 2> group;
  /// If `to` counts the devices in another order than `from`: the rank that each
  /// device has in `to`, by its rank in `from`. Empty: the same order.
  llvm::ArrayRef<int64_t> order = {};
};

using ReshardPlan = llvm::SmallVector<PlanStep, 3>;

/// Rank digits along which data moves from one layout to the other: those that
/// own or combine something on one side and not the same on the other.
///   [{"x"}, {"y"}] -> [{"x"}, {}]: y
llvm::SmallVector<RankDigit, 2> getMovedRanks(const Layout &from, const Layout &to);

struct ReshardOptions {
  /// Every intermediate layout is a sharding of this mesh. Without a mesh, any layout
  /// is allowed.
  const Mesh *mesh = nullptr;
  /// Predicted time of a step; `CostModel::planReshard` fills it in. Without it
  /// plans are compared by the elements that devices receive.
  llvm::function_ref<double(const PlanStep &)> seconds = nullptr;
  /// Lower bound of the time of a step in which a device receives this many (> 0)
  /// elements.
  llvm::function_ref<double(int64_t)> minSeconds = nullptr;
  /// The rank that each device has in `to`, by its rank in `from`; empty: the
  /// same. Steps up to one that has `PlanStep::order` (which refers to this
  /// list) count ranks as `from` does, later ones as `to`. Orders that only
  /// permute digits do not need this: see MeshViews.h. With an order, `to` must
  /// be complete and `mesh` is not used for layouts after that step.
  llvm::ArrayRef<int64_t> order = {};
};
/// The order between two meshes of the same devices; std::nullopt for other devices.
std::optional<llvm::SmallVector<int64_t>> rankOrder(const Mesh &from, const Mesh &to);

/// Collectives that lead from `from` to `to` (of the same shape) on one device
/// order; empty when equal.
///
/// Without partial ranks: a slice (without data movement), an exchange and a gather,
/// each if needed. For all layouts (digits that do not split each other evenly, uneven
/// dims), the plan receives exactly `receivedElements(from, to)`, the fewest possible:
/// no value is gathered only to be sliced again. Among such plans the lowest time wins,
/// then a named collective (all_to_all, collective_permute), then fewer steps.
///
/// With partial ranks: the sequence of lowest time among those of slices, moves,
/// reduce_scatter and all_reduce over the dims of `from`, those of `to` and unsharded
/// ones; ties as above.
///
/// Partial ranks of `to` that are not partial in `from` are left out (the caller
/// creates neutral elements, see `addedPartial`): the last step is complete over them.
ReshardPlan planReshard(const Layout &from, const Layout &to, const ReshardOptions &options = {});

/// Collectives from one layout to another that move only axes that are minor in their dim, as XLA does: new
/// axes become minor ones, a slice; a collective_permute makes those that leave a dim its minor ones, in the order of
/// `to` for those that stay; each leaves by an all_to_all or an all_gather; a last collective_permute orders the axes.
/// `gathersLast`: those that move to another dim leave first. std::nullopt where the layouts have local digits before
/// those of axes, or uneven dims.
///   [{"x", "y"}, {}] -> [{"y"}, {"x"}]: collective_permute to [{"y", "x"}, {}], all_to_all
std::optional<ReshardPlan> planWholeAxes(const Layout &from, const Layout &to, const Mesh &mesh, bool gathersLast);

/// Partial ranks of `to` that a plan from `from` leaves complete.
llvm::SmallVector<RankDigit, 2> addedPartial(const Layout &from, const Layout &to);

/// Sum over devices of elements that `to` owns and `from` does not (neither may
/// be partial), in closed form if the layouts split each other evenly, else by
/// interval arithmetic over the devices of the rank digits involved.
int64_t receivedElements(const Layout &from, const Layout &to, int64_t numDevices);

/// The same, with the maximum that one device receives, which determines the cost of
/// an exchange.
struct MoveVolume {
  int64_t total = 0, largest = 0;
};
MoveVolume moveVolume(const Layout &from, const Layout &to, int64_t numDevices);
/// The same if the ranks of `to` are in another order (see ReshardOptions): device by
/// device, by interval arithmetic.
MoveVolume moveVolume(const Layout &from, const Layout &to, llvm::ArrayRef<int64_t> order);

/// Restricts a step to the local value that all its devices have in common: removes
/// the digits that are equal on both sides from the index space.
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
/// A mixed-radix digit of a loop that the two sides split differently. Each side writes
/// the index as a number in digits of its own, major to minor (`stride` as in an atom).
/// The product of the sizes may exceed that of the segment: a dim of 5 in chunks of 3
/// has digits 2 and 3, and the last element of the last chunk is padding.
struct TransferDigit {
  int64_t size;
  bool isRank;
  int64_t stride;
};
struct TransferSegment {
  int64_t size;
  llvm::SmallVector<TransferDigit, 3> src, dst;
  /// Set if the destination holds windows: ranks of `dst` with coordinate k hold the
  /// indices [step * k + offset, ...), as many as the local digit after the ranks has (1
  /// without one). Indices outside [0, size) are padding.
  struct Window {
    int64_t step, offset;
    int64_t added = -1; ///< As in shardkit/Layout/Layout.h.
  };
  std::optional<Window> window = std::nullopt;
};
struct Transfer {
  llvm::SmallVector<TransferAtom, 6> atoms;
  /// Empty if the layouts split each other evenly.
  llvm::SmallVector<TransferSegment, 1> segments;
  /// With segments, ranks that choose among replicas, so that senders share the work:
  /// such a digit of the source is that of r plus, for each source rank of the segments,
  /// the digit of r minus the digit of the source, modulo its size.
  llvm::SmallVector<RankDigit, 1> spread;
  /// Ranks to combine, in ascending order, for reductions.
  llvm::SmallVector<RankDigit, 2> reduce;
};
/// The element (rank r, local offset d) of `to` is read from the rank that is r
/// with the digits of the source ranks replaced, at the sum of the local source
/// strides; the ranks of the destination are fixed by r. An atom of the same
/// rank digit on both sides needs no loop and is left out. An atom with both ranks
/// may also be outside the index and choose among replicas, so that senders share the
/// work ([{"x"}] -> [{"y"}] reads from rank (y, x)). A rank that owns an element in
/// `from` reads it from itself, so a move receives exactly `receivedElements`. Uneven
/// dims of one shape: the padding of `to` is not written, unless the dim is the same on
/// both sides. Digits partial in `from` and not in `to` become `reduce`. Returns
/// std::nullopt if those are not rank digits (half an axis of 6 minus a third of it), or
/// if uneven dims change their shape.
///
/// `reorders`: ranks of `to` are counted in another order than those of `from`. Then r
/// is, on each side, the rank in the order of that side, and no loop is left out.
std::optional<Transfer> computeTransfer(const Layout &from, const Layout &to, bool reorders = false);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_RESHARDPLAN_H
