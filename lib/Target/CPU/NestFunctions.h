//===- NestFunctions.h - Loop nests as functions ----------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_CPU_NESTFUNCTIONS_H
#define SHARDKIT_LIB_TARGET_CPU_NESTFUNCTIONS_H

#include "shardkit/Target/CPU/Passes.h"
#include "mlir/IR/IRMapping.h"
#include <map>

namespace mlir::spmd::cpu {

/// The buffer that a memref is a view of.
Value rootOf(Value value);
/// Whether the memory of a root is known: it overlaps no other root, except that the caller
/// can pass one buffer for two arguments.
bool isBuffer(Value root);
/// The alias class of a view of a buffer, equal for all memrefs that may share memory with
/// it: the buffer, or null for such arguments.
Value sharedMemoryOf(Value memref);

/// Private functions of a module with outlined loop nests; equal nests share a function.
class NestFunctions {
public:
  /// The names of the functions are `prefix` and a number.
  NestFunctions(ModuleOp module, std::string prefix) : module(module), prefix(std::move(prefix)) {}

  struct Nest {
    func::FuncOp func;         ///< Null if the nest uses a value that cannot be a parameter.
    SmallVector<Value> params; ///< The operands of the call after the leading arguments.
  };
  /// `emit` writes the body of `nest`, with the values that it uses mapped. The leading
  /// arguments of the function have the types `leading`; it gets `attributes`.
  Nest get(Operation *nest, TypeRange leading, ArrayRef<NamedAttribute> attributes,
           function_ref<void(OpBuilder &, ValueRange, IRMapping &)> emit);

private:
  ModuleOp module;
  std::string prefix;
  std::map<std::string, func::FuncOp> byText;
};

} // namespace mlir::spmd::cpu

#endif // SHARDKIT_LIB_TARGET_CPU_NESTFUNCTIONS_H
