//===- SessionAbi.cpp - Programs that stay in a process, from C -----------===//
//
// No exception crosses this boundary.
//
//===----------------------------------------------------------------------===//

#include "shardkit/rt/session.h"

#include "Dlpack.h"

#include "shardkit/rt/Session/CompareValues.h"
#include "shardkit/rt/Session/Session.h"
#include "shardkit/rt/Support/Interrupt.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <type_traits>

using namespace shardkit::rt;

/// Handles of arrays may outlive the session.
struct SessionHolder {
  std::unique_ptr<Session> session;
  std::shared_timed_mutex mutex; ///< Shared by calls; exclusive while it is closed.
};

struct sk_session {
  std::shared_ptr<SessionHolder> holder;
  std::string note;
};

struct sk_array {
  std::shared_ptr<SessionHolder> holder;
  Array array;
};

namespace {

thread_local std::string lastError;

template <typename Fn> int catching(Fn &&call) {
  const Status status = catchExceptions(call);
  if (!status.ok())
    lastError = status.message();
  return int(status.code());
}

Status needed(const void *pointer, const char *what) {
  return pointer ? Status() : invalid(std::string(what) + " is NULL");
}
Status checkPath(const char *path, const char *what, const char *expected) {
  return path && *path ? Status()
                       : invalid(std::string(what) + " is " + (path ? "empty" : "NULL") + ", expected " + expected);
}

/// Calls call(session) for the session of a handle: of a session, or of an array.
template <typename Handle, typename Fn> int onSession(Handle *handle, Fn &&call) {
  return catching([&]() -> Status {
    SK_RETURN_IF_ERROR(
        needed(handle, std::is_same_v<std::remove_const_t<Handle>, sk_array> ? "the array" : "the session"));
    const std::shared_ptr<SessionHolder> holder = handle->holder;
    std::shared_lock lock(holder->mutex);
    if (!holder->session)
      return invalid("the session is closed");
    return call(*holder->session);
  });
}

/// The same for functions that set `out`: it is cleared first.
template <typename Handle, typename Out, typename Fn> int onSession(Handle *handle, Out *out, Fn &&call) {
  if (!out)
    return catching([] { return needed(nullptr, "the memory for the result"); });
  *out = {};
  return onSession(handle, std::forward<Fn>(call));
}

/// The processes of a backend find each other once: its sessions share it until the process ends.
Expected<std::shared_ptr<Backend>> getBackend(const std::string &name, double timeoutSeconds) {
  if (name == "local")
    return std::shared_ptr<Backend>(makeLocalBackend());
  if (name != "mpi" && name != "nccl" && name != "tcp")
    return invalid("backend '" + name + "', expected 'local', 'mpi', 'nccl' or 'tcp'");
  static std::mutex mutex;
  static std::shared_ptr<Backend> *known = nullptr; // Never destroyed: its threads run to the end.
  std::lock_guard lock(mutex);
  const bool isMpi = name == "mpi" || (name == "nccl" && areProcessesUnderMpi());
  if (!known) {
    SK_ASSIGN_OR_RETURN(std::unique_ptr<Backend> opened,
                        isMpi ? openMpiBackend(timeoutSeconds) : openTcpBackend(timeoutSeconds));
    known = new std::shared_ptr<Backend>(std::move(opened));
    std::atexit([] { (*known)->finish(); });
  }
  if (isMpi != ((*known)->name() == std::string("mpi")))
    return invalid("backend '" + name + "', but this process has found the others by " + (*known)->name() +
                   ", expected the same backend in all sessions of a process");
  return *known;
}

Status checkBytes(const std::string &name, int64_t given, int64_t bytes) {
  if (given == bytes)
    return {};
  return invalid("memory of " + std::to_string(given) + " bytes for '" + name + "', expected " + std::to_string(bytes));
}

void describe(const ValueInfo &value, const ArrayLayout &layout, sk_value_info *out) {
  const ValueInfo &known = layout.value(); // Lives as long as the layout does.
  *out = {value.name.c_str(),
          known.sharding.c_str(),
          known.globalShape.data(),
          known.globalBytes(),
          layout.bytes(),
          layout.devices,
          int32_t(known.dtype),
          int32_t(known.globalShape.size()),
          known.kind == ValueKind::Weight     ? SK_WEIGHT
          : known.kind == ValueKind::Constant ? SK_CONSTANT
          : known.kind == ValueKind::Size     ? SK_SIZE
          : known.kind == ValueKind::Result   ? SK_RESULT
                                              : SK_INPUT,
          known.kind == ValueKind::Result && value.tied ? int32_t(*value.tied) : -1,
          known.load || known.isSegmented,
          0};
}

sk_array *handle(const std::shared_ptr<SessionHolder> &holder, Array array) {
  return new sk_array{holder, std::move(array)};
}

/// Memory of the caller, which is there until the call returns.
const std::shared_ptr<void> &callersMemory() {
  static const std::shared_ptr<void> memory = std::make_shared<int>(0);
  return memory;
}

struct ViewOwner {
  ShardView view;
};

Status give(Expected<ShardView> view, sk_view *out) {
  *out = {};
  SK_RETURN_IF_ERROR(view.status());
  if (!view->data)
    return {};
  auto *owner = new ViewOwner{std::move(*view)};
  const Shape &shape = owner->view.shape;
  *out = {owner->view.data,
          shape.data(),
          numElements(shape).value_or(0) * dtypeSize(owner->view.dtype),
          owner->view.rank,
          int32_t(owner->view.dtype),
          int32_t(shape.size()),
          owner};
  return {};
}

} // namespace

