//===- Passes.h - CPU code generation ---------------------------*- C++ -*-===//
//
// From functions in local view on tensors to LLVM dialect. See docs/internals/Targets.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TARGET_CPU_PASSES_H
#define SHARDKIT_TARGET_CPU_PASSES_H

#include "shardkit/Target/Common/Passes.h"

namespace mlir::spmd {

#define GEN_PASS_DECL
#include "shardkit/Target/CPU/Passes.h.inc"

namespace cpu {
// Passes on one module of functions without calls.

/// Fuses ops, and tiles them into loops over rows, on tensors. `groupLoops`: experts
/// compute the tokens that a mask gives them.
void buildToTensor(OpPassManager &pm, bool groupLoops);
/// The same, and bufferizes.
void buildToMemRef(OpPassManager &pm, bool groupLoops);
/// From memrefs to LLVM dialect. Loop nests of at least `parallelWork` scalar operations
/// run on several threads.
void buildToLLVM(OpPassManager &pm, int64_t parallelWork);
/// The reference: upstream's passes only, except for the signature.
void buildReference(OpPassManager &pm);
} // namespace cpu

#define GEN_PASS_REGISTRATION
#include "shardkit/Target/CPU/Passes.h.inc"

} // namespace mlir::spmd

#endif // SHARDKIT_TARGET_CPU_PASSES_H
