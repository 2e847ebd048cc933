//===- Reference.h - The unsharded program of a comparison ------*- C++ -*-===//

#ifndef SHARDKIT_TRANSFORMS_REFERENCE_H
#define SHARDKIT_TRANSFORMS_REFERENCE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// The reference program of a module, which one device runs: a copy without annotations
/// and meshes. Null after an error.
///   1. A function with `spmd.reference = @f` gets the body of @f.
///   2. Arguments with segments become their stored tensors, and results that update them
///      become one result per segment, as --spmd-split-segments does in the program.
///   3. --spmd-strip removes the annotations.
OwningOpRef<ModuleOp> makeReference(ModuleOp module);

/// Removes `spmd.reference` from all functions, so that private references need not be
/// sharded.
void dropReferences(ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_TRANSFORMS_REFERENCE_H