const char *sk_last_error(void) { return lastError.c_str(); }

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

int sk_session_open(const sk_session_options *given, sk_session **out) {
  return catching([&]() -> Status {
    SK_RETURN_IF_ERROR(needed(out, "the memory for the session"));
    *out = nullptr;
    sk_session_options defaults = {};
    defaults.abi = SK_ABI_VERSION;
    if (!given)
      given = &defaults;
    if (given->abi != SK_ABI_VERSION)
      return invalid("session ABI version " + std::to_string(given->abi) + ", this runtime has version " +
                     std::to_string(SK_ABI_VERSION));
    SessionOptions options;
    if (given->timeout != 0)
      options.timeout = given->timeout;
    options.libraryThreads = given->library_threads;
    options.followLinks = given->follow_links != 0;
    options.reshard = given->reshard != 0;
    const std::string mode = given->mode ? given->mode : "direct", io = given->io ? given->io : "auto";
    auto knownMode = parseLoadMode(mode);
    auto knownIo = parseIoMode(io);
    if (!knownMode || *knownMode == LoadMode::RootScatter)
      return invalid("mode '" + mode + "', expected 'direct' or 'presharded'");
    if (!knownIo)
      return invalid("io '" + io + "', expected 'auto', 'pread', 'direct' or 'mmap'");
    if (given->readers < 0 || given->readers > maxReaders)
      return invalid("readers " + std::to_string(given->readers) + ", expected 0 to " + std::to_string(maxReaders));
    options.load.mode = *knownMode;
    options.load.io = *knownIo;
    options.load.readers = given->readers;
    const std::string name = given->backend ? given->backend : "local";
    SK_ASSIGN_OR_RETURN(std::shared_ptr<Backend> backend, getBackend(name, options.timeout));
    options.isNccl = name == "nccl";
    SK_ASSIGN_OR_RETURN(auto session, Session::open(options, std::move(backend)));
    auto holder = std::make_shared<SessionHolder>();
    holder->session = std::move(session);
    *out = new sk_session{std::move(holder), {}};
    return {};
  });
}

void sk_session_close(sk_session *session) {
  if (session)
    (void)catching([&] {
      SessionHolder &holder = *session->holder;
      std::unique_lock lock(holder.mutex, std::defer_lock); // After the calls of other threads.
      // By the system's clock, whose function for locks ThreadSanitizer knows.
      const auto tick = std::chrono::milliseconds(int64_t(1000 * interruptTick));
      while (!lock.try_lock_until(std::chrono::system_clock::now() + tick))
        if (isInterrupted())
          holder.session->interrupt();
      holder.session.reset();
      return Status();
    });
  delete session;
}

