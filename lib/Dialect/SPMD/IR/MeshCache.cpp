//===- MeshCache.cpp - The meshes of a module as plain data ----------------===//

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

using namespace mlir;
using namespace mlir::spmd;

SmallVector<MeshOp> spmd::getMeshesWithAxes(ModuleOp module) {
  SmallVector<MeshOp> all = llvm::to_vector(module.getOps<MeshOp>());
  SmallVector<MeshOp> found;
  llvm::copy_if(all, std::back_inserter(found), [](MeshOp mesh) { return !mesh.getMesh().getAxes().empty(); });
  return found.empty() ? all : found;
}

MeshCache::MeshCache(Operation *op) {
  op = SymbolTable::getNearestSymbolTable(op);
  if (!op)
    return;
  for (Block &block : op->getRegion(0))
    for (auto mesh : block.getOps<MeshOp>()) {
      index[mesh.getSymName()] = meshes.size();
      meshes.push_back({mesh, std::make_unique<Mesh>(toMesh(mesh))});
    }
}

const Mesh *MeshCache::lookup(StringRef name) const {
  auto it = index.find(name);
  return it == index.end() ? nullptr : meshes[it->second].mesh.get();
}

const Mesh *MeshCache::lookup(FlatSymbolRefAttr name) const { return lookup(name.getValue()); }

MeshOp MeshCache::lookupOp(FlatSymbolRefAttr name) const {
  auto it = index.find(name.getValue());
  return it == index.end() ? MeshOp() : meshes[it->second].op;
}

const Mesh *MeshCache::lookupOrEmit(FlatSymbolRefAttr name, EmitErrorFn emitError) const {
  if (const Mesh *mesh = lookup(name))
    return mesh;
  InFlightDiagnostic diag = emitError();
  diag << "unknown mesh " << name << ", expected an spmd.mesh of the module";
  std::string list;
  for (const Entry &entry : meshes)
    list += (list.empty() ? "@" : ", @") + entry.mesh->name;
  diag.attachNote() << "available meshes: " << (list.empty() ? "none" : list);
  return nullptr;
}

FailureOr<ShardingOnMesh> MeshCache::read(ShardingAttr attr, EmitErrorFn emitError) const {
  const Mesh *mesh = lookupOrEmit(attr.getMesh(), emitError);
  if (!mesh)
    return failure();
  FailureOr<Sharding> sharding = toSharding(attr, *mesh, emitError);
  if (failed(sharding))
    return failure();
  return ShardingOnMesh{mesh, std::move(*sharding)};
}
