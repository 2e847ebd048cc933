//===- Compare.h - Sharded against unsharded results ------------*- C++ -*-===//

#ifndef SHARDKIT_RT_EXECUTION_COMPARE_H
#define SHARDKIT_RT_EXECUTION_COMPARE_H

#include "shardkit/rt/Manifest/Manifest.h"

#include <optional>

namespace shardkit::rt {

/// |a - b| <= rtol * max|b| + atol over all elements of a result; integers must be equal.
struct Tolerance {
  double rtol = 0, atol = 0;
  bool exact = false; ///< Equal bits (any NaN equals any NaN).
  /// rtol 1e-12 (f64), 1e-5 (f32), 2e-3 (f16), 2e-2 (bf16); atol a thousandth.
  static Tolerance forDType(DType dtype);
  /// That of its dtype, or rtol 8 times `rounding` if that is larger.
  static Tolerance forResult(const ValueInfo &value);
  /// rtol * max|b| + atol: the largest error that is accepted.
  double limit(double maxReference) const { return rtol * maxReference + atol; }
};

struct Difference {
  double maxAbs = 0;        ///< Over the comparable elements.
  double maxReference = 0;  ///< Largest finite |b|.
  int64_t unequal = 0;      ///< Elements whose bits differ (NaNs are equal).
  int64_t incomparable = 0; ///< NaN or infinity against something else.
  int64_t elements = 0;     ///< Components of complex numbers count.

  double maxRel() const { return maxReference > 0 ? maxAbs / maxReference : maxAbs; }
  void merge(const Difference &other);
  /// maxAbs / (rtol * max|b| + atol), 1 at the limit; 0 if no element differs or equal bits are required.
  double fractionOf(DType dtype, const Tolerance &tolerance) const;
  bool within(DType dtype, const Tolerance &tolerance) const;
};

/// Compares the shard of `value` on `rank` with the full reference. `largest`, if it is known, is the largest magnitude
/// that counts; else it is that of the shard.
Difference compareLocal(const ValueInfo &value, int64_t rank, const void *local, const void *reference,
                        std::optional<double> largest = std::nullopt);

/// The elements of a shard that are not within a limit of the full reference. Components of complex numbers count.
struct WrongElements {
  int64_t count = 0;
  Shape first, firstLocal;     ///< Indices of the first one in the full value, and in the shard.
  double mine = 0, theirs = 0; ///< Its values.
  Shape begin, end;            ///< All of them are in [begin, end) of each dim.
};
/// Those that differ by more than `limit`, or are not finite in one alone; with a negative limit those with other bits.
WrongElements findWrong(const ValueInfo &value, int64_t rank, const void *local, const void *reference, double limit);

/// The largest magnitude of finite elements.
double largestMagnitude(DType dtype, const void *data, int64_t elements);

/// MD5 of the shard of `value` on `rank`, without padding, as 32 hexadecimal digits.
std::string digestLocal(const ValueInfo &value, int64_t rank, const void *local);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_EXECUTION_COMPARE_H
