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
// A mesh in any other order (reversed, rotated) is read as if it had the order of the common mesh (`isReordered`): its
// shards are the same, on other devices. Arguments and results are moved between the two.
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
  /// devices (`error.reason`: mesh_devices). The meshes must outlive the views.
  static std::optional<MeshViews> get(llvm::ArrayRef<const Mesh *> meshes, ShardingError &error, bool flat = false);

  /// Adds a view with the devices and the order of the common mesh, which stays as it is; or, if it is reordered, with
  /// another order that is read as the common one.
  void addView(const Mesh &mesh, bool isReordered = false) {
    views.push_back({&mesh, {{1, 1, mesh.numDevices()}}, isReordered});
  }

  const Mesh &getCommon() const { return common; }
  /// True if the common mesh is the only one.
  bool isSingle() const { return single; }
  unsigned size() const { return views.size(); }
  const Mesh &getView(unsigned view) const { return *views[view].mesh; }
  /// True if ranks of a view are ranks of the common mesh.
  bool hasCommonOrder(unsigned view) const { return !isReordered(view) && views[view].pieces.size() <= 1; }
  /// True if the order of a view is not a permutation of digits of the common order, or if its axes are not such
  /// digits.
  bool isReordered(unsigned view) const { return views[view].isReordered; }

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
    bool isReordered = false;
  };
  static bool map(const RankDigit &digit, const View &view, bool toCommon, llvm::SmallVectorImpl<RankDigit> &out);

  llvm::SmallVector<View, 1> views;
  Mesh common;
  bool single = false;
};

/// The rank in `to` of each rank in `from` if these list the same devices in orders that are not permutations of
/// digits; else empty.
llvm::SmallVector<int64_t> getReordering(const Mesh &from, const Mesh &to);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_MESHVIEWS_H
