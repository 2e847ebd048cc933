//===- Simulator.cpp ------------------------------------------------------===//

#include "Simulator.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <set>

using namespace shardkit_test;
using namespace mlir::spmd;

void mlir::spmd::PrintTo(const Layout &layout, std::ostream *os) { *os << layout.toString(); }

Mesh shardkit_test::mesh(std::initializer_list<int64_t> sizes) {
  Mesh mesh;
  const char *names[] = {"x", "y", "z", "w"};
  for (int64_t size : sizes)
    mesh.axes.push_back({names[mesh.axes.size()], size});
  return mesh;
}

Mesh shardkit_test::namedMesh(std::vector<std::pair<std::string, int64_t>> axes) {
  Mesh mesh;
  for (auto &[name, size] : axes)
    mesh.axes.push_back({name, size});
  return mesh;
}

Sharding shardkit_test::sharding(const std::string &text, const Mesh &mesh) {
  ShardingError error;
  auto result = parseSharding(text, mesh, error);
  if (!result) {
    ADD_FAILURE() << text << ": " << error.message;
    return {};
  }
  return *result;
}

DimEntries shardkit_test::entries(const std::string &text, const Mesh &mesh) {
  Sharding result = sharding("[" + text + "]", mesh);
  return result.dims.size() == 1 ? result.dims[0].entries : DimEntries();
}

Layout shardkit_test::layout(const std::string &text, const Mesh &mesh, llvm::ArrayRef<int64_t> shape) {
  Sharding parsed = sharding(text, mesh);
  if (auto error = verifySharding(parsed, mesh, shape, true)) {
    ADD_FAILURE() << text << ": " << error->message;
    return Layout::replicated(shape);
  }
  return Layout::get(parsed, mesh, shape);
}

MoveVolume shardkit_test::bruteVolume(const Layout &from, const Layout &to, int64_t numDevices) {
  MoveVolume volume;
  for (int64_t rank = 0; rank < numDevices; ++rank) {
    auto has = from.ownedIndices(rank), wants = to.ownedIndices(rank);
    int64_t missing = 0;
    for (int64_t i : wants)
      missing += !std::binary_search(has.begin(), has.end(), i);
    volume.total += missing;
    volume.largest = std::max(volume.largest, missing);
  }
  return volume;
}

int64_t shardkit_test::elementValue(int64_t index) { return 7 + 1000 * index + index * index % 13; }

/// Global index of each element of the local buffer, -1 for padding.
static std::vector<int64_t> offsetIndices(const Layout &layout, int64_t rank) {
  auto owned = layout.ownedIndices(rank);
  auto shape = layout.localShape();
  std::vector<int64_t> result(layout.numLocalElements(), -1);
  size_t next = 0;
  for (size_t offset = 0; offset < result.size(); ++offset) {
    int64_t remaining = offset;
    bool valid = true;
    for (unsigned d = shape.size(); d-- > 0; remaining /= shape[d])
      for (const UnevenDim &u : layout.uneven)
        if (u.dim == d) {
          int64_t size = layout.shape[d];
          valid &= u.coordinate(rank) * u.chunk(size) + remaining % shape[d] < size;
        }
    if (!valid)
      continue;
    if (next == owned.size()) {
      ADD_FAILURE() << "local shape is too large: " << layout.toString();
      break;
    }
    result[offset] = owned[next++];
  }
  EXPECT_EQ(next, owned.size()) << layout.toString();
  return result;
}

Buffers shardkit_test::makeBuffers(const Layout &layout, int64_t numDevices) {
  Buffers result(numDevices);
  for (int64_t rank = 0; rank < numDevices; ++rank) {
    // Number of the rank in its partial group; all but the first hold an arbitrary
    // term, the first the remainder.
    int64_t number = 0, count = 1;
    for (const RankDigit &digit : layout.partial) {
      number = number * digit.size + (rank / digit.stride) % digit.size;
      count *= digit.size;
    }
    for (int64_t index : offsetIndices(layout, rank)) {
      if (index < 0) {
        result[rank].push_back(pad);
        continue;
      }
      auto term = [index](int64_t k) { return k * k * 17 + index * k * 3; };
      int64_t value = elementValue(index);
      if (number != 0)
        value = term(number);
      else
        for (int64_t k = 1; k < count; ++k)
          value -= term(k);
      result[rank].push_back(value);
    }
  }
  return result;
}

