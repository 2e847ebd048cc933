//===- LoadPlan.h - The reads of a node, in closed form ---------*- C++ -*-===//
//
// A plan collects the shards of arguments that the ranks of this node hold; run()
// reads every byte of a file that any of them needs at most once. The unit of
// work is a block of a stored tensor. For each block:
//
// 1. Its pieces for all ranks are enumerated in closed form.
// 2. They are sorted by file offset and joined to large requests.
// 3. A request is read straight into its destinations, which may be many. If runs are
//    short or elements are stored in another form, it goes through a staging buffer.
//
// Readers (threads) take block after block, without waiting between weights.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_LOADING_LOADPLAN_H
#define SHARDKIT_RT_LOADING_LOADPLAN_H

#include "shardkit/rt/Loading/Source.h"
#include "shardkit/rt/Support/Buffer.h"

#include <functional>

namespace shardkit::rt {

class HostFunctions;
struct LoadTeam;

enum class LoadMode { Direct, RootScatter, Presharded };
const char *loadModeName(LoadMode mode);
std::optional<LoadMode> parseLoadMode(const std::string &name);

/// Auto: buffered reads of what the page cache holds; for the rest the faster of
/// buffered and direct, by the first blocks of this load.
enum class IoMode { Auto, Pread, Direct, Mmap };
const char *ioModeName(IoMode mode);
std::optional<IoMode> parseIoMode(const std::string &name);

struct LoadOptions {
  LoadMode mode = LoadMode::Direct;
  IoMode io = IoMode::Auto;
  int readers = 0; ///< 0: chosen, at most maxReaders.
  /// Bytes between two runs that are read with them. Less than a page has no page of its own:
  /// the system reads these bytes with those of the runs.
  int64_t maxGap = 4095;
  /// Called from time to time with the bytes read so far and an estimate of all, one
  /// call at a time, from any reader.
  std::function<void(int64_t, int64_t)> progress;
  /// Called by each reader before a block; true ends the load with an error.
  std::function<bool()> isCancelled;
  /// Set if the processes of a node load together: each makes the same plan and takes
  /// some of its blocks. Member 0 counts the needed bytes.
  LoadTeam *team = nullptr;
  int member = 0, members = 1;
};
inline constexpr int maxReaders = 6;
/// Limit of `LoadOptions::maxGap`.
inline constexpr int64_t maxReadGap = 1 << 20;
/// Size of a block, and of the staging memory of one reader: with all readers and the
/// descriptions of their pieces, less than 64 MiB.
inline constexpr int64_t blockBytes = 8 << 20;

struct LoadCounters {
  int64_t bytesNeeded = 0; ///< From files: the bytes of the shards.
  int64_t bytesRead = 0;   ///< From files: bytes that were read for them.
  int64_t requests = 0;
  double seconds = 0;
  void add(const LoadCounters &other);
};

struct LoadStats {
  std::vector<LoadCounters> ranks; ///< All have the seconds of the load.
  LoadCounters total;
  int readers = 0;
  int64_t stagingBytes = 0;                 ///< Peak of memory in addition to the destinations.
  int64_t bytesDirect = 0, bytesMapped = 0; ///< Included in bytesRead: past the page cache; by mmap.
  /// Communication of root-scatter; 0 in the other modes.
  int64_t scatters = 0, broadcasts = 0;
  int64_t exchanges = 0; ///< Weights that ranks read in blocks (BlockExchange.h).
  void add(const LoadStats &other);
};

/// Runs a compiled shard function for one rank.
using ShardProgram =
    std::function<Status(const EntryPoint &entry, int64_t rank, const std::vector<void *> &stored, void *local)>;

class LoadPlan {
public:
  /// Loads the shard of `value` on `rank` into `local`. `source` was checked
  /// (checkSource) and outlives the plan, as `value` does; it is not random. Statistics
  /// count it for rank `countedFor`, for `rank` if that is -1.
  void add(const ValueInfo &value, const TensorSource &source, int64_t rank, void *local, int64_t countedFor = -1);
  /// Loads elements [begin, begin + elements) of a stored tensor into `to`.
  void addBlock(const SourceTensor &source, int64_t begin, int64_t elements, void *to, int64_t countedFor);
  /// Loads a full stored tensor into `global`.
  void addFull(const SourceTensor &source, DType dtype, void *global);

  /// `functions` and `programs` may be null where no weight needs them.
  Status run(const LoadOptions &options, const HostFunctions *functions, const ShardProgram &programs,
             LoadStats &stats) const;

private:
  friend class LoadRun;
  struct Target {
    std::vector<ExtentLoop> loops; ///< Coalesced, global strides descending.
    int64_t base;                  ///< In elements of the source.
    char *local;
    int64_t rank; ///< The rank that it is counted for.
    int64_t elements;
    int64_t stored; ///< Elements that differ: without repetitions.
  };
  struct Request {
    const SourceTensor *source = nullptr;
    SourceTensor made; ///< Storage of `source` if the plan made it.
    DType dtype = DType::F32;
    std::string name;
    std::vector<Target> targets;
  };
  struct CallRank {
    int64_t rank;
    void *local;
    int64_t countedFor;
  };
  /// A function that computes shards.
  struct Call {
    const ValueInfo *value;
    const StoredSource *source;
    std::vector<CallRank> ranks;
  };
  /// Bytes of the operands of all shards of a call.
  static int64_t operandBytes(const Call &call);
  /// Runs `calls`, those without operands first.
  Status runCalls(const std::vector<const Call *> &calls, const LoadOptions &options, const HostFunctions *functions,
                  const ShardProgram &programs, LoadStats &stats) const;
  /// Reads the operands of the shards into `scratch`, and computes these.
  Status runOperands(const Call &call, const LoadOptions &options, const ShardProgram &programs, Buffer &scratch,
                     LoadStats &stats) const;
  /// Counts elements that several pieces of a rank have once.
  void countDistinct(LoadStats &stats) const;
  /// Reads the stored tensors in full, and applies the function.
  Status runFull(const Call &call, const LoadOptions &options, const HostFunctions *functions,
                 const ShardProgram &programs, LoadStats &stats) const;
  Request &request(const SourceTensor &source, const std::string &name);
  void addTarget(Request &request, const Extents &extents, int64_t rank, int64_t base, char *local, int64_t countedFor);

  std::vector<std::unique_ptr<Request>> requests_;
  /// File, offset, bytes (an empty tensor starts where the next one does), shards.
  using Key = std::tuple<const File *, int64_t, int64_t, const void *>;
  std::map<Key, Request *> known_;
  std::vector<Call> calls_;
  std::map<const ValueInfo *, size_t> callOf_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_LOADPLAN_H
