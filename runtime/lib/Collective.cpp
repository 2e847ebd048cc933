//===- Collective.cpp - One engine for every collective ---------------------===//

#include "shardkit/rt/Collective.h"

#include "shardkit/rt/Reduce.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

namespace shardkit::rt {

namespace {

/// From this size on members share the work of an all-reduce.
constexpr int64_t sharedBytes = 64 << 10;

int replaceDigit(int rank, int64_t stride, int64_t size, int64_t value) {
  return int(rank + (value - (rank / stride) % size) * stride);
}

/// The classes of ranks that differ only in the given digits.
std::vector<std::vector<int>> classesOf(const std::vector<RankDigit> &digits,
                                        int ranks) {
  std::vector<int> parent(static_cast<size_t>(ranks));
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](int r) {
    while (parent[size_t(r)] != r)
      r = parent[size_t(r)] = parent[size_t(parent[size_t(r)])];
    return r;
  };
  for (const RankDigit &digit : digits)
    for (int r = 0; r < ranks; ++r) {
      int a = find(r), b = find(replaceDigit(r, digit.stride, digit.size, 0));
      parent[size_t(std::max(a, b))] = std::min(a, b);
    }
  std::vector<std::vector<int>> classes(static_cast<size_t>(ranks));
  for (int r = 0; r < ranks; ++r)
    classes[size_t(find(r))].push_back(r);
  return classes;
}

using Parts = std::vector<SegmentPart>;

/// Elements between two such places.
int64_t minorStride(const Parts &parts) {
  return parts.empty() || parts.back().isRank ? 1 : parts.back().stride;
}

/// How many places from `value` on are side by side on one rank.
int64_t runLength(const Parts &parts, int64_t value) {
  if (parts.empty() || parts.back().isRank)
    return 1;
  return parts.back().size - value % parts.back().size;
}

} // namespace

/// Destination-major; neighbours that are contiguous on both sides become one.
std::vector<CollectivePlan::Loop>
CollectivePlan::joinLoops(std::vector<Loop> loops) {
  std::erase_if(loops, [](const Loop &loop) { return loop.size == 1; });
  std::sort(loops.begin(), loops.end(), [](const Loop &a, const Loop &b) {
    return a.destination > b.destination;
  });
  std::vector<Loop> joined;
  for (const Loop &loop : loops) {
    if (!joined.empty() && joined.back().source == loop.size * loop.source &&
        joined.back().destination == loop.size * loop.destination)
      joined.back() = {joined.back().size * loop.size, loop.source, loop.destination, 1};
    else
      joined.push_back(loop);
  }
  if (joined.empty())
    joined.push_back({1, 1, 1});
  for (size_t k = joined.size() - 1; k > 0; --k)
    joined[k - 1].packed = joined[k].packed * joined[k].size;
  return joined;
}

std::vector<CollectivePlan::Run> CollectivePlan::getRuns(const Segment &segment,
                                                         int rank) {
  std::vector<Run> runs;
  if (segment.window) {
    int64_t coordinate = 0, length = 1, stride = 1;
    for (const SegmentPart &part : segment.destination) {
      if (part.isRank) {
        coordinate = coordinate * part.size + rank / part.stride % part.size;
      } else {
        length = part.size;
        stride = part.stride;
      }
    }
    int64_t begin = segment.window->step * coordinate + segment.window->offset;
    int64_t end = std::min(begin + length, segment.size);
    for (int64_t i = std::max<int64_t>(begin, 0); i < end;) {
      int64_t run = std::min(runLength(segment.source, i), end - i);
      runs.push_back({i, {run, 1, stride}, (i - begin) * stride});
      i += run;
    }
    return runs;
  }
  for (int64_t i = 0; i < segment.size;) {
    int64_t run =
        std::min({runLength(segment.source, i),
                  runLength(segment.destination, i), segment.size - i});
    bool mine = true;
    int64_t destination = 0, value = i;
    for (size_t k = segment.destination.size(); k-- > 0;) {
      const SegmentPart &part = segment.destination[k];
      if (part.isRank)
        mine &= value % part.size == rank / part.stride % part.size;
      else
        destination += value % part.size * part.stride;
      value /= part.size;
    }
    if (mine)
      runs.push_back({i, {run, 1, minorStride(segment.destination)}, destination});
    i += run;
  }
  return runs;
}

