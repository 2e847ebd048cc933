//===- Phases.h - What the IR still needs before a bundle -------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARD_COMPILE_PHASES_H
#define SHARDKIT_TOOLS_SHARD_COMPILE_PHASES_H

#include "shardkit/Passes.h"

namespace mlir::spmd {

/// Gives arguments of dynamic size the sizes `NAME=8x16`, before all else.
LogicalResult specializeShapes(ModuleOp module, ArrayRef<std::string> shapes);

/// Runs the phases that `module` still needs, up to local view. `report`, if not null,
/// becomes the JSON text of --spmd-report.
LogicalResult runPhases(ModuleOp module, const PhaseOptions &options, std::string *report);

/// The module as one device runs it: a copy without annotations and meshes.
/// Null after an error.
OwningOpRef<ModuleOp> makeReference(ModuleOp module);

/// Forgets which functions are references, so that private ones need not be
/// sharded.
void dropReferences(ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_TOOLS_SHARD_COMPILE_PHASES_H
