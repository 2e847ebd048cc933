//===- NcclTest.cpp - The emulated NCCL -----------------------------------===//

#include "Calls.h"

#include "ptx/Float.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

struct UniqueId {
  char bytes[128];
};
extern "C" {
int ncclGetUniqueId(UniqueId *);
int ncclCommInitRank(void **, int, UniqueId, int);
int ncclCommInitRankConfig(void **, int, UniqueId, int, const void *);
int ncclCommSplit(void *, int, int, void **, const void *);
int ncclCommGetAsyncError(void *, int *);
int ncclCommUserRank(void *, int *);
int ncclCommCount(void *, int *);
int ncclCommDestroy(void *);
int ncclCommAbort(void *);
int ncclGroupStart();
int ncclGroupEnd();
int ncclAllReduce(uint64_t, uint64_t, size_t, int, int, void *, CUstream);
int ncclReduce(uint64_t, uint64_t, size_t, int, int, int, void *, CUstream);
int ncclBroadcast(uint64_t, uint64_t, size_t, int, int, void *, CUstream);
int ncclAllGather(uint64_t, uint64_t, size_t, int, void *, CUstream);
int ncclReduceScatter(uint64_t, uint64_t, size_t, int, int, void *, CUstream);
int ncclAlltoAll(uint64_t, uint64_t, size_t, int, void *, CUstream);
int ncclSend(uint64_t, size_t, int, int, void *, CUstream);
int ncclRecv(uint64_t, size_t, int, int, void *, CUstream);
}

namespace shardkit::emu::test {

static std::string self;

/// A rank with a device, a stream and a communicator of its own.
struct Rank {
  int rank = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  void *comm = nullptr;
  std::vector<CUdeviceptr> buffers;

  void start(int r, int ranks, UniqueId id, int device) {
    rank = r;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&stream, 1));
    OK(ncclCommInitRank(&comm, ranks, id, r));
    device_ = device;
  }
  void stop(bool abort = false) {
    if (comm) {
      OK(abort ? ncclCommAbort(comm) : ncclCommDestroy(comm));
    }
    OK(cuStreamDestroy_v2(stream));
    for (CUdeviceptr b : buffers)
      OK(cuMemFree_v2(b));
    OK(cuDevicePrimaryCtxRelease_v2(device_));
  }
  template <typename T> CUdeviceptr upload(const std::vector<T> &v) {
    CUdeviceptr p = 0;
    EXPECT_EQ(cuMemAlloc_v2(&p, std::max<size_t>(v.size() * sizeof(T), 1)), 0);
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(p, v.data(), v.size() * sizeof(T), stream), 0);
    buffers.push_back(p);
    return p;
  }
  template <typename T> std::vector<T> download(CUdeviceptr p, size_t n) {
    std::vector<T> out(n);
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(out.data(), p, n * sizeof(T), stream), 0);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
    return out;
  }

private:
  int device_ = 0;
};

/// Runs a function as each of `ranks` ranks, in threads.
static void onRanks(int ranks, const std::function<void(Rank &)> &f, bool abort = false) {
  UniqueId id;
  OK(ncclGetUniqueId(&id));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      Rank rank;
      rank.start(r, ranks, id, r);
      f(rank);
      rank.stop(abort);
    });
  for (std::thread &t : threads)
    t.join();
}

/// Asymmetric, and exact in every type and order of sums.
static std::vector<float> data(int rank, size_t count) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i)
    out[i] = float((i * 3 + size_t(rank) * 5) % 7) - float(rank);
  return out;
}

