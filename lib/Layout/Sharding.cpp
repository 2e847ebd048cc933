//===- Sharding.cpp - The algebra of dimension entries --------------------===//
//
// An entry covers an interval of the dimension: the entries of a dim of size D
// split [1, D) from the top, {2, "x", "y"} with x = 2, y = 3 of D = 24 being
// stride [12, 24), x [6, 12), y [2, 6), local [1, 2).
//
//===----------------------------------------------------------------------===//

#include "shardkit/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

static constexpr struct {
  ReductionKind kind;
  const char *name;
  bool idempotent;
} kindTable[] = {
    {ReductionKind::Sum, "sum", false},      {ReductionKind::Prod, "prod", false},
    {ReductionKind::And, "and", true},       {ReductionKind::Or, "or", true},
    {ReductionKind::Xor, "xor", false},      {ReductionKind::Max, "max", true},
    {ReductionKind::Min, "min", true},       {ReductionKind::UMax, "umax", true},
    {ReductionKind::UMin, "umin", true},     {ReductionKind::MaxNum, "maxnum", true},
    {ReductionKind::MinNum, "minnum", true},
};

llvm::StringRef mlir::spmd::stringifyReductionKind(ReductionKind kind) {
  return kindTable[static_cast<unsigned>(kind)].name;
}

std::optional<ReductionKind> mlir::spmd::parseReductionKind(llvm::StringRef text) {
  for (const auto &row : kindTable)
    if (text == row.name)
      return row.kind;
  return std::nullopt;
}

bool mlir::spmd::isIdempotent(ReductionKind kind) { return kindTable[static_cast<unsigned>(kind)].idempotent; }

void mlir::spmd::appendKey(const Sharding &sharding, llvm::SmallVectorImpl<int64_t> &key) {
  auto append = [&](ArrayRef<DimEntry> entries, int64_t flags) {
    key.append({int64_t(entries.size()), flags});
    for (const DimEntry &entry : entries)
      key.append({entry.axis, entry.pre, entry.size});
  };
  for (const DimSharding &dim : sharding.dims)
    append(dim.entries, dim.priority * 2 + dim.open);
  append(sharding.replicated, 0);
  append(sharding.unreduced, int64_t(sharding.unreducedKind));
}

int64_t mlir::spmd::deviceFactor(ArrayRef<DimEntry> entries) {
  int64_t n = 1;
  for (const DimEntry &entry : entries)
    if (!entry.isStride())
      n *= entry.size;
  return n;
}

int64_t mlir::spmd::totalFactor(ArrayRef<DimEntry> entries) {
  int64_t n = 1;
  for (const DimEntry &entry : entries)
    n *= entry.size;
  return n;
}

/// Appends an entry to a canonical list (all but the trailing stride).
static void append(DimEntries &list, const DimEntry &entry) {
  if (entry.size == 1)
    return;
  if (!list.empty() && list.back().axis == entry.axis) {
    DimEntry &last = list.back();
    if (entry.isStride() || last.pre * last.size == entry.pre) {
      last.size *= entry.size;
      return;
    }
  }
  list.push_back(entry);
}

//   canonicalize, x = 4, y = 2 | result
//   {"x":(1)2, "x":(2)2}       | {"x"}            consecutive: joined
//   {"x":(2)2, "x":(1)2}       | as it is         wrong order: not the axis
//   {"x":(1)2, 2, "x":(2)2}    | as it is         a stride between
//   {"x":(1)2, 1, "x":(2)2}    | {"x"}            a stride of 1 is dropped
//   {2, 3, "x", 1, 5}          | {6, "x"}         strides multiplied, trailing dropped
//   {"y", "x"}                 | as it is         two axes are never joined
//   {3}                        | {}
DimEntries mlir::spmd::canonicalize(ArrayRef<DimEntry> entries) {
  DimEntries result;
  for (const DimEntry &entry : entries)
    append(result, entry);
  if (!result.empty() && result.back().isStride())
    result.pop_back();
  return result;
}

//   overlaps, x = 8, z = 6    | result
//   "x",      "y"             | no     other axis
//   "x",      "x"             | yes
//   "x",      "x":(2)2        | yes    a sub-axis of it
//   "x":(1)2, "x":(2)2        | no     neighbors
//   "x":(1)2, "x":(4)2        | no     apart
//   "x":(1)4, "x":(2)4        | yes    share one digit
//   "z":(1)2, "z":(3)2        | yes    2 does not divide 3: no common digits
//   "x",      2               | no     a stride is not an axis
//   "u",      "u", u = 1      | no     nothing to share
bool mlir::spmd::overlaps(const DimEntry &a, const DimEntry &b, const Mesh &mesh) {
  if (a.isStride() || b.isStride() || a.axis != b.axis)
    return false;
  if (a.size == 1 || b.size == 1)
    return false;
  const DimEntry &major = a.pre <= b.pre ? a : b;
  const DimEntry &minor = a.pre <= b.pre ? b : a;
  int64_t end = major.pre * major.size;
  return end > minor.pre || minor.pre % end != 0;
}

