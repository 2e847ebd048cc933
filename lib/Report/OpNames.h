//===- OpNames.h - What ops compute, and their modules ----------*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_OPNAMES_H
#define SHARDKIT_LIB_REPORT_OPNAMES_H

#include "Graph.h"

namespace mlir::spmd {

/// The name of an op by what it computes: `matmul`, `sum`, `lookup`, `exp(sub)`; of other ops
/// their name without the dialect.
std::string getComputedName(Operation *op);

/// The module of each node as a path with `/`, or empty. It is the name scope of the location
/// (`jit(f)/encoder/attention/dot_general`, `layer_norm.mul`), after the module of the weights
/// that the op reads (`encoder.layer.0.attention.query.weight`). An op that reads no weights
/// belongs to the innermost module that has both the last weights before it and the next ones
/// after it. An argument belongs to the module of its first user.
std::vector<std::string> getModules(func::FuncOp func, const FunctionGraph &graph);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_OPNAMES_H
