//===- FunctionMeshes.h - The meshes of a function --------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_FUNCTIONMESHES_H
#define SHARDKIT_DIALECT_SPMD_IR_FUNCTIONMESHES_H

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/MeshViews.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// The meshes that the shardings of a function name, views of the same devices.
/// Shardings on any of them are read as shardings on one mesh, which layout
/// arithmetic works on, and spelled on one of them again: on the first, in the
/// order of the module, that has the axes, and as whole ones if they are whole axes
/// of the common mesh; where none has, a mesh is added to the module: the common one, or a
/// finer one on which they are whole.
class FunctionMeshes {
public:
  /// `named`: each mesh with a place that names it, not empty. Ranks are those of
  /// the first mesh that has the device order that most have. One error where a
  /// mesh does not exist or the meshes are no views of the same devices.
  static FailureOr<FunctionMeshes> get(ModuleOp module, ArrayRef<std::pair<FlatSymbolRefAttr, Location>> named,
                                       const MeshCache &meshes);
  /// Has all digits of the devices' order spelled, for shardings that `canRead`
  /// says no of, or that a reshape makes.
  void flatten();
  bool isFlat() const { return views->getCommon().axes.size() <= 1; }
  bool canRead(ShardingAttr attr) const;

  /// What shardings are computed with.
  const Mesh &getMesh() const { return views->getCommon(); }
  /// True if the function names one mesh only, so that all whole axes are spelled as
  /// such.
  bool isSingle() const { return views->isSingle(); }
  /// The mesh whose link costs count: the first that has any.
  const Mesh &getCostMesh() const { return *costMesh; }

  FailureOr<Sharding> read(ShardingAttr attr, EmitErrorFn emitError) const;
  FailureOr<SmallVector<DimEntries>> read(FactorsAttr attr, EmitErrorFn emitError) const;
  FailureOr<DimEntries> read(AxesAttr attr, EmitErrorFn emitError) const;
  /// Whole axes of a mesh by name.
  FailureOr<DimEntries> readAxes(FlatSymbolRefAttr mesh, ArrayAttr axes, EmitErrorFn emitError) const;
  /// True if ranks of a mesh are the ranks that are computed with.
  bool hasCommonOrder(FlatSymbolRefAttr mesh) const {
    std::optional<unsigned> view = findView(mesh);
    return view && views->hasCommonOrder(*view);
  }
  /// On `preferred` where it has the axes.
  ShardingAttr getAttr(const Sharding &sharding, FlatSymbolRefAttr preferred = {});
  /// On `mesh` where it has the axes of this value, where they divide a dim be it in parts.
  ShardingAttr getAttrOn(const Sharding &sharding, ArrayRef<int64_t> shape, FlatSymbolRefAttr mesh);
  FactorsAttr getAttr(ArrayRef<DimEntries> factors);

  /// (Sub-)axes as they are spelled, and the mesh they are of.
  struct Spelled {
    FlatSymbolRefAttr name;
    const Mesh *mesh;
    DimEntries entries;
  };
  Spelled spell(ArrayRef<DimEntry> entries);

  /// Text for users.
  std::string toString(const Sharding &sharding) const;
  std::string toString(ArrayRef<DimEntry> entries) const;

  /// Name of the axis that an entry, not a gap, is (a part) of.
  std::string getAxisName(const DimEntry &entry) {
    Spelled spelled = spell(entry);
    return spelled.mesh->axes[spelled.entries.front().axis].name;
  }

private:
  FailureOr<DimEntries> readEntries(FlatSymbolRefAttr mesh, ArrayRef<DimEntryAttr> attrs, EmitErrorFn emitError) const;
  std::optional<unsigned> findView(FlatSymbolRefAttr name) const;
  /// Calls `fn` for each view that has the order of the common mesh until it returns true;
  /// `preferred` comes first, whatever its order. False if none does, or where `preferred`
  /// is the common mesh.
  bool anyView(FlatSymbolRefAttr preferred, llvm::function_ref<bool(unsigned)> fn) const;
  ShardingAttr findAttr(const Sharding &sharding, FlatSymbolRefAttr preferred,
                        llvm::function_ref<bool(const Sharding &, const Mesh &)> fits);
  FlatSymbolRefAttr getCommonName();
  /// Makes `mesh`, of the order of the common one, a view: one that the module has, or a new one.
  FlatSymbolRefAttr addView(const Mesh &mesh);

  ModuleOp module;
  std::optional<MeshViews> views;
  SmallVector<FlatSymbolRefAttr, 1> names; // of the views
  /// Meshes that have no axes: shardings on them are read on the first view.
  SmallVector<FlatSymbolRefAttr, 1> withoutAxes;
  const Mesh *costMesh = nullptr;
  FlatSymbolRefAttr commonName;
  /// Those that were added here, as views.
  SmallVector<std::shared_ptr<const Mesh>, 0> added;
};

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_FUNCTIONMESHES_H