bool mlir::spmd::overlaps(ArrayRef<DimEntry> a, ArrayRef<DimEntry> b, const Mesh &mesh) {
  return llvm::any_of(
      a, [&](const DimEntry &x) { return llvm::any_of(b, [&](const DimEntry &y) { return overlaps(x, y, mesh); }); });
}

bool mlir::spmd::isPrefix(ArrayRef<DimEntry> prefix, ArrayRef<DimEntry> longer) {
  if (prefix.size() > longer.size())
    return false;
  for (auto [i, entry] : llvm::enumerate(prefix)) {
    if (entry == longer[i])
      continue;
    // The last entry may continue as a larger sub-axis of the same axis.
    return i + 1 == prefix.size() && !entry.isStride() && entry.axis == longer[i].axis && entry.pre == longer[i].pre &&
           longer[i].size % entry.size == 0;
  }
  return true;
}

//   isRefinement                          | result
//   {4, "y"}, {"x", 2, "y"}   x = 2       | yes    the stride is used partially
//   {4, "y"}, {"x", "y"}      x = 4       | yes
//   {4, "y"}, {"x", "y"}      x = 2       | no     "y" is at another position
//   {"x":(1)2, 2, "y"}, {"x", "y"}  x = 4 | yes    "x" continues in the stride
//   {"x"}, {"x":(1)2}                     | no     coarser
//   {}, {"x"}                             | yes
bool mlir::spmd::isRefinement(ArrayRef<DimEntry> entries, ArrayRef<DimEntry> finer) {
  int64_t at = 1; // product of the entries before
  for (const DimEntry &entry : entries) {
    int64_t end = at * entry.size;
    if (!entry.isStride()) {
      int64_t start = 1;
      bool found = false;
      for (const DimEntry &other : finer) {
        int64_t stop = start * other.size;
        found |= other.axis == entry.axis && start <= at && stop >= end && at % start == 0 && stop % end == 0 &&
                 entry.pre == other.pre * (at / start);
        start = stop;
      }
      if (!found)
        return false;
    }
    at = end;
  }
  return true;
}

//   splitDim                               | result
//   {"x"} x=4,        [2, 4]               | [{"x":(1)2}, {"x":(2)2}]
//   {2, "x"} x=2,     [2, 4]               | [{}, {"x"}]
//   {"x", 2, "y"} 2,2 [2, 2, 4]            | [{"x"}, {}, {"y"}]
//   {"x", "y"} 2,2,   [8, 3]               | [{"x", "y"}, {}]
//   {"x"} x=6,        [4, 3]               | [{"x":(1)2}, {}]  "x":(2)3 straddles
//   {"x"} x=3,        [2, 6]               | [{}, {}]          3 does not divide 2
//   {2, "x"} x=2,     [3, 4]               | [{}, {}]          the digit straddles
//   {"x"} x=4,        [5]                  | [{"x"}]           one factor: as it is
//   {"x"} x=4,        [1, 5, 1]            | [{}, {"x"}, {}]   the same
SmallVector<DimEntries> mlir::spmd::splitDim(ArrayRef<DimEntry> entries, ArrayRef<int64_t> factorSizes, bool *fits) {
  SmallVector<DimEntries> result(factorSizes.size());
  DimEntries canonical = canonicalize(entries);
  auto setFits = [&](bool value) {
    if (fits)
      *fits = value;
  };
  setFits(true);
  if (canonical.empty())
    return result;

  // A single factor takes all entries, divisible or not, for any size (also unknown or
  // zero).
  unsigned big = 0, numBig = 0;
  for (unsigned f = 0; f < factorSizes.size(); ++f)
    if (factorSizes[f] != 1)
      big = f, ++numBig;
  if (numBig <= 1) {
    setFits(!factorSizes.empty());
    if (!factorSizes.empty())
      result[big] = std::move(canonical);
    return result;
  }
  int64_t size = 1;
  for (int64_t factor : factorSizes) {
    if (factor <= 0) {
      setFits(false);
      return result;
    }
    size *= factor;
  }
  if (size % totalFactor(canonical) != 0) {
    setFits(false);
    return result;
  }

  int64_t top = size; // end of a factor
  for (auto [factor, list] : llvm::zip(factorSizes, result)) {
    int64_t bottom = top / factor, free = top, hi = size;
    for (const DimEntry &entry : canonical) {
      int64_t lo = hi / entry.size;
      if (!entry.isStride() && lo < top && hi > bottom) {
        int64_t up = bottom / std::gcd(lo, bottom), end = std::gcd(hi, top);
        int64_t start = up <= size / lo ? lo * up : size; // else beyond the dim
        if (start < end && end % start == 0) {
          append(list, DimEntry::stride(free / end));
          append(list, {entry.axis, entry.pre * (hi / end), end / start});
          free = start;
        }
      }
      hi = lo;
    }
    top = bottom;
  }
  int64_t kept = 1;
  for (const DimEntries &list : result)
    kept *= deviceFactor(list);
  setFits(kept == deviceFactor(canonical));
  return result;
}

