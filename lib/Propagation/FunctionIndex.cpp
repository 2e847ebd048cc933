//===- FunctionIndex.cpp - Ops of a function by kind ----------------------===//

#include "shardkit/Propagation/FunctionIndex.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/Reshapes.h"
#include "shardkit/Rules/ShardingRule.h"

using namespace mlir;
using namespace mlir::spmd;

void FunctionIndex::addMesh(FlatSymbolRefAttr mesh, Location loc) {
  if (!meshes.empty() && meshes.back().first == mesh)
    return;
  if (llvm::none_of(meshes, [&](auto &m) { return m.first == mesh; }))
    meshes.emplace_back(mesh, loc);
}

void FunctionIndex::takeSignature(func::CallOp call, func::FuncOp callee) {
  auto take = [&](Attribute attr) {
    if (auto sharding = dyn_cast_or_null<ShardingAttr>(attr)) {
      shardings.insert(sharding);
      addMesh(sharding.getMesh(), call.getLoc());
    }
  };
  for (unsigned i = 0; i < callee.getNumArguments(); ++i)
    take(callee.getArgAttr(i, kShardingAttr));
  for (unsigned i = 0; i < callee.getNumResults(); ++i)
    take(callee.getResultAttr(i, kShardingAttr));
}

FunctionIndex FunctionIndex::withCallees(func::FuncOp func) {
  FunctionIndex index(func);
  for (func::CallOp call : index.calls)
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()))
      index.takeSignature(call, callee);
  return index;
}

FunctionIndex::FunctionIndex(func::FuncOp func) : func(func) {
  auto addMesh = [&](Attribute attr, Location loc) {
    auto mesh = dyn_cast_or_null<FlatSymbolRefAttr>(attr);
    if (isa_and_nonnull<OrtAttr>(attr) && !spec)
      spec = loc;
    if (auto sharding = dyn_cast_or_null<ShardingAttr>(attr)) {
      mesh = sharding.getMesh();
      shardings.insert(sharding);
    }
    if (auto factors = dyn_cast_or_null<FactorsAttr>(attr))
      mesh = factors.getMesh();
    if (mesh)
      this->addMesh(mesh, loc);
  };
  MLIRContext *context = func.getContext();
  auto ofValue = StringAttr::get(context, kShardingAttr);
  auto given = StringAttr::get(context, kUserShardingAttr);
  auto ofOp = StringAttr::get(context, kShardingsAttr);
  auto ofOperands = StringAttr::get(context, kOperandShardingsAttr);
  auto compute = StringAttr::get(context, kFactorShardingsAttr);
  for (StringAttr name : {ofValue, given}) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      addMesh(func.getArgAttr(i, name), func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc());
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      addMesh(func.getResultAttr(i, name), func.getLoc());
  }
  addMesh(func->getAttr(kMeshAttr), func.getLoc());
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isConstraint = false;
    if (auto constraint = dyn_cast<WithShardingConstraintOp>(op)) {
      isConstraint = true;
      addMesh(constraint.getShardingAttr(), op->getLoc());
      addMesh(constraint.getOrtAttr(), op->getLoc());
    } else if (auto reshard = dyn_cast<ReshardOp>(op)) {
      addMesh(reshard.getShardingAttr(), op->getLoc());
    } else if (auto manual = dyn_cast<ManualComputationOp>(op)) {
      for (ArrayAttr list : {manual.getInShardings(), manual.getOutShardings()})
        for (Attribute attr : list)
          addMesh(attr, op->getLoc());
    } else if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op)) {
      addMesh(coordinate.getMeshAttr(), op->getLoc());
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      calls.push_back(call);
    } else if (auto group = dyn_cast<ShardingGroupOp>(op)) {
      groups.push_back(group);
    } else if (isReshape(op)) {
      reshapes.push_back(op);
    }
    if (auto shardings = dyn_cast_or_null<ArrayAttr>(op->getDiscardableAttr(ofOp))) {
      if (!isConstraint)
        annotated.push_back(op);
      for (Attribute attr : shardings)
        addMesh(attr, op->getLoc());
    }
    if (auto operands = dyn_cast_or_null<ArrayAttr>(op->getDiscardableAttr(ofOperands)))
      for (Attribute attr : operands)
        addMesh(attr, op->getLoc());
    addMesh(op->getDiscardableAttr(compute), op->getLoc());
    return getIndexedBody(op) ? WalkResult::skip() : WalkResult::advance();
  });
}

FailureOr<std::optional<FunctionMeshes>> FunctionIndex::getMeshes(ArrayRef<const FunctionIndex *> functions,
                                                                  const MeshCache &cache) {
  SmallVector<std::pair<FlatSymbolRefAttr, Location>, 1> named;
  for (const FunctionIndex *index : functions) {
    if (index->spec)
      return emitError(*index->spec) << "spec of ONNX Runtime, expected a sharding; run --spmd-import-ort "
                                        "first";
    for (const auto &entry : index->meshes)
      if (llvm::none_of(named, [&](const auto &known) { return known.first == entry.first; }))
        named.push_back(entry);
  }
  if (named.empty() && cache.size() == 1)
    named.emplace_back(FlatSymbolRefAttr::get(MeshOp(cache.entries().front().op).getSymNameAttr()),
                       cache.entries().front().op->getLoc());
  if (named.empty())
    return std::optional<FunctionMeshes>();
  func::FuncOp func = functions.front()->func;
  // The order that an earlier phase computed with.
  FlatSymbolRefAttr rankMesh;
  for (const FunctionIndex *index : functions)
    if (func::FuncOp each = index->func; !rankMesh)
      rankMesh = each->getAttrOfType<FlatSymbolRefAttr>(kRankMeshAttr);
  auto result = FunctionMeshes::get(func->getParentOfType<ModuleOp>(), named, cache, rankMesh);
  if (failed(result))
    return failure();
  auto canReadAll = [&](const FunctionIndex *index) {
    return llvm::all_of(index->shardings, [&](ShardingAttr attr) { return result->canRead(attr); });
  };
  if (named.size() > 1 && !llvm::all_of(functions, canReadAll))
    result->flatten();
  return std::optional(std::move(*result));
}