bool shardkit_test::sameBuffers(const Layout &layout, const Buffers &a, const Buffers &b) {
  for (size_t rank = 0; rank < a.size(); ++rank) {
    auto indices = offsetIndices(layout, rank);
    if (a[rank].size() != indices.size() || b[rank].size() != indices.size())
      return false;
    for (size_t i = 0; i < indices.size(); ++i)
      if (indices[i] >= 0 && a[rank][i] != b[rank][i])
        return false;
  }
  return true;
}

/// A loop of a transfer as a segment.
static std::vector<TransferSegment> loopsOf(const Transfer &transfer) {
  std::vector<TransferSegment> loops(transfer.segments.begin(), transfer.segments.end());
  for (const TransferAtom &atom : transfer.atoms)
    loops.push_back(
        {atom.size, {{atom.size, atom.srcIsRank, atom.srcStride}}, {{atom.size, atom.dstIsRank, atom.dstStride}}});
  return loops;
}

Buffers shardkit_test::runTransfer(const Transfer &transfer, int64_t localElements, const Buffers &in,
                                   int64_t &received, llvm::ArrayRef<int64_t> order, std::vector<int64_t> *sent) {
  if (sent)
    sent->assign(in.size(), 0);
  int64_t iterations = 1, combined = 1;
  for (const RankDigit &digit : transfer.reduce)
    combined *= digit.size;
  std::vector<TransferSegment> loops = loopsOf(transfer);
  // A loop over a rank of the destination has one relevant value.
  auto isFixed = [](const TransferSegment &loop) {
    return !loop.window && loop.dst.size() == 1 && loop.dst[0].isRank && loop.dst[0].size == loop.size;
  };
  // The loop of a window runs over its indices.
  auto countOf = [](const TransferSegment &loop) {
    if (!loop.window)
      return loop.size;
    bool hasIndices = !loop.dst.empty() && !loop.dst.back().isRank;
    return hasIndices ? loop.dst.back().size : int64_t(1);
  };
  for (const TransferSegment &loop : loops)
    iterations *= isFixed(loop) ? 1 : countOf(loop);

  Buffers out(in.size(), std::vector<int64_t>(localElements, pad));
  for (int64_t sender = 0; sender < static_cast<int64_t>(in.size()); ++sender) {
    // The device has rank `sender` in `from` and `rank` in `to`.
    int64_t rank = order.empty() ? sender : order[sender];
    std::vector<bool> written(localElements, false);
    for (int64_t v = 0; v < iterations; ++v) {
      int64_t remaining = v, source = sender, from = 0, to = 0, shift = 0;
      bool mine = true;
      for (size_t i = loops.size(); i-- > 0;) {
        const TransferSegment &loop = loops[i];
        bool isSegment = i < transfer.segments.size();
        int64_t value;
        if (isFixed(loop)) {
          value = (rank / loop.dst[0].stride) % loop.size;
        } else {
          value = remaining % countOf(loop);
          remaining /= countOf(loop);
        }
        int64_t digits = value;
        if (loop.window) {
          int64_t coordinate = 0;
          for (const TransferDigit &digit : loop.dst)
            if (digit.isRank)
              coordinate = coordinate * digit.size + (rank / digit.stride) % digit.size;
            else
              to += value * digit.stride;
          value += loop.window->step * coordinate + loop.window->offset;
          mine &= value >= 0 && value < loop.size;
          if (!mine)
            continue;
          digits = 0;
        }
        for (size_t k = loop.window ? 0 : loop.dst.size(); k-- > 0; digits /= loop.dst[k].size) {
          const TransferDigit &digit = loop.dst[k];
          if (!digit.isRank)
            to += digits % digit.size * digit.stride;
          else if (digits % digit.size != (rank / digit.stride) % digit.size)
            mine = false;
        }
        EXPECT_EQ(digits, 0) << "too few digits in a segment";
        digits = value;
        for (size_t k = loop.src.size(); k-- > 0; digits /= loop.src[k].size) {
          const TransferDigit &digit = loop.src[k];
          if (!digit.isRank) {
            from += digits % digit.size * digit.stride;
            continue;
          }
          int64_t change = digits % digit.size - (sender / digit.stride) % digit.size;
          source += change * digit.stride;
          shift -= isSegment ? change : 0;
        }
        EXPECT_EQ(digits, 0) << "too few digits in a segment";
      }
      if (!mine)
        continue;
      for (const RankDigit &digit : transfer.spread) {
        int64_t had = (sender / digit.stride) % digit.size;
        int64_t gets = ((had + shift) % digit.size + digit.size) % digit.size;
        source += (gets - had) * digit.stride;
      }
      int64_t sum = 0;
      for (int64_t k = 0; k < combined; ++k) {
        int64_t other = source, digits = k;
        for (size_t i = transfer.reduce.size(); i-- > 0;) {
          const RankDigit &digit = transfer.reduce[i];
          other += (digits % digit.size - (other / digit.stride) % digit.size) * digit.stride;
          digits /= digit.size;
        }
        received += other != sender;
        if (sent && other != sender)
          ++(*sent)[other];
        sum += in.at(other).at(from);
      }
      EXPECT_FALSE(written.at(to)) << "an element is written twice";
      written[to] = true;
      out[rank].at(to) = sum;
    }
    EXPECT_TRUE(!transfer.segments.empty() || llvm::all_equal(written));
  }
  return out;
}

