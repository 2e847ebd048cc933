//===- PipelineRun.h - The plans of a pipeline ------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_PIPELINERUN_H
#define SHARDKIT_RT_PIPELINERUN_H

#include "Context.h"

namespace shardkit::rt {

/// A pipeline on the ranks of a world: the plans of its collectives and transfers, and the ranks
/// of each. A rank runs the instructions of its stage one after the other.
class PipelinePlans : public Running {
public:
  /// `byNccl`: NCCL performs the transfers.
  PipelinePlans(const PipelineInfo &pipeline, World &world, bool byNccl = false);

  /// Allocates the measurements of all ranks.
  void prepare(RunStats &stats) const;
  /// Runs all instructions of the rank of `context`. Returns the status of a program.
  int32_t run(sk_context &context, const std::vector<sk_program> &programs, const RankBuffers &buffers,
              RunStats *stats);

  std::string title() const override;
  std::string rendezvous(int rank, int64_t instruction, int64_t id) const override;
  std::string position(int rank, int64_t instruction) const override;

  /// An error if collectives of a start group have different ranks.
  Status status;

private:
  friend class StageRun;
  const Instruction *find(int rank, int64_t instruction) const;

  const PipelineInfo &pipeline_;
  std::vector<std::unique_ptr<FunctionPlans>> functions_;
  std::vector<std::unique_ptr<CollectivePlan>> transfers_;
  /// The stage and the rank of its mesh, by rank of the world.
  std::vector<std::pair<size_t, int>> ranks_;
  /// Per channel its groups: one for each microbatch, or one for the step; none if NCCL moves
  /// the values.
  std::vector<std::vector<Group *>> ways_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_PIPELINERUN_H