void CollectivePlan::addSegment(const Segment &segment, int rank,
                                std::vector<Piece> &pieces) {
  std::vector<Piece> next;
  for (const Run &run : getRuns(segment, rank))
    for (const Piece &piece : pieces) {
      Piece part = piece;
      int64_t source = 0, value = run.begin;
      for (size_t k = segment.source.size(); k-- > 0;) {
        const SegmentPart &from = segment.source[k];
        if (from.isRank) {
          part.sources[0] = replaceDigit(part.sources[0], from.stride,
                                         from.size, value % from.size);
          part.shift += rank / from.stride % from.size - value % from.size;
        } else {
          source += value % from.size * from.stride;
        }
        value /= from.size;
      }
      part.source += source;
      part.destination += run.destination;
      std::vector<Loop> with = loopSets_[piece.loops];
      with.push_back({run.loop.size, minorStride(segment.source), run.loop.destination});
      with = joinLoops(std::move(with));
      auto same = [&](const std::vector<Loop> &set) {
        return std::equal(set.begin(), set.end(), with.begin(), with.end(),
                          [](const Loop &a, const Loop &b) {
                            return a.size == b.size && a.source == b.source &&
                                   a.destination == b.destination;
                          });
      };
      part.loops = size_t(std::find_if(loopSets_.begin(), loopSets_.end(), same) -
                          loopSets_.begin());
      if (part.loops == loopSets_.size())
        loopSets_.push_back(std::move(with));
      next.push_back(std::move(part));
    }
  pieces = std::move(next);
}

CollectivePlan::CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &mesh)
    : CollectivePlan(info, world, mesh, mesh, /*isTransfer=*/false) {}

CollectivePlan::CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &sources,
                               const MeshRanks &destinations)
    : CollectivePlan(info, world, sources, destinations, /*isTransfer=*/true) {}

CollectivePlan::CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &mesh,
                               const MeshRanks &destinations, bool isTransfer)
    : info_(info), elementSize_(dtypeSize(info.dtype)), packed_(world.isPacked()) {
  inputs_.plan = parts_.plan = this;
  inputs_.parts = false;
  parts_.parts = true;
  const int ranks = mesh.size();
  std::vector<RankDigit> digits = info.group;
  struct Spread { // A source rank digit that becomes a place in the output.
    int64_t size, stride, destination;
  };
  std::vector<Spread> spreads;
  std::vector<Loop> loops;
  for (const Atom &atom : info.atoms) {
    empty_ |= atom.size == 0;
    if (atom.sourceIsRank)
      digits.push_back({atom.sourceStride, atom.size});
    if (atom.destinationIsRank)
      digits.push_back({atom.destinationStride, atom.size});
    if (!atom.sourceIsRank && !atom.destinationIsRank)
      loops.push_back({atom.size, atom.sourceStride, atom.destinationStride});
    if (atom.sourceIsRank && !atom.destinationIsRank)
      spreads.push_back({atom.size, atom.sourceStride, atom.destinationStride});
  }
  digits.insert(digits.end(), info.spread.begin(), info.spread.end());
  for (const Segment &segment : info.segments) {
    int64_t places = 1;
    for (const SegmentPart &part : segment.destination)
      places *= part.size;
    padded_ |= places > segment.size || segment.window;
    for (const Parts *parts : {&segment.source, &segment.destination})
      for (const SegmentPart &part : *parts)
        if (part.isRank)
          digits.push_back({part.stride, part.size});
  }
  loopSets_.push_back(joinLoops(std::move(loops)));

  std::vector<std::vector<int>> groupClass = classesOf(info.group, ranks);
  std::vector<const std::vector<int> *> reduceWith(static_cast<size_t>(ranks));
  for (const auto &members : groupClass)
    for (int r : members)
      reduceWith[size_t(r)] = &members;
  std::vector<std::vector<int>> classes;
  if (isTransfer) {
    // Whoever reads nothing of the others does not wait for their messages.
    classes.push_back(mesh.ranks());
    classes[0].insert(classes[0].end(), destinations.ranks().begin(), destinations.ranks().end());
  } else {
    classes = classesOf(digits, ranks);
    for (std::vector<int> &members : classes)
      for (int &rank : members)
        rank = mesh[rank];
  }
  for (std::vector<int> &members : classes)
    std::sort(members.begin(), members.end());
  groups_ = world.groups(classes, /*own=*/false);

  pieces_.resize(size_t(world.size()));
  for (int rank = 0; rank < destinations.size(); ++rank) {
    int start = isTransfer ? 0 : rank;
    int64_t offset = 0;
    for (const Atom &atom : info.atoms) {
      if (!atom.destinationIsRank || atom.size == 0)
        continue;
      int64_t index = (rank / atom.destinationStride) % atom.size;
      if (atom.sourceIsRank)
        start = replaceDigit(start, atom.sourceStride, atom.size, index);
      else
        offset += index * atom.sourceStride;
    }
    std::vector<Piece> &pieces = pieces_[size_t(destinations[rank])];
    pieces.push_back({{start}, offset, 0});
    for (const Spread &spread : spreads) {
      std::vector<Piece> next;
      for (const Piece &piece : pieces)
        for (int64_t i = 0; i < spread.size; ++i)
          next.push_back({{replaceDigit(piece.sources[0], spread.stride,
                                        spread.size, i)},
                          piece.source,
                          piece.destination + i * spread.destination});
      pieces = std::move(next);
    }
    for (const Segment &segment : info.segments)
      addSegment(segment, rank, pieces);
    for (Piece &piece : pieces)
      for (const RankDigit &digit : info.spread) {
        int64_t value = (rank / digit.stride + piece.shift) % digit.size;
        piece.sources[0] =
            replaceDigit(piece.sources[0], digit.stride, digit.size,
                         value < 0 ? value + digit.size : value);
      }
    // Start with the pieces behind the own rank, so that members do not all
    // read from the same peer at once.
    auto own = std::find_if(pieces.begin(), pieces.end(), [&](const Piece &p) {
      return p.sources[0] >= rank;
    });
    std::rotate(pieces.begin(), own, pieces.end());
    Group &group = *groups_[size_t(destinations[rank])];
    for (Piece &piece : pieces) {
      if (info.reduction != Reduction::None)
        piece.sources = *reduceWith[size_t(piece.sources[0])];
      for (int &source : piece.sources)
        source = group.indexOf(mesh[source]);
    }
  }
  const std::vector<Loop> &all = loopSets_[0];
  isSame_ = info.reduction != Reduction::None && spreads.empty() &&
            info.segments.empty() && all.size() == 1 && all[0].source == 1 &&
            all[0].destination == 1;
  for (const Atom &atom : info.atoms)
    isSame_ &= atom.size == 1 || !(atom.sourceIsRank || atom.destinationIsRank);
  for (int rank : destinations.ranks())
    isSame_ = isSame_ && int(pieces_[size_t(rank)][0].sources.size()) ==
                  groups_[size_t(rank)]->size() &&
              pieces_[size_t(rank)][0].source == 0;
  for (int rank : destinations.ranks())
    if (packed_)
      placePacked(rank);
}

