//===- CollectiveCheck.h - Is a collective's closed form sound? -*- C++ -*-===//

#ifndef SHARDKIT_RT_COLLECTIVECHECK_H
#define SHARDKIT_RT_COLLECTIVECHECK_H

#include "shardkit/rt/Manifest.h"

namespace shardkit::rt {

/// Checks that atoms and segments write every element of the output at most
/// once (exactly once but for padding), read inside the input, and name rank
/// digits that exist.
Status validateCollective(const CollectiveInfo &collective, int64_t devices);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVECHECK_H
