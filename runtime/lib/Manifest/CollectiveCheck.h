//===- CollectiveCheck.h - Is a collective's closed form sound? -*- C++ -*-===//

#ifndef SHARDKIT_RT_COLLECTIVECHECK_H
#define SHARDKIT_RT_COLLECTIVECHECK_H

#include "shardkit/rt/Manifest/Manifest.h"

namespace shardkit::rt {

/// Checks that atoms and segments write every element of the output at most
/// once (exactly once but for padding), read inside the input, and name rank
/// digits that exist: the source side those of a mesh of `sources` ranks, the
/// destination side those of one of `destinations`; of a collective both are one mesh.
Status validateMove(const CollectiveInfo &move, int64_t sources, int64_t destinations);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVECHECK_H
