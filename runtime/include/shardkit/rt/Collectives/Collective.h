//===- Collective.h - One engine for every collective -----------*- C++ -*-===//
//
// A collective is a move in closed form (docs/reference/Manifest.md). A plan resolves it
// for the ranks of one run: who reads what from whom. Every rank offers its input,
// computes its own output from what it reads of its peers', and goes on when nobody
// reads its own any more. How ranks read of each other is the group's business.
// A transfer of a pipeline is the same move between the ranks of two meshes, in which
// all ranks of both take part. All ranks here are those of the world.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVES_COLLECTIVE_H
#define SHARDKIT_RT_COLLECTIVES_COLLECTIVE_H

#include "shardkit/rt/Collectives/Group.h"
#include "shardkit/rt/Manifest/Manifest.h"

#include <memory>

namespace shardkit::rt {

/// The buffers of a rank in one collective.
struct CollectiveBuffers {
  const void *in = nullptr;
  void *out = nullptr;
  int64_t count = 1; ///< Items.
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
  /// The ranks that take part together with `rank`, ascending.
  const std::vector<int> &participants(int rank) const { return groups_[size_t(rank)]->ranks(); }
  Group &group(int rank) const { return *groups_[size_t(rank)]; }
  /// Called by every rank that takes part with its own contiguous buffers, of `count`
  /// items each, as many on all of them, which `mover` moves. False when the world
  /// failed.
  bool run(int rank, int64_t count, const void *in, void *out, Mover &mover = hostMover());
  /// "collective 3 (all_reduce of 256 bytes at model.mlir:12:8)" for messages.
  std::string describe() const;
  /// Bytes that `rank` takes from others, in one execution, of each item.
  int64_t receivedBytes(int rank) const;

  /// A meeting of plans with the same ranks: what `rank` offers first, and what it
  /// does with what the others offer. A rank without an output only offers. `meet` is
  /// false when the world failed; `waited`, if not null, grows by the seconds in which
  /// it waited for others.
  static void offer(std::span<CollectivePlan *const> plans, Group &group, int rank,
                    std::span<const CollectiveBuffers> buffers, Mover &mover = hostMover());
  static bool meet(std::span<CollectivePlan *const> plans, Group &group, int rank,
                   std::span<const CollectiveBuffers> buffers, Mover &mover = hostMover(), double *waited = nullptr);

  /// The end of a transfer that `rank` has offered in a group that goes one way
  /// (World::oneWay): a receiver takes what the senders offer, a sender waits until all
  /// receivers have.
  bool finish(Group &group, int rank, const CollectiveBuffers &buffers, Mover &mover = hostMover(),
              double *waited = nullptr);

  /// What the plan consists of, for those that move it in another way.
  struct Loop {
    int64_t size, source, destination;
    int64_t packed = 1; ///< Of the source where it is packed in this order.
  };
  /// One source rank (or, reducing, the ranks combined) at fixed offsets, and
  /// the loops from there.
  struct Piece {
    std::vector<int> sources;
    int64_t source, destination;
    size_t loops = 0;                 ///< Index in loopSets_.
    int64_t shift = 0;                ///< Of the digits that choose among replicas.
    std::vector<int64_t> packed = {}; ///< Per source, its place in what that one packs.
  };
  /// Of what `rank` takes.
  const std::vector<Piece> &pieces(int rank) const { return pieces_[size_t(rank)]; }
  const std::vector<Loop> &loops(const Piece &piece) const { return loopSets_[piece.loops]; }
  int64_t elementsOf(const Piece &piece) const;
  /// Of an item, that `to` reads of member `source`.
  int64_t elementsFrom(int source, int to) const;
  bool isEmpty() const { return empty_; }
  bool isPadded() const { return padded_; }
  bool isSame() const { return isSame_; }
  /// The ranks of all groups of it, in order of the first of each.
  std::vector<std::vector<int>> allParticipants() const;

private:
  CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &sources, const MeshRanks &destinations,
                 bool isTransfer);
  /// What is read in a round: inputs, then the parts that members computed.
  struct Round : Reading {
    const CollectivePlan *plan;
    bool parts;
    int64_t bytes(int from, int to, int64_t count) const override;
    void pack(int from, int to, int64_t count, const void *buffer, void *packed) const override;
  };
  static std::vector<Loop> joinLoops(std::vector<Loop> loops);
  /// Places of a segment from `begin` on that `rank` receives side by side.
  struct Run {
    int64_t begin;
    Loop loop; ///< Of the output; the source side is not known here.
    int64_t destination;
  };
  static std::vector<Run> getRuns(const Segment &segment, int rank);
  /// Splits pieces at the runs of a segment that `rank` receives.
  void addSegment(const Segment &segment, int rank, std::vector<Piece> &pieces);
  /// Computes the output of `rank` from what plan `k` of the meeting offers; where
  /// work is shared (`isShared`) its part only, which `copyParts` completes once all
  /// members have computed theirs.
  void compute(int rank, int64_t count, Group &group, size_t k, void *out, Mover &mover);
  void copyParts(int rank, int64_t count, Group &group, size_t k, void *out, Mover &mover);
  bool isShared(int64_t count, const Group &group) const;
  /// Elements of `count` items that a member computes where work is shared: begin,
  /// number.
  std::pair<int64_t, int64_t> partOf(int member, int64_t count, const Group &group) const;
  /// The outputs of `count` items from `item` on; of one where pieces are packed.
  void computeItems(int rank, int64_t item, int64_t count, Group &group, size_t k, void *outputs, Mover &mover);
  /// For each piece of `rank` and source, its place in what the source packs.
  void placePacked(int rank);

  const CollectiveInfo &info_;
  int64_t elementSize_;
  /// Loops, destination-major and joined. The first are those of the atoms;
  /// others have the run of a segment too.
  std::vector<std::vector<Loop>> loopSets_;
  std::vector<std::vector<Piece>> pieces_; ///< Per rank of the world, empty for one that
                                           ///< receives nothing; sources are indices in
                                           ///< the group.
  std::vector<Group *> groups_;            ///< Per rank of the world, null for others.
  Round inputs_, parts_;
  bool packed_ = false; ///< Peers read packed pieces (World::isPacked).
  bool empty_ = false;  ///< Nothing moves.
  bool padded_ = false; ///< Some elements of the output are never written.
  bool isSame_ = false; ///< All members compute the same contiguous buffer.
};

/// Collectives that are started together (`with` in the manifest) and done later:
/// the ranks meet once for all of them.
class StartedPlan {
public:
  StartedPlan(std::vector<CollectivePlan *> plans, World &world, const MeshRanks &mesh);

  /// Takes the buffers of the next of the collectives, in order; with those of the
  /// last one the rank has come. Never waits.
  Status start(int rank, int64_t id, const void *in, void *out, Mover &mover = hostMover());
  /// Waits for the others and computes all outputs, in the first call after the
  /// start; the calls for the other collectives find it done. Error `Aborted`
  /// when the world failed. `waited`: whether this call did the work.
  Status done(int rank, int64_t id, const void *in, void *out, bool &waited, Mover &mover = hostMover());

private:
  /// Where a rank is. Handed and taken count collectives.
  struct alignas(64) State {
    size_t handed = 0, taken = 0;
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
  /// That collectives started together have the same ranks.
  Status status;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_COLLECTIVE_H
