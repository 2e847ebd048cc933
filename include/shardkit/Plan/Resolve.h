//===- Resolve.h - From specs to shardings ----------------------*- C++ -*-===//

#ifndef SHARDKIT_PLAN_RESOLVE_H
#define SHARDKIT_PLAN_RESOLVE_H

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Plan/ShardingPlan.h"

namespace mlir::spmd {

/// A place that a spec is about.
struct SpecPlace {
  Type type;
  /// For messages: `argument #1`, `argument "w" of @main`.
  std::string what;
  Location loc;
};

/// The sharding that `spec` means at `place`. Axis resources are looked up on
/// the spec's mesh, else on `defaultMesh`, which may be null. Rank, axis names,
/// reuse and divisibility are checked; an error stands where the spec is
/// written and lists what is legal.
FailureOr<ShardingAttr> resolveSpec(const ShardingSpec &spec, const MeshCache &meshes, FlatSymbolRefAttr defaultMesh,
                                    const SpecPlace &place);

/// As resolveSpec, where `existing` (or null) stands already: that must be the
/// same layout and stays, else an error names both.
FailureOr<ShardingAttr> resolveSpecAt(const ShardingSpec &spec, const MeshCache &meshes, FlatSymbolRefAttr defaultMesh,
                                      const SpecPlace &place, Attribute existing);

/// The mesh called `name`; without one, an error with the nearest names.
const Mesh *lookupMeshOrEmit(const MeshCache &meshes, llvm::StringRef name, EmitErrorFn emitError);

} // namespace mlir::spmd

#endif // SHARDKIT_PLAN_RESOLVE_H
