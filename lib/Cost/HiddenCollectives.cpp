//===- HiddenCollectives.cpp - Collectives during compute -----------------===//

#include "shardkit/Cost/HiddenCollectives.h"
#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/Overlap.h"
#include "shardkit/Rules/ControlFlow.h"

using namespace mlir;
using namespace mlir::spmd;

double spmd::getOverlap(ModuleOp module) {
  std::optional<double> least;
  for (auto op : module.getOps<MeshOp>()) {
    if (!op.getFlopsAttr())
      continue;
    double overlap = getOverlap(op).value_or(0);
    least = std::min(least.value_or(overlap), overlap);
  }
  return least.value_or(0);
}

/// None if the cost of a collective is unknown.
static std::optional<double> getSeconds(StartOp start, const MeshCache &meshes) {
  double seconds = 0;
  for (auto member : start.getBody().getOps<CollectiveOpInterface>()) {
    FailureOr<CollectiveMove> move = getMove(member, meshes);
    if (failed(move))
      return std::nullopt;
    seconds += move->cost.seconds - (travelsAlong(member) ? move->latency : 0);
  }
  return seconds;
}

double spmd::getHiddenSeconds(func::FuncOp func, const MeshCache &meshes, const Mesh &mesh, double overlap,
                              int64_t tripCount) {
  if (overlap == 0)
    return 0;
  double sum = 0;
  llvm::DenseMap<Operation *, double> used;
  func.walk([&](StartOp start) {
    double seconds = getSeconds(start, meshes).value_or(0), hidden = 0;
    for (Operation *op = start->getNextNode(); op && op != start.getDone() && hidden < seconds;
         op = op->getNextNode()) {
      if (isa<StartOp, DoneOp, CollectiveOpInterface, func::CallOp>(op))
        continue;
      double &taken = used[op];
      double more = std::min(seconds - hidden, getComputeSeconds(op, mesh, tripCount) - taken);
      taken += more;
      hidden += more;
    }
    sum += hidden * countExecutions(start->getBlock(), tripCount);
  });
  return overlap * sum;
}
