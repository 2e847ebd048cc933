//===- Phases.h - The phases that IR goes through ---------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_PHASES_H
#define SHARDKIT_DIALECT_SPMD_IR_PHASES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Values of `spmd.phase`, in order.
inline constexpr llvm::StringLiteral kPhases[] = {"annotated", "propagated", "resharded", "partitioned", "final"};
/// Position in kPhases of the phase of the module that holds `op`; -1 where it
/// has none (as the user wrote it).
int getPhase(Operation *op);

/// The last phase that ran (`spmd.phase` of the module).
/// The values are positions in kPhases.
enum class Phase { Written = -1, Annotated, Propagated, Resharded, Partitioned, Final };
void setPhase(ModuleOp module, Phase phase);
/// Verifies the input of a pass: the module is not past `last`, the phase that the pass produces, and its tensors have
/// at most 2^60 bytes. One error otherwise.
LogicalResult verifyInput(ModuleOp module, Phase last, StringRef pass);
/// The same for a pass on functions.
LogicalResult verifyInput(func::FuncOp func, Phase last, StringRef pass);
/// An error of a pass on functions that is not of one function, such as of an option: at the module, and once, by the
/// first of its functions.
InFlightDiagnostic emitModuleError(func::FuncOp func);
/// Verifies that the ops that passes replace up to the phase `completed` are gone, as `user` expects:
/// stage boundaries before propagation, constraints before partitioning, reshards and manual
/// computations after it. One error otherwise, which names the pass.
LogicalResult verifyLowered(ModuleOp module, Phase completed, const Twine &user);
/// The same of one function.
LogicalResult verifyLowered(func::FuncOp func, Phase completed, const Twine &user);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_PHASES_H
