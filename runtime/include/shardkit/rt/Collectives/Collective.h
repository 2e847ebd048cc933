//===- Collective.h - One engine for every collective -----------*- C++ -*-===//
//
// A collective is a move in closed form (docs/reference/Manifest.md). A plan resolves it
// for the ranks of one run: which elements each rank reads from which peer. A rank
//
// 1. publishes its input (`publish`),
// 2. computes its output from the published inputs of its peers (`rendezvous`),
// 3. waits until no peer reads its input any more.
//
// Example: an all-gather of 4 elements on 2 ranks. Ranks 0 and 1 publish [a b] and [c d].
// The output of each rank has two pieces: 2 elements of rank 0 at offset 0, 2 elements of
// rank 1 at offset 2. The group (Group.h) decides how a rank reads the buffer of another.
//
// A transfer of a pipeline is the same move between the ranks of two meshes; all ranks of
// both call it. Rank numbers are those of the world.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVES_COLLECTIVE_H
#define SHARDKIT_RT_COLLECTIVES_COLLECTIVE_H

#include "shardkit/rt/Collectives/Group.h"
#include "shardkit/rt/Manifest/Manifest.h"

#include <list>
#include <memory>
#include <mutex>

namespace shardkit::rt {

/// The buffers of a rank in one collective.
struct CollectiveBuffers {
  const void *in = nullptr;
  void *out = nullptr;
  int64_t count = 1; ///< Items.
};

/// Some rows of a buffer: a byte of each row, not 0.
struct RowMask {
  const uint8_t *data = nullptr;
  int64_t rows = 0; ///< Their number, of all items; they have equal sizes, one after the other. 0 without a mask.
};

/// The masks that a rank passes to a collective. All ranks pass masks of the same buffers, with as many rows.
struct RowMasks {
  RowMask input;  ///< The rows that it computed; the other ones are zero.
  RowMask output; ///< The rows that it needs; the other ones may hold anything afterwards.
};

class CollectivePlan {
public:
  /// On the ranks of a mesh.
  CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &mesh);
  CollectivePlan(const CollectiveInfo &info, World &world)
      : CollectivePlan(info, world, MeshRanks::all(world.size())) {}
  /// A transfer from the ranks of one mesh to those of another.
  CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &sources, const MeshRanks &destinations);

  const CollectiveInfo &info() const { return info_; }
  /// The ranks of the group of `rank`, ascending.
  const std::vector<int> &participants(int rank) const { return groups_[size_t(rank)]->ranks(); }
  Group &group(int rank) const { return *groups_[size_t(rank)]; }
  /// Called by every rank of the group with its contiguous buffers of `count` items,
  /// the same count on all ranks. `engine` copies and reduces. False when the world
  /// failed.
  bool run(int rank, int64_t count, const void *in, void *out, CopyEngine &engine = hostCopyEngine());
  /// The same, but of each row that is needed and was computed alone; in a sum, rows that one rank alone computed are
  /// copied. Each rank has its own masks. Whole buffers are sent where an item is not a number of rows, where a
  /// product, a minimum or a maximum has a mask of the input, and where a large all-reduce receives no less by rows.
  /// Adds the bytes that this rank reads from others, a bit of each row of their masks included, to `received`. On the
  /// host.
  bool runRows(int rank, int64_t count, const RowMasks &masks, const void *in, void *out, int64_t &received);
  /// The same collective with these values of the offsets that are known at run time, the same
  /// on all ranks of a group. Ranks share the plan of equal offsets while it is kept.
  std::shared_ptr<CollectivePlan> at(std::span<const int64_t> offsets);
  /// The plan that `at` was called on; this one without such offsets.
  const CollectivePlan &base() const { return base_ ? *base_ : *this; }
  /// "collective 3 (all_reduce of 256 bytes at model.mlir:12:8)" for messages.
  std::string describe() const;
  /// Bytes of each item that `rank` reads from others in one execution.
  int64_t receivedBytes(int rank) const;

  /// One rendezvous for several plans with the same ranks: `publish` publishes the inputs
  /// of `rank`, `rendezvous` waits for the inputs of the others and computes the outputs. A
  /// rank without an output only publishes. `rendezvous` returns false when the world
  /// failed; `waited`, if not null, grows by the seconds in which it waited for others.
  static void publish(std::span<CollectivePlan *const> plans, Group &group, int rank,
                      std::span<const CollectiveBuffers> buffers, CopyEngine &engine = hostCopyEngine());
  static bool rendezvous(std::span<CollectivePlan *const> plans, Group &group, int rank,
                         std::span<const CollectiveBuffers> buffers, CopyEngine &engine = hostCopyEngine(),
                         double *waited = nullptr);

  /// Completes a transfer that `rank` has published in a one-way group (World::oneWay):
  /// a receiver reads the buffers of the senders, a sender waits until all receivers have.
  bool finish(Group &group, int rank, const CollectiveBuffers &buffers, CopyEngine &engine = hostCopyEngine(),
              double *waited = nullptr);

  /// The plan as data that other implementations (NCCL) execute.
  struct Loop {
    int64_t size, source, destination;
    int64_t packed = 1; ///< Stride in the source if it is packed in this order.
  };
  /// One source rank (or, reducing, the ranks combined) at fixed offsets, and
  /// the loops from there.
  struct Piece {
    std::vector<int> sources;
    int64_t source, destination;
    size_t loops = 0;                 ///< Index in loopSets_.
    int64_t shift = 0;                ///< Shift of the digits that select a replica.
    std::vector<int64_t> packed = {}; ///< Per source, the offset in its packed data.
  };
  /// The pieces of the output of `rank`.
  const std::vector<Piece> &pieces(int rank) const { return pieces_[size_t(rank)]; }
  const std::vector<Loop> &loops(const Piece &piece) const { return loopSets_[piece.loops]; }
  int64_t elementsOf(const Piece &piece) const;
  /// Elements of one item that `to` reads from member `source`.
  int64_t elementsFrom(int source, int to) const;
  bool isEmpty() const { return empty_; }
  bool isPadded() const { return padded_; }
  bool isSame() const { return isSame_; }
  /// The ranks of all groups, in order of their first ranks.
  std::vector<std::vector<int>> allParticipants() const;

