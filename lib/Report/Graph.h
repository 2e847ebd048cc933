//===- Graph.h - A function as a drawing ------------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_GRAPH_H
#define SHARDKIT_LIB_REPORT_GRAPH_H

#include "shardkit/Report/PartitionedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// An op or an argument of a function.
struct GraphNode {
  Operation *op = nullptr; // null for an argument
  Value value;             // the argument
  int64_t times = 1;       // the number of equal ops that it represents
};

/// A value from its defining node to a user.
struct GraphEdge {
  unsigned from, to;
  Value value;
};

struct FunctionGraph {
  std::vector<GraphNode> nodes; // in program order, arguments before their first user
  std::vector<GraphEdge> edges;
  int64_t notDrawn = 0; // ops above the limit
};

/// The ops of a function that compute tensors, without constant-like ops (fills,
/// splats). In a function with many ops, a repeated sequence (the same ops with the same
/// types and layouts in the same order) is drawn once. The number of nodes is limited.
FunctionGraph buildGraph(func::FuncOp func, const PartitionedValues &values);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_GRAPH_H
