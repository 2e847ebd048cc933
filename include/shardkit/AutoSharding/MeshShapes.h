//===- MeshShapes.h - The sizes of a mesh's axes, by search -----*- C++ -*-===//

#ifndef SHARDKIT_AUTOSHARDING_MESHSHAPES_H
#define SHARDKIT_AUTOSHARDING_MESHSHAPES_H

#include "shardkit/AutoSharding/ModuleSearch.h"

namespace mlir::spmd {

/// Searches a copy of the module for every way to write its number of devices as a
/// product over the axes of its only mesh, and gives the mesh the sizes that cost least:
/// of equal costs those it has, else the larger first axis. What was tried is left on the
/// module, best first. An error where no shape has layouts.
LogicalResult chooseMeshShape(ModuleOp module, const SearchOptions &options);

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_MESHSHAPES_H
