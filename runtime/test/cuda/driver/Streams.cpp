//===- Streams.cpp - Queues of work ---------------------------------------===//
//
// Work runs on the threads that call. At once where it can; with SK_EMU_LAZY when
// something waits for it. Work of several processes (collectives) may have to be looked
// at again later: then a thread of the emulator does.
//
//===----------------------------------------------------------------------===//

#include "Emulator.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace shardkit::emu {

static uint64_t number(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  if (!text || !*text)
    return otherwise;
  char *end = nullptr;
  uint64_t value = strtoull(text, &end, 10);
  if (*end) {
    fprintf(stderr, "emulated CUDA: %s=%s is not a number\n", name, text);
    exit(1);
  }
  return value;
}

const Settings &settings() {
  static const Settings settings = [] {
    Settings s;
    s.devices = int(number("SK_EMU_DEVICES", 1));
    if (s.devices > 32) {
      fprintf(stderr, "emulated CUDA: SK_EMU_DEVICES=%d: 32 at most\n", s.devices);
      exit(1);
    }
    s.memory = number("SK_EMU_MEMORY", s.memory);
    s.driver = int(number("SK_EMU_DRIVER", s.driver));
    s.lazy = int(number("SK_EMU_LAZY", 0));
    s.leaks = number("SK_EMU_LEAKS", 0);
    s.options.races = number("SK_EMU_RACES", 0);
    s.options.uninitialised = number("SK_EMU_INIT", 0);
    s.options.reversed = s.lazy != 0;
    if (const char *chip = getenv("SK_EMU_CHIP"))
      s.chip = chip;
    int cc = 0;
    if (sscanf(s.chip.c_str(), "sm_%d", &cc) != 1 || cc < 50) {
      fprintf(stderr, "emulated CUDA: SK_EMU_CHIP=%s is no chip\n", s.chip.c_str());
      exit(1);
    }
    s.major = cc / 10;
    s.minor = cc % 10;
    return s;
  }();
  return settings;
}

void complain(const std::string &what) { fprintf(stderr, "emulated CUDA: %s\n", what.c_str()); }

CUresult failed(CUresult error, const char *function, const std::string &what) {
  complain(std::string(function) + ": " + what);
  return error;
}

Emulator::Emulator() : devices(size_t(settings().devices)) {
  for (size_t d = 0; d < devices.size(); ++d) {
    auto s = std::make_shared<Stream>();
    s->device = int(d);
    s->isDefault = true;
    s->id = nextStream++;
    devices[d].defaultStream = s.get();
    streams[s.get()] = std::move(s);
  }
  if (settings().leaks)
    atexit([] {
      for (const Block *b : memory().live())
        complain("leak: " + std::to_string(b->bytes) + " bytes" +
                 (b->device < 0 ? " of host memory" : " on device " + std::to_string(b->device)));
      for (const auto &[handle, s] : emulator().streams)
        if (!s->isDefault)
          complain("leak: a stream of device " + std::to_string(s->device));
      for (size_t i = 0; i < emulator().events.size(); ++i)
        complain("leak: an event");
      for (size_t i = 0; i < emulator().modules.size(); ++i)
        complain("leak: a module");
      for (size_t i = 0; i < emulator().graphs.size() + emulator().execs.size(); ++i)
        complain("leak: a graph");
      fflush(stderr);
    });
}

Emulator &emulator() {
  static Emulator *emulator = new Emulator;
  return *emulator;
}

Stream *Emulator::stream(CUstream handle, const char *function) {
  if (handle == nullptr || handle == reinterpret_cast<CUstream>(1)) {
    int device = currentDevice();
    if (device < 0) {
      complain(std::string(function) + ": the default stream without a current context");
      return nullptr;
    }
    return devices[size_t(device)].defaultStream;
  }
  auto it = streams.find(handle);
  if (it == streams.end()) {
    complain(std::string(function) + ": no such stream");
    return nullptr;
  }
  return it->second.get();
}

static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

bool Emulator::advance(Stream &s) {
  if (s.items.empty() || s.running)
    return false;
  Stream::Item &item = s.items.front();
  if (item.wait) {
    if (!item.wait->done)
      return false;
  } else if (item.record) {
    item.record->nanoseconds = now();
    item.record->done = true;
  } else if (devices[size_t(s.device)].error == CUDA_SUCCESS) {
    s.running = true;
    ++memory().busy;
    mutex.unlock();
    Progress progress = item.work.task();
    mutex.lock();
    --memory().busy;
    s.running = false;
    if (progress == Progress::Later) {
      startBackground();
      return false;
    }
  }
  s.items.pop_front();
  bell.notify_all();
  return true;
}