//   joinDim                                     | result
//   [{}, {"x"}],  [2, 4]                        | {2, "x"}
//   [{"x"}, {}],  [2, 4]                        | {"x"}
//   [{"x":(1)2}, {"x":(2)2}], [2, 4]            | {"x"}
//   [{"x"}, {"y"}] x=2, [4, 6]                  | {"x", 2, "y"}
//   [{}, {"x"}] x=4, [1, 5]                     | {"x"}      one factor: as it is
//   [{"x"}, {}] x=4, [5, 2]                     | {}         uneven: not expressible
DimEntries mlir::spmd::joinDim(ArrayRef<DimEntries> factors, ArrayRef<int64_t> factorSizes) {
  unsigned big = 0, numBig = 0;
  for (unsigned f = 0; f < factorSizes.size(); ++f)
    if (factorSizes[f] != 1)
      big = f, ++numBig;
  if (numBig == 0) {
    // A dim of size 1: an (uneven) axis of any of the factors.
    for (const DimEntries &entries : factors)
      if (DimEntries result = canonicalize(entries); !result.empty())
        return result;
    return {};
  }
  if (numBig == 1)
    return canonicalize(factors[big]);

  DimEntries result;
  for (unsigned f = 0; f < factors.size(); ++f) {
    int64_t size = factorSizes[f], total = totalFactor(factors[f]);
    if (size < 0 || total == 0 || size % total != 0) {
      append(result, DimEntry::stride(size));
      continue;
    }
    for (const DimEntry &entry : factors[f])
      append(result, entry);
    append(result, DimEntry::stride(size / total));
  }
  if (!result.empty() && result.back().isStride())
    result.pop_back();
  return result;
}

//   x = 4, y = 2, size       | divides   allowsPadding
//   {"x"},         8         | yes       yes
//   {"x"},         6         | no        yes
//   {"x", "y"},    1         | no        yes    smaller than the axes
//   {"x":(1)2},    5         | no        no     a sub-axis
//   {"x":(1)2, "x":(2)2}, 5  | no        yes    the full axis, as sub-axes
//   {2, "x"},      6         | no        no     a stride
//   {},            5         | yes       yes
// On <"d"=6, "e"=5>, which <"x"=2, "y"=3, "z"=5> and <"u"=3, "v"=10> have in common:
//   {"d":(1)2},      5       | no        yes    "x"
//   {"d":(3)2, "e"}, 7       | no        yes    "v"
//   {"d":(3)2},      5       | no        no     a sub-axis of "v"
bool mlir::spmd::divides(ArrayRef<DimEntry> entries, int64_t size) {
  return size < 0 || size % totalFactor(entries) == 0;
}

bool mlir::spmd::allowsPadding(ArrayRef<DimEntry> entries, const Mesh &mesh) {
  SmallVector<RankDigit> runs;
  for (const DimEntry &entry : entries) {
    if (entry.size == 1)
      continue;
    if (entry.isStride())
      return false;
    runs.push_back(getRankDigit(entry, mesh));
  }
  joinAdjacent(runs);
  auto areFull = [&](ArrayRef<int64_t> boundaries) {
    return llvm::all_of(runs, [&](const RankDigit &run) {
      return llvm::is_contained(boundaries, run.stride) && llvm::is_contained(boundaries, run.stride * run.size);
    });
  };
  SmallVector<int64_t> boundaries{mesh.numDevices()};
  for (unsigned a = 0; a < mesh.axes.size(); ++a)
    boundaries.push_back(mesh.axisStride(a));
  return areFull(boundaries) || llvm::any_of(mesh.viewBoundaries, areFull);
}

static ShardingError makeError(const char *reason, std::string message, int64_t dim) {
  return ShardingError{reason, std::move(message), dim};
}

