//===- Calls.h - The driver's functions, for tests -------------*- C++ -*--===//

#ifndef SHARDKIT_TEST_CUDA_CALLS_H
#define SHARDKIT_TEST_CUDA_CALLS_H

#include "driver/Cuda.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
CUresult cuInit(unsigned);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxSynchronize();
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, const int *, void **);
CUresult cuModuleUnload(CUmodule);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice);
CUresult cuMemPoolSetAttribute(CUmemoryPool, int, void *);
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemHostAlloc(void **, size_t, unsigned);
CUresult cuMemFreeHost(void *);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream);
CUresult cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *, CUstream);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *, CUstream);
CUresult cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamQuery(CUstream);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuEventCreate(CUevent *, unsigned);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventSynchronize(CUevent);
CUresult cuStreamBeginCapture_v2(CUstream, int);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphDestroy(CUgraph);
CUresult cuGraphExecDestroy(CUgraphExec);
}

#define OK(call) ASSERT_EQ(call, CUDA_SUCCESS) << #call

namespace shardkit::emu::test {

std::string readSample(const std::string &name); ///< "arith.sm_80.ptx"

/// The arguments of a launch, which copy what they are given.
class Arguments {
public:
  template <typename... T> explicit Arguments(const T &...values) { (add(values), ...); }
  void **get() {
    pointers_.clear();
    for (std::vector<char> &value : values_)
      pointers_.push_back(value.data());
    return pointers_.data();
  }

private:
  template <typename T> void add(const T &value) {
    const char *p = reinterpret_cast<const char *>(&value);
    values_.emplace_back(p, p + sizeof value);
  }
  std::vector<std::vector<char>> values_;
  std::vector<void *> pointers_;
};

/// A context on device 0 and a module of a sample.
class Emulated : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;
  void load(const std::string &sample);
  CUfunction kernel(const std::string &name);
  void launch(const std::string &name, unsigned grid, unsigned block, Arguments arguments, unsigned shared = 0,
              CUstream stream = nullptr);
  template <typename T> CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr out = alloc(values.size() * sizeof(T));
    EXPECT_EQ(cuMemcpyHtoD_v2(out, values.data(), values.size() * sizeof(T)), CUDA_SUCCESS);
    return out;
  }
  template <typename T> std::vector<T> download(CUdeviceptr from, size_t count) {
    std::vector<T> out(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(out.data(), from, count * sizeof(T)), CUDA_SUCCESS);
    return out;
  }
  CUdeviceptr alloc(size_t bytes);

  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  std::vector<CUdeviceptr> buffers_;
};

} // namespace shardkit::emu::test

#endif // SHARDKIT_TEST_CUDA_CALLS_H