static void everyKind(Rank &r, int ranks) {
  size_t n = 12, all = n * size_t(ranks);
  int me = r.rank;
  std::vector<std::vector<float>> each;
  for (int k = 0; k < ranks; ++k)
    each.push_back(data(k, all));
  CUdeviceptr in = r.upload(each[size_t(me)]), out = r.upload(std::vector<float>(all));
  auto sum = [&](size_t i) {
    float s = 0;
    for (auto &e : each)
      s += e[i];
    return s;
  };
  OK(ncclAllReduce(in, out, n, 7, 0, r.comm, r.stream));
  auto got = r.download<float>(out, n);
  for (size_t i = 0; i < n; ++i)
    EXPECT_EQ(got[i], sum(i));
  OK(ncclAllReduce(in, out, n, 7, 2, r.comm, r.stream));
  got = r.download<float>(out, n);
  for (size_t i = 0; i < n; ++i) {
    float m = each[0][i];
    for (auto &e : each)
      m = std::max(m, e[i]);
    EXPECT_EQ(got[i], m);
  }
  OK(ncclReduceScatter(in, out, n, 7, 0, r.comm, r.stream));
  got = r.download<float>(out, n);
  for (size_t i = 0; i < n; ++i)
    EXPECT_EQ(got[i], sum(size_t(me) * n + i));
  OK(ncclAllGather(in, out, n, 7, r.comm, r.stream));
  got = r.download<float>(out, all);
  for (size_t i = 0; i < all; ++i)
    EXPECT_EQ(got[i], each[i / n][i % n]);
  OK(ncclAlltoAll(in, out, n, 7, r.comm, r.stream));
  got = r.download<float>(out, all);
  for (size_t i = 0; i < all; ++i)
    EXPECT_EQ(got[i], each[i / n][size_t(me) * n + i % n]);
  OK(ncclBroadcast(in, out, n, 7, ranks - 1, r.comm, r.stream));
  got = r.download<float>(out, n);
  for (size_t i = 0; i < n; ++i)
    EXPECT_EQ(got[i], each.back()[i]);
  OK(ncclReduce(in, out, n, 7, 0, 0, r.comm, r.stream));
  got = r.download<float>(out, n);
  for (size_t i = 0; i < n; ++i)
    EXPECT_EQ(got[i], me == 0 ? sum(i) : each.back()[i]);
  // A ring, and different lengths.
  int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
  OK(ncclGroupStart());
  OK(ncclSend(in, size_t(me) + 1, 7, next, r.comm, r.stream));
  OK(ncclRecv(out, size_t(before) + 1, 7, before, r.comm, r.stream));
  OK(ncclGroupEnd());
  got = r.download<float>(out, size_t(before) + 1);
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], each[size_t(before)][i]);
  // In place.
  OK(ncclAllGather(in + size_t(me) * n * 4, in, n, 7, r.comm, r.stream));
  got = r.download<float>(in, all);
  for (size_t i = 0; i < all; ++i)
    EXPECT_EQ(got[i], each[i / n][i]);
}

TEST(Nccl, EveryKindBetweenThreads) {
  onRanks(4, [](Rank &r) { everyKind(r, 4); });
  onRanks(1, [](Rank &r) { everyKind(r, 1); });
}

TEST(Nccl, EveryType) {
  onRanks(3, [](Rank &r) {
    auto check = [&](auto zero, int type, auto make, auto read) {
      using T = decltype(zero);
      for (int op = 0; op < 4; ++op) {
        std::vector<T> mine;
        for (int i = 0; i < 9; ++i)
          mine.push_back(make(i % 4 + r.rank + 1));
        CUdeviceptr p = r.upload(mine);
        OK(ncclAllReduce(p, p, 9, type, op, r.comm, r.stream));
        std::vector<T> got = r.download<T>(p, 9);
        for (int i = 0; i < 9; ++i) {
          int a = i % 4 + 1;
          int expected = op == 0 ? 3 * a + 3 : op == 1 ? a * (a + 1) * (a + 2) : op == 2 ? a + 2 : a;
          EXPECT_EQ(read(got[size_t(i)]), expected) << "type " << type << " op " << op;
        }
      }
    };
    auto plain = [](auto v) { return double(v); };
    check(int8_t(), 0, [](int v) { return int8_t(v); }, plain);
    check(uint8_t(), 1, [](int v) { return uint8_t(v); }, plain);
    check(int32_t(), 2, [](int v) { return int32_t(v); }, plain);
    check(uint32_t(), 3, [](int v) { return uint32_t(v); }, plain);
    check(int64_t(), 4, [](int v) { return int64_t(v); }, plain);
    check(uint64_t(), 5, [](int v) { return uint64_t(v); }, plain);
    check(
        uint16_t(), 6, [](int v) { return floatToHalf(float(v)); }, [](uint16_t v) { return double(halfToFloat(v)); });
    check(float(), 7, [](int v) { return float(v); }, plain);
    check(double(), 8, [](int v) { return double(v); }, plain);
    check(
        uint16_t(), 9, [](int v) { return floatToBFloat(float(v)); },
        [](uint16_t v) { return double(bfloatToFloat(v)); });
  });
}

