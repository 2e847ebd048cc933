//===- Loading.h - Functions from stored tensors to arguments ---*- C++ -*-===//
//
// `spmd.weight` names the stored tensors of an argument, `spmd.load` the private
// function that computes the argument from them. Such functions do not belong to
// the program: they are never sharded, and the phases skip them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_LOADING_H
#define SHARDKIT_DIALECT_SPMD_IR_LOADING_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::spmd {

/// On a call of a host function: its extra inputs, numbers and text, that are not
/// operands.
inline constexpr llvm::StringLiteral kExtrasAttr = "spmd.extras";

/// The names that an `spmd.weight` gives: one, or those of a list.
llvm::SmallVector<llvm::StringRef> getStoredNames(Attribute weight);

/// The name of a weight: its `spmd.name` if a function computes it from stored tensors,
/// else (or without a name) the names of these, joined by '+'. Empty for an argument
/// that is not a weight.
std::string getWeightName(FunctionOpInterface func, unsigned argument);

/// The loading functions, shard functions and the functions that they call.
llvm::DenseSet<Operation *> getLoadingFunctions(ModuleOp module);
/// The functions that are not used for loading only, in program order; without the unsharded counterparts of
/// functions with probes.
llvm::SmallVector<func::FuncOp> getProgramFunctions(ModuleOp module);

/// Checks `spmd.load` of argument `argument`, of global type `type`: a private
/// function with a body from as many tensors of static shape as `spmd.weight`
/// names to that type. (A function that calls host functions returns a stack of
/// shards, as given by the sharding.) From phase "partitioned" on the function may be
/// missing.
LogicalResult verifyLoad(FunctionOpInterface func, unsigned argument, Type type, Location loc);

/// True if `load` calls a function without a body.
bool callsHostFunctions(func::FuncOp load);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_LOADING_H
