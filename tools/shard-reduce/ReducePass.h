//===- ReducePass.h - --spmd-reduce -----------------------------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARD_REDUCE_REDUCEPASS_H
#define SHARDKIT_TOOLS_SHARD_REDUCE_REDUCEPASS_H

namespace mlir::spmd {

/// Registers --spmd-reduce, which tries every edit of Reductions.h until none results in
/// a program that the test script considers interesting.
void registerReducePass();

} // namespace mlir::spmd

#endif // SHARDKIT_TOOLS_SHARD_REDUCE_REDUCEPASS_H
