//===- BlockTest.cpp - Threads of a block, and what is checked ------------===//

#include "Calls.h"

#include "ptx/Machine.h"

#include <cstring>

namespace shardkit::emu::test {
namespace {

class BlockKernels : public Emulated, public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    Emulated::SetUp();
    load(std::string("block.") + GetParam() + ".ptx");
  }
};

std::vector<float> numbers(size_t count) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i)
    out[i] = float(i * 37 % 1009) * 0.5f - 100;
  return out;
}

TEST_P(BlockKernels, RowSumsWithShufflesAndBarriers) {
  constexpr int kRows = 7, kLength = 1000;
  std::vector<float> a = numbers(kRows * kLength), expected(kRows);
  for (size_t r = 0; r < kRows; ++r)
    for (size_t k = 0; k < kLength; ++k) // Multiples of 1/2: exact in any order.
      expected[r] += a[r * kLength + k];
  CUdeviceptr out = alloc(4 * kRows);
  launch("row_sum", kRows, 256, Arguments(out, upload(a), kLength));
  EXPECT_EQ(download<float>(out, kRows), expected);
}

TEST_P(BlockKernels, TransposeInDynamicSharedMemory) {
  constexpr int kRows = 48, kColumns = 80;
  std::vector<float> a = numbers(kRows * kColumns), expected(a.size());
  for (size_t r = 0; r < kRows; ++r)
    for (size_t c = 0; c < kColumns; ++c)
      expected[c * kRows + r] = a[r * kColumns + c];
  CUdeviceptr out = alloc(4 * a.size());
  launch("transpose", kRows / 16 * (kColumns / 16), 256, Arguments(out, upload(a), kRows, kColumns), 16 * 17 * 4);
  EXPECT_EQ(download<float>(out, a.size()), expected);
}

TEST_P(BlockKernels, Vectors) {
  std::vector<float> a = numbers(400), b = numbers(400), expected(400);
  for (size_t i = 0; i < 400; ++i) {
    b[i] = b[i] * 3 + 1;
    expected[i] = a[i] + b[i];
  }
  CUdeviceptr out = alloc(1600);
  launch("vector_add", 2, 64, Arguments(out, upload(a), upload(b), 100));
  EXPECT_EQ(download<float>(out, 400), expected);
}

TEST_P(BlockKernels, Atomics) {
  constexpr int n = 777;
  int32_t sum = 5;
  uint64_t wide = 7;
  uint32_t m[4] = {3, 0, 0, 1};
  for (int i = 0; i < n; ++i) {
    sum += i;
    wide += uint64_t(i) << 20;
    m[0] = std::max(m[0], uint32_t(i * 37 % 101));
    m[1] |= 1u << (i & 31);
    m[2] ^= uint32_t(i);
    m[3] = m[3] * 5 + 1;
  }
  CUdeviceptr i32 = upload(std::vector<int32_t>{5}), u64 = upload(std::vector<uint64_t>{7}),
              f32 = upload(std::vector<float>{1}), f64 = upload(std::vector<double>{2}),
              u32 = upload(std::vector<uint32_t>{3, 0, 0, 1});
  launch("atomics", 7, 128, Arguments(i32, u64, f32, f64, u32, n));
  EXPECT_EQ(download<int32_t>(i32, 1)[0], sum);
  EXPECT_EQ(download<uint64_t>(u64, 1)[0], wide);
  EXPECT_EQ(download<float>(f32, 1)[0], 1 + 0.5f * n);
  EXPECT_EQ(download<double>(f64, 1)[0], 2 + 0.25 * n);
  EXPECT_EQ(download<uint32_t>(u32, 4), std::vector<uint32_t>(m, m + 4));
}

TEST_P(BlockKernels, LanesOfAWarp) {
  std::vector<uint32_t> a(32), expected(256);
  for (uint32_t l = 0; l < 32; ++l)
    a[l] = l * 29 % 31 + 3;
  uint32_t odd = 0;
  for (uint32_t l = 0; l < 32; ++l)
    odd |= (a[l] & 1) << l;
  for (uint32_t l = 0; l < 32; ++l) {
    uint32_t *o = &expected[8 * l], same = 0;
    for (uint32_t k = 0; k < 32; ++k)
      same |= uint32_t((a[k] & 3) == (a[l] & 3)) << k;
    bool five = false;
    for (uint32_t v : a)
      five |= v == 5;
    o[0] = a[l >= 3 ? l - 3 : l];
    o[1] = a[l + 5 <= 31 ? l + 5 : l];
    o[2] = a[l * 7 & 31];
    o[3] = a[l ^ 1];
    o[4] = odd;
    o[5] = 1 | uint32_t(five) << 1;
    o[6] = l & 1 ? a[l ^ 2] : a[l ^ 4] + 1;
    o[7] = same;
  }
  CUdeviceptr out = alloc(1024);
  launch("lanes", 1, 32, Arguments(out, upload(a)));
  EXPECT_EQ(download<uint32_t>(out, 256), expected);
}

