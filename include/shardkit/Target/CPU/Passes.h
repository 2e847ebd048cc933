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
/// Passes on one module of functions without calls: fusion and loops over rows, on
/// tensors; that and on to memrefs, and from there to LLVM dialect, with loop nests of at
/// least `parallelWork` scalar operations for several threads.
void buildToTensor(OpPassManager &pm);
void buildToMemRef(OpPassManager &pm);
void buildToLLVM(OpPassManager &pm, int64_t parallelWork);
/// The reference side: upstream passes alone, but for the signature.
void buildReference(OpPassManager &pm);
} // namespace cpu

#define GEN_PASS_REGISTRATION
#include "shardkit/Target/CPU/Passes.h.inc"

} // namespace mlir::spmd

#endif // SHARDKIT_TARGET_CPU_PASSES_H
