//===- Phases.h - The phases before a bundle --------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_DRIVER_PHASES_H
#define SHARDKIT_LIB_DRIVER_PHASES_H

#include "shardkit/Passes.h"

namespace mlir::spmd {

/// Sets the sizes of arguments of dynamic size, `NAME=8x16`, before all phases.
LogicalResult specializeShapes(ModuleOp module, ArrayRef<std::string> shapes);

/// Adds the arguments for sizes that only the run knows and for large constants, in a module that is not propagated
/// yet. The reference is made after it.
LogicalResult addArguments(ModuleOp module, const PhaseOptions &options);

/// Runs the remaining phases of `module`, up to local view. `report`, if not null, is set to
/// the JSON text of --spmd-report. With `proves`, or the option `prove`, a program that is refused is an error, and
/// `certificate` is set; with the option, what is not decided is a warning.
LogicalResult runPhases(ModuleOp module, const PhaseOptions &options, std::string *report,
                        std::string *certificate = nullptr, bool proves = false);

/// Writes the segments that --spmd-infer-segments finds for arguments with loading functions: the reference
/// takes their stored tensors.
LogicalResult writeInferredSegments(ModuleOp module, const PhaseOptions &options);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_DRIVER_PHASES_H
