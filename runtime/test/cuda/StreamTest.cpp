//===- StreamTest.cpp - Streams, events, graphs, memory in order ----------===//
//
// Run with SK_EMU_LAZY unset, 1 and 2: what is synchronised is right in each; what is not
// is wrong in one of them.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include <cstdlib>
#include <cstring>

namespace shardkit::emu::test {
namespace {

int lazy() {
  const char *text = getenv("SK_EMU_LAZY");
  return text ? atoi(text) : 0;
}

class Streams : public Emulated {
protected:
  void SetUp() override {
    Emulated::SetUp();
    load("block.sm_80.ptx");
    for (CUstream &s : stream_)
      OK(cuStreamCreate(&s, 1));
    OK(cuEventCreate(&event_, 2));
    OK(cuMemHostAlloc(&host_, 64, 0));
    out_ = static_cast<uint32_t *>(host_);
    memset(host_, 0, 64);
    x_ = upload(std::vector<uint32_t>(16, 1));
    y_ = upload(std::vector<uint32_t>(16, 2));
  }
  void TearDown() override {
    for (CUstream s : stream_)
      OK(cuStreamDestroy_v2(s));
    OK(cuEventDestroy_v2(event_));
    OK(cuMemFreeHost(host_));
    Emulated::TearDown();
  }
  /// In another stream than where x is written, y = x and y comes to the host.
  void copyOut(CUstream s) {
    OK(cuMemcpyDtoDAsync_v2(y_, x_, 64, s));
    OK(cuMemcpyDtoHAsync_v2(out_, y_, 64, s));
  }

