//===- VerifyProgram.h - Whether instruction lists are right ----*- C++ -*-===//

#ifndef SHARDKIT_STAGES_VERIFYPROGRAM_H
#define SHARDKIT_STAGES_VERIFYPROGRAM_H

#include "shardkit/Stages/Program.h"

namespace mlir::spmd {

/// The first thing that is wrong. `instruction` may be the length of the mesh's list:
/// what is missing at its end.
struct Fault {
  int64_t mesh;
  size_t instruction;
  std::string message; // `<lower-case fact>, expected <fact>`
};

/// Nothing, if the lists are right whatever made them:
///
/// * Each Forward and Backward function runs once per microbatch on the mesh of its
///   stage, backward after forward; each Apply function once, after all of them there.
/// * What is read is on the mesh at that point; a sum is read and sent after its last
///   update. A value is written on one mesh, once unless it is a sum.
/// * The k-th Post between two meshes is the same on both sides, and all instructions come
///   to their turn although they wait as `replay` says.
/// * Nothing is freed that is not there, is used after it was freed, or comes twice; at
///   the end nothing is left but results and sums where they were made.
/// * At most `getMostInFlight` forward pieces per mesh ran whose backward did not; stages
///   without a backward or forward function have none.
///
/// Linear in the lists. Meshes are gone through one by one, then transfers are matched,
/// then run; a fault is the first in that order.
std::optional<Fault> verifyProgram(const PipelineProgram &program, const InstructionLists &lists,
                                   int64_t numMicrobatches, ScheduleKind kind);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_VERIFYPROGRAM_H
