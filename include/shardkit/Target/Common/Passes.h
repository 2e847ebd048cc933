//===- Passes.h - Code generation, all targets ------------------*- C++ -*-===//
//
// The passes that programs for processors and for GPUs share. See docs/internals/Targets.md.
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
/// A function that others call by spmd_rt.call: its last argument before the arena is the number of its first
/// collective (UnitAttr).
inline constexpr llvm::StringLiteral kLayerAttr = "spmd_rt.layer";
/// Bytes of arena that a function needs (IntegerAttr); if they depend on sizes, for the least ones.
inline constexpr llvm::StringLiteral kArenaBytesAttr = "spmd_rt.arena_bytes";
/// The buffers of an arena that depends on sizes (ArrayAttr): an AffineMapAttr of the sizes that gives the bytes, and
/// the numbers of the buffers that it follows (DenseI64ArrayAttr), in turns.
inline constexpr llvm::StringLiteral kArenaAttr = "spmd_rt.arena";
/// The sizes of a function that only the run knows (DenseI64ArrayAttr): argument, least and largest size, in turns.
inline constexpr llvm::StringLiteral kSizesAttr = "spmd_rt.sizes";

/// Attaches bufferization models of upstream dialects and the translations to
/// LLVM IR that code generation needs.
void registerCommonTarget(DialectRegistry &registry);

/// Address of the first element of a memref, as an LLVM pointer.
Value getPointer(OpBuilder &b, Location loc, Value buffer);

/// The type of complex numbers of `type`, a scalar or a tensor, at the boundary of a
/// program and in transfers: with real and imaginary component in a last dim of size 2.
RankedTensorType getPairedType(Type type);

/// Whether the body has an assertion (cf.assert). Such an op is neither duplicated nor
/// moved.
bool hasAssertion(linalg::LinalgOp op);
/// The message of a failed assertion: "model.mlir:12:8: index must be smaller than dim
/// size".
std::string getText(cf::AssertOp op);

/// Prepares the tosa ops of a module for buildLowerTosa, and returns whether there are
/// any. `expandsScatters`: turns tosa.scatter into the linalg form of other scatters.
bool prepareTosa(ModuleOp module, bool expandsScatters);
/// Upstream's passes from tosa to linalg on tensors.
void buildLowerTosa(OpPassManager &pm);

// Passes on one module of functions without calls.

/// Legalizes ops, recognizes contractions and fuses elementwise ops, on tensors.
/// `forDevices`: also recognizes attention and the epilogues of contractions.
/// `groupLoops`: experts compute the tokens that a mask gives them.
void buildFused(OpPassManager &pm, bool forDevices, bool groupLoops);
/// Bufferizes functions, with their arguments and results.
void buildBuffers(OpPassManager &pm);
/// Lowers code of the processor to LLVM dialect.
void buildLoopsToLLVM(OpPassManager &pm);
} // namespace target

#define GEN_PASS_REGISTRATION
#include "shardkit/Target/Common/Passes.h.inc"

} // namespace mlir::spmd

#endif // SHARDKIT_TARGET_COMMON_PASSES_H
