//===- PartialTerms.h - Terms of partial results ----------------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_PARTIALTERMS_H
#define SHARDKIT_LIB_PROOF_PARTIALTERMS_H

#include "OpTerms.h"

namespace mlir::spmd::proof {

/// The ranks over which a term is partial. A neutral element is so over any.
struct Partial {
  bool isNeutral = false;
  Ranks ranks;
  /// Only the owner has the value, over these ranks.
  Ranks owned = {};
};

/// Follows partial results through a term. With A and B partial sums over x:
///
///   A + B        partial over x
///   A * c        partial over x, if c is complete
///   A + c        no partial result: each device would add c
///   out + a * b  partial over the devices over which the reduced loop is sharded
class PartialTerms {
public:
  /// `reduced` are the ranks over which the reduced loops of the op are sharded. After the first iteration the outputs
  /// are partial over `outputRanks`.
  PartialTerms(const OpTerms &op, ReductionKind kind, ArrayRef<RankDigit> reduced,
               std::optional<Ranks> outputRanks = std::nullopt)
      : op(op), kind(kind), reduced(reduced), outputRanks(outputRanks), values(op.values), terms(op.values.terms) {}

  /// std::nullopt if the term is no partial result of the reduction; `why` says so.
  std::optional<Partial> get(TermId id);
  std::string why;

private:
  std::optional<Partial> compute(TermId id);
  std::optional<Partial> computeOp(const Term &term);
  /// False if an index that `term` has is not complete.
  bool hasCompleteIndices(TermId id);
  /// A value that the other devices replace by a neutral element, or leave out of the output.
  std::optional<Partial> mask(TermId id, const OpTerms::Masked &masked);
  /// Both sides of an op that combines as the reduction does. `more` are ranks over which the devices share the work.
  std::optional<Partial> combine(const Term &term, ArrayRef<RankDigit> more);
  std::optional<Partial> join(std::optional<Partial> a, std::optional<Partial> b);

  const OpTerms &op;
  ReductionKind kind;
  ArrayRef<RankDigit> reduced;
  std::optional<Ranks> outputRanks;
  LocalValues &values;
  const TermTable &terms;
  llvm::DenseMap<TermId, std::optional<Partial>> known;
};

/// The reduction of a term that adds to output `r` what does not depend on outputs: `out + f`.
std::optional<ReductionKind> getReduction(TermId id, unsigned r, const TermTable &terms);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_PARTIALTERMS_H
