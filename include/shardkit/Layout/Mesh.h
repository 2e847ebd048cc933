//===- Mesh.h - A logical device mesh ---------------------------*- C++ -*-===//
//
// Plain data: names, sizes, device order and link costs of a logical mesh. The
// layout library knows no MLIR operation; the dialect converts `spmd.mesh`
// into this struct once per pass.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_MESH_H
#define SHARDKIT_LAYOUT_MESH_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::spmd {

struct MeshAxis {
  std::string name;
  int64_t size;
};

/// A logical mesh. Axes are ordered major to minor; the logical rank of a
/// device is the row-major index of its coordinates.
struct Mesh {
  std::string name;
  llvm::SmallVector<MeshAxis> axes;
  /// Device of each logical rank; empty means iota.
  llvm::SmallVector<int64_t> deviceIds;
  /// Link costs per axis (s, s/byte), compute rate (flop/s), bandwidth of memory (byte/s) and
  /// memory budget (bytes), of a device. Empty or absent: the defaults of the cost library.
  llvm::SmallVector<double> alpha, beta;
  std::optional<double> flops, bandwidth;
  std::optional<int64_t> memory;
  /// On the common mesh of several views (MeshViews): of each view, the rank strides
  /// between its axes. Those inside an axis of this mesh are axis boundaries too.
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 0> viewBoundaries;

  /// Number of devices (product of the axis sizes).
  int64_t numDevices() const;
  /// Rank stride of axis `i`: product of the sizes of the axes after it.
  int64_t axisStride(unsigned i) const;
  /// Index of the axis called `name`, or std::nullopt.
  std::optional<unsigned> findAxis(llvm::StringRef name) const;
  /// Device of a logical rank.
  int64_t device(int64_t rank) const { return deviceIds.empty() ? rank : deviceIds[rank]; }
  /// True if both meshes have the same devices in the same order, whatever
  /// their axes: they are views of each other.
  bool sameDevices(const Mesh &other) const;
  /// `"x"=2, "y"=4`, for diagnostics.
  std::string axesToString() const;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_MESH_H