int64_t CollectivePlan::elementsOf(const Piece &piece) const {
  int64_t elements = 1;
  for (const Loop &loop : loopSets_[piece.loops])
    elements *= loop.size;
  return elements;
}

void CollectivePlan::placePacked(int rank) {
  std::vector<int64_t> at(size_t(groups_[size_t(rank)]->size()));
  for (Piece &piece : pieces_[size_t(rank)])
    for (int source : piece.sources) {
      piece.packed.push_back(at[size_t(source)]);
      at[size_t(source)] += elementsOf(piece);
    }
}

int64_t CollectivePlan::receivedBytes(int rank) const {
  int64_t bytes = 0;
  int self = groups_[size_t(rank)]->indexOf(rank);
  for (const Piece &piece : pieces_[size_t(rank)])
    for (int source : piece.sources)
      bytes += source == self ? 0 : elementsOf(piece) * elementSize_;
  return bytes;
}

std::string CollectivePlan::describe() const {
  const bool isTransfer = info_.id >= TransferInfo::transferId;
  return (isTransfer ? "transfer " + std::to_string(info_.id - TransferInfo::transferId) + " ("
                     : "collective " + std::to_string(info_.id) + " (" + info_.kind + " of ") +
         std::to_string(info_.bytes) + " bytes" + (info_.loc.empty() ? "" : " at " + info_.loc) +
         ")";
}

int64_t CollectivePlan::elementsFrom(int source, int to) const {
  int64_t elements = 0;
  for (const Piece &piece : pieces_[size_t(to)])
    if (std::find(piece.sources.begin(), piece.sources.end(), source) != piece.sources.end())
      elements += elementsOf(piece);
  return elements;
}

int64_t CollectivePlan::Round::bytes(int from, int to, int64_t count) const {
  const Group &group = *plan->groups_[size_t(to)];
  const int64_t size = plan->elementSize_;
  if (plan->empty_)
    return 0;
  if (parts)
    return from == to ? 0 : plan->partOf(group.indexOf(from), count, group).second * size;
  if (plan->isShared(count, group))
    return plan->partOf(group.indexOf(to), count, group).second * size;
  return count * plan->elementsFrom(group.indexOf(from), to) * size;
}

