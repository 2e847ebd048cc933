//===- Layout.cpp ---------------------------------------------------------===//

#include "Atoms.h"
#include "Segments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

//   coalesce (lo, hi, stride)          | result
//   (4, 8, 2), (2, 4, 1)               | (2, 8, 1)     neighbors in both
//   (2, 4, 1), (4, 8, 2)               | (2, 8, 1)     in any order
//   (4, 8, 1), (2, 4, 2)               | as it is      ranks in the other order
//   (8, 16, 2), (2, 4, 1)              | as it is      apart in the index
//   (4, 8, 4), (2, 4, 1)               | as it is      apart in the rank
//   (4, 4, 7)                          | none          size 1
void mlir::spmd::coalesce(SmallVectorImpl<Digit> &digits) {
  llvm::erase_if(digits, [](const Digit &d) { return d.lo == d.hi; });
  llvm::sort(digits, [](const Digit &a, const Digit &b) { return a.lo > b.lo; });
  unsigned n = 0;
  for (const Digit &digit : digits) {
    if (n && digits[n - 1].lo == digit.hi && digits[n - 1].stride == digit.stride * digit.size()) {
      digits[n - 1].lo = digit.lo;
      digits[n - 1].stride = digit.stride;
    } else {
      digits[n++] = digit;
    }
  }
  digits.truncate(n);
}

void mlir::spmd::joinAdjacent(SmallVectorImpl<RankDigit> &digits) {
  unsigned n = 0;
  for (const RankDigit &digit : digits) {
    if (digit.size == 1)
      continue;
    if (n && digits[n - 1].stride == digit.stride * digit.size)
      digits[n - 1] = {digit.stride, digits[n - 1].size * digit.size};
    else
      digits[n++] = digit;
  }
  digits.truncate(n);
}

//   coalesce (stride, size)  | result
//   (1, 2), (2, 3)           | (1, 6)
//   (1, 2), (4, 2)           | (4, 2), (1, 2)
void mlir::spmd::coalesce(SmallVectorImpl<RankDigit> &digits) {
  llvm::sort(digits, [](const RankDigit &a, const RankDigit &b) { return a.stride > b.stride; });
  joinAdjacent(digits);
}

void mlir::spmd::joinRanks(SmallVectorImpl<RankDigit> &digits) {
  llvm::sort(digits, [](const RankDigit &a, const RankDigit &b) {
    return a.stride != b.stride ? a.stride < b.stride : a.size < b.size;
  });
  // Joining may make another digit adjacent.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 1; i < digits.size() && !changed; ++i)
      for (unsigned j = 0; j < i && !changed; ++j) {
        RankDigit &a = digits[j], &b = digits[i];
        if (!detail::overlap(a, b))
          continue;
        int64_t lo = std::gcd(a.stride, b.stride);
        a = {lo, std::lcm(a.stride * a.size, b.stride * b.size) / lo};
        digits.erase(digits.begin() + i);
        changed = true;
      }
  }
  coalesce(digits);
}

int64_t Layout::numElements() const {
  int64_t n = 1;
  for (int64_t size : shape) {
    if (size <= 0)
      return 0;
    n *= size;
  }
  return n;
}

RankDigit mlir::spmd::getRankDigit(const DimEntry &entry, const Mesh &mesh) {
  int64_t size = mesh.axes[entry.axis].size;
  return {mesh.axisStride(entry.axis) * (size / (entry.pre * entry.size)), entry.size};
}

Layout Layout::replicated(ArrayRef<int64_t> shape) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  return layout;
}

