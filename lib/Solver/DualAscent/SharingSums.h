//===- SharingSums.h - Least sums of what readers share ---------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_DUALASCENT_SHARINGSUMS_H
#define SHARDKIT_LIB_SOLVER_DUALASCENT_SHARINGSUMS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace mlir::spmd::solver {

/// Least sums over the choices of a host and of readers that share what they ask for: prices of
/// the items asked for, once each, and what is added for the host's choice and for each reader's
/// item. By dynamic programming over sets of readers that ask for the same: hosts * items * 2^readers.
/// `T` is float or int64_t; what is at least `impossible` counts as that.
template <typename T> class SharingSums {
public:
  /// Prices per host and item, and per item and host.
  SharingSums(const T *byHost, const T *byItem, size_t numHosts, size_t numItems, size_t numReaders, T impossible);

  /// What is added: per choice of the host, per reader and item.
  T *getHost() { return host.data(); }
  T *getItems(size_t reader) { return added.data() + (size_t(1) << reader) * numItems; }
  /// Once all is set. `but`: a reader of whom only item sums will be asked for.
  void prepare(size_t but = ~size_t(0));
  /// The least sum for each choice of the host.
  void getHostSums(T *sums);
  /// The least sum for each item that the reader may ask for, without what is added for it.
  void getItemSums(size_t reader, T *sums);

  /// How it is done; in the source file.
  struct Kernels;

private:
  const T *byHost, *byItem;
  size_t numHosts, numItems, numReaders;
  T impossible;
  std::vector<T> host;
  std::vector<T> added;      // per set of readers and item: the sum of what is added
  std::vector<T> leastAdded; // per set, of all items
  // Per set and choice of the host: the least sum if all ask for the same (or less, where it is better that they do
  // not), and if they ask for anything.
  std::vector<T> same, parts;
  std::vector<T> sums; // of a few sets at a time
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_DUALASCENT_SHARINGSUMS_H