/// Checks a single entry.
static std::optional<ShardingError> verifyEntry(const DimEntry &entry, const Mesh &mesh, bool stridesAllowed,
                                                int64_t dim) {
  if (entry.isStride()) {
    if (!stridesAllowed)
      return makeError("stride_not_allowed",
                       "stride " + std::to_string(entry.size) +
                           " is among the replicated or unreduced axes, "
                           "expected axes only",
                       dim);
    if (entry.size < 1)
      return makeError("zero_stride", "stride is " + std::to_string(entry.size) + ", expected a positive integer", dim);
    return std::nullopt;
  }
  if (static_cast<size_t>(entry.axis) >= mesh.axes.size())
    return makeError("unknown_axis",
                     "axis number " + std::to_string(entry.axis) +
                         " is not an axis of the mesh, available axes: " + mesh.axesToString(),
                     dim);
  int64_t size = mesh.axes[entry.axis].size, major;
  if (entry.pre < 1 || entry.size < 1 || __builtin_mul_overflow(entry.pre, entry.size, &major) || size % major != 0)
    return makeError("sub_axis_size",
                     "sub-axis " + toString(entry, mesh) +
                         " does not divide its axis, expected pre-size * size "
                         "to divide " +
                         std::to_string(size),
                     dim);
  return std::nullopt;
}

Sharding mlir::spmd::getFreeSharding(const Sharding &sharding, ArrayRef<int64_t> shape, ArrayRef<int64_t> inside) {
  Sharding free = sharding;
  for (auto [dim, size, local] : llvm::zip(free.dims, shape, inside)) {
    if (size == local || local <= 0)
      continue;
    dim.entries = splitDim(dim.entries, {size / local, local})[1];
  }
  return free;
}

std::optional<ShardingError> mlir::spmd::verifySharding(const Sharding &sharding, const Mesh &mesh,
                                                        ArrayRef<int64_t> shape, bool allowUneven) {
  if (sharding.dims.size() != shape.size())
    return makeError("rank_mismatch",
                     "sharding has " + std::to_string(sharding.dims.size()) + " dimensions, expected " +
                         std::to_string(shape.size()),
                     -1);

  // Check each entry alone, then against those before it.
  SmallVector<DimEntry, 8> used;
  auto verifyList = [&](ArrayRef<DimEntry> entries, bool stridesAllowed, int64_t dim) -> std::optional<ShardingError> {
    for (const DimEntry &entry : entries) {
      if (auto error = verifyEntry(entry, mesh, stridesAllowed, dim))
        return error;
      if (!entry.isStride())
        used.push_back(entry);
    }
    return std::nullopt;
  };
  for (auto [d, dim] : llvm::enumerate(sharding.dims))
    if (auto error = verifyList(dim.entries, true, d))
      return error;
  if (auto error = verifyList(sharding.replicated, false, -1))
    return error;
  if (auto error = verifyList(sharding.unreduced, false, -1))
    return error;
  for (unsigned i = 0; i < used.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (overlaps(used[i], used[j], mesh)) {
        int64_t dim = -1; // dim of the second use, for the location of the message
        unsigned first = 0;
        for (auto [d, dimSharding] : llvm::enumerate(sharding.dims)) {
          for (const DimEntry &entry : dimSharding.entries)
            if (!entry.isStride() && first++ == i)
              dim = d;
        }
        return makeError("axis_reused",
                         toString(used[i], mesh) + " overlaps " + toString(used[j], mesh) +
                             ", expected each (sub-)axis at most once",
                         dim);
      }

  for (auto [d, dim] : llvm::enumerate(sharding.dims)) {
    int64_t total = 1;
    bool overflow = false;
    for (const DimEntry &entry : dim.entries)
      overflow |= __builtin_mul_overflow(total, entry.size, &total);
    if (overflow)
      return makeError("stride_not_dividing",
                       "strides and axes of dimension " + std::to_string(d) +
                           " overflow, expected a product that divides " + std::to_string(shape[d]),
                       d);
    if (shape[d] <= 0) // unknown or empty: always divisible
      continue;
    DimEntries entries = canonicalize(dim.entries);
    if (shape[d] % totalFactor(entries) == 0)
      continue;
    bool hasStride = false, hasSubAxis = false;
    for (const DimEntry &entry : entries) {
      hasStride |= entry.isStride();
      hasSubAxis |= !entry.isStride() && entry.size != mesh.axes[entry.axis].size;
    }
    if (!hasStride && !hasSubAxis && allowUneven)
      continue;
    const char *reason = hasStride ? "stride_not_dividing" : hasSubAxis ? "sub_axis_not_dividing" : "axis_not_dividing";
    return makeError(reason,
                     "dimension " + std::to_string(d) + " of size " + std::to_string(shape[d]) + " is sharded as {" +
                         toString(entries, mesh) + "}, expected a product that divides it" +
                         (allowUneven ? " (padding is allowed for full axes only)" : ""),
                     d);
  }
  return std::nullopt;
}
