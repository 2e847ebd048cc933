//===- Executor.h - Runs programs on the ranks of this process -*- C++ -*--===//

#ifndef SHARDKIT_RT_EXECUTION_EXECUTOR_H
#define SHARDKIT_RT_EXECUTION_EXECUTOR_H

#include "shardkit/rt/Collectives/Backend.h"
#include "shardkit/rt/Cuda/Device.h"
#include "shardkit/rt/Cuda/Nccl.h"
#include "shardkit/rt/Execution/RankMemory.h"
#include "shardkit/rt/Manifest/Manifest.h"
#include "shardkit/rt/Support/Status.h"
#include "shardkit/rt/abi.h"

#include <functional>
#include <memory>
#include <vector>

namespace shardkit::rt {

struct TimeStats {
  int64_t count = 0;
  double seconds = 0;    ///< Total, waiting included.
  double maxSeconds = 0; ///< Longest execution.
  void add(double duration) {
    ++count;
    seconds += duration;
    maxSeconds = duration > maxSeconds ? duration : maxSeconds;
  }
};

struct CollectiveStats : TimeStats {
  int64_t rowBytes = 0; ///< Received in all executions of one that takes a mask of rows, with the masks.
};

/// Statistics of contractions (sk_contraction). On a device they run asynchronously, and
/// their time is not measured.
struct ContractionStats {
  TimeStats time;
  double flops = 0; ///< A product and its sum are two.
};

/// Sums over all runs with this object, for the ranks of this process.
struct RunStats {
  double seconds = 0; ///< Wall clock of the whole step that ran last.
  struct Function {
    /// [rank of the mesh][collective]
    std::vector<std::vector<CollectiveStats>> collectives;
    std::vector<TimeStats> runs;                ///< In a pipeline, [rank of the mesh].
    std::vector<ContractionStats> contractions; ///< [rank of the mesh]
  };
  std::vector<Function> functions; ///< One, or all of a pipeline.
  /// For a pipeline, [transfer][rank]. If several share a rendezvous the first has its time.
  std::vector<std::vector<TimeStats>> transfers;
  struct Rank {
    int64_t peakValueBytes = 0; ///< Peak of the memory of values.
    double runSeconds = 0, transferSeconds = 0;
    double waitSeconds = 0; ///< Included in transferSeconds: waiting for the other side.
  };
  std::vector<Rank> ranks; ///< For a pipeline.
};

class ValueComparison;

/// The begin of a step on several processes.
struct StepStart {
  Status ready;                      ///< An error of this process so far. No rank begins then, on any process.
  std::function<Status()> bind;      ///< Sets the buffers, once all processes are ready.
  bool hasBegun = false;             ///< Set by the step: all were ready.
  ValueComparison *values = nullptr; ///< Null, or the receiver of the values that have probes.
};

/// One thread per logical device of this process, kept for later runs.
class Executor {
public:
  static constexpr int64_t maxRanks = 1024;

  /// `backend` outlives the executor; null: all ranks are in this process.
  explicit Executor(double timeoutSeconds = 60, Backend *backend = nullptr);
  ~Executor();

  /// Threads of the matrix product library per rank; 0 (the default): the
  /// cores divided by the ranks on them.
  void setLibraryThreads(int threads);
  /// The devices of the ranks from now on; null: programs run on the host.
  void setDevices(cuda::Devices *devices, cuda::NcclRanks *nccl = nullptr);

  /// Calls fn(rank) on the thread of each rank of this process; returns the error of
  /// the lowest rank that failed.
  Status forEachRank(int64_t ranks, const std::function<Status(int64_t)> &fn);

  /// One step of `function` on `buffers[0..devices)`, of which the ranks of this
  /// process are used. The first rank that fails, or a collective that waits too
  /// long, ends the step on all ranks. Together, where the backend has several
  /// processes: all return the same error.
  Status run(const FunctionInfo &function, sk_program program, const std::vector<RankBuffers> &buffers,
             RunStats *stats = nullptr, StepStart *start = nullptr);
  Status run(const FunctionInfo &function, sk_program program, std::vector<RankMemory> &memory,
             RunStats *stats = nullptr);

  /// Runs the collectives of `function`, which has no program, in order, as a step; `buffers(rank, id)` are the input
  /// and output of a rank.
  Status runCollectives(const FunctionInfo &function,
                        const std::function<std::pair<const void *, void *>(int64_t rank, size_t id)> &buffers);

  /// Runs a step of a pipeline; `programs` are those of its functions, `buffers` have the
  /// arguments and results of the stage of each rank.
  Status run(const PipelineInfo &pipeline, const std::vector<sk_program> &programs,
             const std::vector<RankBuffers> &buffers, RunStats *stats = nullptr, StepStart *start = nullptr);
  Status run(const PipelineInfo &pipeline, const std::vector<sk_program> &programs, std::vector<RankMemory> &memory,
             RunStats *stats = nullptr);

  /// Runs a reference: no collectives, one thread, global shapes.
  Status runReference(const FunctionInfo &function, sk_program program, RankMemory &memory);

  /// Runs a program without collectives as `rank` of `ranks`, on this thread: a
  /// shard function.
  /// With `values` it is the counterpart of a function with probes.
  static Status call(sk_program program, int64_t rank, int64_t ranks, void *const *arguments, void *const *results,
                     int64_t arenaBytes, ValueComparison *values = nullptr);

  /// The fault that the environment requests (SK_FAULT).
  const Fault &fault() const;

  /// Ends the step that runs now with an error; from any thread. Ranks that compute are waited for
  /// up to half a second. Has no effect on a later step.
  void interrupt();

  /// A rank has not yet returned from a step that failed. Its thread still uses the
  /// program and the memory of that step: leave both alone; end the process with _exit unless it
  /// returns. Once it has, the executor can be used again.
  bool stuck() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_EXECUTION_EXECUTOR_H
