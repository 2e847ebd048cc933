//===- KnownSizes.cpp - Layouts of values of unknown size -----------------===//

#include "shardkit/Layout/KnownSizes.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

SmallVector<int64_t, 4> mlir::spmd::withKnownSizes(ArrayRef<int64_t> shape, ArrayRef<const Sharding *> shardings) {
  SmallVector<int64_t, 4> known(shape);
  for (auto [d, size] : llvm::enumerate(known)) {
    if (size >= 0)
      continue;
    size = 1;
    for (const Sharding *sharding : shardings)
      size = std::lcm(size, totalFactor(sharding->dims[d].entries));
  }
  return known;
}
