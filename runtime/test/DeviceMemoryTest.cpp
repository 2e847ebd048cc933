//===- DeviceMemoryTest.cpp - Who may have the memory of a device ---------===//

#include "OnDevices.h"

#include <cstdlib>
#include <malloc.h>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

Status noRoom(int64_t free) { return internalError("no room, " + std::to_string(free) + " free"); }

/// Of 1,000,000 bytes 600,000 in the order of the stream, again and again, then for good.
void takeTurns() {
  auto devices = openDevices(1);
  cuda::Device &device = *devices->of(0);
  bool fits = true;
  for (int step = 0; step < 3; ++step) {
    auto passing = device.allocateInOrder(600000, noRoom);
    fits = fits && passing.ok();
  }
  auto kept = device.allocate(600000, noRoom);
  auto more = device.allocate(600000, noRoom);
  auto passing = device.allocateInOrder(600000, noRoom);
  fits = fits && kept.ok() && !more.ok() && !passing.ok();
  std::fprintf(stderr, "%s\n", more.status().message().c_str());
  std::exit(fits && device.wait().ok() ? 0 : 1);
}

TEST(DeviceMemoryDeathTest, freedPoolMemoryIsAvailableToOthers) {
  if (!onDevices())
    GTEST_SKIP() << "on devices only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("SK_EMU_MEMORY", "1000000", 1);
  EXPECT_EXIT(takeTurns(), testing::ExitedWithCode(0), "no room, [0-9]+ free");
  ::unsetenv("SK_EMU_MEMORY");
}

/// Devices that end with the process, after all that opening them has made.
void endWithTheProcess() {
  ::mallopt(M_PERTURB, 0x5a); // What is freed is overwritten.
  static std::unique_ptr<cuda::Devices> devices;
  devices = openDevices(3);
  std::exit(devices->of(2)->wait().ok() ? 0 : 1);
}

TEST(DeviceMemoryDeathTest, devicesMayEndWithTheProcess) {
  if (!onDevices())
    GTEST_SKIP() << "on devices only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(endWithTheProcess(), testing::ExitedWithCode(0), testing::Eq(std::string()));
}

} // namespace
