//===- MeshTransferTest.cpp - From one mesh to another --------------------===//

#include "shardkit/Layout/MeshTransfer.h"
#include "Simulator.h"
#include <set>

using namespace shardkit_test;

namespace {

struct Measured {
  int64_t messages = 0, elements = 0;
  std::vector<int64_t> sent; // elements by sender
};

/// Runs the transfer element by element, checks the result of every receiver, and counts.
/// Layouts are even.
Measured run(const Layout &from, int64_t senders, const Layout &to, int64_t receivers) {
  Measured measured;
  measured.sent.resize(senders);
  auto transfer = computeMeshTransfer(from, senders, to, receivers);
  EXPECT_TRUE(transfer && transfer->segments.empty());
  if (!transfer || !transfer->segments.empty())
    return measured;
  Buffers in = makeBuffers(from, senders), expected = makeBuffers(to, receivers);
  std::set<std::pair<int64_t, int64_t>> pairs;
  int64_t iterations = 1;
  for (const TransferAtom &atom : transfer->atoms)
    iterations *= atom.dstIsRank ? 1 : atom.size;
  for (int64_t rank = 0; rank < receivers; ++rank) {
    std::vector<bool> written(to.numLocalElements(), false);
    for (int64_t v = 0; v < iterations; ++v) {
      int64_t remaining = v, source = 0, offset = 0, target = 0;
      for (size_t i = transfer->atoms.size(); i-- > 0;) {
        const TransferAtom &atom = transfer->atoms[i];
        int64_t value = atom.dstIsRank ? (rank / atom.dstStride) % atom.size : remaining % atom.size;
        if (!atom.dstIsRank) {
          remaining /= atom.size;
          target += value * atom.dstStride;
        }
        (atom.srcIsRank ? source : offset) += value * atom.srcStride;
      }
      EXPECT_LT(source, senders);
      EXPECT_FALSE(written[target]);
      written[target] = true;
      EXPECT_EQ(in[source][offset], expected[rank][target]);
      pairs.insert({source, rank});
      ++measured.sent[source];
      ++measured.elements;
    }
  }
  measured.messages = pairs.size();
  return measured;
}

Layout on(const char *text, std::initializer_list<int64_t> sizes, Shape shape) {
  return layout(text, mesh(sizes), shape);
}

} // namespace

// Messages and bytes (of f32) of Alpa's tests of cross-mesh resharding.
TEST(MeshTransfer, MessagesAndBytes) {
  struct Row {
    Shape shape;
    const char *from;
    std::initializer_list<int64_t> fromMesh;
    const char *to;
    std::initializer_list<int64_t> toMesh;
    int64_t naiveMessages, naiveBytes, messages, bytes;
    const char *arrives;
  };
  const char *s0 = "[{\"x\"}, {}, {}]", *s1 = "[{}, {\"x\"}, {}]", *r = "[{}, {}, {}]";
  Row rows[] = {
      {{4, 8, 16}, r, {2}, s0, {2}, 2, 2048, 2, 2048, s0},
      {{4, 8, 16}, s0, {2}, s0, {2}, 2, 2048, 2, 2048, s0},
      {{4, 8, 16}, s1, {2}, s0, {2}, 4, 2048, 4, 2048, s0},
      {{4, 8, 16}, r, {2}, r, {2}, 2, 4096, 2, 2048, s0},
      {{4, 8, 16}, s0, {2}, r, {2}, 4, 4096, 2, 2048, s0},
      {{4, 8, 16}, s1, {2}, r, {2}, 4, 4096, 2, 2048, s1},
      {{3, 8, 2}, r, {2}, r, {2}, 2, 384, 2, 192, s1},
      {{6, 8, 16}, r, {4}, r, {4}, 4, 12288, 4, 3072, "[{\"x\":(1)2}, {\"x\":(2)2}, {}]"},
      {{2, 64, 64}, "[{\"x\"}, {\"y\"}, {}]", {2, 2}, r, {4}, 16, 131072, 4, 32768, "[{\"x\":(1)2}, {\"x\":(2)2}, {}]"},
      {{64, 64}, "[{\"x\"}, {}]", {4}, "[{}, {\"x\"}]", {2}, 8, 16384, 8, 16384, "[{}, {\"x\"}]"},
      {{32, 10}, "[{}, {}]", {2}, "[{\"x\"}, {}]", {2}, 2, 1280, 2, 1280, "[{\"x\"}, {}]"},
      {{32, 10}, "[{\"x\"}, {}]", {2}, "[{}, {}]", {2}, 4, 2560, 2, 1280, "[{\"x\"}, {}]"},
  };
  for (const Row &row : rows) {
    Mesh fromMesh = mesh(row.fromMesh), toMesh = mesh(row.toMesh);
    SCOPED_TRACE(std::string(row.from) + " -> " + row.to);
    Layout from = layout(row.from, fromMesh, row.shape), to = layout(row.to, toMesh, row.shape);
    int64_t senders = fromMesh.numDevices(), receivers = toMesh.numDevices();
    MeshTransferVolume naive = getTransferVolume(from, to, receivers);
    EXPECT_EQ(naive.messages, row.naiveMessages);
    EXPECT_EQ(naive.elements * 4, row.naiveBytes);
    Layout arrival = Layout::get(getArrival(from, sharding(row.to, toMesh), toMesh), toMesh, row.shape);
    EXPECT_EQ(arrival, layout(row.arrives, toMesh, row.shape));
    for (const Layout &target : {to, arrival}) {
      MeshTransferVolume volume = getTransferVolume(from, target, receivers);
      Measured measured = run(from, senders, target, receivers);
      EXPECT_EQ(measured.messages, volume.messages);
      EXPECT_EQ(measured.elements, volume.elements);
    }
    MeshTransferVolume volume = getTransferVolume(from, arrival, receivers);
    EXPECT_EQ(volume.messages, row.messages);
    EXPECT_EQ(volume.elements * 4, row.bytes);
  }
}