void CollectivePlan::offer(std::span<CollectivePlan *const> plans, Group &group, int rank,
                           std::span<const CollectiveBuffers> buffers) {
  std::vector<Offer> offers;
  for (size_t k = 0; k < plans.size(); ++k)
    offers.push_back({group.world().fault().announced(rank, plans[k]->info_.id), buffers[k].in,
                      &plans[k]->inputs_, buffers[k].count});
  group.post(group.indexOf(rank), 0, offers);
}

bool CollectivePlan::meet(std::span<CollectivePlan *const> plans, Group &group, int rank,
                          std::span<const CollectiveBuffers> buffers, double *waited) {
  const int index = group.indexOf(rank);
  auto text = [&] { return plans[0]->describe(); };
  auto timed = [&](auto &&wait) {
    if (!waited)
      return wait();
    auto start = std::chrono::steady_clock::now();
    bool came = wait();
    *waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return came;
  };
  if (!timed([&] { return group.wait(index, 0, text); }))
    return false;
  std::vector<Offer> parts;
  for (size_t k = 0; k < plans.size(); ++k) {
    const int64_t count = buffers[k].count;
    if (!buffers[k].out)
      continue;
    plans[k]->compute(rank, count, group, k, buffers[k].out);
    if (plans[k]->isShared(count, group))
      parts.push_back({plans[k]->info_.id, buffers[k].out, &plans[k]->parts_, count});
  }
  if (!parts.empty()) {
    group.post(index, 1, parts);
    if (!group.wait(index, 1, text))
      return false;
    size_t part = 0;
    for (size_t k = 0; k < plans.size(); ++k)
      if (plans[k]->isShared(buffers[k].count, group))
        plans[k]->copyParts(rank, buffers[k].count, group, part++, buffers[k].out);
  }
  return timed([&] { return group.release(index, text); });
}

bool CollectivePlan::run(int rank, int64_t count, const void *in, void *out) {
  Group &group = *groups_[size_t(rank)];
  CollectivePlan *self = this;
  CollectiveBuffers buffers{in, out, count};
  offer({&self, 1}, group, rank, {&buffers, 1});
  return meet({&self, 1}, group, rank, {&buffers, 1});
}

bool CollectivePlan::isShared(int64_t count, const Group &group) const {
  return isSame_ && group.size() > 1 &&
         count * info_.outElements * elementSize_ >= sharedBytes;
}

std::pair<int64_t, int64_t> CollectivePlan::partOf(int member, int64_t count,
                                                   const Group &group) const {
  int64_t elements = loopSets_[0][0].size * count;
  int64_t part = (elements + group.size() - 1) / group.size();
  part = (part + 63) / 64 * 64;
  int64_t begin = std::min(elements, member * part);
  return {begin, std::min(elements, begin + part) - begin};
}

void CollectivePlan::compute(int rank, int64_t count, Group &group, size_t k, void *out) {
  if (!isShared(count, group)) {
    for (int64_t item = 0; item < count; ++item)
      computeItem(rank, item, group, k, out);
    return;
  }
  std::vector<const void *> sources;
  const int index = group.indexOf(rank);
  auto [begin, length] = partOf(index, count, group);
  for (int source : pieces_[size_t(rank)][0].sources)
    sources.push_back(group.offered(index, source, 0, k) + (packed_ ? 0 : begin * elementSize_));
  reduceStrided(info_.reduction, info_.dtype, sources.data(),
                int64_t(sources.size()), 1,
                static_cast<char *>(out) + begin * elementSize_, 1, length);
}

void CollectivePlan::copyParts(int rank, int64_t count, Group &group, size_t k, void *out) {
  int index = group.indexOf(rank);
  for (int step = 1; step < group.size(); ++step) {
    int peer = (index + step) % group.size();
    auto [from, size] = partOf(peer, count, group);
    std::memcpy(static_cast<char *>(out) + from * elementSize_,
                group.offered(index, peer, 1, k) + (packed_ ? 0 : from * elementSize_),
                size_t(size * elementSize_));
  }
}

namespace {

template <typename T>
void copyLoop(const char *from, int64_t fromStride, char *to, int64_t toStride,
              int64_t count) {
  const T *source = reinterpret_cast<const T *>(from);
  T *destination = reinterpret_cast<T *>(to);
  for (int64_t i = 0; i < count; ++i)
    destination[i * toStride] = source[i * fromStride];
}

} // namespace

