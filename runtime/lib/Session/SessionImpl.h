//===- SessionImpl.h - The state of a session -------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_SESSIONIMPL_H
#define SHARDKIT_RT_SESSIONIMPL_H

#include "CallQueue.h"
#include "ShardMemory.h"

#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Execution/RankDevices.h"
#include "shardkit/rt/Loading/ArgumentLoader.h"
#include "shardkit/rt/Manifest/Bundle.h"
#include "shardkit/rt/Session/Session.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

namespace shardkit::rt {

/// True if both are of one allocation.
inline bool isSameMemory(const std::shared_ptr<void> &a, const std::shared_ptr<void> &b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

/// The arrays that are alive, so that the session can close them.
struct ArrayRegistry {
  std::mutex mutex;              ///< Guards `dead` of all states, too.
  Array::State *first = nullptr; ///< A list, so that calls touch little memory.
};

struct Call;

/// `shards` and `producer` are used in the turn of a ticket alone, or before the state is known
/// to others.
struct Array::State {
  State(std::shared_ptr<ArrayRegistry> registry, std::shared_ptr<const ArrayLayout> layout, std::string name);
  ~State();

  std::shared_ptr<ArrayRegistry> registry;
  State *previous = nullptr, *next = nullptr; ///< In the registry.
  std::shared_ptr<const ArrayLayout> layout;
  std::string name;
  std::shared_ptr<Call> producer; ///< Null: not the result of a call.
  /// By copy, then by rank of its mesh; null on other processes. Ranks with the same elements
  /// share memory, but for results.
  std::vector<std::vector<std::shared_ptr<void>>> shards;
  bool isBorrowed = false;  ///< The memory is the caller's, which no program writes to.
  bool isOnDevices = false; ///< Else the shards are on the host, also where programs run on devices.
  std::string dead;         ///< The reason why it cannot be used: "was donated to function 'step'".
};

/// An argument of functions that agree in name and layout.
struct ArgumentSlot {
  std::string name;
  std::shared_ptr<const ArrayLayout> layout;
  ValueKind kind = ValueKind::Input;
  size_t function = 0; ///< The first function with it, which loads it.
  Array array;         ///< Null: not bound.
  /// The slot of another layout that has the elements (SessionOptions::reshard). This one is then never bound.
  ArgumentSlot *kept = nullptr;

  bool isWeight() const { return kind == ValueKind::Weight; }
  /// The bundle or the sizes of the function say what it is, and the user does not name it.
  bool isConstant() const { return kind == ValueKind::Constant || kind == ValueKind::Size; }
};

/// What is bound to the arguments of a function; null where a call has to find or make it.
using BoundArguments = std::vector<std::shared_ptr<Array::State>>;

/// A function or pipeline of a bundle.
struct SessionFunction {
  SessionFunction(std::string name, Runnable runnable) : name(std::move(name)), runnable(std::move(runnable)) {}

  std::string name;
  Runnable runnable;
  size_t bundle = 0;
  std::vector<sk_program> programs;
  std::vector<size_t> slots;                   ///< By argument.
  std::shared_ptr<const BoundArguments> bound; ///< Null: something else was bound since the last call.
  /// By argument: a layout that was found equal to that of its slot.
  std::vector<std::shared_ptr<const ArrayLayout>> accepted;
  std::vector<std::shared_ptr<const ArrayLayout>> results;
  std::vector<RankBuffers> buffers; ///< By rank; their pointers are those of one call.
  FunctionStats stats;              ///< Guarded by SessionImpl::mutex.

  std::string title() const;
};

/// An argument of a call that is kept in another layout.
struct ReshardedArgument {
  size_t index;
  std::shared_ptr<Array::State> kept;    ///< Is copied into the argument before the step.
  std::shared_ptr<Array::State> updated; ///< Null, or what is kept after the step: a copy of `result`.
  std::shared_ptr<Array::State> result = nullptr;
};

/// A call that is queued or has ended.
struct Call {
  SessionFunction *function = nullptr;
  // Empty when it has ended.
  std::shared_ptr<const BoundArguments> bound;
  std::vector<std::shared_ptr<Array::State>> given; ///< By argument; null: what is bound.
  std::vector<std::shared_ptr<Array::State>> results;
  /// What was bound to slots that are bound to results of it.
  std::vector<std::pair<struct ArgumentSlot *, Array>> advanced;
  std::vector<ReshardedArgument> resharded;
  int64_t reshardedBytes = 0;
  double reshardSeconds = 0;
  bool donate = false;
  RunStats *stats = nullptr;
  ValueComparison *values = nullptr;
  std::atomic<bool> isDone{false};
  Status status;

  const std::shared_ptr<Array::State> &argument(size_t i) const { return given[i] ? given[i] : (*bound)[i]; }
};

struct SessionImpl {
  SessionImpl(const SessionOptions &options, std::shared_ptr<Backend> backend);

  /// [begin, end) of the ranks of this process.
  std::pair<int64_t, int64_t> localRanks(const ArrayLayout &layout) const {
    return backend->localRanks(layout.devices);
  }
  bool isLocal(int64_t rank, const ArrayLayout &layout) const {
    auto [begin, end] = localRanks(layout);
    return rank >= begin && rank < end;
  }
  static SessionImpl &of(Session &session) { return *session.impl_; }
  static const std::shared_ptr<Array::State> &stateOf(const Array &array) { return array.state_; }
  Array make(std::shared_ptr<const ArrayLayout> layout, const std::string &name);
  /// Allocates the shards of the ranks of this process; on the host ranks with the same elements share one.
  Status allocate(Array::State &array);
  /// The same on the host, also where programs run on devices. Memory that `isTemporary` goes back to the system.
  void allocateOnHost(Array::State &array, bool isTemporary = false);
  /// Moves the shards of this process to the devices of their ranks, if programs run there.
  Status moveToDevices(Array::State &array);
  bool hasDevices() const { return rankDevices != nullptr; }
  cuda::Device &deviceOf(const ArrayLayout &layout, int64_t rank) const {
    return *devices.at(layout.devices)->of(rank);
  }
  /// The device of the first rank of this process; null on the host, or if it has no rank.
  cuda::Device *firstDevice(int function) const;
  /// Where shard `r` of copy `c` is on the host: itself, or its elements in `room`.
  Expected<const void *> bringToHost(const Array::State &array, size_t c, size_t r, Buffer &room) const;
  /// Memory for a shard of `rank`, of so many, where programs run.
  Expected<std::shared_ptr<void>> makeShard(int64_t devices, int64_t rank, int64_t bytes);
  /// Calls fn(copy, rank of its mesh, data) for each shard of this process, of equal ones the first.
  template <typename Fn> static void forEachShard(const Array::State &array, Fn &&fn) {
    for (size_t c = 0; c < array.layout->copies.size(); ++c)
      for (size_t r = 0; r < array.shards[c].size(); ++r)
        if (array.shards[c][r] && array.layout->copies[c].first[r] == r)
          fn(array.layout->copies[c], r, array.shards[c][r].get());
  }
  /// An error if the array cannot be used; `what()` names its use.
  template <typename What> Status check(const Array &array, What &&what) {
    if (!array)
      return invalid(what() + ": no array is given");
    Array::State &state = *array.state_;
    if (state.registry != registry)
      return invalid(what() + ": array '" + state.name + "' is of another session");
    std::lock_guard lock(registry->mutex);
    if (!state.dead.empty())
      return invalid(what() + ": array '" + state.name + "' " + state.dead);
    return {};
  }
  Status check(const Array &array, const char *what) {
    return check(array, [what] { return std::string(what); });
  }
  /// The same in its turn: its call may have failed.
  static Status checkComputed(const Array::State &array);
  /// Performs `work` in its turn, on this thread.
  Status inTurn(const std::function<Status()> &work);

  Status addFunction(std::string name, Runnable runnable, size_t bundle);
  /// An error unless all processes have the bundle, and it is for what the session runs on.
  Status checkBundle(const Bundle &bundle);
  /// Opens the devices for functions on that many ranks, and lets the executor run there.
  Status useDevices(int64_t ranks);
  size_t slotFor(const SessionFunction &function, size_t i);
  /// Removes all functions and slots but the first ones.
  void shrink(size_t numFunctions, size_t numSlots, size_t numNotes);
  /// All that follow are called while `mutex` is held.
  void bindSlot(ArgumentSlot &slot, const Array &array);
  std::shared_ptr<const BoundArguments> findBound(SessionFunction &function);
  Status checkCall(SessionFunction &function, const std::vector<Array> &given, const CallOptions &options, Call &call);
  void perform(Call &call);
  Status step(Call &call);
  Status bindBuffers(Call &call);
  Status bindWorkspace(const Runnable &what, int64_t rank, RankBuffers &buffers);
  Expected<std::vector<std::shared_ptr<void>>>
  takeShards(Array::State &array, const std::vector<Runnable::Position> &positions, size_t stage);
  /// Gives back what the call would have donated.
  void undoDonation(Call &call);
  /// Marks an argument as donated to `call`; what is bound to it is bound to `result`. `mutex` is held.
  void donate(Call &call, const std::shared_ptr<Array::State> &argument, const std::shared_ptr<Array::State> &result);
  /// Copies the elements of `from` to the layout of `to`.
  Status reshard(const Array::State &from, Array::State &to, bool isTemporary);
  /// The arguments of the call that are kept in another layout, and the updates of what is kept.
  Status reshardArguments(Call &call);
  Status reshardUpdates(Call &call);
  /// The slot that keeps the elements of an argument like this one of another layout; null: none does.
  ArgumentSlot *findKept(ArgumentSlot *other, const ArrayLayout &layout) const;
  /// The array, or its elements in the layout in which arguments called `name` are kept.
  Expected<Array> asKept(Session &session, const std::string &name, const Array &array);
  void interrupt();
  /// Frees memory that no array and no function of that many ranks has.
  void freeIdle(int64_t ranks);
  /// Frees the results of a call that failed, unless a rank may still write to them.
  void release(Call &call);
  /// The error of a name that no argument has; `mutex` is held.
  Status unknownArgument(const std::string &name) const;
  /// What is bound, of one layout each: to `names`, or all.
  Status findBound(const std::vector<std::string> &names,
                   std::vector<std::pair<const ArgumentSlot *, std::shared_ptr<Array::State>>> &found) const;
  MeshInfo meshOf(const ArgumentSlot &slot) const;
  /// The options of a load that begins now, which interrupt() ends.
  LoadOptions beginLoad();
  /// Adds functions of the last bundle.
  Status addFunctions(const BundleOptions &options);
  /// Loads the constants of the last bundle that an earlier one does not have in the same layout.
  Status loadConstants();
  /// Bytes of the full values of all weights, or of arguments called `names`.
  int64_t countWanted(const std::vector<std::string> &names) const;
  /// Calls fn(copy, rank of its mesh, data) for shards that together are the full value; with
  /// several processes those of the others come in messages.
  template <typename Fn> Status gather(const Array::State &array, Fn &&fn);
  /// Together: calls fn(rank of its mesh, data) on process 0 for the shards of copy `c` that `isWanted` selects.
  Status visitOnFirst(const Array::State &array, size_t c, const std::function<bool(size_t)> &isWanted,
                      const std::function<void(size_t, const void *)> &fn) const;
  /// Together: the full value of copy `c` to `to` on process 0.
  Status readOnFirst(const Array::State &array, size_t c, void *to) const;
  /// The full value where shards of this process make it up; else null data.
  static ShardView findFull(const Array::State &array);

  SessionOptions options;
  std::shared_ptr<Backend> backend;
  std::shared_ptr<ArrayRegistry> registry = std::make_shared<ArrayRegistry>();
  std::shared_ptr<ShardMemory> memory = std::make_shared<ShardMemory>();
  HostFunctions hostFunctions;
  std::vector<std::unique_ptr<Bundle>> bundles;
  std::deque<FunctionInfo> sized;                                     ///< Functions at sizes that calls had.
  std::map<std::pair<int, std::vector<int64_t>>, int> sizedFunctions; ///< By function and sizes.
  std::deque<SessionFunction> functions;
  std::deque<ArgumentSlot> slots;
  std::unordered_map<std::string, std::vector<size_t>> slotsOf; ///< By name, ascending.
  std::vector<std::string> notes;
  LoadStats loadStats;
  std::vector<std::shared_ptr<void>> abandoned; ///< Memory that a stuck rank may still use.
  std::atomic<bool> isLoadCancelled{false};
  std::atomic<int64_t> bytesLoaded{0}, bytesToLoad{0};       ///< Of the load that runs, or of the last one.
  std::string chip;                                          ///< Of bundles for devices.
  mutable std::mutex mutex;                                  ///< Guards slots, statistics and the order of tickets.
  Executor executor;                                         ///< In turn, as all below.
  std::unique_ptr<RankDevices> rankDevices;                  ///< Null: programs run on the host.
  std::map<int64_t, std::shared_ptr<cuda::Devices>> devices; ///< By number of ranks.
  ArgumentLoader loader;
  RankMemory reference; ///< Of the reference that runs (verify).
  /// Of one rank for the function that runs; on devices of so many.
  struct Workspace {
    Buffer arena;
    cuda::DeviceMemory deviceArena;
    BufferPool values;
  };
  std::map<std::pair<int64_t, int64_t>, Workspace> workspaces;
  CallQueue queue{[this] { interrupt(); }}; ///< Last: it ends first.
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SESSIONIMPL_H
