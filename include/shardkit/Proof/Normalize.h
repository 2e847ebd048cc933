//===- Normalize.h - Programs in the form that is compared ------*- C++ -*-===//

#ifndef SHARDKIT_PROOF_NORMALIZE_H
#define SHARDKIT_PROOF_NORMALIZE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd::proof {

/// Rewrites both programs by passes of MLIR, whose correctness the proof assumes: calls of the unsharded one
/// are inlined and it is canonicalized, as it is before it is partitioned, and ops of tosa become those of linalg in
/// both. Loops that may run in any order run one iteration after the other. Returns the names of the passes.
SmallVector<std::string> normalize(ModuleOp global, ModuleOp local);

/// The dialects of the ops that normalize() creates.
void getNormalFormDialects(DialectRegistry &registry);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_NORMALIZE_H
