//===- LocalOps.h - Ops of the local program --------------------*- C++ -*-===//
// Internal to the proof. Each function adds the facts of the results of an op, by those of its operands. Where there
// are none, it says why (LocalValues::setGap).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_LOCALOPS_H
#define SHARDKIT_LIB_PROOF_LOCALOPS_H

#include "LocalValues.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd::proof {

/// A collective replaces digits of the forms. (Collectives.cpp)
void visitCollective(CollectiveOpInterface op, LocalValues &values);

/// A collective by which each device receives all that one other device has: the digits of the rank change.
/// std::nullopt if it is not such. (WholeMoves.cpp)
std::optional<Fact> applyPermutation(const Fact &fact, const Move &move, int64_t numDevices);

/// Operands that hold windows of one value, one behind the other. Adds facts to those that the op has as a structured
/// one. (WholeMoves.cpp)
void visitWindowConcat(tensor::ConcatOp op, LocalValues &values);

/// A reshape regroups digits of the forms. True if that gives facts, or if the operand has none. (Reshapes.cpp)
bool visitReshape(Operation &op, LocalValues &values);

/// True if all dims without a form have equal elements. (Reshapes.cpp)
bool hasFormsOf(const Fact &fact, const ClassInfo &info);

/// Operands of equal sizes that are sharded alike: index i of operand n is digit n, then i, of the result. Adds facts
/// to those that the op has as a structured one. (Reshapes.cpp)
void visitEqualConcat(tensor::ConcatOp op, LocalValues &values);

/// An op that computes each element by a term: its results hold elements of the classes with that term.
/// (StructuredOps.cpp)
void visitStructured(Operation &op, const Structured &structured, LocalValues &values);

/// A sort along a dim that every device has all of. (Sorts.cpp)
void visitSort(SortOp op, LocalValues &values);

/// An op that is not taken apart: its operands must be full on all devices. (OpaqueOps.cpp)
void visitOpaque(Operation &op, LocalValues &values);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_LOCALOPS_H
