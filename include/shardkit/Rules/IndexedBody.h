//===- IndexedBody.h - Bodies over an index space ---------------*- C++ -*-===//
//
// Structured ops, tensor.generate and tensor.pad: factor k of their builtin rule is
// loop k (dim k of the result), whatever its kind; indexed factors come after these.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_INDEXEDBODY_H
#define SHARDKIT_RULES_INDEXEDBODY_H

#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// The region that runs over an index space, null for other ops.
Region *getIndexedBody(Operation *op);
/// True if the body of the op reads the indices of the element that it computes.
bool readsIndices(Operation *op);
/// True if a body that reads indices reads elements of tensors, maybe at these.
bool readsTensorsAtIndices(Operation *op);
/// The loop whose index a value in the body is, or -1.
int64_t getLoopOfIndex(Operation *op, Value index);
/// Adds the tensors that the body captures as operands, in order of first use:
///   * a dim that every use reads at exactly the index of loop k, of `sizes[k]`, has
///     factor k;
///   * a dim that is read at one other index per execution of the body has an indexed
///     factor, the same for all dims of that size that are read at that index, if the op
///     can run without the elements of other shards (IndexedOps.h);
///   * other dims have no factor.
void addCapturedOperands(ShardingRule &rule, Operation *op, llvm::ArrayRef<int64_t> sizes);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_INDEXEDBODY_H
