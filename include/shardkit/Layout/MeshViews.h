//===- MeshViews.h - Meshes over the same devices ---------------*- C++ -*-===//
//
// Meshes that list the same devices are views of each other: <"x"=2, "y"=3> and
// <"u"=3, "v"=2>, also with a device order that permutes digits. Shardings on
// any of them become shardings on one mesh, where layout arithmetic applies:
//
//   views                            common mesh
//   <"x"=4, "y"=2>, <"u"=2, "w"=4>   2 x 2 x 2    every boundary of an axis is one
//   <"x"=2, "y"=3>, <"u"=3, "v"=2>   6            boundaries that do not divide each
//                                                 other stay inside an axis
//   one mesh                         that mesh
//
// Boundaries inside an axis of the common mesh still delimit full axes of a view, which
// matters for uneven dims (Mesh::viewBoundaries). A sub-axis of one view that crosses a
// boundary of another needs the flat mesh of one axis, which has every digit.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_MESHVIEWS_H
#define SHARDKIT_LAYOUT_MESHVIEWS_H

#include "shardkit/Layout/Layout.h"

namespace mlir::spmd {

class MeshViews {
public:
  /// The first mesh gives the order of the ranks. std::nullopt if another has other
  /// devices (`error.reason`: mesh_devices), or has them in an order that is not a
  /// permutation of digits (mesh_order). The meshes must outlive the views.
  static std::optional<MeshViews> get(llvm::ArrayRef<const Mesh *> meshes, ShardingError &error, bool flat = false);

  /// Adds a view with the devices and the order of the common mesh, which stays as it is.
  void addView(const Mesh &mesh) { views.push_back({&mesh, {{1, 1, mesh.numDevices()}}}); }

  const Mesh &getCommon() const { return common; }
  /// True if the common mesh is the only one.
  bool isSingle() const { return single; }
  unsigned size() const { return views.size(); }
  const Mesh &getView(unsigned view) const { return *views[view].mesh; }
  /// True if ranks of a view are ranks of the common mesh.
  bool hasCommonOrder(unsigned view) const { return views[view].pieces.size() <= 1; }

  /// Entries on a view as entries on the common mesh. std::nullopt if they split the
  /// device order of the view where the common order has no such digit.
  std::optional<DimEntries> toCommon(llvm::ArrayRef<DimEntry> entries, unsigned view) const;
  std::optional<Sharding> toCommon(const Sharding &sharding, unsigned view) const;
  /// The inverse. std::nullopt if they are not (sub-)axes of the view.
  std::optional<DimEntries> fromCommon(llvm::ArrayRef<DimEntry> entries, unsigned view) const;
  std::optional<Sharding> fromCommon(const Sharding &sharding, unsigned view) const;

  /// A mesh of the same devices on which all dims that allow padding on the common mesh
  /// (as full axes of one view or another) are sharded by full axes, and the sharding on
  /// it. std::nullopt if the common mesh is such a mesh, or if there is none.
  struct Refined {
    Mesh mesh;
    Sharding sharding;
  };
  std::optional<Refined> refine(const Sharding &sharding) const;

private:
  /// A digit of a view's rank is the digit of the same size at `common` of the
  /// common rank.
  struct Piece {
    int64_t view, common, size;
  };
  struct View {
    const Mesh *mesh;
    llvm::SmallVector<Piece, 1> pieces; // by rising stride of the view
  };
  static bool map(const RankDigit &digit, const View &view, bool toCommon, llvm::SmallVectorImpl<RankDigit> &out);

  llvm::SmallVector<View, 1> views;
  Mesh common;
  bool single = false;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_MESHVIEWS_H
