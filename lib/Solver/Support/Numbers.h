//===- Numbers.h - Many numbers ---------------------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SUPPORT_NUMBERS_H
#define SHARDKIT_LIB_SOLVER_SUPPORT_NUMBERS_H

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace mlir::spmd::solver {

/// Allocates without initialization, in large pages for large sizes: a join writes hundreds of megabytes once, which
/// takes less time than the system needs for small pages.
template <typename T> struct UninitializedAllocator {
  using value_type = T;
  static constexpr size_t kPage = size_t(2) << 20;

  UninitializedAllocator() = default;
  template <typename U> UninitializedAllocator(const UninitializedAllocator<U> &) {}

  T *allocate(size_t n) {
    size_t bytes = n * sizeof(T);
    if (bytes < 2 * kPage)
      return static_cast<T *>(::operator new(bytes));
    bytes = (bytes + kPage - 1) / kPage * kPage;
    void *p = ::operator new(bytes, std::align_val_t(kPage));
#ifdef __linux__
    (void)madvise(p, bytes, MADV_HUGEPAGE); // advice: nothing depends on it
#endif
    return static_cast<T *>(p);
  }
  void deallocate(T *p, size_t n) {
    if (n * sizeof(T) < 2 * kPage)
      ::operator delete(p);
    else
      ::operator delete(p, std::align_val_t(kPage));
  }
  template <typename U> void construct(U *p) { ::new (static_cast<void *>(p)) U; }
  template <typename U, typename... Args> void construct(U *p, Args &&...args) {
    ::new (static_cast<void *>(p)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const UninitializedAllocator &, const UninitializedAllocator &) { return true; }
};

/// resize() leaves what it adds as it is.
using Numbers = std::vector<int64_t, UninitializedAllocator<int64_t>>;

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SUPPORT_NUMBERS_H
