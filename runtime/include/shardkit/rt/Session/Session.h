//===- Session.h - Programs, weights and state in one process --*- C++ -*--===//
//
// A session has the functions of one or several bundles, the arrays that stay between their
// calls, and the threads that run them:
//
//   auto session = Session::open({}, makeLocalBackend());
//   (*session)->addBundle("decode.bundle");
//   (*session)->load("weights/");
//   int f = *(*session)->find("main");
//   auto x = (*session)->put(f, 2, data);                // argument 2, from memory of the caller
//   auto y = (*session)->call(f, {{}, {}, *x});          // arguments 0 and 1 are weights
//   (*session)->read((*y)[0], out);
//
// Functions may be called from any thread. Calls are performed one after the other, in the
// order in which they were made; with several processes each of them makes the same calls in
// the same order. An error leaves the session usable unless a rank is stuck().
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_SESSION_SESSION_H
#define SHARDKIT_RT_SESSION_SESSION_H

#include "shardkit/rt/Collectives/Backend.h"
#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Execution/Runnable.h"
#include "shardkit/rt/Loading/LoadPlan.h"
#include "shardkit/rt/Session/Array.h"
#include "shardkit/rt/Session/Measurements.h"

#include <memory>
#include <string>
#include <vector>

namespace shardkit::rt {

struct SessionOptions {
  double timeout = 60;      ///< Seconds that ranks wait for each other.
  int libraryThreads = 0;   ///< Threads of each rank; 0: the cores divided by the ranks.
  bool followLinks = false; ///< Weight files may be symbolic links that leave their directory.
  /// Where functions have an argument of one name in several layouts, that of the first function is kept. The others
  /// get a copy of it for the time of a call. Else each layout is held.
  bool reshard = false;
  LoadOptions load;
  cuda::DeviceOptions devices; ///< For bundles for cuda.
  bool isNccl = false;         ///< Collectives of devices go through NCCL, and each rank has a GPU of its own.
};

struct BundleOptions {
  std::string name;                   ///< Functions are called that (a bundle of one), or name.function.
  std::vector<std::string> functions; ///< Functions and pipelines that are added; empty: all.
  bool loadConstants = true;          ///< Else calls are given them (loadArguments).
};

/// The sources of all arguments of a function: by stage, then by argument that the stage holds. Each was checked
/// (checkSource).
using ArgumentSources = std::vector<std::vector<TensorSource>>;

struct ArgumentLoadOptions {
  bool donate = false; ///< Calls will donate the arguments: results that are tied to them need no memory.
  std::function<void(int64_t, int64_t)> progress; ///< As in LoadOptions; where files are read to the host.
};

struct CallOptions {
  /// Results that are tied to an argument take its memory, and the array of the argument is
  /// donated: using it again is an error. A bound argument becomes the result.
  bool donate = false;
  /// Returns as soon as the call is queued. Else when it has ended, with its error.
  bool isAsync = false;
  /// Null, or what the step adds its measurements to before the call ends.
  RunStats *stats = nullptr;
  ValueComparison *values = nullptr; ///< Null, or the receiver of the values that have probes.
};

/// Sums over all calls of a function.
struct FunctionStats {
  int64_t calls = 0, failed = 0;
  double seconds = 0, lastSeconds = 0; ///< In the step itself.
  /// Of arguments that are kept in another layout (SessionOptions::reshard): bytes of the shards that were made of
  /// them, and of those that updates became; the seconds that this took.
  int64_t reshardedBytes = 0;
  double reshardSeconds = 0;
};

class Session {
public:
  /// Several sessions may have one backend.
  static Expected<std::unique_ptr<Session>> open(const SessionOptions &options, std::shared_ptr<Backend> backend);
  /// Waits for what is queued, then frees everything. Arrays of the session are closed.
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const Backend &backend() const;
  HostFunctions &hostFunctions();

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  /// How bundles for cuda run from now on. An error once the session has a function.
  Status setDevices(const cuda::DeviceOptions &options);
  /// Adds the functions and pipelines of a bundle. With `name` they are called that (a bundle
  /// of one), or name.function. An error if a name is taken. All bundles of a session are for one
  /// target and chip; the first one decides.
  Status addBundle(const std::string &path, const std::string &name = "");
  /// The same of a bundle that is open.
  Status addBundle(std::unique_ptr<Bundle> bundle, const BundleOptions &options = {});
  int count() const;
  /// An error unless there is a function of that number; of that argument.
  Status checkFunction(int function) const;
  Status checkArgument(int function, int64_t i) const;
  /// The number of a function by its name; an error that lists the names.
  Expected<int> find(const std::string &name) const;
  const std::string &name(int function) const;
  /// Sizes of a function that only the run knows; none if all are known.
  const std::vector<SizeInfo> &sizes(int function) const;
  /// The function at these sizes, which calls need: nothing is compiled, and what is bound to its weights stays. From
  /// then on it is a function of the session, with a number of its own.
  Expected<int> atSizes(int function, const std::vector<int64_t> &sizes);
  /// The same at the sizes that arguments of these shapes have.
  Expected<int> atShapes(int function, const std::vector<std::optional<Shape>> &shapes);
  const Runnable &runnable(int function) const;
  /// The bundle that the function is from.
  Bundle &bundle(int function) const;
  /// Layouts of argument or result i.
  const ArrayLayout &argument(int function, size_t i) const;
  const ArrayLayout &result(int function, size_t i) const;
  /// Facts for the user: weights that two functions hold in
  /// different layouts, with the bytes that this takes.
  std::vector<std::string> notes() const;

