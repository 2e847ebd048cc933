//===- BlockExchange.h - Weights read in blocks, exchanged ------*- C++ -*-===//
//
// Some tensors are read almost completely by every rank: replicated ones, and those whose
// shards are runs so short that the bytes between them are read too. Each rank then reads
// one contiguous block instead, and the ranks exchange their blocks by a collective.
//
// Example: 2 ranks hold the columns [0, 2) and [2, 4) of a 4 x 4 tensor. Rank 0 reads rows
// 0 and 1, rank 1 reads rows 2 and 3, and an all-to-all gives each rank its columns.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_LOADING_BLOCKEXCHANGE_H
#define SHARDKIT_RT_LOADING_BLOCKEXCHANGE_H

#include "shardkit/rt/Loading/Source.h"
#include "shardkit/rt/Manifest/Manifest.h"

namespace shardkit::rt {

/// The collective that makes the shards of `value` on `ranks` ranks from blocks of it: the
/// input of rank r has the elements [r, r + 1) * globalElements / ranks, in order.
/// std::nullopt if
///   * some rank would not read less than without the exchange,
///   * a function makes the value from stored tensors, or
///   * blocks and shards do not divide each other.
std::optional<CollectiveInfo> moveFromBlocks(const ValueInfo &value, const TensorSource &source, int64_t ranks);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_BLOCKEXCHANGE_H
