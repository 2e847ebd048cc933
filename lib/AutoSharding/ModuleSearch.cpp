//===- ModuleSearch.cpp - Searches of all functions of a module -----------===//

#include "shardkit/AutoSharding/ModuleSearch.h"

using namespace mlir;
using namespace mlir::spmd;

LogicalResult spmd::searchModule(ModuleOp module, const SearchOptions &options, FinishSearchFn finish) {
  auto complete = [&](ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls,
                      CallOperandLayouts &callOperands) -> FailureOr<std::unique_ptr<FunctionPropagation>> {
    auto propagation = FunctionPropagation::compute(funcs, meshes, calls, options.propagation);
    if (failed(propagation))
      return failure();
    auto search = FunctionSearch::create(meshes, **propagation, options);
    if (failed(search) || failed(finish(**search, callOperands)))
      return failure();
    return propagation;
  };
  return completeModule(module, complete);
}
