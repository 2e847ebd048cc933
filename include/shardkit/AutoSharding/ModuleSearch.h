//===- ModuleSearch.h - Searches of all functions of a module ---*- C++ -*-===//

#ifndef SHARDKIT_AUTOSHARDING_MODULESEARCH_H
#define SHARDKIT_AUTOSHARDING_MODULESEARCH_H

#include "shardkit/AutoSharding/FunctionSearch.h"
#include "shardkit/Propagation/CompleteModule.h"

namespace mlir::spmd {

/// Options as text, as those of --spmd-auto-shard; an error where that rejects them.
FailureOr<SearchOptions> readSearchOptions(StringRef text, Location loc);

/// What is done with the search of a function, which is set up. It settles the layouts
/// of the function (FunctionSearch::write).
using FinishSearchFn = llvm::function_ref<LogicalResult(FunctionSearch &, HandedLayouts &)>;

/// Completes the functions of a module in the order of their calls, each by a search.
LogicalResult searchModule(ModuleOp module, const SearchOptions &options, FinishSearchFn finish);

/// Takes back what an earlier search said of a function and its ops, but not what was given to it
/// (FunctionSearch::write). Layouts stay: what was given of them is known to propagation.
void forgetSearch(func::FuncOp func);

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_MODULESEARCH_H
