//===- Sharding.h - Shardings as users write them ---------------*- C++ -*-===//
//
// The spelled form of a layout: per tensor dimension a list of axis references
// and gap factors, major to minor. `Layout.h` holds the meaning (digits).
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

/// One entry of a dimension: a (sub-)axis of the mesh, or a gap factor (a local
/// factor passed over). A sub-axis of axis a (size n) has `pre` (product of the
/// more major parts of a) and `size`; the whole axis is pre = 1, size = n.
struct DimEntry {
  int32_t axis = -1; // -1: gap
  int64_t pre = 1;
  int64_t size = 1;

  static DimEntry gap(int64_t size) { return {-1, 1, size}; }
  bool isGap() const { return axis < 0; }
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

/// All that a sharding says, as numbers; equal keys are equal shardings, spelling
/// included.
void appendKey(const Sharding &sharding, llvm::SmallVectorImpl<int64_t> &key);

/// Product of the device sizes (gaps left out) of a list of entries.
int64_t deviceFactor(llvm::ArrayRef<DimEntry> entries);
/// Product of all sizes, gaps included: what must divide the dim when even.
int64_t totalFactor(llvm::ArrayRef<DimEntry> entries);

/// True if the axes and gaps divide a dim of `size`; a size that is not known
/// (negative) is taken to be one that they divide.
bool divides(llvm::ArrayRef<DimEntry> entries, int64_t size);
/// True if a dim may be cut by these entries although they do not divide it:
/// whole axes and no gaps.
bool mayLeaveRest(llvm::ArrayRef<DimEntry> entries, const Mesh &mesh);

/// Canonical form of a dim on `mesh`: no entries of size 1, no trailing gap,
/// neighbouring gaps multiplied, neighbouring consecutive sub-axes joined.
///   {"x":(1)2, "x":(2)2} with x=4 -> {"x"}      {2, 3, "x", 1, 5} -> {6, "x"}
DimEntries canonicalize(llvm::ArrayRef<DimEntry> entries);

/// True if the two (sub-)axes share a rank digit, or cannot be told apart as
/// digits, so that one sharding must not use both.
///   "x":(1)2 and "x":(2)2 -> no     "x" and "x":(2)2 -> yes
///   "x":(1)2 and "x":(3)2 -> yes (x = 6; 2 does not divide 3)
bool overlaps(const DimEntry &a, const DimEntry &b, const Mesh &mesh);

/// The same for any entry of one list and any of the other.
bool overlaps(llvm::ArrayRef<DimEntry> a, llvm::ArrayRef<DimEntry> b, const Mesh &mesh);

/// True if `longer` begins with the digits of `prefix`:
///   {"x"} of {"x", "y"}: yes   {"x":(1)2} of {"x"}: yes   {"y"} of {"x", "y"}: no
bool isPrefix(llvm::ArrayRef<DimEntry> prefix, llvm::ArrayRef<DimEntry> longer);

/// True if `finer` has the digits of `entries` where they stand, and perhaps
/// further ones behind them or in their gaps:
///   {4, "y"} of {"x", 2, "y"}, x = 2: yes   {"y"} of {"x", "y"}: no
bool isRefinement(llvm::ArrayRef<DimEntry> entries, llvm::ArrayRef<DimEntry> finer);

/// Splits the entries of a dim of size prod(factorSizes) at the borders between
/// its factors (major to minor). An entry that spans a border is cut there
/// (sub-axes). Of an entry that a border does not divide, what fits a factor is
/// kept and the rest left out: an entry [lo, hi) of the index keeps the part
/// [lcm(lo, b), gcd(hi, B)) on the factor [b, B), where the one divides the other.
/// A single factor (others of size 1) takes all entries, also where they do not
/// divide it. `fits` says whether nothing was left out.
///   {"x"} x=4, factors [2, 4]  -> [{"x":(1)2}, {"x":(2)2}]
///   {2, "x"} x=2, factors [2, 4] -> [{}, {"x"}]
///   {"x"} x=8, factors [12, 64] -> [{"x":(1)4}, {}], "x":(4)2 is left out
llvm::SmallVector<DimEntries> splitDim(llvm::ArrayRef<DimEntry> entries, llvm::ArrayRef<int64_t> factorSizes,
                                       bool *fits = nullptr);

/// Inverse of splitDim: the entries of the dim made of these factors, with the
/// gaps that keep each factor's digits in place. Canonical. The entries of a
/// factor that they do not divide are left out unless it is the whole dim.
///   [{}, {"x"}], factors [2, 4] -> {2, "x"}
DimEntries joinDim(llvm::ArrayRef<DimEntries> factors, llvm::ArrayRef<int64_t> factorSizes);

/// The sharding of what remains of a value of `shape` when the major parts of its
/// dims have been cut off (by manual axes) down to `inside`.
///   [{"m", "f"}, {}] of 8x4, inside 4x4 (m = 2) -> [{"f"}, {}]
Sharding getFreeSharding(const Sharding &sharding, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> inside);

/// Legality of a sharding of a value of `shape` on `mesh`. `reason` names the
/// class as test/unit/Layout/Inputs/layouts.json does (unknown_axis, axis_reused, sub_axis_size,
/// gap_not_dividing, rank_mismatch, ...), `message` is for users, lower-case,
/// with the legal choices.
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
/// On failure fills `error` and returns nothing.
std::optional<Sharding> parseSharding(llvm::StringRef text, const Mesh &mesh, ShardingError &error);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_SHARDING_H
