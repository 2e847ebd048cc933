//===- FunctionMeshes.h - The meshes of a function --------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_FUNCTIONMESHES_H
#define SHARDKIT_DIALECT_SPMD_IR_FUNCTIONMESHES_H

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/MeshViews.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// The meshes that the shardings of a function name, which are views of the same devices.
///
/// `read` converts a sharding on any of them to one on the common mesh (MeshViews.h),
/// which layout arithmetic works on. `getAttr` converts back to the first mesh, in the
/// order of the module, that has the axes (as full axes if they are full axes of the
/// common mesh). If none has, a mesh is added to the module: the common one, or a finer
/// one on which they are full axes.
///
///   meshes @a = <"x"=4>, @b = <"u"=2, "v"=2>     common mesh 2 x 2
///   read <@a, [{"x"}]>          -> both common axes
///   getAttr of the major one    -> <@b, [{"u"}]>, since "x":(1)2 is not a full axis of @a
class FunctionMeshes {
public:
  /// `named`: each mesh with a location that names it, not empty. Ranks are those of
  /// `rankMesh` if it is one of them, else of the first mesh with the most frequent device
  /// order. One error if a mesh does not exist or the meshes are not views of the same
  /// devices.
  static FailureOr<FunctionMeshes> get(ModuleOp module, ArrayRef<std::pair<FlatSymbolRefAttr, Location>> named,
                                       const MeshCache &meshes, FlatSymbolRefAttr rankMesh = {});
  /// Replaces the common mesh by the flat mesh, which has every digit of the device
  /// order: for shardings that `canRead` rejects, or that a reshape yields.
  void flatten();
  bool isFlat() const { return views->getCommon().axes.size() <= 1; }
  bool canRead(ShardingAttr attr) const;

  /// The common mesh, which shardings are computed on.
  const Mesh &getMesh() const { return views->getCommon(); }
  /// True if the function names one mesh only, so that its full axes stay full axes.
  bool isSingle() const { return views->isSingle(); }
  /// The mesh with the link costs: the first that has any.
  const Mesh &getCostMesh() const { return *costMesh; }

  FailureOr<Sharding> read(ShardingAttr attr, EmitErrorFn emitError) const;
  FailureOr<SmallVector<DimEntries>> read(FactorsAttr attr, EmitErrorFn emitError) const;
  FailureOr<DimEntries> read(AxesAttr attr, EmitErrorFn emitError) const;
  /// Full axes of a mesh by name.
  FailureOr<DimEntries> readAxes(FlatSymbolRefAttr mesh, ArrayAttr axes, EmitErrorFn emitError) const;
  /// True if ranks of a mesh are ranks of the common mesh.
  bool hasCommonOrder(FlatSymbolRefAttr mesh) const {
    std::optional<unsigned> view = findView(mesh);
    return view && views->hasCommonOrder(*view);
  }
  /// True if a mesh has its devices in an order that is not a permutation of digits of the common one (MeshViews.h).
  bool isReordered(FlatSymbolRefAttr mesh) const {
    std::optional<unsigned> view = findView(mesh);
    return view && views->isReordered(*view);
  }
  /// The first mesh in the common order.
  FlatSymbolRefAttr getFirstName() const { return names.front(); }
  /// True if any mesh is reordered.
  bool hasReordered() const {
    return llvm::any_of(llvm::seq(views->size()), [&](unsigned v) { return views->isReordered(v); });
  }
  /// True if equal shardings on two meshes put equal shards on each device.
  bool haveSameOwners(FlatSymbolRefAttr a, FlatSymbolRefAttr b) const;
  /// On `preferred` if it has the axes. If it is reordered, always on a mesh with its order.
  ShardingAttr getAttr(const Sharding &sharding, FlatSymbolRefAttr preferred = {});
  /// On `mesh` if it has the axes of this value, also as sub-axes of dims that they divide.
  ShardingAttr getAttrOn(const Sharding &sharding, ArrayRef<int64_t> shape, FlatSymbolRefAttr mesh);
  FactorsAttr getAttr(ArrayRef<DimEntries> factors);

  /// (Sub-)axes on one of the meshes.
  struct AxesOnMesh {
    FlatSymbolRefAttr name;
    const Mesh *mesh;
    DimEntries entries;
  };
  AxesOnMesh getAxesOnMesh(ArrayRef<DimEntry> entries);

  /// Text for users.
  std::string toString(const Sharding &sharding) const;
  std::string toString(ArrayRef<DimEntry> entries) const;

  /// Name of the axis that an entry, not a stride, is a (sub-)axis of.
  std::string getAxisName(const DimEntry &entry) {
    AxesOnMesh axes = getAxesOnMesh(entry);
    return axes.mesh->axes[axes.entries.front().axis].name;
  }

private:
  FailureOr<DimEntries> readEntries(FlatSymbolRefAttr mesh, ArrayRef<DimEntryAttr> attrs, EmitErrorFn emitError) const;
  std::optional<unsigned> findView(FlatSymbolRefAttr name) const;
  /// Calls `fn` for each view that has the order of the common mesh until it returns true;
  /// `preferred` comes first, whatever its order. If it is reordered, only views with its
  /// order are tried. False if none does, or if `preferred` is the common mesh.
  bool anyView(FlatSymbolRefAttr preferred, llvm::function_ref<bool(unsigned)> fn) const;
  ShardingAttr findAttr(const Sharding &sharding, FlatSymbolRefAttr preferred,
                        llvm::function_ref<bool(const Sharding &, const Mesh &)> fits);
  FlatSymbolRefAttr getCommonName();
  /// Makes `mesh`, of the order of the common one or reordered, a view: an existing mesh of the module, or a new one.
  FlatSymbolRefAttr addView(const Mesh &mesh, bool isReordered = false);

  ModuleOp module;
  std::optional<MeshViews> views;
  SmallVector<FlatSymbolRefAttr, 1> names; // one per view
  /// Meshes that have no axes: shardings on them are read on the first view.
  SmallVector<FlatSymbolRefAttr, 1> withoutAxes;
  const Mesh *costMesh = nullptr;
  FlatSymbolRefAttr commonName;
  /// Meshes that were added as views.
  SmallVector<std::shared_ptr<const Mesh>, 0> added;
};

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_FUNCTIONMESHES_H
