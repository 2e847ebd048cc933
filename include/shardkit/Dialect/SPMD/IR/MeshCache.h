//===- MeshCache.h - The meshes of a module as plain data -------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_MESHCACHE_H
#define SHARDKIT_DIALECT_SPMD_IR_MESHCACHE_H

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir::spmd {

/// A sharding as plain data, with the mesh that it is on.
struct ShardingOnMesh {
  const Mesh *mesh;
  Sharding sharding;
};

/// The meshes of a module, in program order, without those that have no axes: JAX writes shardings of scalars on an
/// empty mesh in addition to the one that a program is sharded on. All meshes where none has axes.
llvm::SmallVector<MeshOp> getMeshesWithAxes(ModuleOp module);

/// The meshes of a symbol table as plain data: built once per pass, stable
/// addresses, in program order.
class MeshCache {
public:
  MeshCache() = default;
  /// `op` is the module, or any op inside it.
  explicit MeshCache(Operation *op);

  /// Null if there is no mesh of that name.
  const Mesh *lookup(FlatSymbolRefAttr name) const;
  const Mesh *lookup(llvm::StringRef name) const;
  MeshOp lookupOp(FlatSymbolRefAttr name) const;
  /// As lookup, with an error that lists the existing meshes.
  const Mesh *lookupOrEmit(FlatSymbolRefAttr name, EmitErrorFn emitError) const;

  /// A sharding and its mesh; one error where the mesh or one of the axes does not exist.
  FailureOr<ShardingOnMesh> read(ShardingAttr attr, EmitErrorFn emitError) const;
  bool empty() const { return meshes.empty(); }
  size_t size() const { return meshes.size(); }
  /// Pairs of op and plain mesh, in program order.
  struct Entry {
    MeshOp op;
    std::unique_ptr<Mesh> mesh;
  };
  llvm::ArrayRef<Entry> entries() const { return meshes; }

private:
  llvm::SmallVector<Entry, 2> meshes;
  llvm::StringMap<unsigned> index;
};

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_MESHCACHE_H
