//===- FunctionIndex.cpp - What passes look for in a function -------------===//

#include "shardkit/Propagation/FunctionIndex.h"
#include "shardkit/Rules/ShardingRule.h"

using namespace mlir;
using namespace mlir::spmd;

FunctionIndex::FunctionIndex(func::FuncOp func) : func(func) {
  auto addMesh = [&](Attribute attr, Location loc) {
    auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
    if (!sharding || (!meshes.empty() && meshes.back().first == sharding.getMesh()))
      return;
    if (llvm::none_of(meshes, [&](auto &m) { return m.first == sharding.getMesh(); }))
      meshes.emplace_back(sharding.getMesh(), loc);
  };
  MLIRContext *context = func.getContext();
  auto ofValue = StringAttr::get(context, kShardingAttr);
  auto ofOp = StringAttr::get(context, kShardingsAttr);
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    addMesh(func.getArgAttr(i, ofValue),
            func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc());
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    addMesh(func.getResultAttr(i, ofValue), func.getLoc());
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isConstraint = false;
    if (auto constraint = dyn_cast<WithShardingConstraintOp>(op)) {
      isConstraint = true;
      addMesh(constraint.getShardingAttr(), op->getLoc());
    } else if (auto reshard = dyn_cast<ReshardOp>(op)) {
      addMesh(reshard.getShardingAttr(), op->getLoc());
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      calls.push_back(call);
    } else if (auto group = dyn_cast<ShardingGroupOp>(op)) {
      groups.push_back(group);
    }
    if (auto shardings = dyn_cast_or_null<ArrayAttr>(op->getDiscardableAttr(ofOp))) {
      if (!isConstraint)
        annotated.push_back(op);
      for (Attribute attr : shardings)
        addMesh(attr, op->getLoc());
    }
    return getIndexedBody(op) ? WalkResult::skip() : WalkResult::advance();
  });
}

FailureOr<FlatSymbolRefAttr> FunctionIndex::getMesh(const MeshCache &cache) const {
  for (auto [mesh, loc] : meshes)
    if (!cache.lookupOrEmit(mesh, [loc = loc] { return emitError(loc); }))
      return failure();
  if (meshes.size() > 1)
    return emitError(meshes[1].second)
           << "function @" << func::FuncOp(func).getName() << " uses meshes " << meshes[0].first
           << " and " << meshes[1].first
           << ", expected one mesh per function (several meshes are not supported yet)";
  if (!meshes.empty())
    return meshes.front().first;
  if (cache.size() == 1)
    return FlatSymbolRefAttr::get(MeshOp(cache.entries().front().op).getSymNameAttr());
  return FlatSymbolRefAttr();
}
