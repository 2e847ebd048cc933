//===- CPUOps.h - What CPU code generation keeps whole ----------*- C++ -*-===//

#ifndef SHARDKIT_TARGET_CPU_CPUOPS_H
#define SHARDKIT_TARGET_CPU_CPUOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

#include "shardkit/Target/CPU/CPUOpsDialect.h.inc"
#define GET_OP_CLASSES
#include "shardkit/Target/CPU/CPUOps.h.inc"

#endif // SHARDKIT_TARGET_CPU_CPUOPS_H
