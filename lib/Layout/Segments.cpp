//===- Segments.cpp -------------------------------------------------------===//

#include "Segments.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

std::pair<int64_t, int64_t> detail::dimInterval(ArrayRef<int64_t> shape, unsigned dim) {
  int64_t b = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    b *= size;
  return {b, b * shape[dim]};
}

//===----------------------------------------------------------------------===//
// splitDigits
//===----------------------------------------------------------------------===//

/// Splits `digits[i]` at index boundary `c`; false if `c` does not divide it.
static bool splitAt(SmallVectorImpl<Digit> &digits, unsigned i, int64_t c) {
  Digit &digit = digits[i];
  if (c <= digit.lo || c >= digit.hi || c % digit.lo != 0 || digit.hi % c != 0)
    return false;
  Digit major{c, digit.hi, digit.stride * (c / digit.lo)};
  digit.hi = c;
  digits.push_back(major);
  return true;
}

void detail::splitDigits(SmallVectorImpl<Digit> &a, SmallVectorImpl<Digit> &b, ArrayRef<int64_t> indexBoundaries,
                         ArrayRef<int64_t> rankBoundaries) {
  SmallVector<int64_t, 24> index(indexBoundaries), rank(rankBoundaries);
  for (const SmallVectorImpl<Digit> *list : {&a, &b})
    for (const Digit &digit : *list) {
      index.append({digit.lo, digit.hi});
      rank.append({digit.stride, digit.stride * digit.size()});
    }
  auto normalize = [](SmallVectorImpl<int64_t> &boundaries) {
    llvm::sort(boundaries);
    boundaries.erase(llvm::unique(boundaries), boundaries.end());
  };
  // A split adds a boundary to the other side: repeat until there is no new one.
  for (bool changed = true; changed;) {
    changed = false;
    normalize(index);
    normalize(rank);
    for (SmallVectorImpl<Digit> *list : {&a, &b})
      for (unsigned i = 0; i < list->size(); ++i) {
        for (int64_t c : index)
          if (splitAt(*list, i, c)) {
            rank.push_back((*list)[i].stride * (*list)[i].size());
            changed = true;
            break;
          }
        const Digit digit = (*list)[i];
        for (int64_t c : rank)
          if (c > digit.stride && c % digit.stride == 0 && splitAt(*list, i, digit.lo * (c / digit.stride))) {
            index.push_back((*list)[i].hi);
            changed = true;
            break;
          }
        if (changed)
          break;
      }
  }
  for (SmallVectorImpl<Digit> *list : {&a, &b})
    llvm::sort(*list, [](const Digit &x, const Digit &y) { return x.lo > y.lo; });
}

//===----------------------------------------------------------------------===//
// makeSegments
//===----------------------------------------------------------------------===//

namespace {
/// A digit or an uneven dim. From `base` on the owner of an element depends on
/// its index: an uneven dim in chunks of 4 of 6 elements on base 1 has base 2.
struct Owner {
  int64_t base, hi;
  bool isTo;
  const UnevenDim *uneven;
  Digit digit;
  int64_t chunk; // local elements after the ranks, in units of base
};
} // namespace

static bool respects(const Owner &owner, int64_t boundary) {
  return owner.hi <= boundary ? boundary % owner.hi == 0 : boundary <= owner.base && owner.base % boundary == 0;
}

static void setWindow(TransferSegment &segment, const UnevenDim &dim) {
  if (dim.window)
    segment.window = {dim.window->step, dim.window->offset, dim.window->added};
}

