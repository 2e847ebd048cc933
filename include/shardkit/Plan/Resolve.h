//===- Resolve.h - From specs to shardings ----------------------*- C++ -*-===//

#ifndef SHARDKIT_PLAN_RESOLVE_H
#define SHARDKIT_PLAN_RESOLVE_H

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Plan/ShardingPlan.h"

namespace mlir::spmd {

/// The value that a spec applies to.
struct SpecTarget {
  Type type;
  /// For messages: `argument #1`, `argument "w" of @main`.
  std::string what;
  Location loc;
};

/// The sharding that `spec` denotes for `target`. Axis resources are looked up on the
/// mesh of the spec, else on `defaultMesh`, which may be null. Rank, axis names, reuse
/// and divisibility are checked; an error has the location of the spec and lists the
/// legal values.
FailureOr<ShardingAttr> resolveSpec(const ShardingSpec &spec, const MeshCache &meshes, FlatSymbolRefAttr defaultMesh,
                                    const SpecTarget &target);

/// As resolveSpec for a target that may have the sharding `existing` (or null): that
/// must denote the same layout and is returned, else an error names both.
FailureOr<ShardingAttr> resolveSpecAt(const ShardingSpec &spec, const MeshCache &meshes, FlatSymbolRefAttr defaultMesh,
                                      const SpecTarget &target, Attribute existing);

/// The mesh called `name`; without one, an error with the nearest names.
const Mesh *lookupMeshOrEmit(const MeshCache &meshes, llvm::StringRef name, EmitErrorFn emitError);

} // namespace mlir::spmd

#endif // SHARDKIT_PLAN_RESOLVE_H
