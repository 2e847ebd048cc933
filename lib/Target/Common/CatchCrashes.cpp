//===- CatchCrashes.cpp - Crashes of LLVM ---------------------------------===//

#include "shardkit/Target/Common/CatchCrashes.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include <mutex>

namespace {
/// Handlers of signals are those of the process again once no call runs.
class CrashHandlers {
public:
  CrashHandlers() {
    std::lock_guard guard(mutex);
    if (active++ == 0)
      llvm::CrashRecoveryContext::Enable();
  }
  ~CrashHandlers() {
    std::lock_guard guard(mutex);
    if (--active == 0)
      llvm::CrashRecoveryContext::Disable();
  }

private:
  static std::mutex mutex;
  static unsigned active;
};

std::mutex CrashHandlers::mutex;
unsigned CrashHandlers::active = 0;
} // namespace

bool mlir::spmd::target::runCatchingCrashes(llvm::function_ref<void()> work) {
  CrashHandlers handlers;
  // After a crash it is not destroyed: its cleanups are those of what crashed.
  auto *context = new llvm::CrashRecoveryContext;
  if (!context->RunSafely(work))
    return false;
  delete context;
  return true;
}