Layout Layout::get(const Sharding &sharding, const Mesh &mesh, ArrayRef<int64_t> shape) {
  Layout layout = replicated(shape);
  if (layout.numElements() == 0)
    return layout;

  int64_t b = 1;
  for (unsigned d = shape.size(); d-- > 0;) {
    ArrayRef<DimEntry> entries = sharding.dims[d].entries;
    int64_t top = b * shape[d];
    if (shape[d] % totalFactor(entries) == 0) {
      int64_t hi = top;
      for (const DimEntry &entry : entries) {
        int64_t lo = hi / entry.size;
        if (!entry.isStride() && entry.size > 1)
          layout.digits.push_back({lo, hi, getRankDigit(entry, mesh).stride});
        hi = lo;
      }
    } else {
      // Uneven: full axes only, no strides (verifySharding).
      UnevenDim uneven;
      uneven.dim = d;
      for (const DimEntry &entry : entries)
        if (!entry.isStride())
          uneven.ranks.push_back(getRankDigit(entry, mesh));
      joinAdjacent(uneven.ranks);
      if (!uneven.ranks.empty())
        layout.uneven.push_back(std::move(uneven));
    }
    b = top;
  }
  coalesce(layout.digits);
  std::reverse(layout.uneven.begin(), layout.uneven.end());

  for (const DimEntry &entry : sharding.unreduced)
    if (!entry.isStride())
      layout.partial.push_back(getRankDigit(entry, mesh));
  coalesce(layout.partial);
  if (!layout.partial.empty())
    layout.partialKind = sharding.unreducedKind;
  return layout;
}

int64_t UnevenDim::count() const {
  int64_t n = 1;
  for (const RankDigit &rank : ranks)
    n *= rank.size;
  return n;
}

SmallVector<int64_t, 4> Layout::localShape() const {
  SmallVector<int64_t, 4> local(shape);
  int64_t b = 1;
  for (unsigned d = shape.size(); d-- > 0;) {
    int64_t top = b * shape[d];
    for (const Digit &digit : digits) {
      int64_t lo = std::max(digit.lo, b), hi = std::min(digit.hi, top);
      if (lo < hi)
        local[d] /= hi / lo;
    }
    b = top;
  }
  for (const UnevenDim &u : uneven)
    local[u.dim] = u.chunk(shape[u.dim]);
  return local;
}

int64_t Layout::numLocalElements() const {
  int64_t n = 1;
  for (int64_t size : localShape())
    n *= size;
  return n;
}

bool Layout::operator==(const Layout &o) const {
  return shape == o.shape && digits == o.digits && uneven == o.uneven && partial == o.partial &&
         (partial.empty() || partialKind == o.partialKind);
}

bool Layout::fitsShape() const {
  int64_t top = numElements();
  if (top == 0)
    return digits.empty();
  int64_t covered = 1, total = 1;
  for (const Digit &digit : digits)
    total *= digit.size();
  for (int64_t size : shape) {
    int64_t b = top / size, cur = top;
    for (const Digit &digit : digits) {
      int64_t lo = std::max(digit.lo, b), hi = std::min(digit.hi, top);
      if (lo >= hi)
        continue;
      if (lo % digit.lo || hi % lo || digit.hi % hi || lo % b || cur % hi)
        return false;
      covered *= hi / lo;
      cur = lo;
    }
    top = b;
  }
  return covered == total;
}

//   mesh "x"=4, "y"=3   (stride, size) | entries
//   (3, 4)                             | "x"
//   (3, 2)                             | "x":(2)2
//   (1, 6)                             | "x":(2)2, "y"     split at the axis boundary
//   (1, 2)                             | none: 2 does not divide y
//   (2, 3)                             | none
bool mlir::spmd::appendAxes(const RankDigit &rank, const Mesh &mesh, DimEntries &entries) {
  int64_t top = mesh.numDevices(), end = rank.stride * rank.size;
  int64_t covered = 1;
  for (unsigned a = 0; a < mesh.axes.size(); ++a) {
    int64_t b = top / mesh.axes[a].size;
    int64_t lo = std::max(rank.stride, b), hi = std::min(end, top);
    if (lo < hi) {
      if (lo % rank.stride || hi % lo || end % hi || lo % b || top % hi)
        return false;
      entries.push_back({static_cast<int32_t>(a), top / hi, hi / lo});
      covered *= hi / lo;
    }
    top = b;
  }
  return covered == rank.size;
}

