//===- CallRecord.h - Which collectives a rank called ----------*- C++ -*--===//

#ifndef SHARDKIT_RT_CALLRECORD_H
#define SHARDKIT_RT_CALLRECORD_H

#include "shardkit/rt/Collectives/Collective.h"

namespace shardkit::rt {

/// Appends a line to the file that SK_RECORD_CALLS names, if it names one: `rank` calls
/// a collective on `count` items. The same text on every backend:
///
///   rank 1 of [0,1]: all_reduce f32 sum send 0:128 recv 0:128
///   rank 5 of [4,5,6]: exchange i32 root 0 recv 0:12
///
/// After "send" and "recv": each other member (its number in the group) and the elements
/// that it gets and gives; "root": the one member that all of it is taken from.
Status recordCall(const CollectivePlan &plan, int rank, int64_t count);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_CALLRECORD_H
