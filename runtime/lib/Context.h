//===- Context.h - What a rank's sk_context holds ---------------*- C++ -*-===//

#ifndef SHARDKIT_RT_CONTEXT_H
#define SHARDKIT_RT_CONTEXT_H

#include "shardkit/rt/Collective.h"
#include "shardkit/rt/Contract.h"
#include "shardkit/rt/Executor.h"

#include <memory>
#include <string>
#include <vector>

namespace shardkit::rt {
class HostFunctions;
}

/// One per rank thread; the fields of a run are set before each step. Or one of a
/// user of loader.h, who has functions and a message alone.
struct sk_context {
  int rank = 0;
  shardkit::rt::World *world = nullptr;
  shardkit::rt::FunctionPlans *plans = nullptr;
  std::vector<shardkit::rt::CollectiveStats> *stats = nullptr;
  int32_t status = 0; ///< Sticky.
  bool isGone = false; ///< By an injected fault: the rank returns without a word.
  shardkit::rt::ContractionCache contractions;
  /// Of a context outside of programs (loader.h).
  shardkit::rt::HostFunctions *functions = nullptr;
  std::string message;
};

#endif // SHARDKIT_RT_CONTEXT_H