int sk_session_set_devices(sk_session *session, const sk_device_options *given) {
  return onSession(session, [&](Session &open) -> Status {
    if (!given)
      return invalid("the options are NULL");
    if (given->abi != SK_ABI_VERSION)
      return invalid("device options of ABI version " + std::to_string(given->abi) + ", this runtime has version " +
                     std::to_string(SK_ABI_VERSION));
    if (given->attention < SK_ATTENTION_ANY || given->attention > SK_ATTENTION_KERNEL)
      return invalid("attention " + std::to_string(given->attention) + ", expected a value of sk_attention_engine");
    if (given->ranks < 0)
      return invalid("a device map of " + std::to_string(given->ranks) + " ranks, expected at least 0");
    if (given->ranks)
      SK_RETURN_IF_ERROR(needed(given->map, "the device map"));
    cuda::DeviceOptions options;
    options.tf32 = given->tf32 != 0;
    options.graphs = given->no_graphs == 0;
    options.tune = given->tune != 0;
    options.attention = cuda::AttentionEngine(given->attention);
    options.map.assign(given->map, given->map + given->ranks);
    return open.setDevices(options);
  });
}

int32_t sk_session_process(const sk_session *session, int32_t *processes) {
  int32_t process = 0;
  (void)onSession(session, [&](Session &open) {
    process = open.backend().process();
    if (processes)
      *processes = open.backend().processes();
    return Status();
  });
  return process;
}

int sk_session_add_bundle(sk_session *session, const char *path, const char *name) {
  return onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(checkPath(path, "the path of a bundle", "a bundle directory"));
    return open.addBundle(path, name ? name : "");
  });
}
int sk_session_register_shard_function(sk_session *session, const char *name, sk_shard_function f, void *user) {
  return onSession(session, [&](Session &open) { return open.hostFunctions().add(name ? name : "", f, user); });
}
int sk_session_load_shard_functions(sk_session *session, const char *library) {
  return onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(checkPath(library, "the path of a library of shard functions", "a file"));
    return open.hostFunctions().loadLibrary(library);
  });
}

int32_t sk_session_count(const sk_session *session) {
  int32_t count = 0;
  (void)onSession(session, [&](Session &open) {
    count = open.count();
    return Status();
  });
  return count;
}

int sk_session_find(const sk_session *session, const char *name, int32_t *out) {
  if (out)
    *out = -1;
  return onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(needed(out, "the memory for the number"));
    SK_ASSIGN_OR_RETURN(*out, open.find(name ? name : ""));
    return {};
  });
}

int32_t sk_session_size_count(const sk_session *session, int32_t function) {
  int32_t count = 0;
  onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(open.checkFunction(function));
    count = int32_t(open.sizes(function).size());
    return {};
  });
  return count;
}

int sk_session_size(const sk_session *session, int32_t function, int32_t index, sk_size_info *out) {
  return onSession(session, out, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(open.checkFunction(function));
    const std::vector<SizeInfo> &sizes = open.sizes(function);
    if (index < 0 || size_t(index) >= sizes.size())
      return invalid("size " + std::to_string(index) + " of function '" + open.name(function) + "', expected one of " +
                     std::to_string(sizes.size()));
    const SizeInfo &size = sizes[size_t(index)];
    *out = {size.name.c_str(), size.least, size.most, size.multiple};
    return {};
  });
}

int sk_session_at_sizes(sk_session *session, int32_t function, const int64_t *sizes, int32_t count, int32_t *out) {
  return onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(needed(out, "the memory for the number"));
    if (count < 0 || (count > 0 && !sizes))
      return invalid("sizes are needed, " + std::to_string(count) + " of them");
    SK_ASSIGN_OR_RETURN(*out, open.atSizes(function, std::vector<int64_t>(sizes, sizes + count)));
    return {};
  });
}

int sk_session_at_shapes(sk_session *session, int32_t function, const int64_t *const *shapes, const int32_t *ndims,
                         int32_t count, int32_t *out) {
  return onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(needed(out, "the memory for the number"));
    if (count < 0 || (count > 0 && (!shapes || !ndims)))
      return invalid("shapes are needed, " + std::to_string(count) + " of them");
    std::vector<std::optional<Shape>> given(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i)
      if (shapes[i] && ndims[i] >= 0)
        given[size_t(i)] = Shape(shapes[i], shapes[i] + ndims[i]);
    SK_ASSIGN_OR_RETURN(*out, open.atShapes(function, given));
    return {};
  });
}

