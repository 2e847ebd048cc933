//===- CatchCrashes.h - Crashes of LLVM -------------------------*- C++ -*-===//

#ifndef SHARDKIT_TARGET_COMMON_CATCHCRASHES_H
#define SHARDKIT_TARGET_COMMON_CATCHCRASHES_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::spmd::target {

/// Runs `work`. False if it crashed (a signal, or a fatal error of LLVM): then nothing that it used is
/// destroyed, and the process continues.
bool runCatchingCrashes(llvm::function_ref<void()> work);

} // namespace mlir::spmd::target

#endif // SHARDKIT_TARGET_COMMON_CATCHCRASHES_H
