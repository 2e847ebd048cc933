//===- RandomGraphs.h - Cost graphs at random, and all their choices ------===//

#ifndef SHARDKIT_TEST_SOLVER_RANDOMGRAPHS_H
#define SHARDKIT_TEST_SOLVER_RANDOMGRAPHS_H

#include "../Random.h"
#include "shardkit/Solver/Solver.h"

namespace shardkit_test {

using namespace mlir::spmd;

enum class Shape { Tree, Ladder, Dense };

struct GraphOptions {
  Shape shape = Shape::Tree;
  int64_t maxProduct = 200000; // of the choices of all variables
  bool buffers = false;
  unsigned sharings = 0;    // at most
  bool bytes = true;        // that break ties
  double impossible = 0.15; // of pairs
  int64_t maxTime = 12;     // small: many ties
};

CostGraph randomGraph(Random &random, const GraphOptions &options);

/// The truth, by enumeration.
struct BruteForce {
  Price best = Price::impossible(); // within the budget
  int64_t smallestPeak = -1;        // of possible choices; -1: there are none
  int64_t freePeak = 0;             // the least peak of the cheapest choices without budget
};
BruteForce enumerate(const CostGraph &graph, std::optional<int64_t> budget);

} // namespace shardkit_test

#endif // SHARDKIT_TEST_SOLVER_RANDOMGRAPHS_H