// Replicas of the source send equal shares if the receivers can distinguish them.
TEST(MeshTransfer, LoadBalancedSenders) {
  auto sent = [](const Layout &from, int64_t senders, const Layout &to, int64_t receivers) {
    return run(from, senders, to, receivers).sent;
  };
  using Sent = std::vector<int64_t>;
  EXPECT_EQ(sent(on("[{}]", {4}, {8}), 4, on("[{\"x\"}]", {4}, {8}), 4), Sent({2, 2, 2, 2}));
  EXPECT_EQ(sent(on("[{}]", {2}, {8}), 2, on("[{\"x\"}]", {4}, {8}), 4), Sent({4, 4}));
  EXPECT_EQ(sent(on("[{\"y\"}]", {2, 2}, {8}), 4, on("[{}]", {4}, {8}), 4), Sent({8, 8, 8, 8}));
  EXPECT_EQ(sent(on("[{\"x\"}]", {2, 2}, {8}), 4, on("[{}]", {4}, {8}), 4), Sent({8, 8, 8, 8}));
  EXPECT_EQ(sent(on("[{}]", {3}, {6}), 3, on("[{\"x\"}]", {3}, {6}), 3), Sent({2, 2, 2}));
}

/// Verifies that source ranks of a transfer, and those that choose among replicas, are distinct digits of `senders`.
void expectDigitsOf(const Transfer &transfer, int64_t senders) {
  std::vector<RankDigit> digits(transfer.spread.begin(), transfer.spread.end());
  for (const TransferSegment &segment : transfer.segments)
    for (const TransferDigit &digit : segment.src)
      if (digit.isRank)
        digits.push_back({digit.stride, digit.size});
  std::sort(digits.begin(), digits.end(), [](const RankDigit &a, const RankDigit &b) { return a.stride < b.stride; });
  int64_t end = 1;
  for (const RankDigit &digit : digits) {
    EXPECT_EQ(digit.stride % end, 0);
    end = digit.stride * digit.size;
  }
  EXPECT_EQ(senders % end, 0);
}

// Replicas on 2 devices that receivers on 3 choose among; dims that devices do not divide.
TEST(MeshTransfer, UnevenLayouts) {
  auto compute = [](const Layout &from, int64_t senders, const Layout &to, int64_t receivers) {
    auto transfer = computeMeshTransfer(from, senders, to, receivers);
    ASSERT_TRUE(transfer);
    expectDigitsOf(*transfer, senders);
  };
  compute(on("[{}, {}]", {2}, {7, 7}), 2, on("[{}, {\"x\"}]", {3}, {7, 7}), 3);
  compute(on("[{\"x\"}, {}]", {2, 2}, {7, 7}), 4, on("[{}, {\"x\", \"y\"}]", {3, 2}, {7, 7}), 6);
  compute(on("[{\"y\"}, {}]", {3, 2}, {5, 7}), 6, on("[{\"x\"}, {\"y\"}]", {2, 2}, {5, 7}), 4);
  Random random(9);
  for (int i = 0; i < 1000; ++i) {
    Mesh fromMesh = random.mesh(), toMesh = random.mesh();
    Shape shape = random.shape(3, 256);
    Layout from = Layout::get(random.sharding(fromMesh, shape, /*uneven=*/true, /*partial=*/false), fromMesh, shape);
    Layout to = Layout::get(random.sharding(toMesh, shape, /*uneven=*/true, /*partial=*/false), toMesh, shape);
    if (auto transfer = computeMeshTransfer(from, fromMesh.numDevices(), to, toMesh.numDevices());
        transfer && !transfer->segments.empty())
      expectDigitsOf(*transfer, fromMesh.numDevices());
  }
}

TEST(MeshTransfer, RandomLayouts) {
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    Mesh fromMesh = random.mesh(), toMesh = random.mesh();
    Shape shape = random.shape(3, 256);
    Sharding a = random.sharding(fromMesh, shape, /*uneven=*/false, /*partial=*/false);
    Sharding b = random.sharding(toMesh, shape, /*uneven=*/false, /*partial=*/false);
    Layout from = Layout::get(a, fromMesh, shape);
    for (const Sharding &to : {b, getArrival(from, b, toMesh)}) {
      Layout target = Layout::get(to, toMesh, shape);
      auto transfer = computeMeshTransfer(from, fromMesh.numDevices(), target, toMesh.numDevices());
      ASSERT_TRUE(transfer);
      if (!transfer->segments.empty()) {
        expectDigitsOf(*transfer, fromMesh.numDevices());
        continue; // run end to end
      }
      Measured measured = run(from, fromMesh.numDevices(), target, toMesh.numDevices());
      MeshTransferVolume volume = getTransferVolume(from, target, toMesh.numDevices());
      EXPECT_EQ(measured.messages, volume.messages);
      EXPECT_EQ(measured.elements, volume.elements);
    }
    Layout arrival = Layout::get(getArrival(from, b, toMesh), toMesh, shape);
    EXPECT_LE(arrival.numLocalElements(), Layout::get(b, toMesh, shape).numLocalElements());
  }
}
