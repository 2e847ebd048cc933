//===- SessionImpl.h - The state of a session -------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_SESSIONIMPL_H
#define SHARDKIT_RT_SESSIONIMPL_H

#include "CallQueue.h"

#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Manifest/Bundle.h"
#include "shardkit/rt/Session/Session.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>

namespace shardkit::rt {

/// Memory of shards. What is freed serves the next request for the same size; it may outlive
/// the session.
class ShardMemory : public std::enable_shared_from_this<ShardMemory> {
public:
  /// Throws std::bad_alloc.
  std::shared_ptr<void> allocate(int64_t bytes);

private:
  struct Block {
    std::shared_ptr<ShardMemory> memory;
    Buffer buffer;
    ~Block();
  };
  std::mutex mutex_;
  BufferPool pool_;
};

/// True if both are of one allocation.
inline bool isSameMemory(const std::shared_ptr<void> &a, const std::shared_ptr<void> &b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

/// The arrays that are alive, so that the session can close them.
struct ArrayRegistry {
  std::mutex mutex; ///< Guards `dead` of all states, too.
  std::set<void *> alive;
};

struct Call;

/// `shards` and `producer` are used in the turn of a ticket alone, or before the state is known
/// to others.
struct Array::State {
  State(std::shared_ptr<ArrayRegistry> registry, std::shared_ptr<const ArrayLayout> layout, std::string name);
  ~State();

  std::shared_ptr<ArrayRegistry> registry;
  std::shared_ptr<const ArrayLayout> layout;
  std::string name;
  std::shared_ptr<Call> producer; ///< Null: not the result of a call.
  /// By copy, then by rank of its mesh; null on other processes. Ranks with the same elements
  /// share memory, but for results.
  std::vector<std::vector<std::shared_ptr<void>>> shards;
  bool isBorrowed = false; ///< The memory is the caller's, which no program writes to.
  std::string dead;        ///< The reason why it cannot be used: "was donated to function 'step'".
};

/// An argument of functions that agree in name and layout.
struct ArgumentSlot {
  std::string name;
  std::shared_ptr<const ArrayLayout> layout;
  bool isWeight = false;
  size_t function = 0; ///< The first function with it, which loads it.
  Array array;         ///< Null: not bound.
};

/// A function or pipeline of a bundle.
struct SessionFunction {
  SessionFunction(std::string name, Runnable runnable) : name(std::move(name)), runnable(std::move(runnable)) {}

  std::string name;
  Runnable runnable;
  size_t bundle = 0;
  std::vector<sk_program> programs;
  std::vector<size_t> slots; ///< By argument.
  std::vector<std::shared_ptr<const ArrayLayout>> results;
  std::vector<RankBuffers> buffers; ///< By rank; their pointers are those of one call.
  FunctionStats stats;              ///< Guarded by SessionImpl::mutex.

  std::string title() const;
};

/// A call that is queued or has ended.
struct Call {
  SessionFunction *function = nullptr;
  std::vector<std::shared_ptr<Array::State>> arguments, results; ///< Empty when it has ended.
  /// What was bound to slots that are bound to results of it.
  std::vector<std::pair<struct ArgumentSlot *, Array>> advanced;
  bool donate = false;
  std::atomic<bool> isDone{false};
  Status status;
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
  Array make(std::shared_ptr<const ArrayLayout> layout, const std::string &name);
  /// Allocates the shards of the ranks of this process; ranks with the same elements share one.
  void allocate(Array::State &array);
  /// Calls fn(copy, rank of its mesh, data) for each shard of this process, of equal ones the first.
  template <typename Fn> static void forEachShard(const Array::State &array, Fn &&fn) {
    for (size_t c = 0; c < array.layout->copies.size(); ++c)
      for (size_t r = 0; r < array.shards[c].size(); ++r)
        if (array.shards[c][r] && array.layout->copies[c].first[r] == r)
          fn(array.layout->copies[c], r, array.shards[c][r].get());
  }

  /// An error if the array cannot be used; `what` names its use.
  Status check(const Array &array, const std::string &what);
  /// The same in its turn: its call may have failed.
  static Status checkComputed(const Array::State &array);
  /// Performs `work` in its turn, on this thread.
  Status inTurn(const std::function<Status()> &work);

  Status addFunction(std::string name, Runnable runnable, size_t bundle);
  size_t slotFor(const SessionFunction &function, size_t i);
  Status checkCall(SessionFunction &function, const std::vector<Array> &given, const CallOptions &options, Call &call);
  void perform(Call &call);
  Status step(Call &call);
  Status bindBuffers(Call &call);
  std::vector<std::shared_ptr<void>> takeShards(Array::State &array, const std::vector<Runnable::Position> &positions,
                                                size_t stage);
  /// Gives back what the call would have donated.
  void undoDonation(Call &call);
  /// Frees the results of a call that failed, unless a rank may still write to them.
  void release(Call &call);
  /// The error of a name that no argument has; `mutex` is held.
  Status unknownArgument(const std::string &name) const;
  /// What is bound, of one layout each: to `names`, or all.
  Status findBound(const std::vector<std::string> &names,
                   std::vector<std::pair<const ArgumentSlot *, std::shared_ptr<Array::State>>> &found) const;
  MeshInfo meshOf(const ArgumentSlot &slot) const;
  /// Loads the weights of which the function is the first with them into loaded[slot].
  Status loadWeights(const SourceSet &sources, const std::vector<std::string> &names, const SessionFunction &function,
                     std::vector<Array> &loaded);
  /// Binds what was loaded, by slot.
  void bindAll(const std::vector<Array> &loaded);
  /// Calls fn(copy, rank of its mesh, data) for shards that together are the full value; with
  /// several processes those of the others come in messages.
  template <typename Fn> Status gather(const Array::State &array, Fn &&fn);

  SessionOptions options;
  std::shared_ptr<Backend> backend;
  std::shared_ptr<ArrayRegistry> registry = std::make_shared<ArrayRegistry>();
  std::shared_ptr<ShardMemory> memory = std::make_shared<ShardMemory>();
  HostFunctions hostFunctions;
  std::vector<std::unique_ptr<Bundle>> bundles;
  std::deque<SessionFunction> functions;
  std::deque<ArgumentSlot> slots;
  std::vector<std::string> notes;
  LoadStats loadStats;
  std::vector<Buffer> arenas; ///< By rank; of the function that runs.
  std::vector<std::unique_ptr<BufferPool>> values;
  std::vector<std::shared_ptr<void>> abandoned; ///< Memory that a stuck rank may still use.
  mutable std::mutex mutex;                     ///< Guards slots, statistics and the order of tickets.
  Executor executor;                            ///< In turn.
  CallQueue queue;                              ///< Last: it ends first.
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SESSIONIMPL_H
