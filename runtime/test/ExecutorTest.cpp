//===- ExecutorTest.cpp - Failures end on every rank ----------------------===//

#include "Support.h"

#include "shardkit/rt/Execution/Executor.h"

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

FunctionInfo allReduceFunction(int64_t ranks, int collectives = 1) {
  FunctionInfo function;
  function.name = "f";
  function.devices = ranks;
  for (int i = 0; i < collectives; ++i) {
    CollectiveInfo info;
    info.id = i;
    info.kind = "all_reduce";
    info.reduction = Reduction::Sum;
    info.inElements = info.outElements = 1;
    info.atoms = {{1, false, 1, false, 1}};
    info.group = {{1, ranks}};
    info.loc = "m.mlir:" + std::to_string(10 + i) + ":1";
    function.collectives.push_back(info);
  }
  ValueInfo result;
  result.globalElements = result.localElements = 1;
  function.results.push_back(result);
  return function;
}

Status runOn(Executor &executor, const FunctionInfo &function, sk_program program, std::vector<RankMemory> &memory) {
  memory.resize(size_t(function.devices));
  for (RankMemory &m : memory)
    m.bind(function);
  return executor.run(function, program, memory);
}

int32_t sumRanks(sk_context *ctx, void *const *, void *const *results, void *) {
  float mine = float(sk_coordinate(ctx, 1, 1 << 20));
  return sk_collective(ctx, 0, &mine, results[0]);
}

TEST(Executor, reusesThreadsForManyRunsAndSizes) {
  Executor executor;
  std::vector<RankMemory> memory;
  for (int round = 0; round < 200; ++round)
    for (int64_t ranks : {1, 2, 5, 8}) {
      static std::map<int64_t, FunctionInfo> functions;
      auto it = functions.try_emplace(ranks, allReduceFunction(ranks)).first;
      Status status = runOn(executor, it->second, sumRanks, memory);
      ASSERT_TRUE(status.ok()) << status.message();
      for (int64_t r = 0; r < ranks; ++r)
        ASSERT_EQ(*static_cast<float *>(memory[size_t(r)].result(0)), float(ranks * (ranks - 1) / 2));
    }
}

TEST(Executor, timeoutNamesCollectiveLocationAndMissingRanks) {
  Executor executor(0.2);
  FunctionInfo function = allReduceFunction(4, 2);
  std::vector<RankMemory> memory;
  auto program = [](sk_context *ctx, void *const *, void *const *results, void *) -> int32_t {
    float one = 1;
    if (int32_t status = sk_collective(ctx, 0, &one, results[0]))
      return status;
    int64_t rank = sk_coordinate(ctx, 1, 4);
    if (rank == 2)
      return 0;
    if (rank == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return sk_collective(ctx, 1, &one, results[0]);
  };
  Status status = runOn(executor, function, program, memory);
  EXPECT_EQ(status.code(), Code::Timeout);
  EXPECT_ERROR(status, "function 'f': collective 1 (all_reduce of 0 bytes at m.mlir:11:1)");
  EXPECT_ERROR(status, "waited 0.2 s, arrived 0, 3, missing rank 1 (after collective 0 "
                       "all_reduce), rank 2 (finished)");
  // The executor works again afterwards.
  Status again = runOn(executor, function, sumRanks, memory);
  EXPECT_TRUE(again.ok()) << again.message();
}

TEST(Executor, aFailingRankEndsTheOthersAtOnce) {
  Executor executor(60);
  FunctionInfo function = allReduceFunction(4);
  std::vector<RankMemory> memory;
  auto start = std::chrono::steady_clock::now();
  static std::atomic<int> sticky;
  sticky = 0;
  auto program = [](sk_context *ctx, void *const *, void *const *results, void *) -> int32_t {
    if (sk_coordinate(ctx, 1, 4) == 3)
      return 5;
    float one = 1;
    int32_t first = sk_collective(ctx, 0, &one, results[0]);
    int32_t second = sk_collective(ctx, 0, &one, results[0]);
    sticky += first != 0 && first == second;
    return first;
  };
  Status status = runOn(executor, function, program, memory);
  EXPECT_ERROR(status, "function 'f': rank 3: the program returned status 5");
  EXPECT_EQ(sticky, 3);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Executor, collectivesThatTheManifestLacks) {
  Executor executor;
  FunctionInfo function = allReduceFunction(2);
  std::vector<RankMemory> memory;
  auto program = [](sk_context *ctx, void *const *, void *const *results, void *) -> int32_t {
    float one = 1;
    return sk_collective(ctx, 7, &one, results[0]);
  };
  EXPECT_ERROR(runOn(executor, function, program, memory), "calls collective 7, which the manifest does not list");
}

TEST(Executor, ranksInDifferentCollectivesAreCaught) {
  Executor executor;
  FunctionInfo function = allReduceFunction(2, 2);
  std::vector<RankMemory> memory;
  auto program = [](sk_context *ctx, void *const *, void *const *results, void *) -> int32_t {
    float one = 1;
    return sk_collective(ctx, sk_coordinate(ctx, 1, 2), &one, results[0]);
  };
  EXPECT_ERROR(runOn(executor, function, program, memory), "met rank");
}

TEST(Executor, badContractionsNameTheRank) {
  Executor executor;
  FunctionInfo function = allReduceFunction(2);
  std::vector<RankMemory> memory;
  auto program = [](sk_context *ctx, void *const *, void *const *results, void *) -> int32_t {
    static const sk_contraction_desc bad = {9, 0, 0, 0, 0, {}};
    if (sk_coordinate(ctx, 1, 2) == 1)
      return sk_contraction(ctx, &bad, nullptr, nullptr, nullptr);
    float one = 1;
    return sk_collective(ctx, 0, &one, results[0]);
  };
  EXPECT_ERROR(runOn(executor, function, program, memory), "rank 1: contraction of ABI version 9");
}

} // namespace

