//===- TransferTest.cpp - Moves as loops over strides ---------------------===//

#include "Simulator.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace shardkit_test;

static void checkRemoved(const Mesh &m, Shape shape, const char *from, const char *to, Shape reducedShape,
                         const char *reducedFrom, const char *reducedTo) {
  SCOPED_TRACE(std::string(from) + " -> " + to);
  Layout a = layout(from, m, shape), b = layout(to, m, shape);
  removeCommonDigits(a, b);
  EXPECT_EQ(a, layout(reducedFrom, m, reducedShape));
  EXPECT_EQ(b, layout(reducedTo, m, reducedShape));
}

TEST(Transfer, RemoveCommonDigitsTruthTable) {
  Mesh m = mesh({2, 2});
  checkRemoved(m, {8, 16}, "[{\"x\"}, {\"y\"}]", "[{\"x\"}, {}]", {4, 16}, "[{}, {\"y\"}]", "[{}, {}]");
  checkRemoved(m, {8, 16}, "[{\"x\"}, {}]", "[{\"y\"}, {}]", {8, 16}, "[{\"x\"}, {}]", "[{\"y\"}, {}]");
  checkRemoved(m, {8, 16}, "[{\"x\", \"y\"}, {}]", "[{\"x\"}, {}]", {4, 16}, "[{\"y\"}, {}]", "[{}, {}]");
  checkRemoved(m, {8, 16}, "[{2, \"x\"}, {}]", "[{\"x\"}, {}]", {8, 16}, "[{2, \"x\"}, {}]", "[{\"x\"}, {}]");
  checkRemoved(m, {8, 16}, "[{}, {}], unreduced = {\"x\", \"y\"}", "[{}, {}], unreduced = {\"x\"}", {8, 16},
               "[{}, {}], unreduced = {\"y\"}", "[{}, {}]");
  checkRemoved(m, {5, 16}, "[{\"x\"}, {\"y\"}]", "[{\"x\"}, {}]", {3, 16}, "[{}, {\"y\"}]", "[{}, {}]");
  // A digit between two others that move.
  checkRemoved(m, {8, 2}, "[{2, \"x\", \"y\"}, {}]", "[{\"y\", \"x\"}, {}]", {4, 2}, "[{2, \"y\"}, {}]",
               "[{\"y\"}, {}]");
}

TEST(Transfer, AllToAllLoops) {
  Mesh m = mesh({2});
  auto t = computeTransfer(layout("[{\"x\"}, {}]", m, {4, 6}), layout("[{}, {\"x\"}]", m, {4, 6}));
  ASSERT_TRUE(t.has_value());
  ASSERT_EQ(t->atoms.size(), 4u);
  auto check = [](const TransferAtom &a, int64_t size, bool srcIsRank, int64_t srcStride, bool dstIsRank,
                  int64_t dstStride) {
    EXPECT_EQ(a.size, size);
    EXPECT_EQ(a.srcIsRank, srcIsRank);
    EXPECT_EQ(a.srcStride, srcStride);
    EXPECT_EQ(a.dstIsRank, dstIsRank);
    EXPECT_EQ(a.dstStride, dstStride);
  };
  check(t->atoms[0], 2, true, 1, false, 6);  // rows: owner
  check(t->atoms[1], 2, false, 6, false, 3); // rows within a block
  check(t->atoms[2], 2, false, 3, true, 1);  // columns: mine
  check(t->atoms[3], 3, false, 1, false, 1);
}

TEST(Transfer, AdjacentLoopsAreJoined) {
  Mesh m = mesh({2});
  auto t = computeTransfer(layout("[{}, {}, {}], unreduced = {\"x\"}", m, {4, 6, 5}), Layout::replicated({4, 6, 5}));
  ASSERT_TRUE(t.has_value());
  ASSERT_EQ(t->atoms.size(), 1u);
  EXPECT_EQ(t->atoms[0].size, 120);
  ASSERT_EQ(t->reduce.size(), 1u);
  EXPECT_EQ(t->reduce[0], (RankDigit{1, 2}));
}

TEST(Transfer, CollectivePermuteSendsEachBlockOnce) {
  // Rank (x, y) wants block y; reading it from (y, x) is a permutation.
  Mesh m = mesh({3, 3});
  auto t = computeTransfer(layout("[{\"x\"}]", m, {9}), layout("[{\"y\"}]", m, {9}));
  ASSERT_TRUE(t.has_value());
  std::vector<int> sends(9, 0);
  for (int64_t rank = 0; rank < 9; ++rank) {
    int64_t source = rank;
    for (const TransferAtom &a : t->atoms)
      if (a.srcIsRank) {
        ASSERT_TRUE(a.dstIsRank);
        int64_t v = (rank / a.dstStride) % a.size;
        source += (v - (rank / a.srcStride) % a.size) * a.srcStride;
      }
    ++sends[source];
  }
  EXPECT_EQ(sends, std::vector<int>(9, 1));
}

