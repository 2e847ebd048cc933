//===- CompleteModule.h - Functions in call order ---------------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_COMPLETEMODULE_H
#define SHARDKIT_PROPAGATION_COMPLETEMODULE_H

#include "shardkit/Propagation/FunctionPropagation.h"

namespace mlir::spmd {

/// Layouts in which calls pass their operands, for calls where they differ from the layouts
/// that the values are stored in.
using CallOperandLayouts = llvm::DenseMap<Operation *, SmallVector<LayoutId>>;

/// Completes the shardings of the functions of a group (FunctionGroups.h), without writing them.
using CompleteFunctionFn = llvm::function_ref<FailureOr<std::unique_ptr<FunctionPropagation>>(
    ArrayRef<func::FuncOp>, FunctionMeshes &, CallTable &, CallOperandLayouts &)>;

/// Completes all functions of a module and writes their shardings:
///   1. User shardings on ops become constraints, and reshapes are split.
///   2. Functions that keep their signature are completed before their callers, those that
///      share values together.
///   3. Others are completed after their callers, in a copy per signature (CallTable.h).
/// Emits one warning if ops have no rule. Sets the phase to propagated.
LogicalResult completeModule(ModuleOp module, CompleteFunctionFn complete);

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_COMPLETEMODULE_H
