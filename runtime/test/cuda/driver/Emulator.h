//===- Emulator.h - The emulated machine -----------------------*- C++ -*--===//
//
// Environment: SK_EMU_DEVICES, SK_EMU_MEMORY (bytes per device), SK_EMU_CHIP (sm_90),
// SK_EMU_DRIVER (13000), SK_EMU_LAZY=1|2 (work runs when something waits for it; 2: then everything else runs
// first), SK_EMU_RACES, SK_EMU_INIT, SK_EMU_LEAKS, SK_EMU_NO_CAPTURE.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TEST_CUDA_DRIVER_EMULATOR_H
#define SHARDKIT_TEST_CUDA_DRIVER_EMULATOR_H

#include "../ptx/Machine.h"
#include "Cuda.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#define EMU_API __attribute__((visibility("default")))

namespace shardkit::emu {

struct Settings {
  int devices = 1;
  uint64_t memory = uint64_t(80) << 30;
  std::string chip = "sm_90";
  int major = 9, minor = 0;
  int driver = 13000;
  int lazy = 0;
  bool leaks = false;
  Options options;
};
EMU_API const Settings &settings();

/// Writes "emulated CUDA: ..." to stderr.
EMU_API void complain(const std::string &what);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct Block {
  uint64_t address = 0, bytes = 0;
  char *host = nullptr;
  int device = -1; ///< -1: page-locked host memory.
  /// An allocation in order of a stream begins and ends when the stream gets there.
  enum State { Coming, Live, Freed };
  std::atomic<State> state{Live};
  bool readOnly = false, registered = false, internal = false;
  std::vector<uint8_t> written;
};

class Memory {
public:
  /// 0 where the device has no more.
  uint64_t allocate(int device, uint64_t bytes, Block::State state = Block::Live, bool internal = false);
  uint64_t allocateHost(void *given, uint64_t bytes);
  /// The block that begins there, or null.
  Block *block(uint64_t address);
  /// The block that has the byte, in whatever state, or null.
  Block *containing(uint64_t address);
  Block *containing(uint64_t address, const std::shared_lock<std::shared_mutex> &held);
  void free(Block &block);
  /// Pooled memory included.
  uint64_t used(int device) const;
  /// The device's pool keeps what is freed to it, up to `threshold` bytes.
  void freeToPool(Block &block);
  void setPoolThreshold(int device, uint64_t threshold);
  void trimPool(int device, uint64_t keep);
  std::string describe(uint64_t address) const;
  std::vector<const Block *> live() const;
  mutable std::shared_mutex mutex;
  std::atomic<uint64_t> generation{1};
  std::atomic<int> busy{0}; ///< Pieces of work that run.

private:
  std::map<uint64_t, Block> blocks_;
  std::vector<uint64_t> used_, next_;
  std::vector<uint64_t> pooled_, threshold_; ///< Of a device: free in its pool; what it may keep.
  std::vector<char *> graveyard_;
};
Memory &memory();

/// Host memory behind device memory that the emulated device of `device` may use, or
/// null after a complaint that names `who`.
EMU_API char *deviceMemory(int device, uint64_t address, uint64_t bytes, bool write, const std::string &who);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

enum class Progress { Done, Later };
using Task = std::function<Progress()>;

struct Stream;

struct Running {
  Task task;
  /// Somebody else waits for it: then it runs however late work may run. May be empty.
  std::function<bool()> wanted;
};
/// A piece of work. `make` is called when it is handed over; for a graph, at each launch.
struct Work {
  std::string what;
  std::function<Running()> make;
};
/// Work that is the same each time.
template <typename F> Work simple(std::string what, F run) {
  return {std::move(what), [run] { return Running{[run] { return run(); }, nullptr}; }};
}

/// A point in a stream.
struct Mark {
  std::atomic<bool> done{false};
  std::shared_ptr<Stream> stream; ///< It may be destroyed while others wait for the mark.
  int64_t nanoseconds = 0;
};

struct Capture;
struct GraphNode {
  Work work;
  std::vector<int> after;
};
struct Graph {
  std::vector<GraphNode> nodes;
};

struct Stream : std::enable_shared_from_this<Stream> {
  int device = 0;
  bool blocking = true, isDefault = false;
  int priority = 0;
  int id = 0;
  struct Item {
    Running work;
    std::shared_ptr<Mark> record, wait; ///< Or one of these.
  };
  std::deque<Item> items;
  bool running = false;
  // While it is being captured.
  std::shared_ptr<Capture> capture;
  std::vector<int> last; ///< Nodes that the next one comes after.
};

struct Capture {
  Graph graph;
  Stream *origin = nullptr;
  std::set<Stream *> streams;
  bool invalid = false;
};

struct Event {
  std::shared_ptr<Mark> mark;
  bool timing = true;
  // Recorded in a capture.
  std::shared_ptr<Capture> capture;
  std::vector<int> nodes;
};

/// Hands work to a stream. On a stream that is captured it becomes a node.
EMU_API CUresult enqueue(CUstream stream, Work work, const char *function);
/// Of a stream handle (0: of the current context); -1 after a complaint.
EMU_API int deviceOf(CUstream stream, const char *function);
EMU_API bool isCapturing(CUstream stream);
/// Whether SK_EMU_NO_CAPTURE says that this part of a capture is refused.
bool refusesCapture(const char *part);
EMU_API int currentDevice();
/// Something that a task waits for may have changed.
EMU_API void ring();
/// The context of a device is broken from now on.
EMU_API void breakDevice(int device, CUresult error);

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

struct LoadedFunction {
  struct Module *module = nullptr;
  std::unique_ptr<Kernel> kernel;
  int maxDynamicShared = 48 * 1024;
};
struct Module : std::enable_shared_from_this<Module> {
  int device = 0;
  ModuleAst ast;
  struct Global {
    uint64_t address, bytes;
  };
  std::map<std::string, Global> globals;
  std::map<std::string, std::unique_ptr<LoadedFunction>> functions;
};

struct Device {
  int retained = 0;
  std::atomic<CUresult> error{CUDA_SUCCESS}; ///< Stays.
  Stream *defaultStream = nullptr;
  std::set<int> peers;
};

struct Emulator {
  std::recursive_mutex mutex;
  std::condition_variable_any bell;
  bool initialised = false;
  std::deque<Device> devices;
  std::map<void *, std::shared_ptr<Stream>> streams;
  std::map<void *, std::unique_ptr<Event>> events;
  std::map<void *, std::shared_ptr<Module>> modules;
  std::set<void *> functions;
  std::map<void *, std::unique_ptr<Graph>> graphs, execs;
  int nextStream = 0;

  Emulator();
  Stream *stream(CUstream handle, const char *function); ///< Null after a complaint.
  void push(Stream &s, Stream::Item item);
  /// Runs the first item if it can; whether something was done. The lock is held.
  bool advance(Stream &s);
  /// The same, or for what it waits for.
  bool step(Stream &s, int depth = 0);
  /// Until the stream has nothing left, or the mark is reached.
  void drain(Stream &s, const Mark *until = nullptr);
  void drainDevice(int device);
  /// After a push: runs what runs at once.
  void settle();
  std::shared_ptr<Mark> record(Stream &s);

private:
  bool hasBackground_ = false;
  void startBackground();
  void background();
};
Emulator &emulator();
using Lock = std::unique_lock<std::recursive_mutex>;

/// Complains and returns the error.
CUresult failed(CUresult error, const char *function, const std::string &what);
/// The current device, or -1 after a complaint.
int needContext(const char *function, CUresult &error);

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_DRIVER_EMULATOR_H