int sk_session_function(const sk_session *session, int32_t function, sk_function_info *out) {
  return onSession(session, out, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(open.checkFunction(function));
    const FunctionInfo &full = open.runnable(function).full();
    const FunctionStats stats = open.stats(function);
    *out = {open.name(function).c_str(),
            int32_t(full.arguments.size()),
            int32_t(full.results.size()),
            full.devices,
            stats.calls,
            stats.failed,
            stats.seconds,
            stats.lastSeconds,
            stats.reshardedBytes,
            stats.reshardSeconds};
    return {};
  });
}

int sk_session_argument(const sk_session *session, int32_t function, int32_t index, sk_value_info *out) {
  return onSession(session, out, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(open.checkArgument(function, index));
    describe(open.runnable(function).full().arguments[size_t(index)], open.argument(function, size_t(index)), out);
    return {};
  });
}

int sk_session_result(const sk_session *session, int32_t function, int32_t index, sk_value_info *out) {
  return onSession(session, out, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(open.checkFunction(function));
    const FunctionInfo &full = open.runnable(function).full();
    if (index < 0 || size_t(index) >= full.results.size())
      return invalid("result " + std::to_string(index) + ", the function has " + std::to_string(full.results.size()));
    describe(full.results[size_t(index)], open.result(function, size_t(index)), out);
    return {};
  });
}

const char *sk_session_note(sk_session *session, int32_t index) {
  const char *note = nullptr;
  (void)onSession(session, [&](Session &open) {
    const std::vector<std::string> notes = open.notes();
    if (index >= 0 && size_t(index) < notes.size()) {
      session->note = notes[size_t(index)];
      note = session->note.c_str();
    }
    return Status();
  });
  return note;
}

int sk_session_load(sk_session *session, const char *path) { return sk_session_load_names(session, path, nullptr, 0); }
static Expected<std::vector<std::string>> listOf(const char *const *names, int32_t count) {
  if (count < 0)
    return invalid("a list of " + std::to_string(count) + " names, expected at least 0");
  if (count)
    SK_RETURN_IF_ERROR(needed(names, "the list of names"));
  std::vector<std::string> list;
  for (int32_t i = 0; i < count; ++i) {
    SK_RETURN_IF_ERROR(needed(names[i], "a name"));
    list.push_back(names[i]);
  }
  return list;
}
int sk_session_load_names(sk_session *session, const char *path, const char *const *names, int32_t count) {
  return onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(checkPath(path, "the path of the weights", "a file or a directory"));
    SK_ASSIGN_OR_RETURN(const std::vector<std::string> list, listOf(names, count));
    return open.load(path, list);
  });
}
int sk_session_save(sk_session *session, const char *directory, const char *const *names, int32_t count) {
  return onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(checkPath(directory, "the path of the set", "a directory"));
    SK_ASSIGN_OR_RETURN(const std::vector<std::string> list, listOf(names, count));
    return open.save(directory, list);
  });
}
int sk_session_fill_random(sk_session *session, uint64_t seed) {
  return onSession(session, [&](Session &open) { return open.fillRandom(seed); });
}
int sk_session_assign(sk_session *session, const char *name, const void *data, int64_t bytes) {
  return onSession(session, [&](Session &open) -> Status {
    if (bytes)
      SK_RETURN_IF_ERROR(needed(data, "the memory of the elements"));
    return open.assign(name ? name : "", data, bytes);
  });
}
int sk_session_bind(sk_session *session, const char *name, sk_array *array) {
  return onSession(session, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(needed(array, "the array"));
    return open.bind(name ? name : "", array->array);
  });
}
int sk_session_bound(sk_session *session, const char *name, sk_array **out) {
  return onSession(session, out, [&](Session &open) -> Status {
    SK_ASSIGN_OR_RETURN(Array array, open.bound(name ? name : ""));
    *out = handle(session->holder, std::move(array));
    return {};
  });
}

void sk_session_load_counters(const sk_session *session, sk_load_counters *out) {
  (void)onSession(session, out, [&](Session &open) {
    const LoadStats stats = open.loadStats();
    *out = {stats.total.bytesNeeded, stats.total.bytesRead, stats.total.requests, stats.scatters,
            stats.broadcasts,        stats.stagingBytes,    stats.total.seconds};
    return Status();
  });
}