/// Runs the transfer and compares; every missing element is received once, and no other.
static Transfer checkTransfer(const char *from, const Mesh &a, const char *to, const Mesh &b, Shape shape) {
  SCOPED_TRACE(std::string(from) + " -> " + to);
  Layout source = layout(from, a, shape), target = layout(to, b, shape);
  auto transfer = computeTransfer(source, target);
  EXPECT_TRUE(transfer.has_value());
  if (!transfer)
    return {};
  int64_t devices = a.numDevices(), received = 0;
  Buffers out = runTransfer(*transfer, target.numLocalElements(), makeBuffers(source, devices), received);
  EXPECT_TRUE(sameBuffers(target, out, makeBuffers(target, devices)));
  EXPECT_EQ(received, bruteVolume(source, target, devices).total);
  return *transfer;
}

TEST(Transfer, MisalignedDigitsUseSegments) {
  Mesh m = mesh({2, 3});
  Transfer t = checkTransfer("[{\"x\"}, {}]", m, "[{\"y\"}, {}]", m, {6, 2});
  ASSERT_EQ(t.segments.size(), 1u);
  const TransferSegment &s = t.segments[0];
  EXPECT_EQ(s.size, 6);
  auto check = [](const TransferDigit &digit, int64_t size, bool isRank, int64_t stride) {
    EXPECT_EQ(digit.size, size);
    EXPECT_EQ(digit.isRank, isRank);
    EXPECT_EQ(digit.stride, stride);
  };
  ASSERT_EQ(s.src.size(), 2u);
  check(s.src[0], 2, true, 3);
  check(s.src[1], 3, false, 2);
  ASSERT_EQ(s.dst.size(), 2u);
  check(s.dst[0], 3, true, 1);
  check(s.dst[1], 2, false, 2);
  ASSERT_EQ(t.atoms.size(), 1u); // the columns

  // Interleaved on both sides: a segment as long as the devices need.
  t = checkTransfer("[{9, \"x\"}]", m, "[{6, \"y\"}]", m, {36});
  ASSERT_EQ(t.segments.size(), 0u + 1);
  EXPECT_EQ(t.segments[0].size, 6);
  // Rank digits that do not nest.
  Mesh six = mesh({6});
  checkTransfer("[{\"x\":(1)2}, {}]", six, "[{\"x\":(3)2}, {}]", six, {12, 4});
  checkTransfer("[{\"x\":(1)3}, {}]", six, "[{\"x\":(3)2}, {}]", six, {12, 4});
  // Views of one device list.
  checkTransfer("[{\"x\"}, {\"y\"}]", mesh({3, 4}), "[{\"x\"}, {\"y\"}]", mesh({2, 6}), {12, 12});
}

static bool hasCommonDim(const Layout &a, const Layout &b) {
  return llvm::any_of(a.uneven, [&](const UnevenDim &u) { return llvm::is_contained(b.uneven, u); });
}

TEST(Transfer, LoadBalancedSenders) {
  // Each block of 3 is held by 3 devices. Read from the replica with the same y,
  // one of them would send 9 elements and others none; the mean is 3.
  Mesh m = mesh({4, 3});
  Layout from = layout("[{\"x\"}]", m, {12}), to = layout("[{\"y\"}]", m, {12});
  auto t = computeTransfer(from, to);
  ASSERT_TRUE(t.has_value());
  EXPECT_EQ(t->spread, (llvm::SmallVector<RankDigit, 1>{{1, 3}}));
  int64_t received = 0;
  std::vector<int64_t> sent;
  Buffers out = runTransfer(*t, 4, makeBuffers(from, 12), received, {}, &sent);
  EXPECT_TRUE(sameBuffers(to, out, makeBuffers(to, 12)));
  EXPECT_EQ(received, 36);
  EXPECT_LE(*std::max_element(sent.begin(), sent.end()), 4);
}

TEST(Transfer, UnevenDims) {
  Mesh m = mesh({2, 3});
  Transfer t = checkTransfer("[{\"x\"}, {}]", m, "[{}, {}]", m, {5, 4});
  ASSERT_EQ(t.segments.size(), 1u);
  EXPECT_EQ(t.segments[0].size, 5);
  ASSERT_EQ(t.segments[0].src.size(), 2u); // 2 chunks of 3: one is padding
  EXPECT_EQ(t.segments[0].src[1].size, 3);
  for (const char *from : {"[{}, {}]", "[{\"x\"}, {}]", "[{\"y\"}, {}]", "[{\"x\", \"y\"}, {}]", "[{\"y\", \"x\"}, {}]",
                           "[{\"y\"}, {\"x\"}]", "[{}, {\"y\", \"x\"}]"})
    for (const char *to : {"[{}, {}]", "[{}, {\"x\"}]", "[{\"y\"}, {}]", "[{\"x\", \"y\"}, {}]", "[{\"y\", \"x\"}, {}]",
                           "[{\"x\"}, {\"y\"}]", "[{}, {\"y\"}]"})
      for (Shape shape : {Shape{5, 4}, Shape{4, 7}, Shape{1, 9}, Shape{10, 1}})
        if (!hasCommonDim(layout(from, m, shape), layout(to, m, shape)))
          checkTransfer(from, m, to, m, shape);
  // Equal uneven dims on both sides: padded buffers that stay.
  auto same = computeTransfer(layout("[{\"x\"}, {\"y\"}]", m, {5, 6}), layout("[{\"x\"}, {}]", m, {5, 6}));
  ASSERT_TRUE(same.has_value());
  EXPECT_TRUE(same->segments.empty());
  // An uneven dim must be a dim of the other shape.
  EXPECT_FALSE(computeTransfer(layout("[{\"x\"}]", m, {5}), Layout::replicated({5, 1})));
}

