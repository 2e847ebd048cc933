//===- PipelineTest.cpp - Stages that hand values to each other -----------===//

#include "PipelineSupport.h"

#include "Manifest/CollectiveCheck.h"
#include "shardkit/rt/Collectives/Collective.h"
#include "shardkit/rt/Collectives/Reduce.h"
#include "shardkit/rt/Execution/Executor.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

using namespace shardkit::rt;
using namespace shardkit::rt::test;
using Json = nlohmann::json;

extern "C" {
int32_t sk_forward0(sk_context *, void *const *, void *const *, void *);
int32_t sk_forward1(sk_context *, void *const *, void *const *, void *);
int32_t sk_backward0(sk_context *, void *const *, void *const *, void *);
int32_t sk_apply0(sk_context *, void *const *, void *const *, void *);
int32_t sk_ref_pipeline(sk_context *, void *const *, void *const *, void *);
}

namespace {

PipelineInfo parse(const Json &json) {
  auto manifest = parseManifest(json.dump(), "m");
  EXPECT_TRUE(manifest.ok()) << manifest.status().message();
  return manifest.ok() ? manifest->pipelines.at(0) : PipelineInfo();
}

/// Memory of all ranks, with arguments cut from whole ones.
std::vector<RankMemory> bind(const PipelineInfo &pipeline, const std::vector<std::vector<float>> &arguments) {
  std::vector<RankMemory> memory(size_t(pipeline.signature.devices));
  for (const StageInfo &stage : pipeline.stages)
    for (int64_t rank : stage.ranks)
      memory[size_t(rank)].bind(stage.held);
  for (size_t i = 0; i < arguments.size(); ++i)
    for (auto [s, index] : pipeline.argumentBuffers[i]) {
      const StageInfo &stage = pipeline.stages[s];
      for (size_t r = 0; r < stage.ranks.size(); ++r)
        gatherLocal(stage.held.arguments[index].extents, int64_t(r), 4, arguments[i].data(),
                    memory[size_t(stage.ranks[r])].argument(index));
    }
  return memory;
}

std::vector<float> result(const PipelineInfo &pipeline, std::vector<RankMemory> &memory, size_t i) {
  std::vector<float> whole(size_t(pipeline.signature.results[i].globalElements), -99);
  auto [s, index] = pipeline.resultBuffers[i][0];
  const StageInfo &stage = pipeline.stages[s];
  for (size_t r = 0; r < stage.ranks.size(); ++r)
    scatterLocal(stage.held.results[index].extents, int64_t(r), 4, memory[size_t(stage.ranks[r])].result(index),
                 whole.data());
  return whole;
}

std::vector<float> numbers(size_t count, int factor) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(int(i) * factor % 11 - 5);
  return values;
}

const float *in(void *const *args, int i) { return static_cast<const float *>(args[i]); }
float *out(void *const *results, int i) { return static_cast<float *>(results[i]); }

//===----------------------------------------------------------------------===//
// Unequal meshes, both directions, a sum in place
//===----------------------------------------------------------------------===//

const std::vector<sk_program> unequalPrograms = {sk_forward0, sk_forward1, sk_backward0, sk_apply0};

void expectUnequal(const PipelineInfo &pipeline, std::vector<RankMemory> &memory, const std::vector<float> &x,
                   const std::vector<float> &w) {
  std::vector<float> y(32), sum(16);
  void *arguments[] = {const_cast<float *>(x.data()), const_cast<float *>(w.data())};
  void *results[] = {y.data(), sum.data()};
  sk_ref_pipeline(nullptr, arguments, results, nullptr);
  EXPECT_EQ(result(pipeline, memory, 0), y);
  EXPECT_EQ(result(pipeline, memory, 1), sum);
}

