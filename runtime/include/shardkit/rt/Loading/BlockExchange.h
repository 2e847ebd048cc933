//===- BlockExchange.h - Weights read in blocks, exchanged ------*- C++ -*-===//
//
// Where every rank would read most of a stored tensor (it is held by several, or cut in
// runs so short that what lies between them is read too), each reads one block of it
// instead, and the ranks exchange what they read: a collective in closed form like any
// other.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_LOADING_BLOCKEXCHANGE_H
#define SHARDKIT_RT_LOADING_BLOCKEXCHANGE_H

#include "shardkit/rt/Loading/Source.h"
#include "shardkit/rt/Manifest/Manifest.h"

namespace shardkit::rt {

/// The move to what `ranks` ranks hold of `value` from blocks of it: rank r has the
/// elements [r, r + 1) * globalElements / ranks, in order, in inElements. Nothing where
/// reading a block is not less for every rank than reading its own, where the value is made
/// from stored tensors in another way than by reading it, or where blocks and
/// shards do not divide into each other.
std::optional<CollectiveInfo> moveFromBlocks(const ValueInfo &value, const TensorSource &source, int64_t ranks);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_BLOCKEXCHANGE_H