TEST(Transfer, RankZeroValue) {
  Mesh m = mesh({2});
  auto t = computeTransfer(layout("[], unreduced = {\"x\"}", m, {}), Layout::replicated({}));
  ASSERT_TRUE(t.has_value());
  EXPECT_TRUE(t->atoms.empty());
  checkPlan(layout("[], unreduced = {\"x\"}", m, {}), Layout::replicated({}), 2, false);
}

TEST(Transfer, WindowsReceiveMissingElements) {
  Random random(7);
  int64_t moved = 0, outside = 0;
  for (int n = 0; n < 3000; ++n) {
    Mesh m = random.mesh();
    Shape shape = random.shape(3, 300);
    if (shape.empty() || llvm::is_contained(shape, 0))
      continue;
    // Some dims on full axes, and windows of some of these or of unsharded dims.
    Sharding from, remaining;
    from.dims.resize(shape.size());
    remaining.dims.resize(shape.size());
    Layout to = Layout::replicated(shape);
    for (int32_t a = 0; a < int32_t(m.axes.size()); ++a) {
      DimSharding &dim = from.dims[random.below(shape.size())];
      if (random.below(4) && m.axes[a].size > 1)
        dim.entries.push_back({a, 1, m.axes[a].size});
    }
    for (unsigned d = 0; d < shape.size(); ++d) {
      DimEntries entries = from.dims[d].entries;
      if (entries.empty() || random.below(4) == 0) {
        remaining.dims[d] = from.dims[d];
        continue;
      }
      UnevenDim &dim = to.uneven.emplace_back();
      dim.dim = d;
      for (const DimEntry &entry : entries)
        dim.ranks.push_back(getRankDigit(entry, m));
      dim.window = {random.below(5) - 1, random.below(7) - 3, 1 + random.below(6)};
      if (random.below(3) == 0)
        from.dims[d].entries.clear(); // a window of an unsharded dim
    }
    if (to.uneven.empty())
      continue;
    Layout source = Layout::get(from, m, shape), others = Layout::get(remaining, m, shape);
    to.digits = others.digits;
    for (const UnevenDim &u : others.uneven)
      to.uneven.push_back(u);
    llvm::sort(to.uneven, [](auto &a, auto &b) { return a.dim < b.dim; });

    int64_t devices = m.numDevices();
    MoveVolume brute = bruteVolume(source, to, devices);
    MoveVolume volume = moveVolume(source, to, devices);
    EXPECT_EQ(volume.total, brute.total) << source.toString() << " -> " << to.toString();
    Layout a = source, b = to;
    removeCommonDigits(a, b);
    auto transfer = computeTransfer(a, b);
    ASSERT_TRUE(transfer.has_value()) << source.toString() << " -> " << to.toString();
    int64_t received = 0;
    Buffers in = makeBuffers(source, devices);
    Buffers out = runTransfer(*transfer, to.numLocalElements(), in, received);
    if (!hasCommonDim(source, to)) // else padding moves along
      EXPECT_EQ(received, brute.total) << source.toString() << " -> " << to.toString();
    moved += received;
    // Row-major over the local shape of `to`.
    llvm::SmallVector<int64_t, 4> local = to.localShape();
    for (int64_t rank = 0; rank < devices; ++rank) {
      llvm::SmallVector<int64_t> owned = to.ownedIndices(rank);
      size_t next = 0;
      for (int64_t value : out[rank]) {
        outside += value == pad;
        if (value != pad) {
          ASSERT_LT(next, owned.size());
          ASSERT_EQ(value, elementValue(owned[next++]));
        }
      }
      // Every element of the local buffer is correct.
      for (int64_t offset = 0; offset < int64_t(out[rank].size()); ++offset) {
        int64_t flat = 0, remaining = offset, scale = 1;
        bool inside = true;
        for (unsigned d = shape.size(); d-- > 0; scale *= shape[d]) {
          int64_t lane = remaining % local[d];
          remaining /= local[d];
          for (const UnevenDim &u : to.uneven)
            if (u.dim == d && u.window) {
              lane += u.window->step * u.coordinate(rank) + u.window->offset;
              inside &= lane >= 0 && lane < shape[d];
            } else if (u.dim == d) {
              lane += u.coordinate(rank) * u.chunk(shape[d]);
              inside &= lane < shape[d];
            }
          flat += lane * scale;
        }
        if (others.digits.empty())
          ASSERT_EQ(out[rank][offset], inside ? elementValue(flat) : pad)
              << source.toString() << " -> " << to.toString();
      }
      EXPECT_EQ(next, owned.size()) << source.toString() << " -> " << to.toString();
    }
  }
  EXPECT_GT(moved, 1000);
  EXPECT_GT(outside, 1000);
}
