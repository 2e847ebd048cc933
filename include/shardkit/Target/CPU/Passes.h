//===- Passes.h - CPU code generation ---------------------------*- C++ -*-===//
//
// From functions in local view on tensors to LLVM dialect. See docs/Target.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TARGET_CPU_PASSES_H
#define SHARDKIT_TARGET_CPU_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "shardkit/Target/CPU/CPUOps.h"

namespace mlir::spmd {

#define GEN_PASS_DECL
#include "shardkit/Target/CPU/Passes.h.inc"

namespace cpu {
/// Symbols of the entry points that share a function (ArrayAttr of StringAttr).
inline constexpr llvm::StringLiteral kSymbolsAttr = "spmd_cpu.symbols";
/// Bytes of arena that a function needs (IntegerAttr).
inline constexpr llvm::StringLiteral kArenaBytesAttr = "spmd_cpu.arena_bytes";

/// Attaches bufferization models of upstream dialects and the translations to
/// LLVM IR that code generation needs.
void registerCPUTarget(DialectRegistry &registry);

/// Address of the first element of a memref, as an LLVM pointer.
Value getPointer(OpBuilder &b, Location loc, Value buffer);

/// Upstream's passes from tosa to linalg on tensors, for both sides of a
/// comparison, on modules for which prepareTosa says that they have tosa ops.
bool prepareTosa(ModuleOp module);
void buildLowerTosa(OpPassManager &pm);
/// Passes on one module of functions without calls: fusion and, with `tile`, loops over
/// rows, on tensors; that and on to memrefs, and from there to LLVM dialect.
void buildToTensor(OpPassManager &pm, bool tile = true);
void buildToMemRef(OpPassManager &pm);
void buildToLLVM(OpPassManager &pm);
/// What all targets have of these: bufferization with the boundary, and what is left
/// for the processor to LLVM dialect.
void buildBuffers(OpPassManager &pm);
void buildLoopsToLLVM(OpPassManager &pm);
/// The reference side: upstream passes alone, but for the signature.
void buildReference(OpPassManager &pm);
} // namespace cpu

#define GEN_PASS_REGISTRATION
#include "shardkit/Target/CPU/Passes.h.inc"

} // namespace mlir::spmd

#endif // SHARDKIT_TARGET_CPU_PASSES_H
