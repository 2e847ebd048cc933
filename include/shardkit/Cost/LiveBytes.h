//===- LiveBytes.h - What a device holds at a time --------------*- C++ -*-===//

#ifndef SHARDKIT_COST_LIVEBYTES_H
#define SHARDKIT_COST_LIVEBYTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// The most bytes of tensors that are live at once in a function in local view.
/// A value lives from the op that gives it to its last user, beyond loops and
/// branches that a user is in; arguments live all the time; what a region defines
/// adds to what lives around it. Views live in what they view; constants,
/// `tensor.empty` and values of dynamic size count nothing. No buffer is taken to
/// be reused in place, so the figure is an upper bound in that respect.
int64_t getPeakBytes(func::FuncOp func);

/// Bytes of a ranked tensor of static shape, 0 for any other type.
int64_t getBytes(Type type);

/// True for an op whose result is its operand, seen otherwise.
bool isView(Operation *op);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_LIVEBYTES_H
