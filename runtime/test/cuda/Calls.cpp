//===- Calls.cpp - The driver's functions, for tests ----------------------===//

#include "Calls.h"

#include <fstream>
#include <sstream>

namespace shardkit::emu::test {

std::string readSample(const std::string &name) {
  std::ifstream file(std::string(SAMPLES) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << name;
  return text.str();
}

void Emulated::SetUp() {
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&context_, 0));
  OK(cuCtxSetCurrent(context_));
}

void Emulated::TearDown() {
  for (CUdeviceptr b : buffers_)
    EXPECT_EQ(cuMemFree_v2(b), CUDA_SUCCESS);
  if (module_) {
    EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
}

void Emulated::load(const std::string &sample) {
  std::string text = readSample(sample);
  OK(cuModuleLoadDataEx(&module_, text.c_str(), 0, nullptr, nullptr));
}

CUfunction Emulated::kernel(const std::string &name) {
  CUfunction f = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&f, module_, name.c_str()), CUDA_SUCCESS);
  return f;
}

void Emulated::launch(const std::string &name, unsigned grid, unsigned block, Arguments arguments, unsigned shared,
                      CUstream stream) {
  OK(cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, shared, stream, arguments.get(), nullptr));
}

CUdeviceptr Emulated::alloc(size_t bytes) {
  CUdeviceptr out = 0;
  EXPECT_EQ(cuMemAlloc_v2(&out, bytes), CUDA_SUCCESS);
  buffers_.push_back(out);
  return out;
}

} // namespace shardkit::emu::test
