//===- StartedTest.cpp - Collectives in two halves ------------------------===//

#include "OnDevices.h"
#include "Support.h"

#include "shardkit/rt/Collectives/Collective.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

/// A sum of `elements` floats over the minor one of two axes of 2.
CollectiveInfo allReduce(int64_t id, int64_t elements, int64_t with) {
  CollectiveInfo info;
  info.id = id;
  info.kind = "all_reduce";
  info.dtype = DType::F32;
  info.reduction = Reduction::Sum;
  info.inElements = info.outElements = elements;
  info.atoms = {{elements, false, 1, false, 1}};
  info.group = {{1, 2}};
  info.startGroup = with;
  return info;
}

constexpr int64_t sizes[] = {5, 20000, 7, 3}; // The second one is computed in parts.
constexpr int ranks = 4;

float input(int rank, size_t collective, int round) { return float(rank * 100 + int(collective) * 10 + round); }

/// Two together, one at once, one started while others are on their way.
FunctionInfo function() {
  FunctionInfo info;
  info.devices = ranks;
  info.collectives = {allReduce(0, sizes[0], 0), allReduce(1, sizes[1], 0), allReduce(2, sizes[2], -1),
                      allReduce(3, sizes[3], 3)};
  return info;
}

TEST(Started, startedCollectivesAndOthersBetween) {
  LocalWorld world(ranks, 30);
  FunctionInfo info = function();
  FunctionPlans plans(info, world);
  ASSERT_TRUE(plans.status.ok());
  EXPECT_EQ(plans.started[0], plans.started[1]);
  EXPECT_EQ(plans.started[2], nullptr);
  std::vector<std::thread> threads;
  auto devices = openDevices(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::mt19937 random(unsigned(rank) + 1);
      cuda::Device *device = devices ? devices->of(rank) : nullptr;
      std::vector<std::vector<float>> in, out;
      std::vector<std::unique_ptr<Placed>> from, to;
      for (int64_t size : sizes) {
        in.emplace_back(size_t(size));
        out.emplace_back(size_t(size));
        from.push_back(std::make_unique<Placed>(device, in.back().data(), size * 4));
        to.push_back(std::make_unique<Placed>(device, out.back().data(), size * 4));
      }
      auto late = [&] { std::this_thread::sleep_for(std::chrono::microseconds(random() % 300)); };
      auto start = [&](int64_t id) {
        late();
        communicate(device, [&](CopyEngine &engine) {
          EXPECT_OK(
              plans.started[size_t(id)]->start(rank, id, from[size_t(id)]->data(), to[size_t(id)]->data(), engine));
          return true;
        });
      };
      auto done = [&](int64_t id, bool first) {
        late();
        bool waited = false;
        communicate(device, [&](CopyEngine &engine) {
          EXPECT_OK(plans.started[size_t(id)]->done(rank, id, from[size_t(id)]->data(), to[size_t(id)]->data(), waited,
                                                    engine));
          return true;
        });
        EXPECT_EQ(waited, first);
      };
      for (int round = 0; round < 50; ++round) {
        for (size_t i = 0; i < in.size(); ++i)
          std::fill(in[i].begin(), in[i].end(), input(rank, i, round));
        for (size_t i = 0; device && i < in.size(); ++i)
          EXPECT_OK(device->upload(from[i]->data(), in[i].data(), sizes[i] * 4));
        start(0);
        start(1);
        EXPECT_TRUE(communicate(device, [&](CopyEngine &engine) {
          return plans.plans[2]->run(rank, 1, from[2]->data(), to[2]->data(), engine);
        }));
        start(3);
        done(0, true);
        done(1, false);
        done(3, true);
        for (size_t i = 0; i < in.size(); ++i) {
          to[i]->fetch();
          float sum = input(rank, i, round) + input(rank ^ 1, i, round);
          EXPECT_EQ(std::count(out[i].begin(), out[i].end(), sum), sizes[i]);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(world.failed());
}

TEST(Started, wrongOrderOfDoneIsAnError) {
  LocalWorld world(ranks, 30);
  FunctionInfo info = function();
  FunctionPlans plans(info, world);
  StartedPlan &pair = *plans.started[0];
  float in[8], out[8], other[8];
  bool waited;
  EXPECT_ERROR(pair.done(0, 0, in, out, waited), "waits for collective 0, which it has not started");
  EXPECT_ERROR(pair.start(0, 1, in, out), "starts collective 1 out of the order");
  EXPECT_TRUE(pair.start(0, 0, in, out).ok());
  EXPECT_ERROR(pair.done(0, 0, in, out, waited), "which it has not started");
  EXPECT_TRUE(pair.start(0, 1, in, out).ok());
  EXPECT_ERROR(pair.start(0, 0, in, out), "starts collective 0 again before it is done");
  EXPECT_ERROR(pair.done(0, 1, in, out, waited), "waits for collective 1");
  EXPECT_ERROR(pair.done(0, 0, in, other, waited), "with other buffers than it started it with");
}

TEST(Started, aMissingRankIsNamed) {
  LocalWorld world(ranks, 0.1);
  FunctionInfo info = function();
  FunctionPlans plans(info, world);
  float in[8] = {}, out[8];
  bool waited;
  EXPECT_TRUE(plans.started[3]->start(2, 3, in, out).ok());
  EXPECT_FALSE(plans.started[3]->done(2, 3, in, out, waited).ok());
  EXPECT_ERROR(world.status(), "collective 3 (all_reduce of 0 bytes): rank 2 waited 0.1 s, arrived 2, missing rank 3");
}

TEST(Started, collectivesStartedTogetherHaveTheSameRanks) {
  LocalWorld world(ranks, 30);
  FunctionInfo info = function();
  info.collectives[1].group = {{2, 2}};
  EXPECT_ERROR(FunctionPlans(info, world).status,
               "collective 1 (all_reduce of 0 bytes) is started with collective 0, which other ranks");
}

} // namespace
