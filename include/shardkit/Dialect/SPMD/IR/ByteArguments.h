//===- ByteArguments.h - Weights of 8-bit floats are bytes ------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_BYTEARGUMENTS_H
#define SHARDKIT_DIALECT_SPMD_IR_BYTEARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Weights of 8-bit floats of public functions become arguments of bytes, which is what is stored. Their loading
/// functions return bytes.
void passBytes(ModuleOp module);

/// True if an argument is a weight of 8-bit floats.
bool hasByteWeights(func::FuncOp func);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_BYTEARGUMENTS_H
