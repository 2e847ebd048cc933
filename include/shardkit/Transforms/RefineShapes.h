//===- RefineShapes.h - Static types of known sizes -------------*- C++ -*-===//

#ifndef SHARDKIT_TRANSFORMS_REFINESHAPES_H
#define SHARDKIT_TRANSFORMS_REFINESHAPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// Gives an argument a type with more known sizes. Its users see a cast, until refineShapes.
void setArgumentType(func::FuncOp func, BlockArgument arg, RankedTensorType type);

/// Gives values the sizes that follow from those of the arguments, through ops, branches and loops, up to the results.
void refineShapes(ArrayRef<func::FuncOp> funcs);

} // namespace mlir::spmd

#endif // SHARDKIT_TRANSFORMS_REFINESHAPES_H
