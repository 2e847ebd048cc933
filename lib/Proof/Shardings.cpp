//===- Shardings.cpp - Shardings of a boundary from elsewhere -------------===//

#include "shardkit/Proof/Shardings.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

static bool hasShardings(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttr(i, kShardingAttr))
      return true;
  for (unsigned r = 0; r < func.getNumResults(); ++r)
    if (func.getResultAttr(r, kShardingAttr))
      return true;
  return false;
}

/// Adds the mesh of a sharding, if `local` has none of that name.
static LogicalResult takeMesh(ShardingAttr sharding, const MeshCache &meshes, ModuleOp local) {
  MeshOp mesh = meshes.lookupOp(sharding.getMesh());
  if (!mesh)
    return local.emitError() << "mesh " << sharding.getMesh() << " of the shardings does not exist";
  Operation *own = SymbolTable::lookupSymbolIn(local, sharding.getMesh().getAttr());
  if (!own) {
    OpBuilder::atBlockBegin(local.getBody()).clone(*mesh);
    return success();
  }
  auto ownMesh = dyn_cast<MeshOp>(own);
  if (!ownMesh || ownMesh.getMesh() != mesh.getMesh())
    return own->emitError() << sharding.getMesh() << " is not the mesh of the shardings, which is " << mesh.getMesh();
  return success();
}

static LogicalResult checkCount(func::FuncOp local, StringRef noun, unsigned found, unsigned expected) {
  if (found == expected)
    return success();
  return local.emitError() << "@" << local.getName() << " has " << found << " " << noun << ", expected " << expected
                           << ", those of the unsharded function";
}

LogicalResult proof::takeShardings(ModuleOp source, ModuleOp local, bool replace) {
  MeshCache meshes(source);
  for (auto func : local.getOps<func::FuncOp>()) {
    auto from = source.lookupSymbol<func::FuncOp>(func.getName());
    if (func.isPrivate() || !from || !hasShardings(from) || (hasShardings(func) && !replace))
      continue;
    if (failed(checkCount(func, "arguments", func.getNumArguments(), from.getNumArguments())) ||
        failed(checkCount(func, "results", func.getNumResults(), from.getNumResults())))
      return failure();
    auto take = [&](Attribute attr, llvm::function_ref<void(Attribute)> set) {
      if (auto sharding = dyn_cast_or_null<ShardingAttr>(attr))
        if (failed(takeMesh(sharding, meshes, local)))
          return failure();
      set(attr);
      return success();
    };
    auto name = StringAttr::get(func.getContext(), kShardingAttr);
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (failed(take(from.getArgAttr(i, kShardingAttr), [&](Attribute attr) {
            attr ? func.setArgAttr(i, name, attr) : (void)func.removeArgAttr(i, name);
          })))
        return failure();
    for (unsigned r = 0; r < func.getNumResults(); ++r)
      if (failed(take(from.getResultAttr(r, kShardingAttr), [&](Attribute attr) {
            attr ? func.setResultAttr(r, name, attr) : (void)func.removeResultAttr(r, name);
          })))
        return failure();
  }
  return success();
}
