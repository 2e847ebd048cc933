//===- ExplainSearch.h - What other layouts would have cost -----*- C++ -*-===//

#ifndef SHARDKIT_REPORT_EXPLAINSEARCH_H
#define SHARDKIT_REPORT_EXPLAINSEARCH_H

#include "shardkit/Report/Explain.h"

namespace mlir::spmd {

/// True if --spmd-auto-shard laid out a function of the module.
bool wasSearched(ModuleOp module);

/// Searches a copy of the module again, as `spmd.solver` says it was, and explains the
/// values that `selection` names (see explain), arguments and results if it is empty: the
/// `top` next best layouts of each and, for a contraction, the next best ways to compute
/// it, each the optimum of the whole function with all better ones forbidden. `drawsGrids` as in explain.
FailureOr<std::vector<ExplainedFunction>> explainSearch(ModuleOp module, StringRef selection, unsigned top,
                                                        bool drawsGrids);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_EXPLAINSEARCH_H
