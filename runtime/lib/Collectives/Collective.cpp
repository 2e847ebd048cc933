//===- Collective.cpp - One engine for every collective -------------------===//

#include "shardkit/rt/Collectives/Collective.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

namespace shardkit::rt {

namespace {

/// From this size on members share the work of an all-reduce.
constexpr int64_t sharedBytes = 64 << 10;
/// How many of the plans with offsets are kept.
constexpr size_t keptOffsets = 64;

int replaceDigit(int rank, int64_t stride, int64_t size, int64_t value) {
  return int(rank + (value - (rank / stride) % size) * stride);
}

/// A source rank that becomes an index in the output.
bool isSpread(const Atom &atom) { return atom.sourceIsRank && !atom.destinationIsRank; }

/// The classes of ranks that differ only in the given digits.
std::vector<std::vector<int>> classesOf(const std::vector<RankDigit> &digits, int ranks) {
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

using Digits = std::vector<SegmentDigit>;

/// Elements between two such places.
int64_t minorStride(const Digits &digits) { return digits.empty() || digits.back().isRank ? 1 : digits.back().stride; }

/// How many places from `value` on are side by side on one rank.
int64_t runLength(const Digits &digits, int64_t value) {
  if (digits.empty() || digits.back().isRank)
    return 1;
  return digits.back().size - value % digits.back().size;
}

} // namespace

/// Destination-major; neighbours that are contiguous on both sides become one.
std::vector<CollectivePlan::Loop> CollectivePlan::joinLoops(std::vector<Loop> loops) {
  std::erase_if(loops, [](const Loop &loop) { return loop.size == 1; });
  std::sort(loops.begin(), loops.end(), [](const Loop &a, const Loop &b) { return a.destination > b.destination; });
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

std::vector<CollectivePlan::Run> CollectivePlan::getRuns(const Segment &segment, int rank) {
  std::vector<Run> runs;
  if (segment.window) {
    int64_t coordinate = 0, length = 1, stride = 1;
    for (const SegmentDigit &digit : segment.destination) {
      if (digit.isRank) {
        coordinate = coordinate * digit.size + rank / digit.stride % digit.size;
      } else {
        length = digit.size;
        stride = digit.stride;
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
    int64_t run = std::min({runLength(segment.source, i), runLength(segment.destination, i), segment.size - i});
    bool mine = true;
    int64_t destination = 0, value = i;
    for (size_t k = segment.destination.size(); k-- > 0;) {
      const SegmentDigit &digit = segment.destination[k];
      if (digit.isRank)
        mine &= value % digit.size == rank / digit.stride % digit.size;
      else
        destination += value % digit.size * digit.stride;
      value /= digit.size;
    }
    if (mine)
      runs.push_back({i, {run, 1, minorStride(segment.destination)}, destination});
    i += run;
  }
  return runs;
}

void CollectivePlan::addSegment(const Segment &segment, int rank, std::vector<Piece> &pieces) {
  std::vector<Piece> next;
  for (const Run &run : getRuns(segment, rank))
    for (const Piece &piece : pieces) {
      Piece split = piece;
      int64_t source = 0, value = run.begin;
      for (size_t k = segment.source.size(); k-- > 0;) {
        const SegmentDigit &from = segment.source[k];
        if (from.isRank) {
          split.sources[0] = replaceDigit(split.sources[0], from.stride, from.size, value % from.size);
          split.shift += rank / from.stride % from.size - value % from.size;
        } else {
          source += value % from.size * from.stride;
        }
        value /= from.size;
      }
      split.source += source;
      split.destination += run.destination;
      std::vector<Loop> with = loopSets_[piece.loops];
      with.push_back({run.loop.size, minorStride(segment.source), run.loop.destination});
      with = joinLoops(std::move(with));
      auto same = [&](const std::vector<Loop> &set) {
        return std::equal(set.begin(), set.end(), with.begin(), with.end(), [](const Loop &a, const Loop &b) {
          return a.size == b.size && a.source == b.source && a.destination == b.destination;
        });
      };
      split.loops = size_t(std::find_if(loopSets_.begin(), loopSets_.end(), same) - loopSets_.begin());
      if (split.loops == loopSets_.size())
        loopSets_.push_back(std::move(with));
      next.push_back(std::move(split));
    }
  pieces = std::move(next);
}

/// The ranks of a mesh that counts the devices of `mesh` in another order.
static MeshRanks inOrder(const MeshRanks &mesh, const std::vector<int64_t> &order) {
  if (order.empty())
    return mesh;
  std::vector<int> ranks;
  for (int64_t rank : order)
    ranks.push_back(mesh[int(rank)]);
  return MeshRanks(std::move(ranks));
}

CollectivePlan::CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &mesh)
    : CollectivePlan(info, world, inOrder(mesh, info.sourceOrder), inOrder(mesh, info.destinationOrder),
                     /*isTransfer=*/!info.sourceOrder.empty() || !info.destinationOrder.empty()) {}

CollectivePlan::CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &sources,
                               const MeshRanks &destinations)
    : CollectivePlan(info, world, sources, destinations, /*isTransfer=*/true) {}

CollectivePlan::CollectivePlan(const CollectiveInfo &info, World &world, const MeshRanks &sources,
                               const MeshRanks &destinations, bool isTransfer)
    : info_(info), sources_(sources), destinations_(destinations), isTransfer_(isTransfer),
      elementSize_(dtypeSize(info.dtype)), packed_(world.isPacked()) {
  std::vector<RankDigit> digits = info.group;
  std::vector<Loop> loops;
  for (const Atom &atom : info.atoms) {
    empty_ |= atom.size == 0;
    if (atom.sourceIsRank)
      digits.push_back({atom.sourceStride, atom.size});
    if (atom.destinationIsRank)
      digits.push_back({atom.destinationStride, atom.size});
    if (!atom.sourceIsRank && !atom.destinationIsRank)
      loops.push_back({atom.size, atom.sourceStride, atom.destinationStride});
  }
  digits.insert(digits.end(), info.spread.begin(), info.spread.end());
  for (const Segment &segment : info.segments) {
    int64_t indices = 1;
    for (const SegmentDigit &digit : segment.destination)
      indices *= digit.size;
    padded_ |= indices > segment.size || segment.window;
    for (const Digits *side : {&segment.source, &segment.destination})
      for (const SegmentDigit &digit : *side)
        if (digit.isRank)
          digits.push_back({digit.stride, digit.size});
  }
  loopSets_.push_back(joinLoops(std::move(loops)));
  makeGroups(world, digits);
  makePieces();
}

CollectivePlan::CollectivePlan(const CollectivePlan &base, std::unique_ptr<CollectiveInfo> info)
    : ownInfo_(std::move(info)), base_(&base), info_(*ownInfo_), sources_(base.sources_),
      destinations_(base.destinations_), isTransfer_(base.isTransfer_), elementSize_(base.elementSize_),
      loopSets_{base.loopSets_[0]}, groups_(base.groups_), packed_(base.packed_), empty_(base.empty_),
      padded_(base.padded_) {
  makePieces();
}

std::shared_ptr<CollectivePlan> CollectivePlan::at(std::span<const int64_t> offsets) {
  std::lock_guard lock(atMutex_);
  auto known = std::find_if(atOffsets_.begin(), atOffsets_.end(),
                            [&](const AtOffsets &one) { return std::ranges::equal(one.offsets, offsets); });
  if (known != atOffsets_.end()) {
    atOffsets_.splice(atOffsets_.begin(), atOffsets_, known);
    return known->plan;
  }
  auto info = std::make_unique<CollectiveInfo>(info_);
  for (Segment &segment : info->segments)
    if (segment.window && segment.window->added >= 0)
      segment.window->offset += std::clamp(offsets[size_t(segment.window->added)], -maxOffset, maxOffset);
  std::shared_ptr<CollectivePlan> plan(new CollectivePlan(*this, std::move(info)));
  atOffsets_.push_front({{offsets.begin(), offsets.end()}, plan});
  if (atOffsets_.size() > keptOffsets)
    atOffsets_.pop_back();
  return plan;
}

void CollectivePlan::makeGroups(World &world, const std::vector<RankDigit> &digits) {
  std::vector<std::vector<int>> classes;
  if (isTransfer_) {
    // Whoever reads nothing of the others does not wait for their messages.
    classes.push_back(sources_.ranks());
    classes[0].insert(classes[0].end(), destinations_.ranks().begin(), destinations_.ranks().end());
  } else {
    classes = classesOf(digits, sources_.size());
    for (std::vector<int> &members : classes)
      for (int &rank : members)
        rank = sources_[rank];
  }
  for (std::vector<int> &members : classes) {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end()); // Of a mesh in two orders.
  }
  groups_ = world.groups(classes, /*own=*/false);
}

std::vector<CollectivePlan::Piece> CollectivePlan::makePieces(int rank) {
  int start = isTransfer_ ? 0 : rank;
  int64_t offset = 0;
  for (const Atom &atom : info_.atoms) {
    if (!atom.destinationIsRank || atom.size == 0)
      continue;
    int64_t index = (rank / atom.destinationStride) % atom.size;
    if (atom.sourceIsRank)
      start = replaceDigit(start, atom.sourceStride, atom.size, index);
    else
      offset += index * atom.sourceStride;
  }
  std::vector<Piece> pieces{{{start}, offset, 0}};
  for (const Atom &atom : info_.atoms) {
    if (!isSpread(atom))
      continue;
    std::vector<Piece> next;
    for (const Piece &piece : pieces)
      for (int64_t i = 0; i < atom.size; ++i)
        next.push_back({{replaceDigit(piece.sources[0], atom.sourceStride, atom.size, i)},
                        piece.source,
                        piece.destination + i * atom.destinationStride});
    pieces = std::move(next);
  }
  for (const Segment &segment : info_.segments)
    addSegment(segment, rank, pieces);
  for (Piece &piece : pieces)
    for (const RankDigit &digit : info_.spread) {
      int64_t value = (rank / digit.stride + piece.shift) % digit.size;
      piece.sources[0] =
          replaceDigit(piece.sources[0], digit.stride, digit.size, value < 0 ? value + digit.size : value);
    }
  // Start with the pieces behind the own rank, so that members do not all
  // read from the same peer at once.
  auto fromSelf = std::find_if(pieces.begin(), pieces.end(), [&](const Piece &p) { return p.sources[0] >= rank; });
  std::rotate(pieces.begin(), fromSelf, pieces.end());
  return pieces;
}

void CollectivePlan::makePieces() {
  inputs_.plan = chunks_.plan = this;
  inputs_.isChunks = false;
  chunks_.isChunks = true;
  std::vector<std::vector<int>> groupClass = classesOf(info_.group, sources_.size());
  std::vector<const std::vector<int> *> reduceWith(static_cast<size_t>(sources_.size()));
  for (const auto &members : groupClass)
    for (int r : members)
      reduceWith[size_t(r)] = &members;
  pieces_.resize(groups_.size());
  for (int rank = 0; rank < destinations_.size(); ++rank) {
    std::vector<Piece> &pieces = pieces_[size_t(destinations_[rank])];
    pieces = makePieces(rank);
    Group &group = *groups_[size_t(destinations_[rank])];
    for (Piece &piece : pieces) {
      if (info_.reduction != Reduction::None)
        piece.sources = *reduceWith[size_t(piece.sources[0])];
      for (int &source : piece.sources)
        source = group.indexOf(sources_[source]);
    }
  }
  const std::vector<Loop> &all = loopSets_[0];
  isSame_ = info_.reduction != Reduction::None && std::none_of(info_.atoms.begin(), info_.atoms.end(), isSpread) &&
            info_.segments.empty() && all.size() == 1 && all[0].source == 1 && all[0].destination == 1;
  for (const Atom &atom : info_.atoms)
    isSame_ &= atom.size == 1 || !(atom.sourceIsRank || atom.destinationIsRank);
  for (int rank : destinations_.ranks())
    isSame_ = isSame_ && int(pieces_[size_t(rank)][0].sources.size()) == groups_[size_t(rank)]->size() &&
              pieces_[size_t(rank)][0].source == 0;
  for (int rank : destinations_.ranks())
    if (packed_)
      layOutPacked(rank);
}

int64_t CollectivePlan::elementsOf(const Piece &piece) const {
  int64_t elements = 1;
  for (const Loop &loop : loopSets_[piece.loops])
    elements *= loop.size;
  return elements;
}

void CollectivePlan::layOutPacked(int rank) {
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
  const bool isTransfer = info_.id >= ChannelInfo::firstId;
  return (isTransfer ? "transfer " + std::to_string(info_.id - ChannelInfo::firstId) + " ("
                     : "collective " + std::to_string(info_.id) + " (" + info_.kind + " of ") +
         std::to_string(info_.bytes) + " bytes" + (info_.loc.empty() ? "" : " at " + info_.loc) + ")";
}

std::vector<std::vector<int>> CollectivePlan::allParticipants() const {
  std::vector<std::vector<int>> result;
  for (size_t rank = 0; rank < groups_.size(); ++rank)
    if (groups_[rank] && groups_[rank]->ranks()[0] == int(rank))
      result.push_back(groups_[rank]->ranks());
  return result;
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
  if (isChunks)
    return from == to ? 0 : plan->chunkOf(group.indexOf(from), count, group).second * size;
  if (plan->isShared(count, group))
    return plan->chunkOf(group.indexOf(to), count, group).second * size;
  return count * plan->elementsFrom(group.indexOf(from), to) * size;
}

void CollectivePlan::publish(std::span<CollectivePlan *const> plans, Group &group, int rank,
                             std::span<const CollectiveBuffers> buffers, CopyEngine &engine) {
  std::vector<PublishedBuffer> published;
  for (size_t k = 0; k < plans.size(); ++k)
    published.push_back({group.world().fault().announced(rank, plans[k]->info_.id), buffers[k].in, &plans[k]->inputs_,
                         buffers[k].count, &engine});
  engine.record();
  group.publish(group.indexOf(rank), 0, published);
}

bool CollectivePlan::rendezvous(std::span<CollectivePlan *const> plans, Group &group, int rank,
                                std::span<const CollectiveBuffers> buffers, CopyEngine &engine, double *waited) {
  const int index = group.indexOf(rank);
  // Kept: a peer that has been released may offer the next time.
  std::vector<CopyEngine *> others;
  auto waitFor = [&] {
    for (CopyEngine *other : others)
      engine.waitFor(*other);
  };
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
  for (int peer = 0; peer < group.size(); ++peer)
    if (CopyEngine &other = group.engineOf(peer, 0); &other != &engine)
      others.push_back(&other);
  waitFor();
  std::vector<PublishedBuffer> chunks;
  for (size_t k = 0; k < plans.size(); ++k) {
    const int64_t count = buffers[k].count;
    if (!buffers[k].out)
      continue;
    plans[k]->compute(rank, count, group, k, buffers[k].out, engine);
    if (plans[k]->isShared(count, group))
      chunks.push_back({plans[k]->info_.id, buffers[k].out, &plans[k]->chunks_, count, &engine});
  }
  engine.record();
  if (!chunks.empty()) {
    group.publish(index, 1, chunks);
    if (!group.wait(index, 1, text))
      return false;
    waitFor();
    size_t chunk = 0;
    for (size_t k = 0; k < plans.size(); ++k)
      if (plans[k]->isShared(buffers[k].count, group))
        plans[k]->copyChunks(rank, buffers[k].count, group, chunk++, buffers[k].out, engine);
    engine.record();
  }
  if (Status status = engine.takeStatus(); !status.ok()) {
    group.world().fail(status.withContext("rank " + std::to_string(rank) + ": " + text()), rank);
    return false;
  }
  if (!timed([&] { return group.release(index, text); }))
    return false;
  // What they still read of this rank.
  waitFor();
  return true;
}

bool CollectivePlan::run(int rank, int64_t count, const void *in, void *out, CopyEngine &engine) {
  Group &group = *groups_[size_t(rank)];
  CollectivePlan *self = this;
  CollectiveBuffers buffers{in, out, count};
  publish({&self, 1}, group, rank, {&buffers, 1}, engine);
  return rendezvous({&self, 1}, group, rank, {&buffers, 1}, engine);
}

bool CollectivePlan::finish(Group &group, int rank, const CollectiveBuffers &buffers, CopyEngine &engine,
                            double *waited) {
  const int index = group.indexOf(rank);
  auto text = [&] { return describe(); };
  // Those of its own side may not have come; the host's works at once.
  auto waitFor = [&] {
    for (int peer = 0; peer < group.size(); ++peer)
      if (CopyEngine &other = group.engineOf(peer, 0); &other != &engine && &other != &hostCopyEngine())
        engine.waitFor(other);
  };
  const auto start = std::chrono::steady_clock::now();
  // A sender finds nothing to wait for here, a receiver nothing there.
  if (!group.wait(index, 0, text) || (!buffers.out && !group.release(index, text)))
    return false;
  if (waited)
    *waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  waitFor();
  if (buffers.out)
    compute(rank, buffers.count, group, 0, buffers.out, engine);
  engine.record();
  if (Status status = engine.takeStatus(); !status.ok()) {
    group.world().fail(status.withContext("rank " + std::to_string(rank) + ": " + text()), rank);
    return false;
  }
  return !buffers.out || group.release(index, text);
}

bool CollectivePlan::isShared(int64_t count, const Group &group) const {
  return isSame_ && group.size() > 1 && count * info_.outElements * elementSize_ >= sharedBytes;
}

std::pair<int64_t, int64_t> CollectivePlan::chunkOf(int member, int64_t count, const Group &group) const {
  int64_t elements = loopSets_[0][0].size * count;
  int64_t chunk = (elements + group.size() - 1) / group.size();
  chunk = (chunk + 63) / 64 * 64;
  int64_t begin = std::min(elements, member * chunk);
  return {begin, std::min(elements, begin + chunk) - begin};
}

void CollectivePlan::compute(int rank, int64_t count, Group &group, size_t k, void *out, CopyEngine &engine) {
  if (!isShared(count, group)) {
    if (!packed_)
      return computeItems(rank, 0, count, group, k, out, engine);
    for (int64_t item = 0; item < count; ++item)
      computeItems(rank, item, 1, group, k, out, engine);
    return;
  }
  std::vector<CopyEngine::Source> sources;
  const int index = group.indexOf(rank);
  auto [begin, length] = chunkOf(index, count, group);
  for (int source : pieces_[size_t(rank)][0].sources)
    sources.push_back(
        {group.published(index, source, 0, k) + (packed_ ? 0 : begin * elementSize_), &group.engineOf(source, 0)});
  const CopyEngine::Loop loop{length, 1, 1};
  engine.reduce(info_.reduction, info_.dtype, sources, static_cast<char *>(out) + begin * elementSize_, {&loop, 1});
}

void CollectivePlan::copyChunks(int rank, int64_t count, Group &group, size_t k, void *out, CopyEngine &engine) {
  int index = group.indexOf(rank);
  for (int step = 1; step < group.size(); ++step) {
    int peer = (index + step) % group.size();
    auto [from, size] = chunkOf(peer, count, group);
    const CopyEngine::Loop loop{size, 1, 1};
    engine.copy(elementSize_,
                {group.published(index, peer, 1, k) + (packed_ ? 0 : from * elementSize_), &group.engineOf(peer, 1)},
                static_cast<char *>(out) + from * elementSize_, {&loop, 1});
  }
}

void CollectivePlan::Round::pack(int from, int to, int64_t count, const void *buffer, void *packed) const {
  const Group &group = *plan->groups_[size_t(to)];
  const int64_t size = plan->elementSize_;
  const char *source = static_cast<const char *>(buffer);
  char *destination = static_cast<char *>(packed);
  if (plan->empty_)
    return;
  if (isChunks || plan->isShared(count, group)) {
    auto [begin, number] = plan->chunkOf(group.indexOf(isChunks ? from : to), count, group);
    std::memcpy(destination, source + begin * size, size_t(number * size));
    return;
  }
  const int self = group.indexOf(from);
  const int64_t each = plan->elementsFrom(self, to);
  for (const Piece &piece : plan->pieces_[size_t(to)]) {
    auto it = std::find(piece.sources.begin(), piece.sources.end(), self);
    if (it == piece.sources.end())
      continue;
    std::vector<CopyEngine::Loop> loops;
    for (const Loop &loop : plan->loopSets_[piece.loops])
      loops.push_back({loop.size, loop.source, loop.packed});
    for (int64_t item = 0; item < count; ++item) {
      const int64_t start = item * plan->info_.inElements + piece.source;
      const int64_t at = item * each + piece.packed[size_t(it - piece.sources.begin())];
      hostCopyEngine().copy(size, {source + start * size, nullptr}, destination + at * size, loops);
    }
  }
}

void CollectivePlan::computeItems(int rank, int64_t item, int64_t count, Group &group, size_t k, void *outputs,
                                  CopyEngine &engine) {
  if (empty_ || count == 0)
    return;
  char *out = static_cast<char *>(outputs) + item * info_.outElements * elementSize_;
  if (padded_)
    engine.zero(out, count * info_.outElements * elementSize_);
  const int index = group.indexOf(rank);
  std::vector<CopyEngine::Source> sources;
  std::vector<CopyEngine::Loop> loops;
  for (const Piece &piece : pieces_[size_t(rank)]) {
    loops.clear();
    if (count > 1)
      loops.push_back({count, info_.inElements, info_.outElements});
    for (const Loop &loop : loopSets_[piece.loops])
      loops.push_back({loop.size, packed_ ? loop.packed : loop.source, loop.destination});
    sources.clear();
    for (size_t i = 0; i < piece.sources.size(); ++i) {
      int64_t at = piece.source + item * info_.inElements;
      if (packed_)
        at = piece.packed[i] + (item ? item * elementsFrom(piece.sources[i], rank) : 0);
      sources.push_back(
          {group.published(index, piece.sources[i], 0, k) + at * elementSize_, &group.engineOf(piece.sources[i], 0)});
    }
    void *to = out + piece.destination * elementSize_;
    if (info_.reduction == Reduction::None)
      engine.copy(elementSize_, sources[0], to, loops);
    else
      engine.reduce(info_.reduction, info_.dtype, sources, to, loops);
  }
}

} // namespace shardkit::rt
