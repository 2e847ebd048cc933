//===- SequenceMap.h - Numbers for sequences of numbers ---------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SUPPORT_SEQUENCEMAP_H
#define SHARDKIT_LIB_SOLVER_SUPPORT_SEQUENCEMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/xxhash.h"
#include <vector>

namespace mlir::spmd::solver {

/// Numbers sequences 0, 1, 2, ... in the order in which they come.
class SequenceMap {
public:
  std::pair<unsigned, bool> insert(llvm::ArrayRef<unsigned> key) {
    uint64_t hash = llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(key.data()),
                                                              key.size() * sizeof(unsigned))) >>
                    1; // DenseMap keeps the two largest keys for itself
    auto [it, inserted] = heads.try_emplace(hash, size());
    if (!inserted) {
      for (unsigned i = it->second; i != ~0u; i = next[i])
        if (get(i) == key)
          return {i, false};
    }
    next.push_back(inserted ? ~0u : it->second);
    it->second = size();
    keys.insert(keys.end(), key.begin(), key.end());
    ends.push_back(keys.size());
    return {size() - 1, true};
  }
  llvm::ArrayRef<unsigned> get(unsigned i) const {
    size_t begin = i ? ends[i - 1] : 0;
    return llvm::ArrayRef<unsigned>(keys).slice(begin, ends[i] - begin);
  }
  unsigned size() const { return ends.size(); }

private:
  std::vector<unsigned> keys;
  std::vector<size_t> ends;
  std::vector<unsigned> next;
  llvm::DenseMap<uint64_t, unsigned> heads;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SUPPORT_SEQUENCEMAP_H
