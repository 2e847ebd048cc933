//===- Relation.h - What a local value holds --------------------*- C++ -*-===//
//
// A fact states which elements of a global value a local one holds:
//
//   for each rank r and local index j: local[r][j] = global[forms(r, j)]
//
// where the index is inside of the global value. Elsewhere the local value has padding.
// Over partial ranks, not the value of one device but the combination of the values of
// all of them is the global value. Collectives, slices and reshapes turn facts into
// facts by arithmetic on the forms; none depends on the number of devices.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOF_RELATION_H
#define SHARDKIT_PROOF_RELATION_H

#include "shardkit/Proof/IndexForm.h"
#include "mlir/IR/Attributes.h"

namespace mlir::spmd::proof {

using ClassId = unsigned;

struct DimFact {
  int64_t size = 0; ///< The size of the global dim.
  /// Over ranks and loop d, the local index of this dim. std::nullopt: the global value is the same at all
  /// indices of the dim, so that any will do.
  std::optional<IndexForm> form;
  /// The content of lanes outside of the dim; null if that is not known.
  Attribute padding;
  bool operator==(const DimFact &) const = default;
  /// True if some lane of some device is outside of the dim.
  bool hasPadding() const { return form && !form->isInside(size); }
};

struct Fact {
  ClassId value;
  llvm::SmallVector<DimFact, 4> dims;
  llvm::SmallVector<RankDigit, 2> partial;
  ReductionKind kind = ReductionKind::Sum;
  bool operator==(const Fact &) const = default;

  /// True if every device holds all of the value, in its order.
  bool isFull() const;
  /// True if some lanes are outside of the value, and their content is not known.
  bool hasUnknownPadding() const;
  std::string toString(const Mesh *mesh) const;
};

/// The fact of a value in a layout.
Fact getFact(ClassId value, const Layout &layout);
/// The fact of a value that every device holds all of, in its order.
Fact getFullFact(ClassId value, llvm::ArrayRef<int64_t> shape);

/// Text of rank digits, as axes where they are axes.
std::string toString(llvm::ArrayRef<RankDigit> ranks, const Mesh *mesh);
/// `ranks` without `removed`; std::nullopt if these are not among them.
std::optional<llvm::SmallVector<RankDigit, 2>> without(llvm::ArrayRef<RankDigit> ranks,
                                                       llvm::ArrayRef<RankDigit> removed);
bool overlap(llvm::ArrayRef<RankDigit> a, llvm::ArrayRef<RankDigit> b);
/// Union of digits that do not overlap, sorted and joined.
llvm::SmallVector<RankDigit, 2> unite(llvm::ArrayRef<RankDigit> a, llvm::ArrayRef<RankDigit> b);

/// A collective, which turns a fact into another. `from` and `to` are its layouts, over a value of its own. Zero is
/// what it writes outside of the dims. `why` states what was found and what was expected. `isModelled` is false if the
/// program may be right all the same.
struct Move {
  Layout from, to;
  bool isLocal = false; ///< no data move: the device slices what it has
  Attribute zero;
  /// Run-time offsets of windows: terms that are added per dim.
  llvm::SmallVector<std::optional<IndexForm>, 4> added;
};
std::optional<Fact> applyMove(const Fact &fact, const Move &move, const Mesh *mesh, std::string &why, bool &isModelled);

/// A row-major reshape of a local value: the fact of its result, which holds elements of `value` of `globalShape`.
std::optional<Fact> applyReshape(const Fact &fact, llvm::ArrayRef<int64_t> localShape,
                                 llvm::ArrayRef<int64_t> localResult, ClassId value,
                                 llvm::ArrayRef<int64_t> globalResult);

/// True if both hold the same elements in all lanes that are inside. If not, `rank` and `index` are a lane that differs
/// (the first one of those that single digits lead to).
bool haveSameElements(const Fact &found, const Fact &expected, int64_t numDevices, llvm::ArrayRef<int64_t> localShape,
                      int64_t &rank, llvm::SmallVectorImpl<int64_t> &index);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_RELATION_H
