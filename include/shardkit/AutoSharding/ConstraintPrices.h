//===- ConstraintPrices.h - What user shardings cost ------------*- C++ -*-===//

#ifndef SHARDKIT_AUTOSHARDING_CONSTRAINTPRICES_H
#define SHARDKIT_AUTOSHARDING_CONSTRAINTPRICES_H

#include "shardkit/AutoSharding/FunctionSearch.h"

namespace mlir::spmd {

/// Repeats a search without each user sharding, and emits the remark `costly-constraint` for those that make the plan
/// much slower: the predicted seconds with and without it, and the layout that the value would have. `result` is that
/// of the search with all of them. Nothing is searched without a remark engine.
void remarkConstraintPrices(FunctionSearch &search, const SearchResult &result);

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_CONSTRAINTPRICES_H