TEST_P(BlockKernels, Faults) {
  CUdeviceptr out = alloc(400), p = out;
  Arguments beyond(p, 100);
  CUfunction f = kernel("out_of_bounds");
  testing::internal::CaptureStderr();
  cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, beyond.get(), nullptr);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("0 bytes behind the allocation of 400 bytes"), message.npos) << message;
  EXPECT_NE(message.find("kernel out_of_bounds, block (0,0,0), thread (0,0,0)"), message.npos);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS); // Stays.
}

TEST_P(BlockKernels, FaultsOfOtherKinds) {
  struct Case {
    const char *kernel;
    Arguments arguments;
    unsigned block;
    CUresult error;
    const char *message;
  };
  std::vector<float> host(4);
  CUdeviceptr out = alloc(400), freed = 0;
  OK(cuMemAlloc_v2(&freed, 64));
  OK(cuMemFree_v2(freed));
  Case cases[] = {
      {"misaligned", Arguments(out), 1, CUDA_ERROR_MISALIGNED_ADDRESS, "is misaligned"},
      {"out_of_bounds", Arguments(freed, 1), 1, CUDA_ERROR_ILLEGAL_ADDRESS, "which was freed"},
      {"out_of_bounds", Arguments(host.data(), 1), 1, CUDA_ERROR_ILLEGAL_ADDRESS, "a host pointer?"},
      {"out_of_bounds", Arguments(nullptr, 1), 1, CUDA_ERROR_ILLEGAL_ADDRESS, "a null pointer"},
      {"hang", Arguments(out), 32, CUDA_ERROR_LAUNCH_FAILED, "the block hangs"},
  };
  buffers_.clear();
  for (Case &c : cases) {
    SCOPED_TRACE(c.message);
    CUfunction f = kernel(c.kernel);
    testing::internal::CaptureStderr();
    cuLaunchKernel(f, 1, 1, 1, c.block, 1, 1, 0, nullptr, c.arguments.get(), nullptr);
    EXPECT_EQ(cuCtxSynchronize(), c.error);
    std::string message = testing::internal::GetCapturedStderr();
    EXPECT_NE(message.find(c.message), message.npos) << message;
    OK(cuDevicePrimaryCtxRelease_v2(0)); // A new context.
    OK(cuDevicePrimaryCtxRetain(&context_, 0));
  }
  OK(cuMemFree_v2(out));
}

