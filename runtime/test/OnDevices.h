//===- OnDevices.h - Tests that run on devices as well ---------*- C++ -*--===//
//
// With SK_TEST_ON_DEVICES=1 what these tests run works on devices: those of the
// machine, or the emulated ones in SK_CUDA_LIBRARY_PATH.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RUNTIME_TEST_ONDEVICES_H
#define SHARDKIT_RUNTIME_TEST_ONDEVICES_H

#include "shardkit/rt/Cuda/Device.h"

#include <gtest/gtest.h>

namespace shardkit::rt::test {

inline bool onDevices() {
  const char *text = std::getenv("SK_TEST_ON_DEVICES");
  return text && *text == '1';
}

/// Ranks [0, ranks); null where tests run on the host.
inline std::unique_ptr<cuda::Devices> openDevices(int64_t ranks, cuda::DeviceOptions options = {}) {
  if (!onDevices())
    return nullptr;
  auto devices = cuda::Devices::open("sm_80", 0, ranks, options);
  EXPECT_TRUE(devices.ok()) << devices.status().message();
  return devices.ok() ? std::move(*devices) : nullptr;
}

#define EXPECT_OK(status)                                                                                              \
  do {                                                                                                                 \
    ::shardkit::rt::Status skStatus = (status);                                                                        \
    EXPECT_TRUE(skStatus.ok()) << skStatus.message();                                                                  \
  } while (false)

/// A copy of a host buffer on a device, or the buffer itself.
class Placed {
public:
  Placed(cuda::Device *device, void *host, int64_t bytes) : device_(device), host_(host), bytes_(bytes) {
    if (!device)
      return;
    EXPECT_OK(memory_.reserve(*device, bytes, [](int64_t) { return internalError("no room"); }));
    EXPECT_OK(device->upload(memory_.data(), host, bytes));
  }
  void *data() { return device_ ? memory_.data() : host_; }
  void fetch() {
    if (device_)
      EXPECT_OK(device_->download(host_, memory_.data(), bytes_));
  }

private:
  cuda::Device *device_;
  void *host_;
  int64_t bytes_;
  cuda::DeviceMemory memory_;
};

/// Around what a mover does: what sk_collective does.
template <typename Fn> bool communicate(cuda::Device *device, Fn &&fn) {
  if (!device)
    return fn(hostCopyEngine());
  EXPECT_OK(device->startCommunication());
  const bool done = fn(device->copyEngine());
  EXPECT_OK(device->endCommunication());
  return done;
}

} // namespace shardkit::rt::test

#endif // SHARDKIT_RUNTIME_TEST_ONDEVICES_H
