//===- TestPrograms.h - Pipelined programs of the shapes that occur -------===//

#ifndef SHARDKIT_TEST_PIPELINE_TESTPROGRAMS_H
#define SHARDKIT_TEST_PIPELINE_TESTPROGRAMS_H

#include "shardkit/Stages/Program.h"

namespace shardkit_test {

using namespace mlir::spmd;

/// Stage k on mesh k mod n; functions are named f0, b0, a0 (forward, backward, apply of
/// stage 0) and values
///   x0      what forward 0 hands to forward 1 and backward 1
///   saved0  what forward 0 keeps for backward 0
///   g1      what backward 1 hands to backward 0
///   sum0    gradient of the weights of stage 0, summed over microbatches
///   loss    per microbatch, of the last forward
/// and, with at least two stages,
///   skip    from forward 0 to the last forward
///   tied    the gradient of weights on the first and last stage: a0 adds sum0 and the
///           last sum, `last` of round 1 reads what it wrote
PipelineProgram makeTraining(int64_t numMeshes, int64_t virtualStages = 1);

/// Forward functions only: x0, ..., and a result `y`.
PipelineProgram makeInference(int64_t numMeshes);

/// The program that fits a schedule.
PipelineProgram makeProgram(const ClockTable &table);

} // namespace shardkit_test

#endif // SHARDKIT_TEST_PIPELINE_TESTPROGRAMS_H
