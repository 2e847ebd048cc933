//===- ExplainSearch.h - Costs of other layouts -----------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_EXPLAINSEARCH_H
#define SHARDKIT_REPORT_EXPLAINSEARCH_H

#include "shardkit/Report/Explain.h"

namespace mlir::spmd {

/// True if --spmd-auto-shard chose the layouts of a function of the module.
bool wasSearched(ModuleOp module);

/// Repeats the search on a copy of the module, with the options in `spmd.solver`, and
/// explains the values that `selection` names (see explain), or arguments and results if
/// it is empty. Lists the `top` next best layouts of each, and the next best strategies
/// of a contraction. Each is the optimum of the whole function if all better ones are
/// forbidden. `drawsGrids`: see explain. A function that kept the default plan is explained by propagation.
FailureOr<std::vector<ExplainedFunction>> explainSearch(ModuleOp module, StringRef selection, unsigned top,
                                                        bool drawsGrids);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_EXPLAINSEARCH_H
