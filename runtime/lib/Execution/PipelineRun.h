//===- PipelineRun.h - What a rank does in a pipeline -----------*- C++ -*-===//

#ifndef SHARDKIT_RT_PIPELINERUN_H
#define SHARDKIT_RT_PIPELINERUN_H

#include "Context.h"

namespace shardkit::rt {

/// A pipeline on the ranks of a world: who takes part in which collectives and
/// transfers. A rank runs the instructions of its stage one after the other.
class PipelinePlans : public Running {
public:
  /// `byNccl`: it moves all that transfers move.
  PipelinePlans(const PipelineInfo &pipeline, World &world, bool byNccl = false);

  /// Makes room for what all ranks measure.
  void prepare(RunStats &stats) const;
  /// All instructions of the rank of `context`. Returns what a program does.
  int32_t run(sk_context &context, const std::vector<sk_program> &programs, RankMemory &memory, RunStats *stats);

  std::string title() const override;
  std::string rendezvous(int rank, int64_t instruction, int64_t id) const override;
  std::string position(int rank, int64_t instruction) const override;

  /// That collectives started together have the same ranks.
  Status status;

private:
  friend class StageRun;
  const Instruction *find(int rank, int64_t instruction) const;

  const PipelineInfo &pipeline_;
  std::vector<std::unique_ptr<FunctionPlans>> functions_;
  std::vector<std::unique_ptr<CollectivePlan>> transfers_;
  /// Of the world: stage, and rank of its mesh.
  std::vector<std::pair<size_t, int>> ranks_;
  /// Per transfer the groups that it goes through: of each microbatch, or one of the step;
  /// none where NCCL moves them.
  std::vector<std::vector<Group *>> ways_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_PIPELINERUN_H