TEST(Nccl, SplitAndRecord) {
  char path[] = "/tmp/nccl-record-XXXXXX";
  close(mkstemp(path));
  setenv("SK_NCCL_RECORD", path, 1);
  onRanks(6, [](Rank &r) {
    void *sub = nullptr; // Even and odd ranks, in descending order; 4 is in none.
    OK(ncclCommSplit(r.comm, r.rank == 4 ? -1 : r.rank % 2, -r.rank, &sub, nullptr));
    if (r.rank == 4) {
      EXPECT_EQ(sub, nullptr);
      return;
    }
    int rank = -1, count = 0;
    OK(ncclCommUserRank(sub, &rank));
    OK(ncclCommCount(sub, &count));
    EXPECT_EQ(count, r.rank % 2 ? 3 : 2);
    EXPECT_EQ(rank, r.rank % 2 ? (5 - r.rank) / 2 : (2 - r.rank) / 2);
    std::vector<int32_t> mine{r.rank};
    CUdeviceptr in = r.upload(mine), out = r.upload(std::vector<int32_t>(size_t(count)));
    OK(ncclAllGather(in, out, 1, 2, sub, r.stream));
    EXPECT_EQ(r.download<int32_t>(out, size_t(count)),
              r.rank % 2 ? (std::vector<int32_t>{5, 3, 1}) : (std::vector<int32_t>{2, 0}));
    OK(ncclCommDestroy(sub));
  });
  unsetenv("SK_NCCL_RECORD");
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"rank 0 of [2,0]: all_gather 1 i32", "rank 1 of [5,3,1]: all_gather 1 i32",
                                             "rank 2 of [2,0]: all_gather 1 i32", "rank 3 of [5,3,1]: all_gather 1 i32",
                                             "rank 5 of [5,3,1]: all_gather 1 i32"}));
  unlink(path);
}

TEST(Nccl, ReplayedInAGraph) {
  onRanks(2, [](Rank &r) {
    std::vector<float> mine{1.0f + float(r.rank), 10};
    CUdeviceptr x = r.upload(mine);
    OK(cuStreamSynchronize(r.stream));
    OK(cuStreamBeginCapture_v2(r.stream, 2));
    OK(ncclAllReduce(x, x, 2, 7, 0, r.comm, r.stream));
    CUgraph graph = nullptr;
    OK(cuStreamEndCapture(r.stream, &graph));
    CUgraphExec exec = nullptr;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (int k = 0; k < 3; ++k)
      OK(cuGraphLaunch(exec, r.stream));
    EXPECT_EQ(r.download<float>(x, 2), (std::vector<float>{3 * 4, 80}));
    OK(cuGraphExecDestroy(exec));
  });
}

TEST(Nccl, RanksInDifferentCollectives) {
  testing::internal::CaptureStderr();
  std::atomic<int> failed{0};
  onRanks(
      3,
      [&](Rank &r) {
        CUdeviceptr x = r.upload(std::vector<float>(8));
        OK(cuStreamSynchronize(r.stream));
        ncclAllReduce(x, x, r.rank == 1 ? 4 : 8, 7, 0, r.comm, r.stream);
        EXPECT_EQ(cuStreamSynchronize(r.stream), CUDA_ERROR_LAUNCH_FAILED);
        int error = 0;
        OK(ncclCommGetAsyncError(r.comm, &error));
        failed += error == 5; // ncclInvalidUsage
        r.buffers.clear();
      },
      true);
  EXPECT_EQ(failed, 3);
  std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("operation 0 is all_reduce 8 f32 sum, but on rank 1 all_reduce 4 f32 sum"), message.npos)
      << message;
}

