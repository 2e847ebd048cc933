//===- InitAllPasses.h - Passes of ShardKit ---------------------*- C++ -*-===//
//
// Registers all passes and pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_INITALLPASSES_H
#define SHARDKIT_INITALLPASSES_H

#include "shardkit/Passes.h"

namespace mlir::spmd {

/// Registers ShardKit's passes and pipelines.
inline void registerAllPasses() {
  registerSPMDPasses();
  registerPipelines();
}

} // namespace mlir::spmd

#endif // SHARDKIT_INITALLPASSES_H