/// The arguments of a call; null for those that are bound.
static Expected<std::vector<Array>> readArguments(Session &open, int32_t function, const sk_argument *given,
                                                  int32_t count, bool isAsync, sk_array **results) {
  SK_RETURN_IF_ERROR(open.checkFunction(function));
  const size_t most = open.runnable(function).full().arguments.size();
  if (count < 0 || size_t(count) > most)
    return invalid("function '" + open.name(function) + "' is called with " + std::to_string(count) +
                   " arguments, expected at most " + std::to_string(most));
  if (count)
    SK_RETURN_IF_ERROR(needed(given, "the list of arguments"));
  if (!open.runnable(function).full().results.empty())
    SK_RETURN_IF_ERROR(needed(results, "the memory for the results"));
  std::vector<Array> arguments;
  arguments.resize(size_t(count));
  for (size_t i = 0; i < size_t(count); ++i) {
    if (given[i].data) {
      SK_ASSIGN_OR_RETURN(arguments[i], open.put(function, i, given[i].data, isAsync ? nullptr : callersMemory()));
    } else if (given[i].array) {
      arguments[i] = given[i].array->array;
    }
  }
  return arguments;
}

int sk_session_call(sk_session *session, int32_t function, const sk_argument *given, int32_t count, int32_t flags,
                    sk_array **results) {
  return onSession(session, [&](Session &open) -> Status {
    if (flags & ~(SK_DONATE | SK_ASYNC))
      return invalid("flags " + std::to_string(flags) + " of a call, expected those of sk_call_flags");
    CallOptions options;
    options.donate = flags & SK_DONATE;
    options.isAsync = flags & SK_ASYNC;
    SK_ASSIGN_OR_RETURN(std::vector<Array> arguments,
                        readArguments(open, function, given, count, options.isAsync, results));
    SK_ASSIGN_OR_RETURN(std::vector<Array> computed, open.call(function, arguments, options));
    for (size_t i = 0; i < computed.size(); ++i)
      results[i] = handle(session->holder, std::move(computed[i]));
    return {};
  });
}

int sk_session_compare_values(sk_session *session, int32_t function, const sk_argument *given, int32_t count,
                              const sk_compare_options *options, sk_array **results, const char **report) {
  return onSession(session, report, [&](Session &open) -> Status {
    CompareOptions compare;
    if (options && options->abi != SK_ABI_VERSION)
      return invalid("options of another abi, expected " + std::to_string(SK_ABI_VERSION));
    if (options) {
      compare.exact = options->exact != 0;
      if (options->rtol >= 0)
        compare.rtol = options->rtol;
      if (options->atol >= 0)
        compare.atol = options->atol;
      compare.directory = options->directory ? options->directory : "";
      SK_ASSIGN_OR_RETURN(compare.watch, listOf(options->watch, options->num_watch));
    }
    SK_ASSIGN_OR_RETURN(std::vector<Array> arguments,
                        readArguments(open, function, given, count, /*isAsync=*/false, results));
    ValueReport compared;
    SK_ASSIGN_OR_RETURN(std::vector<Array> computed, compareValues(open, function, arguments, compare, {}, compared));
    thread_local std::string text;
    text = compared.json();
    *report = text.c_str();
    for (size_t i = 0; i < computed.size(); ++i)
      results[i] = handle(session->holder, std::move(computed[i]));
    return {};
  });
}

void sk_session_load_progress(const sk_session *session, int64_t *done, int64_t *total) {
  std::pair<int64_t, int64_t> progress;
  (void)onSession(session, [&](Session &open) {
    progress = open.loadProgress();
    return Status();
  });
  if (done)
    *done = progress.first;
  if (total)
    *total = progress.second;
}

void sk_session_interrupt(sk_session *session) {
  (void)onSession(session, [](Session &open) {
    open.interrupt();
    return Status();
  });
}
void sk_set_interrupt(int (*check)(void *user), void *user) {
  setInterrupt(check ? [=] { return check(user) != 0; } : std::function<bool()>());
}

