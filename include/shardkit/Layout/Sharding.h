//===- Sharding.h - Shardings as users write them ---------------*- C++ -*-===//
//
// The form in which users write a layout: per tensor dimension a list of axis
// references and strides, major to minor. `Layout.h` has the meaning (digits).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_SHARDING_H
#define SHARDKIT_LAYOUT_SHARDING_H

#include "shardkit/Layout/Mesh.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace mlir::spmd {

/// How partial values combine. Floats: max/min propagate NaN, maxnum/minnum
/// drop it. Integers: max/min are signed.
enum class ReductionKind : uint8_t { Sum, Prod, And, Or, Xor, Max, Min, UMax, UMin, MaxNum, MinNum };
llvm::StringRef stringifyReductionKind(ReductionKind kind);
std::optional<ReductionKind> parseReductionKind(llvm::StringRef text);
/// True if combining the same value twice changes nothing (and, or, max, ...).
bool isIdempotent(ReductionKind kind);

/// One entry of a dimension: a (sub-)axis of the mesh, or a stride (a local factor that
/// is passed over). A sub-axis of axis a (size n) has `pre` (product of the more major
/// factors of a) and `size`; the full axis is pre = 1, size = n.
struct DimEntry {
  int32_t axis = -1; // -1: stride
  int64_t pre = 1;
  int64_t size = 1;

  static DimEntry stride(int64_t size) { return {-1, 1, size}; }
  bool isStride() const { return axis < 0; }
  bool operator==(const DimEntry &o) const { return axis == o.axis && pre == o.pre && size == o.size; }
  bool operator!=(const DimEntry &o) const { return !(*this == o); }
  bool operator<(const DimEntry &o) const {
    if (axis != o.axis)
      return axis < o.axis;
    if (pre != o.pre)
      return pre < o.pre;
    return size < o.size;
  }
};

/// The entries of one dimension (or of one factor of a sharding rule), major to
/// minor. The trailing local factor is implicit.
using DimEntries = llvm::SmallVector<DimEntry, 2>;

struct DimSharding {
  DimEntries entries;
  bool open = false;
  /// User priority, 0 strongest; meaningful for user annotations only.
  int64_t priority = 0;
};

struct Sharding {
  llvm::SmallVector<DimSharding, 4> dims;
  DimEntries replicated; // axes that must not be used
  DimEntries unreduced;  // axes over which the value is partial
  ReductionKind unreducedKind = ReductionKind::Sum;
};

/// Appends all members of a sharding as numbers: equal keys are equal shardings in
/// equal form.
void appendKey(const Sharding &sharding, llvm::SmallVectorImpl<int64_t> &key);

/// Product of the device sizes (strides left out) of a list of entries.
int64_t deviceFactor(llvm::ArrayRef<DimEntry> entries);
/// Product of all sizes, strides included: the divisor of the dim when even.
int64_t totalFactor(llvm::ArrayRef<DimEntry> entries);

/// True if the axes and strides divide a dim of `size`; an unknown (negative) size is
/// assumed to be divisible.
bool divides(llvm::ArrayRef<DimEntry> entries, int64_t size);
/// True if these entries may shard a dim that they do not divide, with padding: they
/// are full axes without strides.
bool allowsPadding(llvm::ArrayRef<DimEntry> entries, const Mesh &mesh);

/// Canonical form of a dim on `mesh`: no entries of size 1, no trailing stride,
/// adjacent strides multiplied, adjacent consecutive sub-axes joined.
///   {"x":(1)2, "x":(2)2} with x=4 -> {"x"}      {2, 3, "x", 1, 5} -> {6, "x"}
DimEntries canonicalize(llvm::ArrayRef<DimEntry> entries);

/// True if the two (sub-)axes share a rank digit, or are not independent digits, so
/// that one sharding must not use both.
///   "x":(1)2 and "x":(2)2 -> no     "x" and "x":(2)2 -> yes
///   "x":(1)2 and "x":(3)2 -> yes (x = 6; 2 does not divide 3)
bool overlaps(const DimEntry &a, const DimEntry &b, const Mesh &mesh);