std::string shardkit_test::toString(llvm::ArrayRef<PlanStep> plan) {
  std::string text;
  for (const PlanStep &step : plan)
    text += "  " + stringifyCollectiveKind(step.kind).str() + "  " + step.from.toString() + "  ->  " +
            step.to.toString() + "\n";
  return text;
}

std::string shardkit_test::kinds(llvm::ArrayRef<PlanStep> plan) {
  std::string text;
  for (const PlanStep &step : plan)
    text += (text.empty() ? "" : " ") + stringifyCollectiveKind(step.kind).str();
  return text;
}

/// Ranks of the group of a rank.
static std::vector<int64_t> groupOf(int64_t rank, llvm::ArrayRef<RankDigit> group) {
  std::vector<int64_t> ranks{rank};
  for (const RankDigit &digit : group) {
    std::vector<int64_t> wider;
    for (int64_t r : ranks)
      for (int64_t v = 0; v < digit.size; ++v)
        wider.push_back(r + (v - (r / digit.stride) % digit.size) * digit.stride);
    ranks = wider;
  }
  return ranks;
}

static void checkStep(const PlanStep &step, int64_t numDevices) {
  EXPECT_TRUE(step.to.fitsShape());
  EXPECT_FALSE(step.from == step.to);
  bool reduces = step.kind == CollectiveKind::AllReduce || step.kind == CollectiveKind::ReduceScatter;
  EXPECT_EQ(reduces, step.from.partial != step.to.partial);
  std::map<llvm::SmallVector<int64_t>, int64_t> before, after, blocks;
  struct Less {
    bool operator()(const llvm::SmallVector<int64_t> &a, const llvm::SmallVector<int64_t> &b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  std::multiset<llvm::SmallVector<int64_t>, Less> held, wanted;
  for (int64_t rank = 0; rank < numDevices; ++rank) {
    auto has = step.from.ownedIndices(rank), wants = step.to.ownedIndices(rank);
    held.insert(has);
    wanted.insert(wants);
    bool keeps = std::includes(wants.begin(), wants.end(), has.begin(), has.end());
    bool within = std::includes(has.begin(), has.end(), wants.begin(), wants.end());
    switch (step.kind) {
    case CollectiveKind::AllSlice:
    case CollectiveKind::ReduceScatter:
      EXPECT_TRUE(within);
      break;
    case CollectiveKind::AllGather:
      EXPECT_TRUE(keeps);
      break;
    case CollectiveKind::AllReduce:
      EXPECT_TRUE(keeps && within);
      break;
    case CollectiveKind::AllToAll: {
      EXPECT_EQ(has.size(), wants.size());
      // An equal share from each device of the group.
      size_t devices = groupOf(rank, step.group).size(), kept = 0;
      for (int64_t i : wants)
        kept += std::binary_search(has.begin(), has.end(), i);
      EXPECT_EQ(kept * devices, wants.size());
      break;
    }
    case CollectiveKind::CollectivePermute:
    case CollectiveKind::Exchange:
      break;
    }
    // All needed elements are in the group.
    std::set<int64_t> found;
    for (int64_t other : groupOf(rank, step.group)) {
      auto theirs = step.from.ownedIndices(other);
      found.insert(theirs.begin(), theirs.end());
    }
    EXPECT_TRUE(std::includes(found.begin(), found.end(), wants.begin(), wants.end()));
  }
  if (step.kind == CollectiveKind::CollectivePermute)
    EXPECT_TRUE(held == wanted) << "not a permutation of blocks";
}

void shardkit_test::checkPlan(const Layout &from, const Layout &to, int64_t numDevices, bool expectBound,
                              const Mesh *mesh) {
  auto plan = planReshard(from, to, {mesh});
  SCOPED_TRACE("plan " + from.toString() + "  ->  " + to.toString() + "\n" + toString(plan));
  if (plan.empty()) {
    EXPECT_EQ(from, to);
    return;
  }
  EXPECT_EQ(plan.front().from, from);
  EXPECT_EQ(plan.back().to, to);
  EXPECT_LE(plan.size(), 6u);

  Buffers data = makeBuffers(from, numDevices);
  int64_t total = 0;
  for (size_t i = 0; i < plan.size(); ++i) {
    const PlanStep &step = plan[i];
    if (i)
      EXPECT_EQ(plan[i - 1].to, step.from);
    if (mesh)
      EXPECT_TRUE(step.from.toSharding(*mesh).has_value());
    checkStep(step, numDevices);
    auto volume = bruteVolume(step.from, step.to, numDevices);
    EXPECT_EQ(receivedElements(step.from, step.to, numDevices), volume.total);
    total += volume.total;

    auto transfer = computeTransfer(step.from, step.to);
    ASSERT_TRUE(transfer.has_value()) << "no transfer for step " << i;
    int64_t received = 0;
    Buffers next = runTransfer(*transfer, step.to.numLocalElements(), data, received);
    if (step.to.partial.empty())
      EXPECT_TRUE(sameBuffers(step.to, next, makeBuffers(step.to, numDevices))) << "step " << i;
    // Uneven dims that stay are moved with their padding.
    bool padded =
        llvm::any_of(step.from.uneven, [&](const UnevenDim &u) { return llvm::is_contained(step.to.uneven, u); });
    if (step.from.partial.empty() && !padded)
      EXPECT_EQ(received, volume.total) << "step " << i;

    // The same move on the local value that all devices have in common.
    Layout fromReduced = step.from, toReduced = step.to;
    removeCommonDigits(fromReduced, toReduced);
    EXPECT_EQ(fromReduced.numLocalElements(), step.from.numLocalElements());
    EXPECT_EQ(toReduced.numLocalElements(), step.to.numLocalElements());
    auto remaining = computeTransfer(fromReduced, toReduced);
    EXPECT_TRUE(remaining.has_value());
    if (remaining) {
      int64_t receivedReduced = 0;
      Buffers again = runTransfer(*remaining, step.to.numLocalElements(), data, receivedReduced);
      EXPECT_TRUE(again == next) << fromReduced.toString() << " -> " << toReduced.toString();
      EXPECT_EQ(receivedReduced, received);
    }
    data = next;
  }
  if (expectBound)
    EXPECT_EQ(total, bruteVolume(from, to, numDevices).total);
}

//===----------------------------------------------------------------------===//
// All layouts
//===----------------------------------------------------------------------===//

namespace {
/// Appends sub-axes, one after the other, to the entries of a dim.
class Enumerator {
public:
  Enumerator(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, bool uneven) : mesh(mesh), shape(shape), uneven(uneven) {
    current.dims.resize(shape.size());
    addDim(0);
  }
  std::vector<Layout> layouts;

private:
  void addDim(unsigned d) {
    if (d == shape.size()) {
      Layout layout = Layout::get(current, mesh, shape);
      if (seen.insert(layout.toString()).second)
        layouts.push_back(layout);
      return;
    }
    addDim(d + 1);
    DimEntries &list = current.dims[d].entries;
    int64_t total = totalFactor(list);
    bool divides = shape[d] % total == 0;
    for (unsigned a = 0; a < mesh.axes.size(); ++a)
      for (int64_t n = mesh.axes[a].size, pre = 1; pre < n; ++pre)
        for (int64_t size = 2; pre * size <= n; ++size) {
          DimEntry entry{static_cast<int32_t>(a), pre, size};
          if (n % (pre * size) != 0 || isUsed(entry))
            continue;
          for (int64_t stride = 1; stride * total * size <= shape[d]; ++stride)
            if (shape[d] % (stride * total * size) == 0)
              with(d, stride, entry);
          // Only full axes.
          bool isFull = size == n && llvm::all_of(list, [&](const DimEntry &e) {
                          return !e.isStride() && e.size == mesh.axes[e.axis].size;
                        });
          if (uneven && isFull && (!divides || shape[d] % (total * size) != 0))
            with(d, 1, entry);
        }
  }

  void with(unsigned d, int64_t stride, const DimEntry &entry) {
    DimEntries &list = current.dims[d].entries;
    size_t before = list.size();
    if (stride > 1)
      list.push_back(DimEntry::stride(stride));
    list.push_back(entry);
    if (!verifySharding(current, mesh, shape, uneven))
      addDim(d);
    list.resize(before);
  }

  bool isUsed(const DimEntry &entry) const {
    return llvm::any_of(current.dims, [&](const DimSharding &dim) {
      return llvm::any_of(dim.entries,
                          [&](const DimEntry &other) { return !other.isStride() && overlaps(entry, other, mesh); });
    });
  }

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  bool uneven;
  Sharding current;
  std::set<std::string> seen;
};
} // namespace

std::vector<Layout> shardkit_test::allLayouts(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, bool uneven) {
  return Enumerator(mesh, shape, uneven).layouts;
}

//===----------------------------------------------------------------------===//
// Random input
//===----------------------------------------------------------------------===//

Mesh Random::mesh() {
  static const std::vector<std::vector<int64_t>> sizes = {
      {2},    {3},    {4},    {6},    {8},    {12},   {2, 2},    {2, 3},    {3, 2},    {2, 4},   {4, 2},
      {6, 2}, {2, 6}, {3, 4}, {1, 4}, {4, 1}, {3, 3}, {2, 2, 2}, {2, 3, 2}, {2, 2, 3}, {1, 2, 6}};
  Mesh mesh;
  const char *names[] = {"x", "y", "z"};
  for (int64_t size : sizes[below(sizes.size())])
    mesh.axes.push_back({names[mesh.axes.size()], size});
  return mesh;
}

Shape Random::shape(unsigned maxRank, int64_t maxElements) {
  Shape shape;
  int64_t n = 1;
  for (unsigned rank = below(maxRank + 1); rank > 0; --rank) {
    int64_t size = pick<int64_t>({1, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16, 24});
    if (n * size > maxElements)
      continue;
    n *= size;
    shape.push_back(size);
  }
  return shape;
}

Sharding Random::sharding(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, bool uneven, bool partial) {
  Sharding result;
  result.dims.resize(shape.size());
  // Axes split into prime factors (in a random order of primes) or full.
  std::vector<DimEntry> subAxes;
  for (unsigned a = 0; a < mesh.axes.size(); ++a) {
    int64_t remaining = mesh.axes[a].size, pre = 1;
    if (below(2)) {
      subAxes.push_back({static_cast<int32_t>(a), 1, remaining});
      continue;
    }
    while (remaining > 1) {
      int64_t p = pick<int64_t>({2, 3});
      if (remaining % p != 0)
        continue;
      subAxes.push_back({static_cast<int32_t>(a), pre, p});
      pre *= p;
      remaining /= p;
    }
  }
  std::shuffle(subAxes.begin(), subAxes.end(), engine);
  std::vector<int64_t> room(shape.begin(), shape.end());
  for (const DimEntry &subAxis : subAxes) {
    if (below(4) == 0)
      continue;
    if (partial && below(3) == 0) {
      result.unreduced.push_back(subAxis);
      continue;
    }
    if (shape.empty())
      continue;
    unsigned d = below(shape.size());
    DimEntries &list = result.dims[d].entries;
    if (room[d] > 0 && room[d] % subAxis.size == 0) {
      if (below(4) == 0)
        for (int64_t stride : {2, 3})
          if (room[d] % (subAxis.size * stride) == 0 && below(2)) {
            list.push_back(DimEntry::stride(stride));
            room[d] /= stride;
          }
      list.push_back(subAxis);
      room[d] /= subAxis.size;
    } else if (uneven && list.empty() && subAxis.pre == 1 && subAxis.size == mesh.axes[subAxis.axis].size) {
      list.push_back(subAxis);
      room[d] = 0; // no other entry here
    }
  }
  for (DimSharding &dim : result.dims)
    dim.entries = canonicalize(dim.entries);
  return result;
}
