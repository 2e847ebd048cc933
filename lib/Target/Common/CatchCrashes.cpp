//===- CatchCrashes.cpp - Crashes of LLVM ---------------------------------===//

#include "shardkit/Target/Common/CatchCrashes.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include <mutex>

bool mlir::spmd::target::runCatchingCrashes(llvm::function_ref<void()> work) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::CrashRecoveryContext::Enable(); });
  // After a crash it is not destroyed: its cleanups are those of what crashed.
  auto *context = new llvm::CrashRecoveryContext;
  if (!context->RunSafely(work))
    return false;
  delete context;
  return true;
}
