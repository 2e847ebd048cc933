//===- TrainingGraph.h - The cost graph of a training step ------*- C++ -*-===//
//
// A transformer's training step (forward, backward, Adam) as a cost graph, made without
// any IR: the sizes and shapes of automatic sharding's problems, with prices that are
// close to, but not, those of lib/Cost.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_BENCHMARKS_SOLVER_TRAININGGRAPH_H
#define SHARDKIT_BENCHMARKS_SOLVER_TRAININGGRAPH_H

#include "shardkit/Solver/CostGraph.h"

struct TrainingOptions {
  unsigned layers = 4;
  std::vector<int64_t> mesh = {8, 8};
  int64_t batch = 64, sequence = 1024, width = 2048, heads = 16, hidden = 8192, vocabulary = 32768;
};

mlir::spmd::CostGraph makeTrainingGraph(const TrainingOptions &options);

#endif // SHARDKIT_BENCHMARKS_SOLVER_TRAININGGRAPH_H
