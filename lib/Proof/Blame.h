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
/// The first op that led to `operands` and gives what the unsharded program does not have; null if there is none.
Operation *findFirstOwn(ValueRange operands, const LocalValues &values);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_BLAME_H
