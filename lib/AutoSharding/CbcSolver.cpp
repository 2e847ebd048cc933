//===- CbcSolver.cpp - The same problem for CBC ---------------------------===//

#include "shardkit/AutoSharding/Solver.h"

using namespace mlir::spmd;

Solution mlir::spmd::solveWithCbc(const CostGraph &graph, const SolverOptions &options,
                                  std::string &error) {
  error = "ShardKit was built without CBC: install coinor-libcbc-dev and configure with "
          "SHARDKIT_ENABLE_CBC=ON";
  return {};
}
