//===- Collective.h - One engine for every collective -----------*- C++ -*-===//
//
// A collective is a move in closed form (docs/Manifest.md). A plan resolves it
// for the ranks of one run: who reads what from whom. Every rank publishes its
// buffers, computes its own output from its peers' inputs, and waits until all
// are done reading.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVE_H
#define SHARDKIT_RT_COLLECTIVE_H

#include "shardkit/rt/Group.h"
#include "shardkit/rt/Manifest.h"

namespace shardkit::rt {

class CollectivePlan {
public:
  CollectivePlan(const CollectiveInfo &info, World &world);

  const CollectiveInfo &info() const { return info_; }
  /// The ranks that take part together with `rank`, ascending.
  const std::vector<int> &participants(int rank) const {
    return groups_[size_t(rank)]->ranks();
  }
  /// Called by every rank of the world with its own contiguous buffers. False
  /// when the world failed.
  bool run(int rank, const void *in, void *out);
  /// Bytes that `rank` takes from others, in one execution.
  int64_t receivedBytes(int rank) const;

private:
  struct Loop {
    int64_t size, source, destination;
  };
  /// One source rank (or, reducing, the ranks combined) at fixed offsets, and
  /// the loops from there.
  struct Piece {
    std::vector<int> sources;
    int64_t source, destination;
    size_t loops = 0;  ///< Index in loopSets_.
    int64_t shift = 0; ///< Of the digits that choose among replicas.
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
  void compute(int rank, Group &group, void *out);

  const CollectiveInfo &info_;
  int64_t elementSize_;
  /// Loops, destination-major and joined. The first are those of the atoms;
  /// others have the run of a segment too.
  std::vector<std::vector<Loop>> loopSets_;
  std::vector<std::vector<Piece>> pieces_; ///< Per rank; sources are indices
                                           ///< in the group.
  std::vector<Group *> groups_;            ///< Per rank.
  bool padded_ = false; ///< Some elements of the output are never written.
  bool shared_ = false; ///< All members compute the same contiguous buffer.
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVE_H