private:
  CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &sources, const MeshRanks &destinations,
                 bool isTransfer);
  CollectivePlan(const CollectivePlan &base, std::unique_ptr<CollectiveInfo> info);
  /// The groups of ranks that differ in `digits` alone.
  void makeGroups(World &world, const std::vector<RankDigit> &digits);
  /// Resolves which elements each rank reads.
  void makePieces();
  std::vector<Piece> makePieces(int rank);
  /// The data that is read in a round: inputs, then the chunks that members computed.
  struct Round : Reading {
    const CollectivePlan *plan;
    bool isChunks;
    int64_t bytes(int from, int to, int64_t count) const override;
    void pack(int from, int to, int64_t count, const void *buffer, void *packed) const override;
  };
  static std::vector<Loop> joinLoops(std::vector<Loop> loops);
  /// Consecutive indices of a segment, from `begin` on, that `rank` receives.
  struct Run {
    int64_t begin;
    Loop loop; ///< Destination side only; the source side is not known here.
    int64_t destination;
  };
  static std::vector<Run> getRuns(const Segment &segment, int rank);
  struct ReadRows;
  bool takesRows(int64_t count, const RowMasks &masks) const;
  /// The bytes that `rank` receives where whole buffers are sent.
  int64_t bytesOfWhole(int rank, int64_t count) const;
  void computeRows(const ReadRows &rows, int index, void *out);
  /// Splits pieces at the runs of a segment that `rank` receives.
  void addSegment(const Segment &segment, int rank, std::vector<Piece> &pieces);
  /// Computes the output of `rank` from the published buffers `k` of the rendezvous. If
  /// work is shared (`isShared`) it computes one chunk; `copyChunks` copies the others once
  /// all members have computed theirs.
  void compute(int rank, int64_t count, Group &group, size_t k, void *out, CopyEngine &engine);
  void copyChunks(int rank, int64_t count, Group &group, size_t k, void *out, CopyEngine &engine);
  bool isShared(int64_t count, const Group &group) const;
  /// The chunk of `count` items that a member computes if work is shared: first element,
  /// number of elements.
  std::pair<int64_t, int64_t> chunkOf(int member, int64_t count, const Group &group) const;
  /// The outputs of `count` items from `item` on; count is 1 if pieces are packed.
  void computeItems(int rank, int64_t item, int64_t count, Group &group, size_t k, void *outputs, CopyEngine &engine);
  /// Sets Piece::packed of the pieces of `rank`.
  void layOutPacked(int rank);

  std::unique_ptr<CollectiveInfo> ownInfo_; ///< Set in a plan with offsets.
  const CollectivePlan *base_ = nullptr;
  const CollectiveInfo &info_;
  MeshRanks sources_, destinations_;
  const bool isTransfer_;
  int64_t elementSize_;
  /// Loops, destination-major and joined. The first are those of the atoms;
  /// others have the run of a segment too.
  std::vector<std::vector<Loop>> loopSets_;
  std::vector<std::vector<Piece>> pieces_; ///< Per rank of the world, empty for one that
                                           ///< receives nothing; sources are indices in
                                           ///< the group.
  std::vector<Group *> groups_;            ///< Per rank of the world, null for others.
  Round inputs_, chunks_;
  bool packed_ = false; ///< Peers read packed pieces (World::isPacked).
  bool empty_ = false;  ///< Nothing moves.
  bool padded_ = false; ///< Some elements of the output are never written.
  bool isSame_ = false; ///< All members compute the same contiguous buffer.

  struct AtOffsets {
    std::vector<int64_t> offsets;
    std::shared_ptr<CollectivePlan> plan;
  };
  std::mutex atMutex_;
  std::list<AtOffsets> atOffsets_; ///< The latest first.
};

