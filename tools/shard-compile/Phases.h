//===- Phases.h - What the IR still needs before a bundle -------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARD_COMPILE_PHASES_H
#define SHARDKIT_TOOLS_SHARD_COMPILE_PHASES_H

#include "shardkit/Passes.h"

namespace mlir::spmd {

/// Runs the phases that `module` still needs, up to local view.
LogicalResult runPhases(ModuleOp module, const PhaseOptions &options);

/// The module as one device runs it: a copy without annotations and meshes.
/// Null after an error.
OwningOpRef<ModuleOp> makeReference(ModuleOp module);

/// Forgets which functions are references, so that private ones need not be
/// sharded.
void dropReferences(ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_TOOLS_SHARD_COMPILE_PHASES_H
