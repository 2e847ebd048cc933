//===- ScheduleSteps.h - The step of a schedule as a function ---*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_SCHEDULESTEPS_H
#define SHARDKIT_LIB_PROOF_SCHEDULESTEPS_H

#include "shardkit/Proof/Prover.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd::proof {

/// A schedule that stays, and why: its lists are wrong, or it is beyond what is modelled.
struct OpenSchedule {
  std::string name;
  Proof proof;
};

/// Replaces each schedule whose lists are right, and its fragments, by one function that computes a step. Microbatches
/// are a mesh axis there: device (i, r) does what device r of each stage does for microbatch i.
std::vector<OpenSchedule> replaceSchedules(ModuleOp module);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_SCHEDULESTEPS_H