TEST(Pipeline, stagesOnUnequalMeshesAndASumInPlace) {
  const PipelineInfo pipeline = parse(unequalPipeline());
  std::vector<float> x = numbers(32, 7), w = numbers(16, 3);
  std::vector<RankMemory> memory = bind(pipeline, {x, w});
  Executor executor;
  RunStats stats;
  for (int step = 0; step < 3; ++step) { // Nothing may be left over.
    Status status = executor.run(pipeline, unequalPrograms, memory, &stats);
    ASSERT_TRUE(status.ok()) << status.message();
    expectUnequal(pipeline, memory, x, w);
  }
  EXPECT_EQ(stats.functions[0].runs[0].count, 6);
  EXPECT_EQ(stats.functions[1].collectives[1][0].count, 6);
  EXPECT_EQ(stats.transfers[0][2].count, 6); // The only rank of stage 0.
  EXPECT_EQ(stats.transfers[1][0].count, 6);
  // The sum, h of both microbatches, and g of the first.
  EXPECT_EQ(stats.ranks[2].peakValueBytes, 64 * 4);
  // h and g of both.
  EXPECT_EQ(stats.ranks[0].peakValueBytes, 32 * 4);
  EXPECT_GE(stats.ranks[0].transferSeconds, stats.ranks[0].waitSeconds);
}

TEST(Pipeline, failuresNameStageInstructionAndMicrobatch) {
  const PipelineInfo pipeline = parse(unequalPipeline());
  std::vector<float> x = numbers(32, 7), w = numbers(16, 3);
  std::vector<RankMemory> memory = bind(pipeline, {x, w});
  Executor executor;
  std::vector<sk_program> programs = unequalPrograms;
  programs[1] = [](sk_context *ctx, void *const *args, void *const *, void *) -> int32_t {
    const bool isSecond = in(args, 0)[0] != 2 * -5;
    return isSecond ? sk_assert(ctx, 0, "the batch is bad") : 0;
  };
  memory = bind(pipeline, {std::vector<float>(32, -5), w});
  static_cast<float *>(memory[2].argument(0))[16] = 1; // Of microbatch 1.
  Status status = executor.run(pipeline, programs, memory);
  EXPECT_ERROR(status, "pipeline 'main': stage 1, instruction 3 (forward1 of microbatch 1): rank ");
  EXPECT_ERROR(status, ": the batch is bad");
  programs[1] = [](sk_context *, void *const *, void *const *, void *) -> int32_t { return 7; };
  EXPECT_ERROR(executor.run(pipeline, programs, memory),
               "pipeline 'main': stage 1, instruction 1 (forward1 of microbatch 0): rank ");
  // The executor works again afterwards.
  memory = bind(pipeline, {x, w});
  status = executor.run(pipeline, unequalPrograms, memory);
  ASSERT_TRUE(status.ok()) << status.message();
  expectUnequal(pipeline, memory, x, w);
}

