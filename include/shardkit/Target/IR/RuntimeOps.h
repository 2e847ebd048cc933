//===- RuntimeOps.h - What the runtime does, as ops -------------*- C++ -*-===//

#ifndef SHARDKIT_TARGET_IR_RUNTIMEOPS_H
#define SHARDKIT_TARGET_IR_RUNTIMEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

#include "shardkit/Target/IR/RuntimeOpsDialect.h.inc"
#define GET_OP_CLASSES
#include "shardkit/Target/IR/RuntimeOps.h.inc"

#endif // SHARDKIT_TARGET_IR_RUNTIMEOPS_H
