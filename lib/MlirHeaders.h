//===- MlirHeaders.h - Headers of MLIR that are parsed once -----*- C++ -*-===//
//
// Precompiled for all libraries that use MLIR (SHARDKIT_PRECOMPILE_HEADERS). Nothing includes it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_MLIRHEADERS_H
#define SHARDKIT_LIB_MLIRHEADERS_H

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

#endif // SHARDKIT_LIB_MLIRHEADERS_H