TEST(Nccl, MissingRank) {
  testing::internal::CaptureStderr();
  onRanks(
      2,
      [&](Rank &r) {
        CUdeviceptr x = r.upload(std::vector<float>(8));
        OK(cuStreamSynchronize(r.stream));
        if (r.rank == 0) {
          ncclAllReduce(x, x, 8, 7, 0, r.comm, r.stream);
          EXPECT_EQ(cuStreamSynchronize(r.stream), CUDA_ERROR_LAUNCH_FAILED);
          int error = 0;
          OK(ncclCommGetAsyncError(r.comm, &error));
          EXPECT_EQ(error, 6); // ncclRemoteError
          r.buffers.clear();
        }
      },
      true);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("hangs: ranks 1 did not come"), std::string::npos);
}

TEST(Nccl, AbortEndsHangingCalls) {
  onRanks(
      2,
      [&](Rank &r) {
        CUdeviceptr x = r.upload(std::vector<float>(8));
        OK(cuStreamSynchronize(r.stream));
        if (r.rank == 0) {
          OK(ncclAllReduce(x, x, 8, 7, 0, r.comm, r.stream));
          EXPECT_EQ(cuStreamQuery(r.stream), CUDA_ERROR_NOT_READY);
          OK(ncclCommAbort(r.comm));
          r.comm = nullptr;
          OK(cuStreamSynchronize(r.stream));
        }
      },
      true);
}

TEST(Nccl, WrongCalls) {
  testing::internal::CaptureStderr();
  onRanks(2, [&](Rank &r) {
    CUdeviceptr x = r.upload(std::vector<float>(16));
    EXPECT_EQ(ncclAllReduce(x, x + 4, 8, 7, 0, r.comm, r.stream), 4); // Overlaps.
    EXPECT_EQ(ncclAllReduce(x, x, 8, 12, 0, r.comm, r.stream), 4);    // No such type.
    EXPECT_EQ(ncclSend(x, 8, 7, 2, r.comm, r.stream), 4);             // No such rank.
    EXPECT_EQ(ncclBroadcast(x, x, 8, 7, 5, r.comm, r.stream), 4);
    EXPECT_EQ(ncclAllReduce(x, x, 8, 7, 0, nullptr, r.stream), 4);
    OK(ncclAllReduce(x, x, 1, 7, 0, r.comm, r.stream)); // Still whole.
    OK(cuStreamSynchronize(r.stream));
  });
  testing::internal::GetCapturedStderr();
}

TEST(Nccl, OneDeviceForTwoRanks) {
  testing::internal::CaptureStderr();
  UniqueId id;
  OK(ncclGetUniqueId(&id));
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      CUcontext context;
      cuInit(0);
      cuDevicePrimaryCtxRetain(&context, 0);
      cuCtxSetCurrent(context);
      void *comm = nullptr;
      refused += ncclCommInitRank(&comm, 2, id, r) == 5;
      ncclCommAbort(comm);
      cuDevicePrimaryCtxRelease_v2(0);
    });
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(refused, 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("duplicate GPU"), std::string::npos);
}

TEST(Nccl, EveryKindBetweenProcesses) {
  UniqueId id;
  OK(ncclGetUniqueId(&id));
  std::vector<pid_t> children;
  for (int r = 0; r < 3; ++r) {
    pid_t child = fork();
    if (child == 0) {
      std::string rank = std::to_string(r);
      execl(self.c_str(), self.c_str(), "--nccl-rank", rank.c_str(), id.bytes, nullptr);
      _exit(127);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

} // namespace shardkit::emu::test

int main(int argc, char **argv) {
  using namespace shardkit::emu::test;
  setenv("SK_EMU_DEVICES", "8", 0);
  setenv("SK_NCCL_TIMEOUT", "2", 0);
  self = argv[0];
  testing::InitGoogleTest(&argc, argv);
  if (argc == 4 && std::string(argv[1]) == "--nccl-rank") {
    UniqueId id = {};
    strncpy(id.bytes, argv[3], sizeof id.bytes - 1);
    Rank rank;
    rank.start(atoi(argv[2]), 3, id, atoi(argv[2]));
    everyKind(rank, 3);
    rank.stop();
    return testing::Test::HasFailure();
  }
  return RUN_ALL_TESTS();
}
