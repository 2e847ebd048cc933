//===- VerifyProgram.h - Verification of instruction lists ------*- C++ -*-===//

#ifndef SHARDKIT_STAGES_VERIFYPROGRAM_H
#define SHARDKIT_STAGES_VERIFYPROGRAM_H

#include "shardkit/Stages/Program.h"

namespace mlir::spmd {

/// The first error. `instruction` may be the length of the list of the mesh, if something
/// is missing at its end.
struct Fault {
  int64_t mesh;
  size_t instruction;
  std::string message; // `<lower-case fact>, expected <fact>`
};

/// Verifies lists independently of how they were made (schedule_c5); std::nullopt if they are
/// correct:
///
/// * Each Forward and Backward function runs once per microbatch on the mesh of its stage,
///   backward after forward; each Apply function once, after all of them on its mesh.
/// * A value that is read is on the mesh at that point. A sum is read and sent after its last
///   update. A value is written on one mesh, and once unless it is a sum.
/// * The k-th Transfer between two meshes is the same on both sides, and no mesh waits forever
///   by the rules of `replay`.
/// * An instance is freed once, after it was there, and is not used after that. At the end only
///   results and sums remain, on the meshes that wrote them.
/// * At most `getMaxInFlight` forward pieces per mesh ran whose backward did not; stages
///   without a backward or forward function have none.
///
/// Linear in the lists. First each mesh is verified, then transfers are matched, then the
/// lists are run; the fault is the first one in that order.
std::optional<Fault> verifyProgram(const PipelineProgram &program, const InstructionLists &lists,
                                   int64_t numMicrobatches, ScheduleKind kind);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_VERIFYPROGRAM_H
