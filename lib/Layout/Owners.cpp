//===- Owners.cpp - Elements of a layout, one by one ---------------------===//

#include "shardkit/Layout/Owners.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

SmallVector<int64_t> spmd::getGroup(int64_t rank, ArrayRef<RankDigit> digits) {
  SmallVector<int64_t> group{rank};
  for (const RankDigit &digit : digits) {
    SmallVector<int64_t> next;
    for (int64_t member : group)
      for (int64_t k = 0; k < digit.size; ++k)
        next.push_back(member + (k - (member / digit.stride) % digit.size) * digit.stride);
    group = next;
  }
  return group;
}

/// The digits of a dim that ranks own, minor ones first: of indices of the dim, and of the rank.
static SmallVector<Digit> getDigits(const Layout &layout, unsigned d) {
  int64_t minor = 1;
  for (int64_t size : ArrayRef<int64_t>(layout.shape).drop_front(d + 1))
    minor *= size;
  SmallVector<Digit> digits;
  for (const Digit &digit : llvm::reverse(layout.digits)) {
    int64_t lo = std::max(digit.lo, minor), hi = std::min(digit.hi, minor * layout.shape[d]);
    if (lo < hi)
      digits.push_back({lo / minor, hi / minor, digit.stride * (lo / digit.lo)});
  }
  return digits;
}

const UnevenDim *spmd::getUneven(const Layout &layout, unsigned d) {
  for (const UnevenDim &dim : layout.uneven)
    if (dim.dim == d)
      return &dim;
  return nullptr;
}

int64_t spmd::getOwnIndex(const Layout &layout, unsigned d, int64_t rank, int64_t local) {
  if (const UnevenDim *dim = getUneven(layout, d))
    return (dim->window ? dim->window->step : dim->chunk(layout.shape[d])) * dim->coordinate(rank) +
           (dim->window ? dim->window->offset : 0) + local;
  int64_t index = 0, at = 1;
  for (const Digit &digit : getDigits(layout, d)) {
    index += local % (digit.lo / at) * at;
    local /= digit.lo / at;
    index += (rank / digit.stride) % digit.size() * digit.lo;
    at = digit.hi;
  }
  return index + local * at;
}

int64_t spmd::locate(const Layout &layout, unsigned d, int64_t index, int64_t &rank) {
  if (const UnevenDim *dim = getUneven(layout, d)) {
    int64_t chunk = dim->chunk(layout.shape[d]), k = index / chunk;
    for (const RankDigit &digit : llvm::reverse(dim->ranks)) {
      rank += (k % digit.size - (rank / digit.stride) % digit.size) * digit.stride;
      k /= digit.size;
    }
    return index % chunk;
  }
  int64_t local = 0, at = 1, factor = 1;
  for (const Digit &digit : getDigits(layout, d)) {
    local += index / at % (digit.lo / at) * factor;
    factor *= digit.lo / at;
    rank += (index / digit.lo % digit.size() - (rank / digit.stride) % digit.size()) * digit.stride;
    at = digit.hi;
  }
  return local + index / at * factor;
}
