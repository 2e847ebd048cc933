//===- Dlpack.h - Shards as DLPack tensors ----------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_DLPACK_H
#define SHARDKIT_RT_DLPACK_H

#include "shardkit/rt/Session/Array.h"
#include "shardkit/rt/Support/Status.h"

namespace shardkit::rt {

/// A DLManagedTensor of the view's memory, which its deleter releases. An error if DLPack lacks the element type.
Expected<void *> exportToDlpack(const ShardView &view);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_DLPACK_H
