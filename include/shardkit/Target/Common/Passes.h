//===- Passes.h - Code generation, all targets ------------------*- C++ -*-===//
//
// What programs for processors and for GPUs have in common. See docs/internals/Targets.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TARGET_COMMON_PASSES_H
#define SHARDKIT_TARGET_COMMON_PASSES_H

#include "shardkit/Target/IR/RuntimeOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
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

namespace mlir::spmd {

#define GEN_PASS_DECL
#include "shardkit/Target/Common/Passes.h.inc"

namespace target {
/// Symbols of the entry points that share a function (ArrayAttr of StringAttr).
inline constexpr llvm::StringLiteral kSymbolsAttr = "spmd_rt.symbols";
/// Bytes of arena that a function needs (IntegerAttr).
inline constexpr llvm::StringLiteral kArenaBytesAttr = "spmd_rt.arena_bytes";

/// Attaches bufferization models of upstream dialects and the translations to
/// LLVM IR that code generation needs.
void registerCommonTarget(DialectRegistry &registry);

/// Address of the first element of a memref, as an LLVM pointer.
Value getPointer(OpBuilder &b, Location loc, Value buffer);

/// The type in which complex numbers of `type`, a scalar or a tensor, cross the border of a program and
/// move between devices: with the real and the imaginary part in a last dim of size 2.
RankedTensorType getPairedType(Type type);

/// Whether the body states something (cf.assert): an op that is computed once, where it stands.
bool hasAssertion(linalg::LinalgOp op);
/// What is said where it does not hold: "model.mlir:12:8: index must be smaller than dim size".
std::string getText(cf::AssertOp op);

/// Upstream's passes from tosa to linalg on tensors, for both sides of a
/// comparison, on modules for which prepareTosa says that they have tosa ops. Scatters
/// may be spelled as all others are.
bool prepareTosa(ModuleOp module, bool expandsScatters);
void buildLowerTosa(OpPassManager &pm);

/// Passes on one module of functions without calls: what is legal, products as calls,
/// elementwise ops fused, on tensors; with attention, and what follows a contraction, as one
/// op where it is asked for;
void buildFused(OpPassManager &pm, bool forDevices = false);
/// bufferization with the boundary;
void buildBuffers(OpPassManager &pm);
/// what is left for the processor to LLVM dialect.
void buildLoopsToLLVM(OpPassManager &pm);
} // namespace target

#define GEN_PASS_REGISTRATION
#include "shardkit/Target/Common/Passes.h.inc"

} // namespace mlir::spmd

#endif // SHARDKIT_TARGET_COMMON_PASSES_H
