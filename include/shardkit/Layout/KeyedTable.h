//===- KeyedTable.h - A map from lists of numbers ---------------*- C++ -*-===//
//
// Passes describe what a result depends on as a list of integers (its key), and
// compute it once per key.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_KEYEDTABLE_H
#define SHARDKIT_LAYOUT_KEYEDTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::spmd {

/// A map from keys, lists of integers, to values. Addresses of values are stable.
///
///   KeyedTable<unsigned> ids;
///   auto [id, isNew] = ids.try_emplace(key, ids.size());   // interning: a number per key
template <typename T> class KeyedTable {
public:
  /// The value of `key`, constructed from `args` if the key is new, and whether it is.
  template <typename... Args> std::pair<T &, bool> try_emplace(llvm::ArrayRef<int64_t> key, Args &&...args) {
    auto [it, isNew] = map.try_emplace(toBytes(key), std::forward<Args>(args)...);
    return {it->second, isNew};
  }
  T &operator[](llvm::ArrayRef<int64_t> key) { return map[toBytes(key)]; }
  size_t size() const { return map.size(); }
  void clear() { map.clear(); }

private:
  static llvm::StringRef toBytes(llvm::ArrayRef<int64_t> key) {
    return {reinterpret_cast<const char *>(key.data()), key.size() * sizeof(int64_t)};
  }
  llvm::StringMap<T> map;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_KEYEDTABLE_H