  //===--------------------------------------------------------------------===//
  // Arrays
  //===--------------------------------------------------------------------===//

  /// An array in the layout of argument `i` from a full value in the memory of the caller,
  /// row-major. Each rank copies its shard. With `owner` a shard that is the full value is not
  /// copied: `owner` keeps `data`, which does not change, as long as the array needs it.
  Expected<Array> put(int function, size_t i, const void *data, std::shared_ptr<void> owner = nullptr);
  /// The same elements in the layout of argument `i`.
  Expected<Array> reshard(const Array &array, int function, size_t i);
  /// Copies the full value to `to`, row-major. With several processes on each of them.
  Status read(const Array &array, void *to);
  /// The same on process 0 alone. All processes call it together; `to` is not used on the others.
  Status readOnFirst(const Array &array, void *to);
  /// The full value without a copy if the memory of this process has it, on the host; else null data.
  Expected<ShardView> readInPlace(const Array &array);
  /// Elements [starts, starts + sizes) of each dim, row-major.
  Status readSlice(const Array &array, const Shape &starts, const Shape &sizes, void *to);
  /// The shard of `rank`, one of this process; waits until it is computed. On a device if programs run there.
  Expected<ShardView> shard(const Array &array, int64_t rank);
  /// Waits until it is computed. Returns the error of the call that computes it.
  Status wait(const Array &array);
  bool isReady(const Array &array) const;

  //===--------------------------------------------------------------------===//
  // Arguments that stay
  //===--------------------------------------------------------------------===//

  /// Loads all weights of all functions, or `names`; a weight that functions hold in one layout is
  /// loaded once. Of a presharded set also other arguments that it has.
  Status load(const std::string &path, const std::vector<std::string> &names = {});
  /// Arrays for all arguments of a function, which are not bound: a call is given them. Each rank has memory of its own
  /// for its shards. Processes of a node load together, but for those of NCCL. `stats` are of this process.
  Expected<std::vector<Array>> loadArguments(int function, const ArgumentSources &sources, LoadStats &stats,
                                             const ArgumentLoadOptions &options = {});
  /// Writes what is bound (to `names`, or all) as a presharded set: each rank a file, side by
  /// side. Any number of ranks loads it. With several processes `directory` is one that all see.
  Status save(const std::string &directory, const std::vector<std::string> &names = {});
  /// Weights of reproducible random numbers.
  Status fillRandom(uint64_t seed);
  /// Binds the arguments called `name` of all functions with the layout of the array.
  Status bind(const std::string &name, const Array &array);
  /// Binds all arguments called `name` from a full value of `bytes` in memory.
  Status assign(const std::string &name, const void *data, int64_t bytes);
  /// The array that is bound, in the layout of the first function that has it.
  Expected<Array> bound(const std::string &name) const;
  /// Names of arguments that are weights, or bound; ascending.
  std::vector<std::string> boundNames() const;
  LoadStats loadStats() const;
  /// The current load, or the last one: the bytes read so far and an estimate of all. From any thread.
  std::pair<int64_t, int64_t> loadProgress() const;

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  /// Calls a function with its first arguments, or all; a null array, and the others, stand for what is bound.
  Expected<std::vector<Array>> call(int function, const std::vector<Array> &arguments, const CallOptions &options = {});
  FunctionStats stats(int function) const;
  /// Counts of the device on which the first rank of this process runs the function, since it was opened, or the
  /// profile was cleared; zero on the host.
  DeviceCounters deviceCounters(int function) const;
  void clearProfile(int function);
  /// Together, after the last call: an error if no rank has reached the fault of SK_FAULT.
  Status checkFault();
  /// Ends the step or the load that runs now with an error; from any thread. A step ends at its next collective.
  void interrupt();
  /// A rank has not returned from a step that failed: until it has, every call is an error.
  bool stuck() const;

private:
  friend struct SessionImpl;
  explicit Session(std::unique_ptr<struct SessionImpl> impl);
  std::unique_ptr<struct SessionImpl> impl_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SESSION_SESSION_H
