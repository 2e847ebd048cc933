//===- ModuleSearch.h - Searches of all functions of a module ---*- C++ -*-===//

#ifndef SHARDKIT_AUTOSHARDING_MODULESEARCH_H
#define SHARDKIT_AUTOSHARDING_MODULESEARCH_H

#include "shardkit/AutoSharding/FunctionSearch.h"
#include "shardkit/Propagation/CompleteModule.h"

namespace mlir::spmd {

/// Parses options of --spmd-auto-shard; emits an error for illegal ones.
FailureOr<SearchOptions> readSearchOptions(StringRef text, Location loc);

/// Runs the search of a function and sets its layouts (FunctionSearch::write).
using FinishSearchFn = llvm::function_ref<LogicalResult(FunctionSearch &, CallOperandLayouts &)>;

/// Completes the functions of a module in the order of their calls, each by a search.
LogicalResult searchModule(ModuleOp module, const SearchOptions &options, FinishSearchFn finish);

/// Removes the attributes of an earlier search from a function and its ops, but not those of
/// the user (FunctionSearch::write). Layouts stay, as propagation knows the user's ones.
void forgetSearch(func::FuncOp func);
/// The same for the ops alone.
void forgetStrategies(func::FuncOp func);

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_MODULESEARCH_H
