//===- DroppedDims.h - Slices that drop dims -------------------*- C++ -*--===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_DROPPEDDIMS_H
#define SHARDKIT_DIALECT_SPMD_IR_DROPPEDDIMS_H

namespace mlir {
class Operation;

namespace spmd {

/// Makes reshapes of dims that slices inside `root` drop or add, where others of size 1, or of a size that is not
/// known, come before. Which of them are meant only the type says, and MLIR 22's canonicalization takes the first ones
/// when it folds a constant into the slice (llvm-project#178118, #217361): [1, 8, 1] to 8x1 may become [1, 1, 8].
/// Whoever canonicalizes a module as written does it before.
void makeDroppedDimsExplicit(Operation *root);

} // namespace spmd
} // namespace mlir

#endif // SHARDKIT_DIALECT_SPMD_IR_DROPPEDDIMS_H
