//===- SharingSums.h - Least sums of what readers share ---------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_DUALASCENT_SHARINGSUMS_H
#define SHARDKIT_LIB_SOLVER_DUALASCENT_SHARINGSUMS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace mlir::spmd::solver {

/// Minimal sums over the choices of a host and of its readers: prices of the requested items, once each, and additions
/// for the choice of the host and for the item of each reader. By dynamic programming over sets of readers that request
/// the same item: hosts * items * 2^readers.
/// `T` is float or int64_t; what is at least `impossible` counts as that.
template <typename T> class SharingSums {
public:
  /// Prices per host and item, and per item and host.
  SharingSums(const T *byHost, const T *byItem, size_t numHosts, size_t numItems, size_t numReaders, T impossible);

  /// The additions: per choice of the host, per reader and item.
  T *getHost() { return host.data(); }
  T *getItems(size_t reader) { return added.data() + (size_t(1) << reader) * numItems; }
  /// Call after all additions are set. `but`: a reader of which only item sums are queried.
  void prepare(size_t but = ~size_t(0));
  /// The least sum for each choice of the host.
  void getHostSums(T *sums);
  /// The minimal sum for each item of the reader, without its addition.
  void getItemSums(size_t reader, T *sums);

  /// How it is done; in the source file.
  struct Kernels;

private:
  const T *byHost, *byItem;
  size_t numHosts, numItems, numReaders;
  T impossible;
  std::vector<T> host;
  std::vector<T> added;    // per set of readers and item: the sum of what is added
  std::vector<T> minAdded; // per set, of all items
  // Per set and choice of the host: the minimal sum if all request the same item (or less, if that is better), and if
  // they request any items.
  std::vector<T> same, partitions;
  std::vector<T> sums; // a few sets at a time
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_DUALASCENT_SHARINGSUMS_H