int sk_session_is_stuck(const sk_session *session) {
  bool isStuck = false;
  (void)onSession(session, [&](Session &open) {
    isStuck = open.stuck();
    return Status();
  });
  return isStuck;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

int sk_array_create(sk_session *session, int32_t function, int32_t index, const void *data, int64_t bytes,
                    sk_array **out) {
  return onSession(session, out, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(open.checkArgument(function, index));
    const ArrayLayout &layout = open.argument(function, size_t(index));
    SK_RETURN_IF_ERROR(checkBytes(layout.value().name, bytes, layout.value().globalBytes()));
    if (bytes)
      SK_RETURN_IF_ERROR(needed(data, "the memory of the elements"));
    SK_ASSIGN_OR_RETURN(Array array, open.put(function, size_t(index), data));
    *out = handle(session->holder, std::move(array));
    return {};
  });
}

int sk_array_reshard(sk_array *array, int32_t function, int32_t index, sk_array **out) {
  return onSession(array, out, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(open.checkArgument(function, index));
    SK_ASSIGN_OR_RETURN(Array moved, open.reshard(array->array, function, size_t(index)));
    *out = handle(array->holder, std::move(moved));
    return {};
  });
}

void sk_array_release(sk_array *array) { delete array; }

int sk_array_info(const sk_array *array, sk_value_info *out) {
  return catching([&]() -> Status {
    SK_RETURN_IF_ERROR(needed(array, "the array"));
    SK_RETURN_IF_ERROR(needed(out, "the memory for the result"));
    describe(array->array.layout().value(), array->array.layout(), out);
    out->name = array->array.name().c_str();
    return {};
  });
}
int sk_array_is_ready(const sk_array *array) {
  bool isReady = false;
  (void)onSession(array, [&](Session &open) {
    isReady = open.isReady(array->array);
    return Status();
  });
  return isReady;
}
int sk_array_wait(const sk_array *array) {
  return onSession(array, [&](Session &open) { return open.wait(array->array); });
}
int sk_array_read(const sk_array *array, void *to, int64_t bytes) {
  return onSession(array, [&](Session &open) -> Status {
    SK_RETURN_IF_ERROR(checkBytes(array->array.name(), bytes, array->array.bytes()));
    if (bytes)
      SK_RETURN_IF_ERROR(needed(to, "the memory for the elements"));
    return open.read(array->array, to);
  });
}

int sk_array_read_slice(const sk_array *array, const int64_t *starts, const int64_t *sizes, void *to, int64_t bytes) {
  return onSession(array, [&](Session &open) -> Status {
    const size_t dims = array->array.shape().size();
    if (dims)
      SK_RETURN_IF_ERROR(needed(starts && sizes ? starts : nullptr, "the list of starts or sizes"));
    const Shape shape(sizes, sizes + dims);
    // Else the slice is an error itself.
    if (std::all_of(shape.begin(), shape.end(), [](int64_t size) { return size >= 0; }))
      if (const std::optional<int64_t> count = numElements(shape))
        SK_RETURN_IF_ERROR(checkBytes(array->array.name(), bytes, *count * dtypeSize(array->array.dtype())));
    if (bytes)
      SK_RETURN_IF_ERROR(needed(to, "the memory for the elements"));
    return open.readSlice(array->array, Shape(starts, starts + dims), shape, to);
  });
}

int sk_array_shard(const sk_array *array, int64_t rank, sk_view *out) {
  return onSession(array, out, [&](Session &open) { return give(open.shard(array->array, rank), out); });
}
int sk_array_view(const sk_array *array, sk_view *out) {
  return onSession(array, out, [&](Session &open) { return give(open.readInPlace(array->array), out); });
}
int32_t sk_view_gpu(const sk_view *view) {
  return view && view->owner ? static_cast<const ViewOwner *>(view->owner)->view.gpu : -1;
}
int sk_view_dlpack(const sk_view *view, void **out) {
  return catching([&]() -> Status {
    SK_RETURN_IF_ERROR(needed(out, "the memory for the tensor"));
    *out = nullptr;
    if (!view || !view->owner)
      return invalid("the view is released, expected one of sk_array_shard or sk_array_view");
    SK_ASSIGN_OR_RETURN(*out, exportToDlpack(static_cast<const ViewOwner *>(view->owner)->view));
    return {};
  });
}
void sk_view_release(sk_view *view) {
  if (!view)
    return;
  delete static_cast<ViewOwner *>(view->owner);
  *view = {};
}
