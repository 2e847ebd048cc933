//===- Random.h - Reproducible random tensors -------------------*- C++ -*-===//
//
// Element i of a tensor is a function of (seed, name, i) alone, so every rank
// makes just its own elements and any mesh sees the same tensor.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_LOADING_RANDOM_H
#define SHARDKIT_RT_LOADING_RANDOM_H

#include "shardkit/rt/Manifest/Manifest.h"

namespace shardkit::rt {

struct RandomTensor {
  uint64_t key = 0;
  DType dtype = DType::F32;
  double scale = 1;          ///< Factor of floats, which are uniform in [-1, 1).
  int64_t low = 0, high = 2; ///< Range of integers, `high` excluded.

  /// Floats uniform in [-1, 1), weights times 1/sqrt(last dim); integers in
  /// `range`, else in the value's own range, else in [0, 2).
  static RandomTensor forValue(const ValueInfo &value, uint64_t seed,
                               std::optional<std::pair<int64_t, int64_t>> range = std::nullopt);

  /// Elements first, first + stride, ... into to[0], to[toStride], ...
  void fill(void *to, int64_t toStride, int64_t first, int64_t stride, int64_t count) const;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_RANDOM_H
