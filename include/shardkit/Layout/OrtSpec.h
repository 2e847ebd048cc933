//===- OrtSpec.h - Device lists of ONNX Runtime as digits -------*- C++ -*-===//
//
// ONNX Runtime shards dim d over axis k of a mesh that lists devices, possibly
// several times: chunk i goes to the devices at coordinate i, and a device that
// owns several chunks concatenates them. Most such lists are digit layouts:
//
//   [0, 1, 0, 1]             {2, "x"}        a stride, then the axis
//   [0, 0, 1, 1]             {"x"}
//   [0, 2, 1, 3]             {"x"} with device_ids = [0, 2, 1, 3]
//   [0, 1, 1, 0]             none: reflected order
//   [0, 1, 2, 0]             none: uneven ownership
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_ORTSPEC_H
#define SHARDKIT_LAYOUT_ORTSPEC_H

#include "shardkit/Layout/Sharding.h"

namespace mlir::spmd {

/// A mesh as ONNX Runtime writes it: `elements` has prod(shape) devices,
/// row-major.
struct OrtMesh {
  llvm::SmallVector<int64_t> shape, elements;
};

/// The distinct devices of such a mesh as a mesh with the single axis "x", and for
/// each axis of the list the entries of a dim that is sharded on it.
struct OrtAxes {
  Mesh mesh;
  llvm::SmallVector<DimEntries> axes;
};

/// Splits the list into digits, minor to major. std::nullopt if it is not a digit layout
/// (`error.reason`: ort_shape, ort_not_digits, ort_uneven_ownership).
std::optional<OrtAxes> peelOrtMesh(const OrtMesh &mesh, ShardingError &error);

/// A sharding and the mesh it is on.
struct MeshSharding {
  Mesh mesh;
  Sharding sharding;
};
/// Reads a spec (`RS[0]`, one token per dim) on a mesh.
std::optional<MeshSharding> importOrtSpec(llvm::StringRef spec, const OrtMesh &mesh, ShardingError &error);

/// The inverse: a spec and mesh list that denote `sharding` on `mesh`. std::nullopt
/// if no list denotes it (`error.reason`: ort_partial, ort_uneven, ort_axes).
struct OrtSpec {
  std::string spec;
  OrtMesh mesh;
};
std::optional<OrtSpec> exportOrtSpec(const Sharding &sharding, const Mesh &mesh, ShardingError &error);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_ORTSPEC_H
