//===- CompleteModule.h - Functions in the order of their calls -*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_COMPLETEMODULE_H
#define SHARDKIT_PROPAGATION_COMPLETEMODULE_H

#include "shardkit/Propagation/FunctionPropagation.h"

namespace mlir::spmd {

/// Layouts in which calls hand their operands over, where these are not the ones that
/// the values are kept in.
using HandedLayouts = llvm::DenseMap<Operation *, SmallVector<LayoutId>>;

/// Completes the shardings of one function: a propagation that is settled, and not
/// written yet.
using CompleteFunctionFn = llvm::function_ref<FailureOr<std::unique_ptr<FunctionPropagation>>(
    func::FuncOp, FunctionMeshes &, CallTable &, HandedLayouts &)>;

/// Completes all functions of a module and writes what comes out: those with layouts of
/// their own before their callers, any other after, in a copy per signature. What users
/// wrote on ops becomes constraints first, and reshapes are split. One warning if ops
/// have no rule. Sets the phase to propagated.
LogicalResult completeModule(ModuleOp module, CompleteFunctionFn complete);

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_COMPLETEMODULE_H
