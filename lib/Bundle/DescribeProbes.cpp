//===- DescribeProbes.cpp - Values that a run compares --------------------===//

#include "Describe.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::spmd;

SmallVector<ProbeOp> spmd::getProbes(func::FuncOp func) {
  SmallVector<ProbeOp> probes;
  func.walk([&](ProbeOp probe) { probes.push_back(probe); });
  llvm::stable_sort(probes, [](ProbeOp a, ProbeOp b) { return a.getId() < b.getId(); });
  return probes;
}

namespace {
/// Goes back from a value to the nearest ones with probes.
class PathTracer {
public:
  explicit PathTracer(ArrayRef<ProbeOp> probes) {
    for (ProbeOp probe : probes)
      ofValue.try_emplace(probe.getInput(), probe.getId());
  }

  ProbePath trace(ProbeOp probe) {
    inputs.clear();
    collectives.clear();
    seen.clear();
    // A second probe of a value has the first one as its input.
    if (int64_t(probe.getId()) != ofValue.lookup(probe.getInput()))
      visit(probe.getInput());
    else
      visitDefinition(probe.getInput());
    while (!work.empty())
      visit(work.pop_back_val());
    ProbePath path;
    path.inputs.assign(inputs.begin(), inputs.end());
    path.collectives.assign(collectives.begin(), collectives.end());
    llvm::sort(path.inputs);
    llvm::sort(path.collectives);
    return path;
  }

private:
  void visit(Value value) {
    if (!isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
      return;
    if (auto it = ofValue.find(value); it != ofValue.end())
      inputs.insert(it->second);
    else
      visitDefinition(value);
  }

  void visitDefinition(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto arg = cast<BlockArgument>(value);
      if (auto loop = dyn_cast<LoopLikeOpInterface>(arg.getOwner()->getParentOp())) {
        if (OpOperand *init = loop.getTiedLoopInit(arg))
          work.push_back(init->get());
        if (OpOperand *yielded = loop.getTiedLoopYieldedValue(arg))
          work.push_back(yielded->get());
      }
      return;
    }
    if (auto done = dyn_cast<DoneOp>(op)) {
      auto start = done.getInputs().front().getDefiningOp<StartOp>();
      auto members = start.getBody().getOps<CollectiveOpInterface>();
      op = *std::next(members.begin(), cast<OpResult>(value).getResultNumber());
    }
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      if (std::optional<int64_t> id = collective.getCollectiveId())
        collectives.insert(*id);
    work.append(op->operand_begin(), op->operand_end());
    if (op->getNumRegions() == 0)
      return;
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    work.append(captured.begin(), captured.end());
    // The values that loops and branches end with.
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region) {
          Operation *end = block.getTerminator();
          unsigned i = cast<OpResult>(value).getResultNumber() + (isa<scf::ConditionOp>(end) ? 1 : 0);
          if (i < end->getNumOperands())
            work.push_back(end->getOperand(i));
        }
  }

  DenseMap<Value, int64_t> ofValue;
  llvm::SetVector<int64_t> inputs, collectives;
  DenseSet<Value> seen;
  SmallVector<Value> work;
};
} // namespace

std::vector<ProbePath> spmd::tracePaths(func::FuncOp func) {
  SmallVector<ProbeOp> probes = getProbes(func);
  PathTracer tracer(probes);
  std::vector<ProbePath> paths;
  for (ProbeOp probe : probes)
    paths.push_back(tracer.trace(probe));
  return paths;
}
