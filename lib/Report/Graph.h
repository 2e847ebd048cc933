//===- Graph.h - A function as a drawing ------------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_GRAPH_H
#define SHARDKIT_LIB_REPORT_GRAPH_H

#include "shardkit/Report/PartitionedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// An op or an argument of a function, with its position in the drawing.
struct GraphNode {
  Operation *op = nullptr; // null for an argument
  Value value;             // the argument
  int64_t times = 1;       // the number of equal ops that it represents
  unsigned level = 0;
  double x = 0;
};

/// A value from its defining node to a user.
struct GraphEdge {
  unsigned from, to;
  Value value;
};

struct FunctionGraph {
  std::vector<GraphNode> nodes; // in program order, arguments before their first user
  std::vector<GraphEdge> edges;
  unsigned levels = 0;
  double width = 0;     // the width of the widest level
  int64_t notDrawn = 0; // ops above the limit
};

/// Lays out the ops of a function that compute tensors, without constant-like ops (fills,
/// splats). In a function with many ops, a repeated sequence (the same ops with the same
/// types and layouts in the same order) is drawn once. The number of nodes is limited.
FunctionGraph layOut(func::FuncOp func, const PartitionedValues &values);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_GRAPH_H