  CUstream stream_[2] = {};
  CUevent event_ = nullptr;
  void *host_ = nullptr;
  uint32_t *out_ = nullptr;
  CUdeviceptr x_ = 0, y_ = 0;
};

TEST_F(Streams, WaitForAnEvent) {
  OK(cuMemsetD32Async(x_, 7, 16, stream_[0]));
  OK(cuEventRecord(event_, stream_[0]));
  OK(cuMemsetD32Async(y_, 9, 16, stream_[0]));
  OK(cuStreamWaitEvent(stream_[1], event_, 0));
  copyOut(stream_[1]);
  OK(cuStreamSynchronize(stream_[1]));
  EXPECT_EQ(out_[15], 7u);
}

TEST_F(Streams, MissingWaitReadsTooEarly) {
  OK(cuMemsetD32Async(x_, 7, 16, stream_[0]));
  copyOut(stream_[1]);
  OK(cuStreamSynchronize(stream_[1]));
  EXPECT_EQ(out_[15], lazy() == 1 ? 1u : 7u);
}

TEST_F(Streams, MissingWaitIsOverwritten) {
  copyOut(stream_[1]);
  OK(cuMemsetD32Async(x_, 7, 16, stream_[0]));
  OK(cuStreamSynchronize(stream_[1]));
  EXPECT_EQ(out_[15], lazy() == 2 ? 7u : 1u);
}

TEST_F(Streams, HostReadsBeforeTheCopy) {
  OK(cuMemsetD32Async(x_, 7, 16, stream_[0]));
  OK(cuMemcpyDtoHAsync_v2(out_, x_, 64, stream_[0]));
  EXPECT_EQ(out_[0], lazy() ? 0u : 7u);
  while (CUresult r = cuStreamQuery(stream_[0]))
    ASSERT_EQ(r, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(out_[0], 7u);
}

TEST_F(Streams, PageableMemoryIsCopiedAtTheCall) {
  std::vector<uint32_t> host(16, 5), back(16);
  OK(cuMemcpyHtoDAsync_v2(x_, host.data(), 64, stream_[0]));
  host.assign(16, 6);
  OK(cuMemcpyDtoHAsync_v2(back.data(), x_, 64, stream_[0])); // Waits.
  EXPECT_EQ(back[3], 5u);
  out_[3] = 5;
  OK(cuMemcpyHtoDAsync_v2(x_, out_, 64, stream_[0]));
  out_[3] = 6; // Page-locked: read when the copy runs.
  OK(cuMemcpyDtoHAsync_v2(back.data(), x_, 64, stream_[0]));
  EXPECT_EQ(back[3], lazy() ? 6u : 5u);
}

TEST_F(Streams, MemoryInOrderOfAStream) {
  CUdeviceptr p = 0;
  OK(cuMemAllocAsync(&p, 64, stream_[0]));
  OK(cuMemsetD32Async(p, 3, 16, stream_[0]));
  OK(cuMemcpyDtoHAsync_v2(out_, p, 64, stream_[0]));
  OK(cuMemFreeAsync(p, stream_[0]));
  OK(cuStreamSynchronize(stream_[0]));
  EXPECT_EQ(out_[15], 3u);
  testing::internal::CaptureStderr();
  CUresult late = cuMemsetD32Async(p, 3, 16, stream_[0]);
  late = late ? late : cuStreamSynchronize(stream_[0]);
  EXPECT_EQ(late, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("which was freed"), std::string::npos);
}

TEST_F(Streams, HostAddressForADevice) {
  std::vector<uint32_t> host(16);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(x_, reinterpret_cast<CUdeviceptr>(host.data()), 64, stream_[0]),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(x_, reinterpret_cast<void *>(y_), 64, stream_[0]), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(x_ + 4), CUDA_ERROR_INVALID_VALUE);
  std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("expected a device address"), message.npos) << message;
  EXPECT_NE(message.find("expected a host address"), message.npos) << message;
}

TEST_F(Streams, StridedCopies) {
  std::vector<uint32_t> host(60);
  for (uint32_t i = 0; i < 60; ++i)
    host[i] = i;
  CUdeviceptr from = upload(host), to = upload(std::vector<uint32_t>(60, 99));
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.srcDevice = from;
  c.srcPitch = 40; // 6 rows of 10
  c.srcXInBytes = 8;
  c.srcY = 1;
  c.dstDevice = to;
  c.dstPitch = 12;
  c.WidthInBytes = 12;
  c.Height = 4;
  OK(cuMemcpy2DAsync_v2(&c, stream_[0]));
  OK(cuStreamSynchronize(stream_[0]));
  std::vector<uint32_t> got = download<uint32_t>(to, 13);
  for (uint32_t r = 0; r < 4; ++r)
    for (uint32_t k = 0; k < 3; ++k)
      EXPECT_EQ(got[r * 3 + k], (r + 1) * 10 + 2 + k);
  EXPECT_EQ(got[12], 99u);

  CUDA_MEMCPY3D d = {};
  d.srcMemoryType = d.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  d.srcDevice = from; // 3 planes of 4 rows of 5
  d.srcPitch = 20;
  d.srcHeight = 4;
  d.srcY = 1;
  d.dstDevice = to;
  d.dstPitch = 8;
  d.dstHeight = 2;
  d.WidthInBytes = 8;
  d.Height = 2;
  d.Depth = 3;
  OK(cuMemcpy3DAsync_v2(&d, stream_[0]));
  OK(cuStreamSynchronize(stream_[0]));
  got = download<uint32_t>(to, 12);
  for (uint32_t z = 0; z < 3; ++z)
    for (uint32_t y = 0; y < 2; ++y)
      for (uint32_t x = 0; x < 2; ++x)
        EXPECT_EQ(got[z * 4 + y * 2 + x], z * 20 + (y + 1) * 5 + x);
  c.dstPitch = 8; // Less than the width.
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuMemcpy2DAsync_v2(&c, stream_[0]), CUDA_ERROR_INVALID_VALUE);
  testing::internal::GetCapturedStderr();
}

TEST_F(Streams, GraphWithTwoStreams) {
  CUevent joined = nullptr;
  OK(cuEventCreate(&joined, 2));
  OK(cuStreamBeginCapture_v2(stream_[0], 2));
  OK(cuMemsetD32Async(x_, 40, 16, stream_[0]));
  OK(cuEventRecord(event_, stream_[0]));
  OK(cuStreamWaitEvent(stream_[1], event_, 0));
  OK(cuMemcpyDtoDAsync_v2(y_, x_, 64, stream_[1]));
  OK(cuEventRecord(joined, stream_[1]));
  OK(cuStreamWaitEvent(stream_[0], joined, 0));
  Arguments args(x_, x_, y_, 4);
  OK(cuLaunchKernel(kernel("vector_add"), 1, 1, 1, 32, 1, 1, 0, stream_[0], args.get(), nullptr));
  OK(cuMemcpyDtoHAsync_v2(out_, x_, 64, stream_[0]));
  CUgraph graph = nullptr;
  OK(cuStreamEndCapture(stream_[0], &graph));
  CUgraphExec exec = nullptr;
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphDestroy(graph));
  EXPECT_EQ(out_[0], 0u); // Nothing ran.
  for (int round = 0; round < 3; ++round) {
    memset(out_, 0, 64);
    OK(cuGraphLaunch(exec, stream_[1]));
    OK(cuStreamSynchronize(stream_[1]));
    for (int k = 0; k < 16; ++k) // 40 as f32 is tiny; the sum of its bits is exact.
      EXPECT_EQ(out_[k], 80u);
  }
  OK(cuGraphExecDestroy(exec));
  OK(cuEventDestroy_v2(joined));
}

