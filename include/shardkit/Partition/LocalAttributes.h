//===- LocalAttributes.h - What an op says about sizes, locally -*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_LOCALATTRIBUTES_H
#define SHARDKIT_PARTITION_LOCALATTRIBUTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::spmd {

/// Types of a tensor in the global and in the local program.
struct TensorTypes {
  llvm::function_ref<RankedTensorType(Value)> getGlobal, getLocal;
};

/// Adjusts what `op` says about sizes in attributes and constant operands to the
/// local types of its operands and results, and makes `tensor.dim` of a static
/// dim the global size. Cut dims are covered fully wherever a rule lets them be
/// cut, so a size of theirs is the local one. Does not retype the op.
void makeAttributesLocal(Operation *op, const TensorTypes &types);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_LOCALATTRIBUTES_H
