//===- Executor.h - Runs programs on the ranks of this process -*- C++ -*--===//

#ifndef SHARDKIT_RT_EXECUTION_EXECUTOR_H
#define SHARDKIT_RT_EXECUTION_EXECUTOR_H

#include "shardkit/rt/Collectives/Backend.h"
#include "shardkit/rt/Cuda/Device.h"
#include "shardkit/rt/Cuda/Nccl.h"
#include "shardkit/rt/Manifest/Manifest.h"
#include "shardkit/rt/Support/Buffer.h"
#include "shardkit/rt/Support/Status.h"
#include "shardkit/rt/abi.h"

#include <functional>
#include <memory>
#include <vector>

namespace shardkit::rt {

/// The memory of a program of one rank: local arguments and results in the order of the manifest,
/// and the arena, all on the device if there is one.
struct RankBuffers {
  std::vector<void *> arguments, results;
  void *arena = nullptr;
  BufferPool *values = nullptr; ///< Makes the values of a pipeline.
};

/// The memory of one rank for one function: local arguments in one buffer, results and
/// arena in another. Both are reused from function to function.
class RankMemory {
public:
  /// Lays out all values; initializes none. `global` uses global shapes (for the
  /// reference, which runs on one device). With `arguments` the arguments lie there,
  /// in memory of argumentBytes() aligned to 64 bytes. With `donate` a result lies in the
  /// memory of the argument that it is tied to, which a step then overwrites. `isCopy`: the
  /// program works on a device (bindDevice), and the host has copies. Throws if memory is
  /// exhausted, with the largest values in the message.
  void bind(const FunctionInfo &function, bool global = false, void *arguments = nullptr, bool donate = false,
            bool isCopy = false);
  /// For a rank that another process runs: its arguments at `arguments` if not null, and
  /// with `results` memory for its results and for arguments that lie elsewhere.
  void bindRemote(const FunctionInfo &function, void *arguments, bool results);
  static int64_t argumentBytes(const FunctionInfo &function);

  /// After bind: the program works on `device`; arguments and results on the host are
  /// copies. `rank` is for errors.
  Status bindDevice(const FunctionInfo &function, cuda::Device &device, int64_t rank);
  Status uploadArguments(const FunctionInfo &function);
  Status downloadArguments(const FunctionInfo &function);
  Status downloadResults(const FunctionInfo &function);

  /// On the host.
  void *argument(size_t i) { return arguments_[i]; }
  void *result(size_t i) { return results_[i]; }
  /// The memory of the program: on the device if there is one.
  void *const *arguments() const { return device_ ? deviceArguments_.data() : arguments_.data(); }
  void *const *results() const { return device_ ? deviceResults_.data() : results_.data(); }
  void *arena() { return arena_; }
  int64_t bytes() const { return used_; }
  /// All of these, and memory for the values of a pipeline.
  RankBuffers buffers() {
    return {device_ ? deviceArguments_ : arguments_, device_ ? deviceResults_ : results_, arena_, &values_};
  }

private:
  BufferPool values_;
  Buffer argumentMemory_, memory_;
  int64_t used_ = 0;
  bool donate_ = false;
  std::vector<void *> arguments_, results_;
  void *arena_ = nullptr;
  cuda::Device *device_ = nullptr;
  cuda::DeviceMemory deviceArgumentMemory_, deviceMemory_;
  std::vector<void *> deviceArguments_, deviceResults_;
};

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
    std::vector<std::vector<TimeStats>> collectives;
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
             RunStats *stats = nullptr);
  Status run(const FunctionInfo &function, sk_program program, std::vector<RankMemory> &memory,
             RunStats *stats = nullptr);

  /// Runs the collectives of `function`, which has no program, in order, as a step; `buffers(rank, id)` are the input
  /// and output of a rank.
  Status runCollectives(const FunctionInfo &function,
                        const std::function<std::pair<const void *, void *>(int64_t rank, size_t id)> &buffers);

  /// Runs a step of a pipeline; `programs` are those of its functions, `buffers` have the
  /// arguments and results of the stage of each rank.
  Status run(const PipelineInfo &pipeline, const std::vector<sk_program> &programs,
             const std::vector<RankBuffers> &buffers, RunStats *stats = nullptr);
  Status run(const PipelineInfo &pipeline, const std::vector<sk_program> &programs, std::vector<RankMemory> &memory,
             RunStats *stats = nullptr);

  /// Runs a reference: no collectives, one thread, global shapes.
  Status runReference(const FunctionInfo &function, sk_program program, RankMemory &memory);

  /// Runs a program without collectives as `rank` of `ranks`, on this thread: a
  /// shard function.
  static Status call(sk_program program, int64_t rank, int64_t ranks, void *const *arguments, void *const *results,
                     int64_t arenaBytes);

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