TEST_P(BlockKernels, LimitsOfALaunch) {
  CUdeviceptr out = alloc(400);
  auto launchOf = [&](unsigned gx, unsigned gy, unsigned bx, unsigned shared) {
    return cuLaunchKernel(kernel("transpose"), gx, gy, 1, bx, 1, 1, shared, nullptr, Arguments(out, out, 0, 0).get(),
                          nullptr);
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(launchOf(1, 1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launchOf(1, 65536, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launchOf(0, 1, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launchOf(1, 1, 32, 49 * 1024), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(kernel("transpose"), 8, 228 * 1024), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUfunction f;
  EXPECT_EQ(cuModuleGetFunction(&f, module_, "nobody"), CUDA_ERROR_NOT_FOUND);
  testing::internal::GetCapturedStderr();
}

TEST(Ptx, ErrorsOfTheText) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  auto error = [&](const std::string &text) -> std::string {
    try {
      ModuleAst m = parsePtx(head + text);
      for (const FunctionAst &f : m.functions)
        if (f.kernel)
          decode(m, f, [](const std::string &) { return uint64_t(0); });
    } catch (const PtxError &e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(error(".visible .entry k()\n{\n.reg .b32 %r<2>;\nfrobnicate.b32 %r0, %r1;\nret;\n}\n"),
            "line 7: unknown instruction 'frobnicate.b32' in 'frobnicate.b32 %r0, %r1;'");
  EXPECT_EQ(error(".visible .entry k()\n{\n.reg .b64 %rd<2>;\nadd.s32 %rd0, %rd1, 1;\nret;\n}\n"),
            "line 7: register '%rd0' has 8 bytes, expected 4 in 'add.s32 %rd0, %rd1, 1;'");
  EXPECT_EQ(error(".extern .func (.param .b32 r) __nv_erff(.param .b32 a);\n.visible .entry k()\n{\n"
                  ".param .b32 p;\n.param .b32 q;\ncall.uni (q), __nv_erff, (p);\nret;\n}\n"),
            "line 9: unresolved extern function '__nv_erff' in 'call.uni (q), __nv_erff, (p);'");
  EXPECT_EQ(error(".visible .entry k()\n{\nbra nowhere;\n}\n"), "line 6: unknown label 'nowhere' in 'bra nowhere;'");
  EXPECT_EQ(error(".visible .entry k()\n{\nret;\n"), "line 7: function 'k' without end");
}

/// Kernels that run by themselves, with the checks on; device memory begins at kMemory.
constexpr uint64_t kMemory = 1 << 20;
std::string runChecked(const std::string &sample, const std::string &name, Dim3 grid, unsigned threads, uint32_t shared,
                       Arguments arguments, Options options) {
  struct Host : DeviceMemory {
    mutable std::vector<float> buffer = std::vector<float>(4096);
    uint64_t generation() const override { return 1; }
    bool find(uint64_t address, Region &r) const override {
      r.begin = kMemory;
      r.end = r.begin + buffer.size() * 4;
      r.host = reinterpret_cast<char *>(buffer.data());
      return address >= r.begin && address < r.end;
    }
    std::string describe(uint64_t) const override { return "the buffer"; }
  } memory;
  std::string text = readSample(sample);
  ModuleAst m = parsePtx(text);
  auto k = decode(m, *m.function(name), [](const std::string &) { return uint64_t(0); });
  std::vector<char> params(k->paramBytes);
  for (size_t i = 0; i < k->params.size(); ++i)
    memcpy(params.data() + k->params[i].first, arguments.get()[i], k->params[i].second);
  try {
    launch(*k, grid, {threads, 1, 1}, shared, params, memory, options);
  } catch (const DeviceFault &e) {
    return e.what();
  }
  return "";
}
std::string transpose(const std::string &name, unsigned threads, uint64_t from, int rows, Options options) {
  return runChecked("block.sm_80.ptx", name, {unsigned(rows) / 16, 1, 1}, threads, 16 * 17 * 4,
                    Arguments(kMemory, from, rows, 16), options);
}

TEST(Ptx, RacesInSharedMemory) {
  Options races;
  races.races = true;
  EXPECT_EQ(transpose("transpose", 256, kMemory + 8192, 32, races), "");
  std::string found = transpose("transpose_race", 256, kMemory + 8192, 16, races);
  EXPECT_NE(found.find("race in shared memory"), found.npos) << found;
  EXPECT_NE(found.find("with no barrier between"), found.npos) << found;
}

TEST(Ptx, RacesInDeviceMemory) {
  Options races;
  races.races = true;
  // In place: a barrier lies between what a block reads and what it writes, and nothing between two blocks.
  EXPECT_EQ(transpose("transpose", 256, kMemory, 16, races), "");
  for (bool reversed : {false, true}) {
    races.reversed = reversed;
    std::string found = transpose("transpose", 256, kMemory, 32, races);
    EXPECT_NE(found.find("race in device memory at 0x"), found.npos) << found;
    EXPECT_NE(found.find("of another block: the buffer"), found.npos) << found;
  }
  EXPECT_EQ(transpose("transpose", 256, kMemory, 32, Options()), "");
  // One instruction that writes the same byte in two lanes.
  auto store = [&](Dim3 grid, unsigned threads) {
    return runChecked("block.sm_80.ptx", "out_of_bounds", grid, threads, 0, Arguments(kMemory, 1), races);
  };
  EXPECT_EQ(store({1, 1, 1}, 1), "");
  EXPECT_NE(store({1, 1, 1}, 2).find("write after the write of thread 0 with no barrier between"), std::string::npos);
  EXPECT_NE(store({2, 1, 1}, 1).find("write after the write of thread 0 of another block"), std::string::npos);
  // What is read as constant is written by nobody, not even by who has read it.
  auto copy = [&](uint64_t from) {
    return runChecked("block.sm_80.ptx", "copy", {1, 1, 1}, 32, 0, Arguments(kMemory, from), races);
  };
  EXPECT_EQ(copy(kMemory + 128), "");
  EXPECT_NE(copy(kMemory).find("read as constant, and written"), std::string::npos);
  // Sums of all threads at one place, which are atomic.
  EXPECT_EQ(runChecked("block.sm_80.ptx", "count", {2, 1, 1}, 64, 0, Arguments(kMemory), races), "");
}

TEST(Ptx, UninitialisedSharedMemory) {
  Options init;
  init.uninitialised = true;
  EXPECT_EQ(transpose("transpose", 256, kMemory + 8192, 16, init), "");
  std::string found = transpose("transpose", 32, kMemory + 8192, 16, init);
  EXPECT_NE(found.find("read of shared memory that nothing has written"), found.npos) << found;
}

INSTANTIATE_TEST_SUITE_P(Chips, BlockKernels, testing::Values("sm_80", "sm_90"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace shardkit::emu::test
