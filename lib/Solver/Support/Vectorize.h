//===- Vectorize.h - Loops for the machine at hand --------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SUPPORT_VECTORIZE_H
#define SHARDKIT_LIB_SOLVER_SUPPORT_VECTORIZE_H

// A minimum of 64-bit integers is not in the baseline of x86-64: the function is
// compiled for what has it as well, and chosen when the program starts. Results do not depend on
// it.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHARDKIT_CLONES
#endif
#endif
#ifndef SHARDKIT_CLONES
#define SHARDKIT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define SHARDKIT_CLONES
#endif

#include <cstddef>
#include <type_traits>

namespace mlir::spmd::solver {

/// So many numbers, at any address, in registers of whatever size there is.
template <typename T, size_t lanes> struct Lanes {
  typedef T Type __attribute__((vector_size(lanes * sizeof(T)), aligned(alignof(T)), may_alias));
};

/// Calls block(first, lanes) for blocks of 0, ..., n - 1; the last one overlaps with the one before. One by one where
/// there are fewer.
template <size_t kLanes, typename Do> static inline __attribute__((always_inline)) void forBlocks(size_t n, Do block) {
  std::integral_constant<size_t, kLanes> lanes;
  std::integral_constant<size_t, 1> one;
  if (n < kLanes) {
    for (size_t at = 0; at < n; ++at)
      block(at, one);
    return;
  }
  size_t at = 0;
  for (; at + kLanes <= n; at += kLanes)
    block(at, lanes);
  if (at < n)
    block(n - kLanes, lanes);
}

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SUPPORT_VECTORIZE_H
