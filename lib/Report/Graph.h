//===- Graph.h - A function as a drawing ------------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_GRAPH_H
#define SHARDKIT_LIB_REPORT_GRAPH_H

#include "shardkit/Report/PartitionedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// An op or an argument of a function, and where it is drawn.
struct GraphNode {
  Operation *op = nullptr; // null for an argument
  Value value;             // the argument
  int64_t times = 1;       // how many equal ops it stands for
  unsigned level = 0;
  double x = 0;
};

/// A value on its way from one node to another.
struct GraphEdge {
  unsigned from, to;
  Value value;
};

struct FunctionGraph {
  std::vector<GraphNode> nodes; // in program order, arguments before their first user
  std::vector<GraphEdge> edges;
  unsigned levels = 0;
  double width = 0;     // of the widest level
  int64_t notDrawn = 0; // ops beyond the most that are drawn
};

/// Lays out the ops of a function that compute tensors; what is made out of nothing
/// (fills, splats) is left out. In a function of many ops, a stretch that is
/// repeated - the same ops with the same types and layouts in the same order - is
/// drawn once, whatever of it remains up to a fixed number of nodes.
FunctionGraph layOut(func::FuncOp func, const PartitionedValues &values);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_GRAPH_H
