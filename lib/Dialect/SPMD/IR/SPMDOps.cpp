//===- SPMDOps.cpp - Global-view ops of the spmd dialect ------------------===//

#include "OpSyntax.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::spmd;

#define GET_OP_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDOps.cpp.inc"

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

LogicalResult MeshOp::verify() {
  Mesh mesh = toMesh(*this);
  // mesh_c1, mesh_c2; verifyMesh reads costs only once their number is right.
  Mesh plain = mesh;
  plain.alpha.clear();
  plain.beta.clear();
  plain.flops.reset();
  plain.bandwidth.reset();
  plain.memory.reset();
  if (std::optional<ShardingError> error = verifyMesh(plain))
    return emitOpError() << error->message;
  // mesh_c3
  for (auto [name, costs] : {std::pair<StringRef, ArrayRef<double>>{"alpha", mesh.alpha},
                             std::pair<StringRef, ArrayRef<double>>{"beta", mesh.beta}}) {
    if (!(*this)->hasAttr(name))
      continue;
    if (costs.size() != mesh.axes.size())
      return emitOpError() << name << " has " << costs.size() << " costs, expected one for each of " << mesh.axes.size()
                           << " axes";
    for (double cost : costs)
      if (!(cost > 0))
        return emitOpError() << name << " has the cost " << cost << ", expected positive costs";
  }
  // mesh_c4
  if (mesh.flops && !(*mesh.flops > 0))
    return emitOpError() << "flops is " << *mesh.flops << ", expected a positive rate";
  if (mesh.bandwidth && !(*mesh.bandwidth > 0))
    return emitOpError() << "bandwidth is " << *mesh.bandwidth << ", expected a positive rate";
  if (mesh.memory && *mesh.memory <= 0)
    return emitOpError() << "memory is " << *mesh.memory << ", expected a positive number of bytes";
  return success();
}

//===----------------------------------------------------------------------===//
// WithShardingConstraintOp
//===----------------------------------------------------------------------===//

LogicalResult WithShardingConstraintOp::verify() {
  // with_sharding_constraint_c1
  int numShardings = !!getShardingAttr() + !!getAxisResourcesAttr() + !!getOrtAttr();
  if (numShardings != 1)
    return emitOpError() << numShardings
                         << " shardings are given, expected one of "
                            "sharding, axis_resources and ort";
  // with_sharding_constraint_c3
  if (ShardingAttr sharding = getShardingAttr())
    if (!sharding.getUnreduced().empty())
      return emitOpError() << "constrains the value to be unreduced, expected a complete "
                              "value";
  // with_sharding_constraint_c4
  if (AxisResourcesAttr resources = getAxisResourcesAttr())
    if (resources.getNumEntries() > getType().getRank())
      return emitOpError() << resources.getNumEntries() << " axis resources are given, expected at most "
                           << getType().getRank() << ", the rank of " << getType();
  return success();
}

LogicalResult WithShardingConstraintOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // with_sharding_constraint_c2
  ShardingAttr sharding = getShardingAttr();
  if (!sharding)
    return success();
  return verifySharding(getOperation(), sharding, getType(), "the value", symbolTable);
}

//===----------------------------------------------------------------------===//
// ReshardOp
//===----------------------------------------------------------------------===//

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // reshard_c1
  return verifySharding(getOperation(), getSharding(), getType(), "the value", symbolTable);
}

//===----------------------------------------------------------------------===//
// ProbeOp
//===----------------------------------------------------------------------===//

LogicalResult ProbeOp::verify() {
  // probe_c1
  if (int64_t(getId()) < 0)
    return emitOpError() << "number is " << int64_t(getId()) << ", expected 0 or more";
  // probe_c2
  if (!getShardingAttr())
    return success();
  auto global = dyn_cast_or_null<RankedTensorType>(getGlobalType().value_or(Type()));
  auto local = cast<RankedTensorType>(getInput().getType());
  if (!global || global.getElementType() != local.getElementType() || global.getRank() != local.getRank())
    return emitOpError() << "global type is " << getGlobalTypeAttr()
                         << ", expected a tensor with the element type and "
                            "the rank of "
                         << local;
  return success();
}

//===----------------------------------------------------------------------===//
// ShardingGroupOp, StageBoundaryOp
//===----------------------------------------------------------------------===//

LogicalResult ShardingGroupOp::verify() {
  // sharding_group_c1
  if (getGroup().empty())
    return emitOpError() << "group name is empty, expected a name";
  return success();
}

LogicalResult StageBoundaryOp::verify() {
  // stage_boundary_c1
  if (getInputs().empty())
    return emitOpError() << "has no operands, expected at least one";
  // stage_boundary_c2
  if (AxisResourcesAttr resources = getAxisResourcesAttr())
    for (auto [i, input] : llvm::enumerate(getInputs())) {
      auto type = cast<RankedTensorType>(input.getType());
      if (resources.getNumEntries() > type.getRank())
        return emitOpError() << resources.getNumEntries() << " axis resources are given, expected at most "
                             << type.getRank() << ", the rank of operand #" << i;
    }
  return success();
}
