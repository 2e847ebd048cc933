//===- FunctionMesh.cpp - The mesh of a function --------------------------===//

#include "shardkit/Propagation/FunctionMesh.h"

using namespace mlir;
using namespace mlir::spmd;

FailureOr<FlatSymbolRefAttr>
spmd::getFunctionMesh(func::FuncOp func, const MeshCache &meshes) {
  FlatSymbolRefAttr found;
  auto visit = [&](Attribute attr, Location loc) -> LogicalResult {
    auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
    if (!sharding || sharding.getMesh() == found)
      return success();
    if (!meshes.lookupOrEmit(sharding.getMesh(), [&] { return emitError(loc); }))
      return failure();
    if (!found) {
      found = sharding.getMesh();
      return success();
    }
    return emitError(loc) << "function @" << func.getName() << " uses meshes "
                          << found << " and " << sharding.getMesh()
                          << ", expected one mesh per function (several meshes "
                             "are not supported yet)";
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (failed(visit(func.getArgAttr(i, kShardingAttr),
                     func.isExternal() ? func.getLoc()
                                       : func.getArgument(i).getLoc())))
      return failure();
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (failed(visit(func.getResultAttr(i, kShardingAttr), func.getLoc())))
      return failure();
  WalkResult walk = func.walk([&](Operation *op) {
    Attribute own;
    if (auto constraint = dyn_cast<WithShardingConstraintOp>(op))
      own = constraint.getShardingAttr();
    else if (auto reshard = dyn_cast<ReshardOp>(op))
      own = reshard.getShardingAttr();
    if (failed(visit(own, op->getLoc())))
      return WalkResult::interrupt();
    if (auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr))
      for (Attribute attr : shardings)
        if (failed(visit(attr, op->getLoc())))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (!found && meshes.size() == 1)
    found = FlatSymbolRefAttr::get(MeshOp(meshes.entries().front().op).getSymNameAttr());
  return found;
}