static void copyElements(int64_t elementSize, const char *from, int64_t fromStride, char *to,
                         int64_t toStride, int64_t count) {
  if (fromStride == 1 && toStride == 1)
    std::memcpy(to, from, size_t(count * elementSize));
  else if (elementSize == 1)
    copyLoop<uint8_t>(from, fromStride, to, toStride, count);
  else if (elementSize == 2)
    copyLoop<uint16_t>(from, fromStride, to, toStride, count);
  else if (elementSize == 4)
    copyLoop<uint32_t>(from, fromStride, to, toStride, count);
  else
    copyLoop<uint64_t>(from, fromStride, to, toStride, count);
}

/// Calls fn(source, destination) at every iteration of all loops but the innermost,
/// with the offsets that `strides` gives for both sides of a loop.
template <typename Loops, typename Strides, typename Fn>
static void forEachRow(const Loops &loops, Strides &&strides, Fn &&fn) {
  const size_t outer = loops.size() - 1;
  for (const auto &loop : loops)
    if (loop.size == 0)
      return;
  std::vector<int64_t> index(outer, 0);
  int64_t source = 0, destination = 0;
  while (true) {
    fn(source, destination);
    size_t k = outer;
    bool done = true;
    while (k > 0 && done) {
      --k;
      auto [from, to] = strides(loops[k]);
      source += from;
      destination += to;
      if (++index[k] < loops[k].size) {
        done = false;
      } else {
        source -= loops[k].size * from;
        destination -= loops[k].size * to;
        index[k] = 0;
      }
    }
    if (done)
      return;
  }
}

void CollectivePlan::Round::pack(int from, int to, int64_t count, const void *buffer,
                                 void *packed) const {
  const Group &group = *plan->groups_[size_t(to)];
  const int64_t size = plan->elementSize_;
  const char *source = static_cast<const char *>(buffer);
  char *destination = static_cast<char *>(packed);
  if (plan->empty_)
    return;
  if (parts || plan->isShared(count, group)) {
    auto [begin, number] = plan->partOf(group.indexOf(parts ? from : to), count, group);
    std::memcpy(destination, source + begin * size, size_t(number * size));
    return;
  }
  const int self = group.indexOf(from);
  const int64_t each = plan->elementsFrom(self, to);
  for (const Piece &piece : plan->pieces_[size_t(to)]) {
    auto place = std::find(piece.sources.begin(), piece.sources.end(), self);
    if (place == piece.sources.end())
      continue;
    const std::vector<Loop> &loops = plan->loopSets_[piece.loops];
    for (int64_t item = 0; item < count; ++item) {
      const int64_t start = item * plan->info_.inElements + piece.source;
      const int64_t at = item * each + piece.packed[size_t(place - piece.sources.begin())];
      forEachRow(
          loops, [](const Loop &loop) { return std::pair(loop.source, loop.packed); },
          [&](int64_t s, int64_t d) {
            copyElements(size, source + (start + s) * size, loops.back().source,
                         destination + (at + d) * size, 1, loops.back().size);
          });
    }
  }
}

void CollectivePlan::computeItem(int rank, int64_t item, Group &group, size_t k, void *outputs) {
  if (empty_)
    return;
  char *out = static_cast<char *>(outputs) + item * info_.outElements * elementSize_;
  if (padded_)
    std::memset(out, 0, size_t(info_.outElements * elementSize_));
  const int index = group.indexOf(rank);
  std::vector<const char *> bases;
  std::vector<const void *> sources;
  for (const Piece &piece : pieces_[size_t(rank)]) {
    const std::vector<Loop> &loops = loopSets_[piece.loops];
    const Loop &inner = loops.back();
    const int64_t stride = packed_ ? inner.packed : inner.source;
    bases.clear();
    for (size_t i = 0; i < piece.sources.size(); ++i) {
      int64_t at = piece.source + item * info_.inElements;
      if (packed_)
        at = piece.packed[i] + (item ? item * elementsFrom(piece.sources[i], rank) : 0);
      bases.push_back(group.offered(index, piece.sources[i], 0, k) + at * elementSize_);
    }
    forEachRow(
        loops,
        [&](const Loop &loop) {
          return std::pair(packed_ ? loop.packed : loop.source, loop.destination);
        },
        [&](int64_t s, int64_t d) {
          char *to = out + (piece.destination + d) * elementSize_;
          if (info_.reduction == Reduction::None)
            return copyElements(elementSize_, bases[0] + s * elementSize_, stride, to,
                                inner.destination, inner.size);
          sources.clear();
          for (const char *base : bases)
            sources.push_back(base + s * elementSize_);
          reduceStrided(info_.reduction, info_.dtype, sources.data(), int64_t(sources.size()),
                        stride, to, inner.destination, inner.size);
        });
  }
}

} // namespace shardkit::rt