TEST_F(Streams, CallsThatACaptureRefuses) {
  testing::internal::CaptureStderr();
  CUgraph graph = nullptr;
  OK(cuStreamBeginCapture_v2(stream_[0], 2)); // Not joined.
  OK(cuEventRecord(event_, stream_[0]));
  OK(cuStreamWaitEvent(stream_[1], event_, 0));
  OK(cuMemsetD32Async(x_, 40, 16, stream_[1]));
  EXPECT_EQ(cuStreamEndCapture(stream_[0], &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  OK(cuStreamBeginCapture_v2(stream_[0], 2)); // Waits within.
  EXPECT_EQ(cuStreamSynchronize(stream_[0]), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamEndCapture(stream_[0], &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(cuEventRecord(event_, stream_[1])); // An event from outside.
  OK(cuStreamBeginCapture_v2(stream_[0], 2));
  EXPECT_EQ(cuStreamWaitEvent(stream_[0], event_, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(cuStreamEndCapture(stream_[0], &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  testing::internal::GetCapturedStderr();
}

void open() {
  CUcontext context;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
}
void leak() {
  CUdeviceptr p;
  CUstream s;
  open();
  cuMemAlloc_v2(&p, 48);
  cuStreamCreate(&s, 1);
  exit(0);
}
void fill() {
  CUdeviceptr p, q;
  open();
  bool fits =
      cuMemAlloc_v2(&p, 600) == 0 && cuMemAlloc_v2(&q, 500) == 2 && cuMemFree_v2(p) == 0 && cuMemAlloc_v2(&q, 500) == 0;
  exit(fits ? 0 : 1);
}

/// What is freed in the order of a stream stays in the pool, for those who ask it, until it
/// is trimmed.
void fillPool() {
  CUdeviceptr p, q;
  CUmemoryPool pool;
  uint64_t everything = UINT64_MAX;
  open();
  bool fits = cuDeviceGetDefaultMemPool(&pool, 0) == 0 && cuMemPoolSetAttribute(pool, 4, &everything) == 0;
  for (int i = 0; i < 2; ++i)
    fits = fits && cuMemAllocAsync(&p, 600, nullptr) == 0 && cuMemFreeAsync(p, nullptr) == 0 &&
           cuStreamSynchronize(nullptr) == 0;
  fits = fits && cuMemAlloc_v2(&q, 600) == 2 && cuMemPoolTrimTo(pool, 0) == 0 && cuMemAlloc_v2(&q, 600) == 0 &&
         cuMemAllocAsync(&p, 600, nullptr) == 2;
  exit(fits ? 0 : 1);
}

TEST(StreamsDeathTest, MemoryOfThePool) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("SK_EMU_MEMORY", "1000", 1);
  EXPECT_EXIT(fillPool(), testing::ExitedWithCode(0), "600 bytes on device 0");
  unsetenv("SK_EMU_MEMORY");
}

TEST(StreamsDeathTest, Leaks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("SK_EMU_LEAKS", "1", 1);
  EXPECT_EXIT(leak(), testing::ExitedWithCode(0), "leak: 48 bytes on device 0\n.*leak: a stream");
  unsetenv("SK_EMU_LEAKS");
}

TEST(StreamsDeathTest, MemoryOfADevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("SK_EMU_MEMORY", "1000", 1);
  EXPECT_EXIT(fill(), testing::ExitedWithCode(0), "500 bytes on device 0, of 1000 bytes 600 are used");
  unsetenv("SK_EMU_MEMORY");
}

} // namespace
} // namespace shardkit::emu::test
