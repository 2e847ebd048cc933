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

/// What one rank of one function works on: its local arguments, and its results and
/// the arena, each in one piece of memory that is reused from function to function.
class RankMemory {
public:
  /// Lays out everything; fills nothing. `global` takes global shapes (for the
  /// reference, which runs on one device). With `arguments` the arguments lie there,
  /// in memory of argumentBytes() aligned to 64 bytes. With `donate` results lie where
  /// the arguments do that they are tied to, which a step then overwrites. `isCopy`: a device
  /// has them (bindDevice), and the host what is copied there and back. Throws where there is
  /// no room, with the largest values in the message.
  void bind(const FunctionInfo &function, bool global = false, void *arguments = nullptr, bool donate = false,
            bool isCopy = false);
  /// Of a rank that another process runs: its arguments at `arguments` if not null, and
  /// with `results` room for its results and for arguments that lie elsewhere.
  void bindRemote(const FunctionInfo &function, void *arguments, bool results);
  static int64_t argumentBytes(const FunctionInfo &function);

  /// After bind: the program works on `device`; arguments and results on the host are
  /// what is copied there and back. `rank` is for errors.
  Status bindDevice(const FunctionInfo &function, cuda::Device &device, int64_t rank);
  Status uploadArguments(const FunctionInfo &function);
  Status downloadArguments(const FunctionInfo &function);
  Status downloadResults(const FunctionInfo &function);

  /// On the host.
  void *argument(size_t i) { return arguments_[i]; }
  void *result(size_t i) { return results_[i]; }
  /// Where the program works.
  void *const *arguments() const { return device_ ? deviceArguments_.data() : arguments_.data(); }
  void *const *results() const { return device_ ? deviceResults_.data() : results_.data(); }
  void *arena() { return arena_; }
  int64_t bytes() const { return used_; }
  /// Of the values of a pipeline; where the program works.
  BufferPool &values() { return values_; }

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
  double maxSeconds = 0; ///< Of one execution.
  void add(double duration) {
    ++count;
    seconds += duration;
    maxSeconds = duration > maxSeconds ? duration : maxSeconds;
  }
};

/// Of contractions (sk_contract). On a device they run when it comes to them, and have
/// no time of their own.
struct ContractionStats {
  TimeStats time;
  double flops = 0; ///< A product and its sum are two.
};

/// Added up over the runs that were given this object; of the ranks of this process.
struct RunStats {
  double seconds = 0; ///< Wall clock of the whole step that ran last.
  struct Function {
    /// [rank of the mesh][collective]
    std::vector<std::vector<TimeStats>> collectives;
    std::vector<TimeStats> runs;                ///< In a pipeline, [rank of the mesh].
    std::vector<ContractionStats> contractions; ///< [rank of the mesh]
  };
  std::vector<Function> functions; ///< One, or all of a pipeline.
  /// Of a pipeline, [transfer][rank]: of meetings for several the first has the time.
  std::vector<std::vector<TimeStats>> transfers;
  struct Rank {
    int64_t peakValueBytes = 0; ///< Of values, at once.
    double runSeconds = 0, transferSeconds = 0;
    double waitSeconds = 0; ///< Of transferSeconds, for the other side.
  };
  std::vector<Rank> ranks; ///< Of a pipeline.
};

/// One thread per logical device of this process, kept for later runs.
class Executor {
public:
  static constexpr int64_t maxRanks = 1024;

  /// `backend` outlives the executor; null: all ranks are in this process.
  explicit Executor(double timeoutSeconds = 60, Backend *backend = nullptr);
  ~Executor();

  /// Threads of the library of matrix products for each rank; 0 (the default): the
  /// cores divided by the ranks on them.
  void setLibraryThreads(int threads);
  /// The devices of the ranks from now on; null: programs run on the host.
  void setDevices(cuda::Devices *devices, cuda::NcclRanks *nccl = nullptr);

  /// Calls fn(rank) on the thread of each rank of this process; returns the error of
  /// the lowest rank that failed.
  Status forEachRank(int64_t ranks, const std::function<Status(int64_t)> &fn);

  /// One step of `function` on `memory[0..devices)`, of which the ranks of this
  /// process are used. The first rank that fails, or a collective that waits too
  /// long, ends the step on all ranks. Together, where the backend has several
  /// processes: all return the same error.
  Status run(const FunctionInfo &function, sk_program program, std::vector<RankMemory> &memory,
             RunStats *stats = nullptr);

  /// The collectives of `function`, which has nothing else, in order; `buffers(rank, id)`
  /// are those of a rank. As a step, whose errors it has.
  Status runCollectives(const FunctionInfo &function,
                        const std::function<std::pair<const void *, void *>(int64_t rank, size_t id)> &buffers);

  /// A pipeline; `programs` are those of its functions, `memory` is bound to what the
  /// stage of each rank holds.
  Status run(const PipelineInfo &pipeline, const std::vector<sk_program> &programs, std::vector<RankMemory> &memory,
             RunStats *stats = nullptr);

  /// A reference: no collectives, one thread, global shapes.
  Status runReference(const FunctionInfo &function, sk_program program, RankMemory &memory);

  /// Runs a program without collectives as `rank` of `ranks`, on this thread: a
  /// shard function.
  static Status call(sk_program program, int64_t rank, int64_t ranks, void *const *arguments, void *const *results,
                     int64_t arenaBytes);

  /// What the environment asks for (SK_FAULT).
  const Fault &fault() const;

  /// A rank did not return after the step failed. Its thread still uses the
  /// program and the memory of that step: leave both alone, end the process
  /// with _exit.
  bool stuck() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_EXECUTION_EXECUTOR_H
