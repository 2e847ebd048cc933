//===- StableHLOOps.h - Ops of StableHLO by their names ---------*- C++ -*-===//
//
// StableHLO is not linked. Ops are made in generic form, of the dialect that the context has
// under that name: StableHLO itself, or one that takes any op.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_CONVERSION_STABLEHLOOPS_H
#define SHARDKIT_LIB_CONVERSION_STABLEHLOOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Loads the dialect, if it is registered. Of `Pass::initialize`, where dialects may be loaded.
void loadStableHLO(MLIRContext *context);
/// One error if the context takes no ops of StableHLO.
LogicalResult verifyTakesStableHLO(ModuleOp module, StringRef pass);

/// `stablehlo.NAME` in generic form, with `regions` empty regions.
Operation *createStableHLO(OpBuilder &b, Location loc, StringRef name, TypeRange types, ValueRange operands,
                           ArrayRef<NamedAttribute> attributes = {}, unsigned regions = 0);
/// An op of one result.
Value emitStableHLO(OpBuilder &b, Location loc, StringRef name, Type type, ValueRange operands,
                    ArrayRef<NamedAttribute> attributes = {});

inline bool isStableHLO(Operation *op, StringRef name) {
  StringRef own = op->getName().getStringRef();
  return own.consume_front("stablehlo.") && own == name;
}

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_CONVERSION_STABLEHLOOPS_H
