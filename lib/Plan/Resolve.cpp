//===- Resolve.cpp - From specs to shardings ------------------------------===//

#include "shardkit/Plan/Resolve.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"

#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "shardkit/Support/Names.h"

using namespace mlir;
using namespace mlir::spmd;

/// The meshes of the module, for messages.
static SmallVector<StringRef> getMeshNames(const MeshCache &meshes) {
  SmallVector<StringRef> names;
  for (const MeshCache::Entry &entry : meshes.entries())
    names.push_back(entry.mesh->name);
  return names;
}

const Mesh *spmd::lookupMeshOrEmit(const MeshCache &meshes, StringRef name, EmitErrorFn emitError) {
  if (const Mesh *mesh = meshes.lookup(name))
    return mesh;
  std::string list = listNearest(name, getMeshNames(meshes));
  InFlightDiagnostic diag = emitError();
  diag << "unknown mesh @" << name << ", expected ";
  if (list.empty())
    diag << "a mesh of the plan or the module, which have none";
  else
    diag << "one of " << list;
  return nullptr;
}

FailureOr<ShardingAttr> spmd::resolveSpec(const ShardingSpec &spec, const MeshCache &meshes,
                                          FlatSymbolRefAttr defaultMesh, const SpecTarget &target) {
  auto emitError = [&]() {
    InFlightDiagnostic diag = spec.emitError();
    if (target.loc != spec.loc)
      diag.attachNote(target.loc) << target.what << " is here";
    return diag;
  };
  auto tensor = dyn_cast<RankedTensorType>(target.type);
  if (!tensor)
    return emitError() << (spec.sharding ? "sharding" : "axis resources") << " on " << target.type
                       << ", expected a ranked tensor";

  // A sharding.
  if (ShardingAttr sharding = spec.sharding) {
    const Mesh *mesh = lookupMeshOrEmit(meshes, sharding.getMesh().getValue(), emitError);
    if (!mesh || failed(verifyShardingOf(sharding, tensor, *mesh, target.what, emitError)))
      return failure();
    return sharding;
  }

  // Axis resources.
  AxisResourcesAttr resources = spec.resources;
  FlatSymbolRefAttr meshRef = defaultMesh;
  if (!spec.mesh.empty())
    meshRef = FlatSymbolRefAttr::get(tensor.getContext(), spec.mesh);
  if (!meshRef) {
    SmallVector<StringRef> names = getMeshNames(meshes);
    InFlightDiagnostic diag = emitError();
    diag << "axis resources without a mesh, expected ";
    if (names.empty())
      diag << "a mesh in the plan or in the module";
    else
      diag << "\"mesh\" to be one of " << listNearest("", names);
    return diag;
  }
  const Mesh *mesh = lookupMeshOrEmit(meshes, meshRef.getValue(), emitError);
  if (!mesh)
    return failure();
  if (resources.getNumEntries() > tensor.getRank())
    return emitError() << "axis resources of " << target.what << " have " << resources.getNumEntries()
                       << " entries, expected at most " << tensor.getRank() << ", the rank of " << tensor;
  Sharding sharding;
  sharding.dims.resize(tensor.getRank());
  for (int64_t d = 0; d < resources.getNumEntries(); ++d) {
    sharding.dims[d].open = resources.isOpen(d);
    for (StringRef name : resources.getAxes(d)) {
      std::optional<unsigned> axis = mesh->findAxis(name);
      if (!axis) {
        InFlightDiagnostic diag = emitError() << "unknown axis \"" << name << "\" in dim " << d << " of " << target.what
                                              << ", expected an axis of mesh @" << mesh->name;
        diag.attachNote(meshes.lookupOp(meshRef).getLoc()) << "available axes: " << mesh->axesToString();
        return failure();
      }
      sharding.dims[d].entries.push_back({int32_t(*axis), 1, mesh->axes[*axis].size});
    }
  }
  if (failed(verifyShardingOf(sharding, tensor, *mesh, target.what, emitError)))
    return failure();
  return toAttr(tensor.getContext(), meshRef, sharding, *mesh);
}

/// True if both have the same open dims and denote the same layout, in any form and with
/// any priorities.
static bool isSameSharding(ShardingAttr a, ShardingAttr b, const MeshCache &meshes, RankedTensorType type) {
  if (a == b)
    return true;
  const Mesh *meshA = meshes.lookup(a.getMesh()), *meshB = meshes.lookup(b.getMesh());
  if (!meshA || !meshB || !meshA->sameDevices(*meshB) || a.getRank() != b.getRank())
    return false;
  for (auto [dimA, dimB] : llvm::zip_equal(a.getDims(), b.getDims()))
    if (dimA.getOpen() != dimB.getOpen())
      return false;
  // The verifier has accepted both.
  MLIRContext *context = type.getContext();
  auto silent = [&] { return emitError(UnknownLoc::get(context)); };
  FailureOr<Sharding> shardingA = toSharding(a, *meshA, silent);
  FailureOr<Sharding> shardingB = toSharding(b, *meshB, silent);
  if (failed(shardingA) || failed(shardingB))
    return false;
  auto getReplicated = [](const Sharding &sharding, const Mesh &mesh) {
    SmallVector<RankDigit> digits;
    for (const DimEntry &entry : sharding.replicated)
      digits.push_back(
          {mesh.axisStride(entry.axis) * (mesh.axes[entry.axis].size / (entry.pre * entry.size)), entry.size});
    coalesce(digits);
    return digits;
  };
  if (getReplicated(*shardingA, *meshA) != getReplicated(*shardingB, *meshB))
    return false;
  if (!type.hasStaticShape())
    return meshA == meshB && toString(*shardingA, *meshA) == toString(*shardingB, *meshB);
  return Layout::get(*shardingA, *meshA, type.getShape()) == Layout::get(*shardingB, *meshB, type.getShape());
}

FailureOr<ShardingAttr> spmd::resolveSpecAt(const ShardingSpec &spec, const MeshCache &meshes,
                                            FlatSymbolRefAttr defaultMesh, const SpecTarget &target,
                                            Attribute existing) {
  FailureOr<ShardingAttr> sharding = resolveSpec(spec, meshes, defaultMesh, target);
  if (failed(sharding) || !existing)
    return sharding;
  auto old = dyn_cast<ShardingAttr>(existing);
  if (old && isSameSharding(old, *sharding, meshes, cast<RankedTensorType>(target.type)))
    return old;
  InFlightDiagnostic diag = spec.emitError();
  diag << (spec.sharding ? "sharding of " : "axis resources of ") << target.what << " mean " << *sharding
       << ", expected the layout of the existing sharding, " << existing;
  if (target.loc != spec.loc)
    diag.attachNote(target.loc) << target.what << " is here";
  return failure();
}
