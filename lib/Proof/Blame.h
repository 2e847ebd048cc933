//===- Blame.h - Which op is the first to be wrong --------------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_BLAME_H
#define SHARDKIT_LIB_PROOF_BLAME_H

#include "LocalValues.h"

namespace mlir::spmd::proof {

/// An op has operands that are shards of values of the unsharded program, and no op of it has these. If ops of it have
/// all but one of them, the op that gives this one, or the one that led to it, is returned; null otherwise.
Operation *findFirstWrong(Operation *op, const LocalValues &values);
/// As above, of a value that should be a shard of `expected`.
Operation *findFirstWrong(Value value, ClassId expected, const LocalValues &values);
/// The op of the function around `op` that gives nothing which the unsharded program has, and is most like the first op
/// of that program whose value is missing; null if there is none.
Operation *findMissing(Operation *op, const LocalValues &values);
/// The last slice, or collective if these may be meant, that gave `operands`, or a value that they were computed from,
/// their layout; null if there is none.
Operation *findLayoutChange(ValueRange operands, bool withCollectives, const LocalValues &values);
/// The op that gives an operand of `op` whose padding is not what it masks; null if there is none.
Operation *findMask(Operation *op, const LocalValues &values);
/// The op that masks an operand of `op`, which is nothing that the unsharded program has; null if there is none.
Operation *findOwnMask(Operation *op, const LocalValues &values);
/// The op that masks the first value of a reduction, which all devices have nevertheless, or which is no part of the
/// result if `isRefused`; null if there is none.
Operation *findInit(Operation *op, bool isRefused, const LocalValues &values);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_BLAME_H
