//===- Reshape.cpp - Layouts through a row-major reshape ------------------===//

#include "shardkit/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The dim of `outShape` that an uneven dim of `inShape` becomes: one with the
/// same interval of the index. Among dims of size 1, which have no interval,
/// the one at the same position in a run of equal length.
//   in, dim      -> out       | result
//   [5, 4], 0    -> [5, 2, 2] | 0
//   [5, 4], 0    -> [20]      | none: merged
//   [4, 5], 1    -> [2, 2, 5] | 2
//   [1, 4], 0    -> [1, 2, 2] | 0
//   [1, 4], 0    -> [4]       | none
//   [1, 4], 0    -> [1, 1, 4] | none: ambiguous
static std::optional<unsigned> sameDim(ArrayRef<int64_t> inShape, unsigned dim, ArrayRef<int64_t> outShape) {
  if (inShape == outShape)
    return dim;
  int64_t b = 1;
  for (int64_t size : inShape.drop_front(dim + 1))
    b *= size;
  if (inShape[dim] != 1) {
    int64_t c = 1;
    for (unsigned d = outShape.size(); d-- > 0 && c <= b; c *= outShape[d])
      if (c == b && outShape[d] == inShape[dim])
        return d;
    return std::nullopt;
  }
  auto unitRun = [b](ArrayRef<int64_t> shape) {
    std::pair<unsigned, unsigned> run(0, 0); // first, one past the last
    int64_t c = 1;
    for (unsigned d = shape.size(); d-- > 0; c *= shape[d])
      if (c == b && shape[d] == 1)
        run = {d, run.second ? run.second : d + 1};
    return run;
  };
  auto in = unitRun(inShape), out = unitRun(outShape);
  if (in.second - in.first != out.second - out.first)
    return std::nullopt;
  return out.first + (dim - in.first);
}

ReshapeResult mlir::spmd::reshape(const Layout &in, ArrayRef<int64_t> outShape) {
  ReshapeResult r;
  r.result = Layout::replicated(outShape);
  r.result.partial = in.partial;
  r.result.partialKind = in.partialKind;
  r.gathered = r.result;
  r.gathered.shape = in.shape;
  int64_t n = in.numElements();
  if (n == 0) {
    r.free = true;
    return r;
  }

  // The sub-digit [l, h) of a digit fits a dim iff the dim's minor product b
  // divides l and h divides b * D; the largest such is
  //   l = lcm(lo, b), h = gcd(hi, b * D), which exists iff l divides h.
  for (const Digit &digit : in.digits) {
    int64_t b = 1;
    for (unsigned d = outShape.size(); d-- > 0;) {
      int64_t top = b * outShape[d];
      if (b < digit.hi && top > digit.lo) {
        int64_t factor = b / std::gcd(digit.lo, b);
        int64_t hi = std::gcd(digit.hi, top);
        if (factor <= n / digit.lo) { // else the lcm is beyond the index
          int64_t lo = digit.lo * factor;
          if (lo < hi && hi % lo == 0)
            r.result.digits.push_back({lo, hi, digit.stride * (lo / digit.lo)});
        }
      }
      b = top;
    }
  }
  coalesce(r.result.digits);
  r.gathered.digits = r.result.digits;

  for (const UnevenDim &u : in.uneven) {
    auto dim = sameDim(in.shape, u.dim, outShape);
    if (!dim)
      continue;
    r.gathered.uneven.push_back(u);
    r.result.uneven.push_back({*dim, u.ranks});
  }
  r.free = r.gathered.digits == in.digits && r.gathered.uneven == in.uneven;

  // The digits that are kept need not be a layout of the input: [3, 2, 2] with digit
  // [2, 12) to [4, 3] keeps [6, 12), which starts inside input dim 0.
  if (!r.free && !r.gathered.fitsShape()) {
    if (r.gathered.uneven.empty()) {
      r.gathered.shape.assign(1, n);
    } else {
      // A rare case: drop the digits, keep the uneven dims.
      r.gathered.digits.clear();
      r.result.digits.clear();
    }
  }
  return r;
}
