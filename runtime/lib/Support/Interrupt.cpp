//===- Interrupt.cpp - Ends waits on request ------------------------------===//

#include "shardkit/rt/Support/Interrupt.h"

#include <utility>

namespace shardkit::rt {

static thread_local std::function<bool()> interruptCheck;

void setInterrupt(std::function<bool()> check) { interruptCheck = std::move(check); }
bool isInterrupted() { return interruptCheck && interruptCheck(); }

} // namespace shardkit::rt
