//===- CompleteModule.cpp - Functions in the order of their calls ---------===//

#include "shardkit/Propagation/CompleteModule.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/Reshapes.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

class ModuleCompletion {
public:
  ModuleCompletion(ModuleOp module, CompleteFunctionFn complete)
      : module(module), complete(complete), meshes(module), calls(module) {}

  LogicalResult run() {
    for (auto func : getProgramFunctions(module)) {
      if (getPhase(module) < int(Phase::Annotated))
        makeConstraintsOfShardings(calls.getIndex(func).annotated);
      splitReshapes(calls.getIndex(func).reshapes);
    }
    if (failed(calls.verify(meshes)))
      return failure();
    for (auto func : getProgramFunctions(module))
      if (calls.keepsSignature(func) && failed(runOnFunction(func)))
        return failure();
    calls.eraseUnused();
    if (unknownOps > 0)
      emitWarning(module.getLoc()) // without the module below it
          << unknownOps
          << " ops without a sharding rule are replicated; list them with "
             "--remarks-filter=spmd";
    setPhase(module, Phase::Propagated);
    return success();
  }

private:
  LogicalResult runOnFunction(func::FuncOp func) {
    if (func.isExternal() || done.contains(func))
      return success();
    SmallVector<func::FuncOp, 1> group = calls.getGroups().getGroup(func);
    done.insert(group.begin(), group.end());
    // Callees that keep their signature come first.
    SmallVector<func::CallOp> copiedCalls;
    for (func::FuncOp member : group)
      for (func::CallOp call : calls.getIndex(member).calls) {
        func::FuncOp callee = calls.getCallee(call);
        if (callee && !calls.keepsSignature(callee))
          copiedCalls.push_back(call);
        else if (callee && failed(runOnFunction(callee)))
          return failure();
      }
    auto functionMeshes = calls.getMeshes(group, meshes);
    if (failed(functionMeshes))
      return failure();
    if (!*functionMeshes)
      return success(); // no mesh: one device
    CallOperandLayouts callOperands;
    auto propagation = complete(group, **functionMeshes, calls, callOperands);
    if (failed(propagation))
      return failure();
    (*propagation)->write();
    unknownOps += (*propagation)->getNumUnknownOps();
    // Each call gets a copy of its callee for its layouts.
    for (func::CallOp call : copiedCalls)
      if (failed(copyCallee(call, **propagation, callOperands)))
        return failure();
    return success();
  }

  LogicalResult copyCallee(func::CallOp call, FunctionPropagation &propagation,
                           const CallOperandLayouts &callOperands) {
    auto it = callOperands.find(call);
    SmallVector<ShardingAttr> arguments, results;
    for (auto [i, operand] : llvm::enumerate(call.getOperands()))
      arguments.push_back(it != callOperands.end() && isa<RankedTensorType>(operand.getType())
                              ? propagation.getPropagation().getTable().getAttr(it->second[i])
                              : propagation.getClosed(operand));
    for (Value result : call.getResults())
      results.push_back(propagation.getClosed(result));
    auto [copy, isNew] = calls.specialize(calls.getCallee(call), arguments, results);
    call.setCallee(copy.getName());
    // The results have the layouts of the copy.
    if (call->hasAttr(kShardingsAttr) && llvm::all_of(results, [](ShardingAttr a) { return !!a; }))
      call->setAttr(kShardingsAttr,
                    ArrayAttr::get(call.getContext(), SmallVector<Attribute>(results.begin(), results.end())));
    return isNew ? runOnFunction(copy) : success();
  }

  ModuleOp module;
  CompleteFunctionFn complete;
  MeshCache meshes;
  CallTable calls;
  llvm::SmallDenseSet<Operation *> done;
  unsigned unknownOps = 0;
};

} // namespace

LogicalResult spmd::completeModule(ModuleOp module, CompleteFunctionFn complete) {
  return ModuleCompletion(module, complete).run();
}
