//===- Lanes.h - Indices, lane by lane --------------------------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_LANES_H
#define SHARDKIT_LIB_PROOF_LANES_H

#include "shardkit/Proof/Structured.h"

namespace mlir::spmd::proof {

/// Finds, for a local op, which reads are inside of the local tensors in all lanes, by evaluation of each choice of the
/// ranks and loops that give an index. Sets `Trap::staysInside` and `Structured::Argument::readsInside`. What data
/// give, or what has too many lanes, is not known to be inside.
void findReadsInside(Structured &structured, const TermTable &terms);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_LANES_H