/// The same for any entry of one list and any of the other.
bool overlaps(llvm::ArrayRef<DimEntry> a, llvm::ArrayRef<DimEntry> b, const Mesh &mesh);

/// True if `longer` begins with the digits of `prefix`:
///   {"x"} of {"x", "y"}: yes   {"x":(1)2} of {"x"}: yes   {"y"} of {"x", "y"}: no
bool isPrefix(llvm::ArrayRef<DimEntry> prefix, llvm::ArrayRef<DimEntry> longer);

/// True if `finer` has the digits of `entries` at the same positions, and possibly
/// further ones after them or within their strides:
///   {4, "y"} of {"x", 2, "y"}, x = 2: yes   {"y"} of {"x", "y"}: no
bool isRefinement(llvm::ArrayRef<DimEntry> entries, llvm::ArrayRef<DimEntry> finer);

/// Splits the entries of a dim of size prod(factorSizes) at the boundaries between its
/// factors (major to minor). An entry that spans a boundary is split there into
/// sub-axes. If a boundary does not divide the entry, only the sub-axes that fit a
/// factor are kept: an entry [lo, hi) of the index keeps [lcm(lo, b), gcd(hi, B)) on the
/// factor [b, B), if the one divides the other. A single factor (others of size 1) takes
/// all entries, also if they do not divide it. `fits` is set to whether all was kept.
///   {"x"} x=4, factors [2, 4]  -> [{"x":(1)2}, {"x":(2)2}]
///   {2, "x"} x=2, factors [2, 4] -> [{}, {"x"}]
///   {"x"} x=8, factors [12, 64] -> [{"x":(1)4}, {}], "x":(4)2 is left out
llvm::SmallVector<DimEntries> splitDim(llvm::ArrayRef<DimEntry> entries, llvm::ArrayRef<int64_t> factorSizes,
                                       bool *fits = nullptr);

/// Inverse of splitDim: the entries of the product of these factors, with the strides
/// that keep the digits of each factor at their positions. Canonical. Entries that do
/// not divide their factor are left out unless it is the only one.
///   [{}, {"x"}], factors [2, 4] -> {2, "x"}
DimEntries joinDim(llvm::ArrayRef<DimEntries> factors, llvm::ArrayRef<int64_t> factorSizes);

/// The sharding of the local value of shape `inside` that remains of a value of `shape`
/// inside manual axes, which are the major axes of its dims.
///   [{"m", "f"}, {}] of 8x4, inside 4x4 (m = 2) -> [{"f"}, {}]
Sharding getFreeSharding(const Sharding &sharding, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> inside);

/// Legality of a sharding of a value of `shape` on `mesh`. `reason` names the class of
/// the error as in test/unit/Layout/Inputs/layouts.json (unknown_axis, axis_reused, sub_axis_size, stride_not_dividing,
/// rank_mismatch, ...); `message` is for users, lower-case, with the legal choices.
struct ShardingError {
  std::string reason, message;
  int64_t dim = -1;
};
/// `allowUneven`: a dim that the axes do not divide is legal (padding).
std::optional<ShardingError> verifySharding(const Sharding &sharding, const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                            bool allowUneven);
/// Devices of a mesh are a permutation of distinct non-negative ids, sizes are
/// positive, names distinct and not empty, costs positive.
std::optional<ShardingError> verifyMesh(const Mesh &mesh);

/// Text as in the IR, without `#spmd.sharding<@mesh, ...>`:
/// `[{"x", ?}, {2, "y":(1)2}p1, {}], replicated = {"z"}, unreduced(max) = {"w"}`.
std::string toString(const Sharding &sharding, const Mesh &mesh);
std::string toString(llvm::ArrayRef<DimEntry> entries, const Mesh &mesh);
/// On failure fills `error` and returns std::nullopt.
std::optional<Sharding> parseSharding(llvm::StringRef text, const Mesh &mesh, ShardingError &error);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_SHARDING_H
