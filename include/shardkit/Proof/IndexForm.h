//===- IndexForm.h - An index in closed form --------------------*- C++ -*-===//
//
// Where an element of a local value comes from is a sum: a constant, digits of the rank
// and digits of local indices, each times a coefficient. Its size does not depend on the
// number of devices.
//
//   dim of 16, [{"x"}], x = 4       4 * x + j
//   dim of 16, [{2, "x"}], x = 2    4 * x + 8 * (j / 4) + j mod 4
//   window of 3 around each of 4    4 * x + j - 1
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOF_INDEXFORM_H
#define SHARDKIT_PROOF_INDEXFORM_H

#include "shardkit/Layout/Layout.h"

namespace mlir::spmd::proof {

/// Sizes from here on stand for such that only the run knows (Sizes.h).
constexpr int64_t kFirstUnknownSize = int64_t(1) << 40;
inline bool isUnknownSize(int64_t size) { return size >= kFirstUnknownSize; }
/// Larger than any index.
constexpr int64_t kAnyIndex = int64_t(1) << 60;

/// The size of a number that data give: any digit that divides it may be taken.
constexpr int64_t kAnyData = (int64_t(1) << 24) * 729 * 25 * 7 * 11 * 13;

/// Ranks that count the devices in different orders, as digits of one number: those of order k are from this to the
/// power of k on, and depend on those of the others (DeviceOrders.h).
constexpr int64_t kOrderStride = int64_t(1) << 20;
constexpr int64_t kMaxOrders = 3;
inline int64_t getOrder(int64_t stride) { return stride < kOrderStride ? 0 : 1 + getOrder(stride / kOrderStride); }

/// `coef * ((v / lo) mod size)` of a variable v. Digits of one variable do not overlap.
struct IndexTerm {
  enum class Kind : uint8_t {
    Rank,   ///< the rank of the device
    Loop,   ///< a loop of an op, or a local index of a dim
    Scalar, ///< a number that the program computes: no digits, size 0
    Data,   ///< a number that an iteration computes, of the term `var`; all of it has the size kAnyData
  };
  Kind kind;
  unsigned var;
  int64_t lo, size, coef;
  bool operator==(const IndexTerm &) const = default;
  int64_t hi() const { return lo * size; }
};

/// A sum of terms and a constant. Canonical: two forms are the same function exactly if
/// they are equal.
class IndexForm {
public:
  IndexForm(int64_t constant = 0) : constant(constant) {}
  static IndexForm ofRank(const RankDigit &digit);
  /// The coordinate of a device along an axis; std::nullopt if the mesh has no such axis.
  static std::optional<IndexForm> ofAxis(const Mesh &mesh, llvm::StringRef axis);
  static IndexForm ofLoop(unsigned loop, int64_t size);
  static IndexForm ofScalar(unsigned id);
  static IndexForm ofData(unsigned term);
  static IndexForm ofTerm(const IndexTerm &term);
  /// Terms without common digits.
  static IndexForm ofTerms(int64_t constant, llvm::ArrayRef<IndexTerm> terms);

  int64_t getConstant() const { return constant; }
  llvm::ArrayRef<IndexTerm> getTerms() const { return terms; }
  bool isConstant() const { return terms.empty(); }
  bool operator==(const IndexForm &) const = default;

  /// this + other * factor. std::nullopt where digits cross: thirds of 6 next to halves.
  std::optional<IndexForm> plus(const IndexForm &other, int64_t factor = 1) const;
  IndexForm times(int64_t factor) const;
  IndexForm plus(int64_t number) const;
  /// Floor division of a form that is nowhere negative, and its remainder. std::nullopt
  /// where the quotient is not a form.
  /// `isUnsigned`: data are taken as numbers without sign.
  std::optional<IndexForm> dividedBy(int64_t divisor, bool isUnsigned = false) const;
  std::optional<IndexForm> modulo(int64_t divisor, bool isUnsigned = false) const;
  /// this / divisor where that is exact in each term.
  std::optional<IndexForm> exactlyDividedBy(int64_t divisor) const;

  /// True if a term has no limits that are known here: a scalar, or data.
  bool hasScalar() const;
  bool hasData() const;
  bool hasRank() const;
  /// True if the ranks of all terms count the devices in one order.
  bool hasOneOrder() const;
  bool uses(IndexTerm::Kind kind, unsigned var) const;
  /// The rank digits of all terms.
  llvm::SmallVector<RankDigit, 2> getRanks() const;
  /// Smallest and largest value, +-kAnyIndex where that is not known.
  std::pair<int64_t, int64_t> getRange() const;
  /// True if all values are known to be in [0, size). Of a size that only the run knows, these are its own indices.
  bool isInside(int64_t size) const;
  /// The value at a rank and loop indices. The form has no scalars.
  int64_t evaluate(int64_t rank, llvm::ArrayRef<int64_t> loops) const;
  /// True if each value from the constant on is taken once, by one choice of digits, which devices of all choices have.
  bool isBijective() const;
  /// True if no other loop is used, and no two indices of this one have the same digits.
  bool tellsApart(unsigned loop, int64_t extent) const;

  /// Digits [lo, lo * size) of a variable become digits of another, from `newLo` on.
  struct Renamed {
    IndexTerm::Kind kind;
    unsigned var;
    int64_t lo, size;
    IndexTerm::Kind newKind;
    unsigned newVar;
    int64_t newLo;
  };
  /// Terms that no entry covers stay. std::nullopt where digits cross.
  std::optional<IndexForm> rename(llvm::ArrayRef<Renamed> map) const;
  /// The loop as a whole replaced by a form: std::nullopt if only some digits of it occur.
  std::optional<IndexForm> substitute(unsigned loop, int64_t size, const IndexForm &by) const;
  /// Renames loop variables one to one: `to[v]` for v.
  IndexForm renameLoops(llvm::ArrayRef<unsigned> to) const;

  void appendKey(llvm::SmallVectorImpl<int64_t> &key) const;
  std::string toString(const Mesh *mesh = nullptr) const;

private:
  bool canonicalize();
  int64_t constant;
  llvm::SmallVector<IndexTerm, 3> terms;
};

/// The global index of each dim of a value in `layout`, by rank and by the local index of
/// the dim, which is loop d.
llvm::SmallVector<IndexForm, 4> getIndexForms(const Layout &layout);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_INDEXFORM_H
