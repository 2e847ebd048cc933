//===- LocalValues.h - What is known of local values ------------*- C++ -*-===//
// Internal to the proof: the facts of the local program, which the ops add to in program order.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_LOCALVALUES_H
#define SHARDKIT_LIB_PROOF_LOCALVALUES_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Proof/GlobalProgram.h"
#include "shardkit/Proof/Prover.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::spmd::proof {

/// Why a value has no fact: the op that made the gap, which later values without facts lead back to.
struct Gap {
  Operation *op = nullptr;
  Outcome outcome = Outcome::Undecided;
  std::string why, kind;
};

/// What is known of each value of the local program. A tensor has facts, or a gap. A scalar has a term, which `reader`
/// gives.
class LocalValues {
public:
  LocalValues(GlobalProgram &global, TermTable &terms, const MeshCache &meshes, Proof &proof);
  LocalValues(const LocalValues &) = delete;

  /// The facts of a tensor. Valid until a fact of any value is added.
  ArrayRef<Fact> getFacts(Value value) const;
  /// True if some value holds elements of a value of the unsharded program.
  bool isHeld(ClassId id) const;
  /// Adds a fact, and those of the slices and paddings of the global value that the local one is a part of, too.
  void addFact(Value value, Fact fact);
  /// Adds that all elements are equal, or undefined: such a class has no layout.
  void addUniformFact(Value value, ClassId id);
  /// `to` is `from` under another name.
  void copy(Value from, Value to);

  /// Null if the value has facts, or was not visited.
  const Gap *getGap(Value value) const;
  /// Says of those results of `op` that have no facts why.
  void setGap(Operation *op, Outcome outcome, const Twine &why, StringRef kind);
  void setGap(Operation *op, const Gap &gap);
  /// The gap that a scalar is read from: of a tensor, or of a value in a loop. Null if there is none.
  const Gap *getGapBehind(Operation *op) const;
  /// If `operand` has no fact, the results of `op` have its gap, and true is returned.
  bool passGap(Operation &op, Value operand);
  /// Forgets what is known of the values of a region.
  void clear(Region &region);
  /// Forgets what is known of the results of an op, and of the values of its regions.
  void forget(Operation *op);

  /// Readers of the scalars, for ops that refer to them.
  ScalarReader getScalars();
  /// Counts a use of a rule.
  void count(StringRef rule) { ++proof.rules[rule.str()]; }

  /// The forms of sharded dims of `size` of which a device has `chunk`, over loop 0: layouts that values may have.
  ArrayRef<IndexForm> getSeenForms(int64_t size, int64_t chunk) const;
  /// The ranks over which values are partial sums.
  ArrayRef<SmallVector<RankDigit, 2>> getSeenPartials() const { return seenPartials; }
  void addSeenForm(const DimFact &dim, unsigned d, int64_t chunk);

  /// Assertions that the unsharded program does not have, in the order in which they were visited.
  llvm::SetVector<Operation *> ownAssertions;
  /// Set where a layout was chosen among several that are possible: what does not fit it may be right.
  bool hasGuess = false;
  GlobalProgram &global;
  TermTable &terms;
  const MeshCache &meshes;
  BodyReader reader;
  /// The mesh that all meshes of the function are views of; null if it names none.
  const Mesh *mesh = nullptr;

private:
  void forget(Value value);
  /// Adds that a value is one inside of a manual computation, or a result of one. (ManualValues.cpp)
  void addManualFacts(Value value, const Fact &fact);
  /// Adds that a value is one of the unsharded program that ops compute which are divided in another way.
  void addEqualFacts(Value value, const Fact &fact);
  /// The fact of the value that a slice is of.
  std::optional<Fact> getSourceFact(const Fact &fact) const;
  TermId getOuterScalar(Value value);
  std::optional<IndexForm> getCoordinate(Operation *op);
  std::optional<TermId> getLookup(Value tensor, ArrayRef<TermId> indices);

  Proof &proof;
  std::map<std::pair<int64_t, int64_t>, SmallVector<IndexForm, 2>> seenForms;
  SmallVector<SmallVector<RankDigit, 2>, 4> seenPartials;
  llvm::DenseMap<Value, SmallVector<Fact, 2>> facts;
  llvm::DenseMap<Value, Gap> gaps;
};

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_LOCALVALUES_H