bool Emulator::step(Stream &s, int depth) {
  if (s.items.empty() || depth > 64)
    return false;
  const auto &wait = s.items.front().wait;
  if (wait && !wait->done)
    return step(*wait->stream, depth + 1);
  return advance(s);
}

void Emulator::drain(Stream &s, const Mark *until) {
  // Work runs without the lock: then others may make streams, and destroy them, even this one.
  const std::shared_ptr<Stream> held = s.shared_from_this();
  auto reached = [&] { return until ? until->done.load() : s.items.empty() && !s.running; };
  if (settings().lazy == 2 && !reached())
    for (bool any = true; any;) {
      any = false;
      std::vector<std::shared_ptr<Stream>> others;
      for (auto it = streams.rbegin(); it != streams.rend(); ++it)
        if (it->second != held)
          others.push_back(it->second);
      for (const auto &other : others)
        any |= advance(*other);
    }
  while (!reached())
    if (!step(s))
      bell.wait_for(mutex, std::chrono::microseconds(200));
}

void Emulator::drainDevice(int device) {
  std::vector<std::shared_ptr<Stream>> all;
  for (auto &[handle, s] : streams)
    if (s->device == device)
      all.push_back(s);
  std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a->id > b->id; });
  for (const auto &s : all)
    drain(*s);
}

void Emulator::settle() {
  if (settings().lazy)
    return;
  for (bool any = true; any;) {
    any = false;
    std::vector<std::shared_ptr<Stream>> all;
    for (auto &[handle, s] : streams)
      if (!s->items.empty())
        all.push_back(s);
    std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a->id < b->id; });
    for (const auto &s : all)
      while (advance(*s))
        any = true;
  }
}

void Emulator::startBackground() {
  if (hasBackground_)
    return;
  hasBackground_ = true;
  std::thread([this] { background(); }).detach();
}

void Emulator::background() {
  Lock lock(mutex);
  for (;;) {
    bell.wait_for(mutex, std::chrono::microseconds(300));
    if (!settings().lazy) {
      settle();
      continue;
    }
    std::vector<std::shared_ptr<Stream>> wanted;
    for (auto &[handle, s] : streams)
      for (const Stream::Item &item : s->items)
        if (item.work.wanted && item.work.wanted()) {
          wanted.push_back(s);
          break;
        }
    for (const auto &s : wanted)
      step(*s);
  }
}

std::shared_ptr<Mark> Emulator::record(Stream &s) {
  auto mark = std::make_shared<Mark>();
  mark->stream = s.shared_from_this();
  s.items.push_back({{}, mark, nullptr});
  return mark;
}

void Emulator::push(Stream &s, Stream::Item item) {
  // The default stream and the blocking ones wait for each other.
  if (s.isDefault || s.blocking)
    for (auto &[handle, other] : streams)
      if (other.get() != &s && other->device == s.device && other->blocking && (s.isDefault || other->isDefault) &&
          (!other->items.empty() || other->running))
        s.items.push_back({{}, nullptr, record(*other)});
  bool startWatching = item.work.wanted != nullptr;
  s.items.push_back(std::move(item));
  if (startWatching)
    startBackground();
}

bool refusesCapture(const char *part) {
  const char *refused = getenv("SK_EMU_NO_CAPTURE");
  return refused && std::string_view(refused) == part;
}

CUresult enqueue(CUstream handle, Work work, const char *function) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(handle, function);
  if (!s)
    return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error = emulator().devices[size_t(s->device)].error)
    return error;
  if (s->capture && (s->capture->invalid || refusesCapture("work"))) {
    s->capture->invalid = true;
    return failed(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function, "cannot be captured");
  }
  if (s->capture) {
    auto &nodes = s->capture->graph.nodes;
    nodes.push_back({std::move(work), s->last});
    s->last = {int(nodes.size()) - 1};
    return CUDA_SUCCESS;
  }
  emulator().push(*s, {work.make(), nullptr, nullptr});
  emulator().settle();
  return emulator().devices[size_t(s->device)].error;
}

int deviceOf(CUstream handle, const char *function) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(handle, function);
  return s ? s->device : -1;
}

bool isCapturing(CUstream handle) {
  Lock lock(emulator().mutex);
  auto it = emulator().streams.find(handle);
  return it != emulator().streams.end() && it->second->capture;
}

void ring() { emulator().bell.notify_all(); }

void breakDevice(int device, CUresult error) {
  CUresult none = CUDA_SUCCESS;
  emulator().devices[size_t(device)].error.compare_exchange_strong(none, error);
}

} // namespace shardkit::emu
