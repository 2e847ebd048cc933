//===- LocalAttributes.h - Sizes in attributes of local ops -----*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_LOCALATTRIBUTES_H
#define SHARDKIT_PARTITION_LOCALATTRIBUTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::spmd {

/// Types of a tensor in the global and in the local program.
struct TensorTypes {
  llvm::function_ref<RankedTensorType(Value)> getGlobal, getLocal;
};

/// Adjusts sizes in attributes and constant operands of `op` to the local types of its operands
/// and results, and replaces `tensor.dim` of a static dim by the global size. A rule permits
/// sharding of a dim only if the op covers it fully, so that the size becomes the local one.
/// Does not change the types of the op.
void makeAttributesLocal(Operation *op, const TensorTypes &types);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_LOCALATTRIBUTES_H
