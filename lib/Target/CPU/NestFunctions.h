//===- NestFunctions.h - Loop nests as functions ----------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_CPU_NESTFUNCTIONS_H
#define SHARDKIT_LIB_TARGET_CPU_NESTFUNCTIONS_H

#include "shardkit/Target/CPU/Passes.h"
#include "mlir/IR/IRMapping.h"
#include <map>

namespace mlir::spmd::cpu {

/// The buffer that a memref is a view of.
Value rootOf(Value value);
/// Whether it is known what this is: memory that no other root has, but for
/// arguments of which the caller may have given two the same buffer.
bool isBuffer(Value root);
/// Of a view of a buffer: what all memrefs that may share memory with it have in common, the
/// buffer, or null for those arguments.
Value sharedMemoryOf(Value memref);

/// Private functions of a module that do what loop nests do; equal ones are one.
class NestFunctions {
public:
  /// Their names are `prefix` and a number.
  NestFunctions(ModuleOp module, std::string prefix) : module(module), prefix(std::move(prefix)) {}

  struct Nest {
    func::FuncOp func;         ///< Null where the nest uses what can be no parameter.
    SmallVector<Value> params; ///< What it is called with behind the leading arguments.
  };
  /// `emit` writes what `nest` does, with what it uses mapped, behind arguments of the
  /// types `leading`. `attributes` are the function's.
  Nest get(Operation *nest, TypeRange leading, ArrayRef<NamedAttribute> attributes,
           function_ref<void(OpBuilder &, ValueRange, IRMapping &)> emit);

private:
  ModuleOp module;
  std::string prefix;
  std::map<std::string, func::FuncOp> byText;
};

} // namespace mlir::spmd::cpu

#endif // SHARDKIT_LIB_TARGET_CPU_NESTFUNCTIONS_H