TEST(Pipeline, timeoutNamesTheTransferAndTheLastRank) {
  const PipelineInfo pipeline = parse(unequalPipeline());
  std::vector<RankMemory> memory = bind(pipeline, {numbers(32, 7), numbers(16, 3)});
  Executor executor(0.3);
  std::vector<sk_program> programs = unequalPrograms;
  // Mesh rank 0 of stage 1 is rank 1.
  programs[1] = [](sk_context *ctx, void *const *, void *const *, void *) -> int32_t {
    if (sk_coordinate(ctx, 1, 2) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return 0;
  };
  Status status = executor.run(pipeline, programs, memory);
  EXPECT_EQ(status.code(), Code::Timeout);
  EXPECT_ERROR(status, "waited 0.3 s");
  EXPECT_ERROR(status, "(64 bytes at m.mlir:"); // Ranks of both stages wait.
  EXPECT_ERROR(status, "rank 1 (after transfer 0, stage 1, instruction 1 (forward1 of microbatch 0))");
}

TEST(Pipeline, longChainsNameTheStageThatAllWaitFor) {
  const PipelineInfo pipeline = parse(relayPipeline(5));
  std::vector<RankMemory> memory = bind(pipeline, {});
  auto make = [](sk_context *, void *const *, void *const *results, void *) -> int32_t {
    out(results, 0)[0] = 7;
    return 0;
  };
  auto turn = [](sk_context *, void *const *args, void *const *results, void *) -> int32_t {
    out(results, 0)[0] = -in(args, 0)[0];
    return 0;
  };
  auto hang = [](sk_context *, void *const *, void *const *, void *) -> int32_t {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return 0;
  };
  auto end = [](sk_context *, void *const *args, void *const *results, void *) -> int32_t {
    out(results, 0)[0] = in(args, 0)[0] - 1;
    return 0;
  };
  for (int microbatch : {0, -1}) {
    const PipelineInfo same = parse(relayPipeline(5, microbatch));
    std::vector<RankMemory> own = bind(same, {});
    Executor executor;
    Status status = executor.run(same, {make, turn, end}, own);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(result(same, own, 0), (std::vector<float>{-8}));
  }
  // Whoever waits says that rank 4 is it, not the next one, which waits itself.
  Executor executor(0.3);
  EXPECT_ERROR(executor.run(pipeline, {make, hang, end}, memory),
               "rank 4 (after transfer 6, stage 4, instruction 1 (turn of microbatch 0))");
}

TEST(Pipeline, faultsInTransfers) {
  const PipelineInfo pipeline = parse(unequalPipeline());
  std::vector<RankMemory> memory = bind(pipeline, {numbers(32, 7), numbers(16, 3)});
  for (auto [fault, message] :
       {std::pair("2:transfer=1:error",
                  "pipeline 'main': stage 0, instruction 3 (transfer 0 of microbatch 1, transfer 1 "
                  "of microbatch 0 with stage 1): rank 2: an injected fault"),
        std::pair("0:transfer=0:disagree", "met rank"),
        std::pair("1:after=transfer=0:kill", "rank 1 (after transfer 0, stage 1, instruction 1 "
                                             "(forward1 of microbatch 0))"),
        std::pair("1:0:error", "stage 1, instruction 1 (forward1 of microbatch 0): rank 1: an "
                               "injected fault")}) {
    ::setenv("SK_FAULT", fault, 1);
    Executor executor(0.3);
    ::unsetenv("SK_FAULT");
    EXPECT_ERROR(executor.run(pipeline, unequalPrograms, memory), message);
  }
}

//===----------------------------------------------------------------------===//
// Two functions on each of two stages, parts along dim 1
//===----------------------------------------------------------------------===//

template <int factor> int32_t scaled(sk_context *, void *const *args, void *const *results, void *) {
  for (int i = 0; i < 4; ++i)
    out(results, 0)[i] = float(factor) * in(args, 0)[i] + 1;
  return 0;
}

TEST(Pipeline, interleavedStagesAndMicrobatchesAlongDimOne) {
  const PipelineInfo pipeline = parse(interleavedPipeline());
  std::vector<float> x = numbers(12, 5);
  std::vector<RankMemory> memory = bind(pipeline, {x});
  Executor executor;
  RunStats stats;
  Status status = executor.run(pipeline, {scaled<2>, scaled<3>, scaled<5>, scaled<7>}, memory, &stats);
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<float> y;
  for (float value : x)
    y.push_back(7 * (5 * (3 * (2 * value + 1) + 1) + 1) + 1);
  EXPECT_EQ(result(pipeline, memory, 0), y);
}

/// Lets the second stage work on a microbatch until the first stage is at the third.
struct Ahead {
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
};
Ahead ahead;

TEST(Pipeline, stagesComputeDuringTransfers) {
  Json m = interleavedPipeline();
  auto send = [](int transfer, int microbatch) { return Json::array({Json::array({transfer, microbatch})}); };
  const Json none = Json::array();
  Json first = Json::array(), second = Json::array();
  for (int i = 0; i < 3; ++i) {
    first.push_back({"run", 0, i});
    first.push_back(Json::array({"transfer", 1, send(0, i), none}));
    second.push_back(Json::array({"transfer", 0, none, send(0, i)}));
    if (i == 0)
      second.push_back({"run", 1, 0});
  }
  for (int i = 0; i < 3; ++i) {
    if (i > 0)
      second.push_back({"run", 1, i});
    second.push_back(Json::array({"transfer", 0, send(1, i), none}));
    first.push_back(Json::array({"transfer", 1, none, send(1, i)}));
    first.push_back({"run", 2, i});
    first.push_back(Json::array({"transfer", 1, send(2, i), none}));
    second.push_back(Json::array({"transfer", 0, none, send(2, i)}));
    second.push_back({"run", 3, i});
  }
  m["pipelines"][0]["stages"][0]["instructions"] = first;
  m["pipelines"][0]["stages"][1]["instructions"] = second;
  const PipelineInfo pipeline = parse(m);
  std::vector<float> x = numbers(12, 5);
  std::vector<RankMemory> memory = bind(pipeline, {x});
  ahead.begun = 0;
  auto begin = [](sk_context *ctx, void *const *args, void *const *results, void *arena) -> int32_t {
    {
      std::lock_guard lock(ahead.mutex);
      ++ahead.begun;
      ahead.changed.notify_all();
    }
    return scaled<2>(ctx, args, results, arena);
  };
  auto wait = [](sk_context *ctx, void *const *args, void *const *results, void *arena) -> int32_t {
    std::unique_lock lock(ahead.mutex);
    if (!ahead.changed.wait_for(lock, std::chrono::seconds(20), [] { return ahead.begun == 3; }))
      return 1;
    return scaled<3>(ctx, args, results, arena);
  };
  Executor executor;
  Status status = executor.run(pipeline, {begin, wait, scaled<5>, scaled<7>}, memory);
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<float> y;
  for (float value : x)
    y.push_back(7 * (5 * (3 * (2 * value + 1) + 1) + 1) + 1);
  EXPECT_EQ(result(pipeline, memory, 0), y);
}

//===----------------------------------------------------------------------===//
// Whatever is accepted runs
//===----------------------------------------------------------------------===//

/// Changes one thing anywhere in `json`.
void mutate(Json &json, std::mt19937 &random) {
  std::vector<Json *> all;
  std::function<void(Json &)> collect = [&](Json &one) {
    all.push_back(&one);
    if (one.is_structured())
      for (Json &part : one)
        collect(part);
  };
  collect(json);
  Json &one = *all[random() % all.size()];
  if (one.is_number()) {
    const int64_t others[] = {-1, 0, 1, 2, 3, int64_t(one.get<uint64_t>() + 1), int64_t(1) << 40, INT64_MAX};
    one = others[random() % std::size(others)];
  } else if (one.is_array() && !one.empty()) {
    const size_t i = random() % one.size(), k = random() % one.size();
    switch (random() % 3) {
    case 0:
      one.erase(i);
      break;
    case 1:
      one.insert(one.begin() + int64_t(i), Json(one[k]));
      break;
    default:
      std::swap(one[i], one[k]);
    }
  } else if (one.is_object() && !one.empty()) {
    one.erase(std::next(one.begin(), int64_t(random() % one.size())));
  } else {
    one = nullptr;
  }
}

TEST(Pipeline, acceptedPipelinesComplete) {
  std::mt19937 random(3);
  auto nothing = [](sk_context *, void *const *, void *const *, void *) -> int32_t { return 0; };
  int accepted = 0;
  for (int round = 0; round < 6000; ++round) {
    Json json = round % 3 == 0 ? unequalPipeline() : round % 3 == 1 ? interleavedPipeline() : relayPipeline(4);
    Json &pipeline = json["pipelines"][0];
    for (size_t i = 0, n = 1 + random() % 2; i < n; ++i) {
      // Half of them change what the stages do.
      Json &stages = pipeline["stages"];
      mutate(random() % 2 && stages.is_array() && !stages.empty() && stages[0].is_object() &&
                     stages[0].contains("instructions")
                 ? stages[0]["instructions"]
                 : pipeline,
             random);
    }
    auto manifest = parseManifest(json.dump(), "m");
    if (!manifest.ok()) {
      EXPECT_EQ(manifest.status().message().find('\n'), std::string::npos);
      continue;
    }
    if (manifest->pipelines.empty() || manifest->pipelines[0].signature.devices > 8)
      continue;
    const PipelineInfo &accept = manifest->pipelines[0];
    constexpr int64_t maxArena = 1 << 30;
    if (std::any_of(accept.stages.begin(), accept.stages.end(),
                    [](const StageInfo &stage) { return stage.held.entry.arenaBytes > maxArena; }))
      continue; // More memory than tests may use.
    ++accepted;
    std::vector<RankMemory> memory = bind(accept, {});
    Executor executor(10);
    Status status = executor.run(accept, std::vector<sk_program>(accept.functions.size(), nothing), memory);
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << json.dump();
  }
  EXPECT_GT(accepted, 300);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// What each rank of the destination gets of values that say where they come from:
/// source rank * 1000 + place.
std::vector<std::vector<float>> transferred(const CollectiveInfo &info, const MeshRanks &from, const MeshRanks &to,
                                            int worldSize, std::vector<int64_t> *received = nullptr) {
  LocalWorld world(worldSize, 30);
  CollectivePlan plan(info, world, from, to);
  std::vector<std::vector<float>> results(size_t(to.size()));
  std::vector<std::thread> threads;
  for (int r = 0; r < from.size(); ++r)
    threads.emplace_back([&, r] {
      std::vector<float> values(size_t(info.inElements));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = float(r * 1000 + int(i));
      EXPECT_TRUE(plan.run(from[r], 1, values.data(), nullptr));
    });
  for (int r = 0; r < to.size(); ++r)
    threads.emplace_back([&, r] {
      results[size_t(r)].resize(size_t(info.outElements), -1);
      EXPECT_TRUE(plan.run(to[r], 1, nullptr, results[size_t(r)].data()));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(world.failed());
  if (received)
    for (int r = 0; r < to.size(); ++r)
      received->push_back(plan.receivedBytes(to[r]));
  return results;
}

TEST(Transfer, freeDigitsAreZero) {
  CollectiveInfo info;
  info.id = ChannelInfo::firstId;
  info.inElements = 4;
  info.outElements = 2;
  // Two blocks of 4 on the high digit of 4 ranks to 4 blocks of 2, on 4 of 5 ranks of a
  // world that has both meshes in a mixed order.
  info.atoms = {{2, true, 2, true, 2}, {2, false, 2, true, 1}, {2, false, 1, false, 1}};
  std::vector<int64_t> received;
  auto got = transferred(info, MeshRanks({7, 1, 5, 3}), MeshRanks({0, 6, 2, 4}), 9, &received);
  EXPECT_EQ(got, (std::vector<std::vector<float>>{{0, 1}, {2, 3}, {2000, 2001}, {2002, 2003}}));
  EXPECT_EQ(received, (std::vector<int64_t>{8, 8, 8, 8}));
}

TEST(Transfer, replicasOfTheSourceShareTheWork) {
  CollectiveInfo info;
  info.id = ChannelInfo::firstId;
  info.inElements = 3;
  info.outElements = 2;
  // 2 blocks of 3, each on two ranks, to 3 blocks of 2, each on two ranks.
  info.segments = {{6, {{2, true, 2}, {3, false, 1}}, {{3, true, 2}, {2, false, 1}}}};
  info.spread = {{1, 2}};
  auto got = transferred(info, MeshRanks({0, 1, 2, 3}), MeshRanks({4, 5, 6, 7, 8, 9}), 10);
  for (int r = 0; r < 6; ++r)
    for (int i = 0; i < 2; ++i) {
      const int place = r / 2 * 2 + i, block = place / 3;
      // As docs/reference/Manifest.md has it, with r a rank of the destination.
      const int replica = ((r / 1 + (r / 2 % 2 - block)) % 2 + 2) % 2;
      EXPECT_EQ(got[size_t(r)][size_t(i)], float((block * 2 + replica) * 1000 + place % 3));
    }
}

TEST(Transfer, paddingOfTheDestinationIsZero) {
  CollectiveInfo info;
  info.id = ChannelInfo::firstId;
  info.inElements = 5;
  info.outElements = 3;
  info.segments = {{5, {{5, false, 1}}, {{2, true, 1}, {3, false, 1}}}};
  auto got = transferred(info, MeshRanks({0}), MeshRanks({1, 2}), 3);
  EXPECT_EQ(got, (std::vector<std::vector<float>>{{0, 1, 2}, {3, 4, 0}}));
}

/// Loops that either side has as a digit of its ranks or in its buffers, ranks that
/// nothing fixes, and ranks that choose among replicas.
TEST(Transfer, randomOnesFollowTheDefinition) {
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    CollectiveInfo info;
    info.id = ChannelInfo::firstId;
    int64_t sources = 1, destinations = 1;
    info.inElements = info.outElements = 1;
    auto digit = [](int64_t &ranks, int64_t size) {
      ranks *= size;
      return ranks / size;
    };
    for (size_t i = 0, n = 1 + random() % 5; i < n; ++i) {
      Atom atom{1 + int64_t(random() % 3), random() % 2 == 0, 0, random() % 2 == 0, 0};
      atom.sourceIsRank &= sources < 5;
      atom.destinationIsRank &= destinations < 5;
      atom.sourceStride = digit(atom.sourceIsRank ? sources : info.inElements, atom.size);
      atom.destinationStride = digit(atom.destinationIsRank ? destinations : info.outElements, atom.size);
      info.atoms.push_back(atom);
      if (random() % 4 == 0)
        digit(destinations, 2); // The destination replicates.
      if (random() % 4 == 0 && sources < 9) {
        const int64_t stride = digit(sources, 2);
        if (random() % 2)
          info.spread.push_back({stride, 2});
      }
    }
    std::shuffle(info.atoms.begin(), info.atoms.end(), random);
    Status valid = validateMove(info, sources, destinations);
    ASSERT_TRUE(valid.ok()) << valid.message();
    // Anywhere in the world.
    std::vector<int> world(size_t(sources + destinations + 2));
    std::iota(world.begin(), world.end(), 0);
    std::shuffle(world.begin(), world.end(), random);
    std::vector<int64_t> received;
    auto got = transferred(info, MeshRanks({world.begin(), world.begin() + sources}),
                           MeshRanks({world.begin() + sources, world.end() - 2}), int(world.size()), &received);
    for (int64_t r = 0; r < destinations; ++r) {
      EXPECT_EQ(received[size_t(r)], info.outElements * 4);
      for (int64_t to = 0; to < info.outElements; ++to) {
        int64_t source = 0, from = 0;
        for (const Atom &atom : info.atoms) {
          const int64_t index = (atom.destinationIsRank ? r : to) / atom.destinationStride % atom.size;
          (atom.sourceIsRank ? source : from) += index * atom.sourceStride;
        }
        for (const RankDigit &spread : info.spread)
          source += r / spread.stride % spread.size * spread.stride;
        ASSERT_EQ(got[size_t(r)][size_t(to)], float(source * 1000 + from)) << "round " << round;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// What sums start from
//===----------------------------------------------------------------------===//

TEST(Pipeline, initsAreNeutralInEveryType) {
  const std::pair<const char *, std::vector<Reduction>> inits[] = {
      {"zero", {Reduction::Sum, Reduction::Or, Reduction::Xor, Reduction::UMax}},
      {"one", {Reduction::Prod}},
      {"lowest", {Reduction::Max, Reduction::MaxNum}},
      {"highest", {Reduction::Min, Reduction::MinNum}},
      {"all_ones", {Reduction::And, Reduction::UMin}}};
  for (const auto &[init, reductions] : inits)
    for (DType dtype : allDTypes) {
      Json json = onePipeline(init, dtypeName(dtype));
      if (std::string(init) == "all_ones" && isFloat(dtype)) {
        EXPECT_ERROR(parseManifest(json.dump(), "m").status(), "'init' is 'all_ones', which");
        continue;
      }
      const PipelineInfo pipeline = parse(json);
      std::vector<RankMemory> memory = bind(pipeline, {});
      Executor executor;
      static int64_t bytes;
      bytes = 3 * dtypeSize(dtype);
      auto copy = [](sk_context *, void *const *args, void *const *results, void *) -> int32_t {
        std::memcpy(results[0], args[0], size_t(bytes));
        return 0;
      };
      Status status = executor.run(pipeline, {copy}, memory);
      ASSERT_TRUE(status.ok()) << status.message();
      for (Reduction reduction : reductions) {
        if (!reductionApplies(reduction, dtype))
          continue;
        alignas(8) char values[24], got[24];
        setElement(dtype, values, 0, -3);
        setElement(dtype, values, 1, 0);
        setElement(dtype, values, 2, 1);
        const void *sources[] = {memory[0].result(0), values};
        reduceStrided(reduction, dtype, sources, 2, 1, got, 1, 3);
        EXPECT_EQ(std::memcmp(got, values, size_t(bytes)), 0)
            << init << " " << dtypeName(dtype) << " " << reductionName(reduction);
      }
    }
}

} // namespace