std::optional<Sharding> Layout::toSharding(const Mesh &mesh) const {
  Sharding sharding;
  sharding.dims.resize(shape.size());
  sharding.unreducedKind = partial.empty() ? ReductionKind::Sum : partialKind;
  for (const RankDigit &rank : partial)
    if (!appendAxes(rank, mesh, sharding.unreduced))
      return std::nullopt;
  int64_t top = numElements();
  if (top == 0)
    return sharding;
  if (!fitsShape())
    return std::nullopt;

  for (unsigned d = 0; d < shape.size(); ++d) {
    int64_t b = top / shape[d], cur = top;
    DimEntries entries;
    for (const Digit &digit : digits) {
      int64_t lo = std::max(digit.lo, b), hi = std::min(digit.hi, top);
      if (lo >= hi)
        continue;
      if (cur != hi)
        entries.push_back(DimEntry::stride(cur / hi));
      if (!appendAxes({digit.stride * (lo / digit.lo), hi / lo}, mesh, entries))
        return std::nullopt;
      cur = lo;
    }
    sharding.dims[d].entries = canonicalize(entries);
    top = b;
  }
  for (const UnevenDim &u : uneven) {
    if (u.window)
      return std::nullopt;
    DimEntries &entries = sharding.dims[u.dim].entries;
    for (const RankDigit &rank : u.ranks)
      if (!appendAxes(rank, mesh, entries))
        return std::nullopt;
    entries = canonicalize(entries);
    if (!allowsPadding(entries, mesh))
      return std::nullopt;
  }
  return sharding;
}

SmallVector<std::pair<int64_t, int64_t>, 4> Layout::getOwnedIntervals(unsigned dim, int64_t rank, size_t max) const {
  SmallVector<std::pair<int64_t, int64_t>, 4> intervals;
  for (const UnevenDim &u : uneven)
    if (u.dim == dim) {
      auto [begin, end] = u.interval(u.coordinate(rank), shape[dim]);
      if (begin < end && max > 0)
        intervals.emplace_back(begin, end);
      return intervals;
    }
  auto [bottom, top] = detail::dimInterval(shape, dim);
  // A digit keeps one piece of each interval of `size` indices, or, below a stride, one of each of several.
  SmallVector<int64_t, 4> begins{0};
  int64_t size = shape[dim];
  for (const Digit &digit : digits) {
    int64_t lo = std::max(digit.lo, bottom), hi = std::min(digit.hi, top);
    if (lo >= hi)
      continue;
    int64_t value = rank / (digit.stride * (lo / digit.lo)) % (hi / lo);
    int64_t span = hi / bottom, piece = lo / bottom;
    SmallVector<int64_t, 4> next;
    for (int64_t begin : begins)
      for (int64_t i = 0; i < size / span && next.size() < max; ++i)
        next.push_back(begin + i * span + value * piece);
    begins = std::move(next);
    size = piece;
  }
  for (int64_t begin : begins)
    if (!intervals.empty() && intervals.back().second == begin)
      intervals.back().second += size;
    else
      intervals.emplace_back(begin, begin + size);
  return intervals;
}

SmallVector<int64_t> Layout::ownedIndices(int64_t rank) const {
  SmallVector<int64_t> result;
  int64_t n = numElements();
  for (int64_t i = 0; i < n; ++i) {
    bool owned = llvm::all_of(digits, [&](const Digit &digit) {
      return (i / digit.lo) % digit.size() == (rank / digit.stride) % digit.size();
    });
    for (const UnevenDim &u : uneven) {
      int64_t b = 1;
      for (unsigned e = u.dim + 1; e < shape.size(); ++e)
        b *= shape[e];
      int64_t coordinate = (i / b) % shape[u.dim];
      auto [begin, end] = u.interval(u.coordinate(rank), shape[u.dim]);
      owned &= begin <= coordinate && coordinate < end;
    }
    if (owned)
      result.push_back(i);
  }
  return result;
}

std::string Layout::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  os << " {";
  llvm::interleaveComma(digits, os,
                        [&](const Digit &digit) { os << '[' << digit.lo << ", " << digit.hi << ")@" << digit.stride; });
  os << '}';
  auto printRanks = [&](ArrayRef<RankDigit> ranks) {
    llvm::interleaveComma(ranks, os, [&](const RankDigit &rank) { os << rank.size << '@' << rank.stride; });
  };
  for (const UnevenDim &u : uneven) {
    os << " uneven " << u.dim << " {";
    printRanks(u.ranks);
    os << '}';
    if (u.window)
      os << " * " << u.window->step << " + [" << u.window->offset << ", " << u.window->offset + u.window->size << ')';
  }
  if (!partial.empty()) {
    os << " partial(" << stringifyReductionKind(partialKind) << ") {";
    printRanks(partial);
    os << '}';
  }
  return text;
}
