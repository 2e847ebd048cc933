//===- Random.h - Numbers at random, the same from any library --*- C++ -*-===//

#ifndef SHARDKIT_TEST_UNIT_RANDOM_H
#define SHARDKIT_TEST_UNIT_RANDOM_H

#include <cstdint>
#include <random>

namespace shardkit_test {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }
  bool chance(double p) { return double(engine() >> 11) * 0x1p-53 < p; }

private:
  std::mt19937_64 engine;
};

} // namespace shardkit_test

#endif // SHARDKIT_TEST_UNIT_RANDOM_H
