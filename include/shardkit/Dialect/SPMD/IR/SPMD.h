//===- SPMD.h - The spmd dialect --------------------------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMD_H
#define SHARDKIT_DIALECT_SPMD_IR_SPMD_H

#include "shardkit/Dialect/SPMD/IR/SPMDAttrs.h"
#include "shardkit/Layout/Layout.h"
#include "shardkit/Layout/ReshardPlan.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "shardkit/Dialect/SPMD/IR/SPMDDialect.h.inc"
#include "shardkit/Dialect/SPMD/IR/SPMDInterfaces.h.inc"

#define GET_OP_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDCollectives.h.inc"
#define GET_OP_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDOps.h.inc"
#define GET_OP_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDStages.h.inc"

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMD_H