/// Collectives that are started together (`with` in the manifest) and done later, with
/// one rendezvous for all of them.
class StartedPlan {
public:
  StartedPlan(std::vector<CollectivePlan *> plans, World &world, const MeshRanks &mesh);

  bool isAlone() const { return plans_.size() == 1; }
  /// Takes the buffers of the next of the collectives, in order, and publishes all of
  /// them with the last one. Never waits.
  Status start(int rank, int64_t id, const void *in, void *out, CopyEngine &engine = hostCopyEngine());
  /// Waits for the others and computes all outputs, in the first call after the
  /// start; the calls for the other collectives find it done. Error `Aborted`
  /// when the world failed. `waited`: whether this call did the work.
  Status done(int rank, int64_t id, const void *in, void *out, bool &waited, CopyEngine &engine = hostCopyEngine());

private:
  /// The progress of a rank: how many collectives it has started and finished.
  struct alignas(64) State {
    size_t started = 0, finished = 0;
    std::vector<CollectiveBuffers> buffers;
  };

  std::vector<CollectivePlan *> plans_;
  std::vector<Group *> groups_; ///< Per rank.
  std::vector<State> states_;
};

/// The plans of all collectives of a function on the ranks of a mesh.
struct FunctionPlans {
  FunctionPlans(const FunctionInfo &function, World &world, const MeshRanks &mesh);
  FunctionPlans(const FunctionInfo &function, World &world)
      : FunctionPlans(function, world, MeshRanks::all(world.size())) {}

  std::vector<std::unique_ptr<CollectivePlan>> plans; ///< By id.
  /// By id; null for collectives that are not started.
  std::vector<std::shared_ptr<StartedPlan>> started;
  /// An error if collectives that are started together have different ranks.
  Status status;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_COLLECTIVE_H