// Programs of bundles with manifest version 1 call these.
extern "C" int32_t sk_contract(sk_context *, const sk_contraction_desc *, const void *, const void *, void *);
extern "C" int32_t sk_contract_fused(sk_context *, const sk_fused_contraction_desc *, const void *, const void *,
                                     void *, const void *, const void *);
extern "C" int32_t sk_read(sk_context *, void *, const void *, int64_t);

namespace {

TEST(Executor, formerNamesOfAbiFunctions) {
  Executor executor;
  FunctionInfo function = allReduceFunction(1);
  function.collectives.clear();
  std::vector<RankMemory> memory;
  auto contract = [](sk_context *ctx, void *const *, void *const *results, void *) -> int32_t {
    static const sk_contraction_desc product = {SK_ABI_VERSION, SK_F32, SK_F32, 0, 1, {{SK_K, 0, 3, 1, 1, 0}}};
    const float a[] = {1, 2, 3}, b[] = {4, 5, 6};
    return sk_contract(ctx, &product, a, b, results[0]);
  };
  EXPECT_EQ(runOn(executor, function, contract, memory).message(), "");
  EXPECT_EQ(*static_cast<float *>(memory[0].result(0)), 32);
  auto fused = [](sk_context *ctx, void *const *, void *const *, void *) -> int32_t {
    static const sk_fused_contraction_desc product = {};
    return sk_contract_fused(ctx, &product, nullptr, nullptr, nullptr, nullptr, nullptr);
  };
  EXPECT_ERROR(runOn(executor, function, fused, memory), "calls sk_fused_contraction, but this rank has no device");
  auto read = [](sk_context *ctx, void *const *, void *const *results, void *) -> int32_t {
    return sk_read(ctx, results[0], nullptr, 4);
  };
  EXPECT_ERROR(runOn(executor, function, read, memory), "calls sk_copy_to_host, but this rank has no device");
}

TEST(Executor, tooManyRanks) {
  Executor executor;
  FunctionInfo function = allReduceFunction(1);
  function.devices = 4096;
  std::vector<RankMemory> memory;
  EXPECT_ERROR(executor.run(function, sumRanks, memory), "the runtime has at most 1024");
}

} // namespace