SmallVector<TransferSegment, 6> detail::makeSegments(const Layout &from, const Layout &to) {
  // 1. Split the digits of both sides at the boundaries of dims and of each other.
  SmallVector<Digit, 4> digits[2] = {from.digits, to.digits};
  int64_t n = from.numElements();
  SmallVector<int64_t, 64> boundaries{1, n};
  for (const Layout *layout : {&from, &to}) {
    int64_t b = 1;
    for (int64_t size : llvm::reverse(layout->shape))
      boundaries.push_back(b *= size);
  }
  splitDigits(digits[0], digits[1], boundaries, {});

  // 2. List the owners of both sides: digits and uneven dims.
  SmallVector<Owner, 8> owners, points; // points: owners of dims of size 1
  for (bool isTo : {false, true}) {
    const Layout &layout = isTo ? to : from;
    for (const Digit &digit : digits[isTo])
      owners.push_back({digit.lo, digit.hi, isTo, nullptr, digit, 1});
    for (const UnevenDim &u : layout.uneven) {
      auto [b, top] = dimInterval(layout.shape, u.dim);
      int64_t chunk = u.chunk(layout.shape[u.dim]);
      int64_t unit = u.window ? 1 : std::gcd(chunk, layout.shape[u.dim]);
      Owner owner{b * unit, top, isTo, &u, {}, chunk / unit};
      (owner.base == owner.hi ? points : owners).push_back(owner);
    }
  }

  // 3. Find the boundaries between segments: those that no owner straddles. Common multiples
  // and divisors keep segments short, so that they grow with devices and not with elements.
  SmallVector<int64_t, 16> ends;
  for (const Owner &owner : owners)
    ends.append({owner.base, owner.hi});
  for (int64_t a : ends)
    for (int64_t b : ends) {
      int64_t common = std::gcd(a, b);
      boundaries.push_back(common);
      if (a / common <= n / b)
        boundaries.push_back(a / common * b);
    }
  llvm::sort(boundaries);
  boundaries.erase(llvm::unique(boundaries), boundaries.end());
  llvm::erase_if(boundaries, [&](int64_t c) {
    return n % c != 0 || llvm::any_of(owners, [c](const Owner &owner) { return !respects(owner, c); });
  });
  // If two adjacent boundaries do not divide each other, the smaller one is kept.
  unsigned kept = 1;
  for (unsigned i = 1; i < boundaries.size(); ++i)
    if (boundaries[i] % boundaries[kept - 1] == 0)
      boundaries[kept++] = boundaries[i];
  boundaries.truncate(kept);

  // 4. Describe each segment, minor to major, by the digits of both sides.
  SmallVector<TransferSegment, 6> segments;
  int64_t strides[2] = {1, 1};
  auto addLocal = [&](SmallVectorImpl<TransferDigit> &digits, int64_t size, int64_t &stride) {
    if (size == 1)
      return;
    digits.push_back({size, false, stride});
    stride *= size;
  };
  // Rank digits of an uneven dim are pushed minor to major like the others, then reversed.
  auto addOwner = [&](SmallVectorImpl<TransferDigit> &digits, const Owner &owner, int64_t &stride) {
    if (!owner.uneven) {
      digits.push_back({owner.digit.size(), true, owner.digit.stride});
      return;
    }
    addLocal(digits, owner.chunk, stride);
    for (const RankDigit &rank : llvm::reverse(owner.uneven->ranks))
      digits.push_back({rank.size, true, rank.stride});
  };
  llvm::sort(owners, [](const Owner &a, const Owner &b) { return a.base < b.base; });
  // A dim of size 1 on an axis: the first device has its element, or a window of it.
  llvm::sort(points, [](const Owner &a, const Owner &b) {
    return std::tuple(a.base, b.uneven->dim, a.isTo) < std::tuple(b.base, a.uneven->dim, b.isTo);
  });
  auto *point = points.begin();
  for (unsigned i = 0; i < boundaries.size(); ++i) {
    for (; point != points.end() && point->base <= boundaries[i]; ++point) {
      TransferSegment segment{1, {}, {}};
      auto &digits = point->isTo ? segment.dst : segment.src;
      addOwner(digits, *point, strides[point->isTo]);
      std::reverse(digits.begin(), digits.end());
      setWindow(segment, *point->uneven);
      segments.push_back(std::move(segment));
    }
    if (i + 1 == boundaries.size())
      break;
    int64_t lo = boundaries[i], hi = boundaries[i + 1];
    TransferSegment segment{hi / lo, {}, {}};
    for (bool isTo : {false, true}) {
      auto &digits = isTo ? segment.dst : segment.src;
      int64_t cur = lo;
      for (const Owner &owner : owners) {
        if (owner.isTo != isTo || owner.base < lo || owner.hi > hi)
          continue;
        addLocal(digits, owner.base / cur, strides[isTo]);
        addOwner(digits, owner, strides[isTo]);
        if (owner.uneven)
          setWindow(segment, *owner.uneven);
        cur = owner.hi;
      }
      addLocal(digits, hi / cur, strides[isTo]);
      std::reverse(digits.begin(), digits.end());
    }
    segments.push_back(std::move(segment));
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}
