//===- DroppedDims.h - Slices that drop dims -------------------*- C++ -*--===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_DROPPEDDIMS_H
#define SHARDKIT_DIALECT_SPMD_IR_DROPPEDDIMS_H

namespace mlir {
class Operation;

namespace spmd {

/// Creates reshapes for dims that slices inside `root` drop or add after other dims of size 1 or of unknown size. Only
/// the type defines which dims are meant, and MLIR 22's canonicalization takes the first ones when it folds a constant
/// into the slice (llvm-project#178118, #217361): [1, 8, 1] to 8x1 may become [1, 1, 8]. Must run before a module as
/// written is canonicalized.
void makeDroppedDimsExplicit(Operation *root);

} // namespace spmd
} // namespace mlir

#endif // SHARDKIT_DIALECT_SPMD_IR_DROPPEDDIMS_H
