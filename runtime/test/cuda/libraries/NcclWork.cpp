//===- NcclWork.cpp - Collectives and exchanges ---------------------------===//

#include "Nccl.h"

#include "../ptx/Float.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace shardkit::emu {

static const struct {
  const char *name;
  size_t bytes;
} kTypes[] = {{"i8", 1},  {"u8", 1},  {"i32", 4}, {"u32", 4},  {"i64", 8},      {"u64", 8},
              {"f16", 2}, {"f32", 4}, {"f64", 8}, {"bf16", 2}, {"f8E4M3FN", 1}, {"f8E5M2", 1}};
static const char *const kOps[] = {"sum", "prod", "max", "min", "avg"};
static const char *const kKinds[] = {"all_reduce",     "reduce",     "broadcast", "all_gather",
                                     "reduce_scatter", "all_to_all", "exchange"};

size_t bytesOfType(int type) { return type >= 0 && type < 12 ? kTypes[type].bytes : 0; }
const char *nameOfType(int type) { return kTypes[type].name; }

std::string describe(const Header &h) {
  std::string out = kKinds[int(h.kind)] + std::string(" ") + std::to_string(h.count) + " " + nameOfType(h.type);
  if (h.op >= 0)
    out += std::string(" ") + kOps[h.op];
  if (h.root >= 0)
    out += " root " + std::to_string(h.root);
  return out;
}

template <typename T> static T combine(T a, T b, int op) {
  switch (op) {
  case 1:
    return T(a * b);
  case 2:
    return a != a ? b : b != b ? a : std::max(a, b);
  case 3:
    return a != a ? b : b != b ? a : std::min(a, b);
  default:
    if constexpr (std::is_integral_v<T>)
      return T(uint64_t(a) + uint64_t(b));
    else
      return a + b;
  }
}
template <typename T> static void reduceAs(char *a, const char *b, uint64_t count, int op) {
  for (uint64_t i = 0; i < count; ++i) {
    T x, y;
    memcpy(&x, a + i * sizeof(T), sizeof(T));
    memcpy(&y, b + i * sizeof(T), sizeof(T));
    if constexpr (kIsHalf<T>)
      x = T::of(combine(float(x), float(y), op));
    else
      x = combine(x, y, op);
    memcpy(a + i * sizeof(T), &x, sizeof(T));
  }
}
void reduceInto(char *a, const char *b, uint64_t count, int type, int op) {
  switch (type) {
  case 0:
    return reduceAs<int8_t>(a, b, count, op);
  case 1:
    return reduceAs<uint8_t>(a, b, count, op);
  case 2:
    return reduceAs<int32_t>(a, b, count, op);
  case 3:
    return reduceAs<uint32_t>(a, b, count, op);
  case 4:
    return reduceAs<int64_t>(a, b, count, op);
  case 5:
    return reduceAs<uint64_t>(a, b, count, op);
  case 6:
    return reduceAs<F16>(a, b, count, op);
  case 7:
    return reduceAs<float>(a, b, count, op);
  case 8:
    return reduceAs<double>(a, b, count, op);
  case 9:
    return reduceAs<BF16>(a, b, count, op);
  }
}
template <typename T> static void divideAs(char *a, uint64_t count, int ranks) {
  for (uint64_t i = 0; i < count; ++i) {
    T x;
    memcpy(&x, a + i * sizeof(T), sizeof(T));
    if constexpr (kIsHalf<T>)
      x = T::of(float(x) / float(ranks));
    else
      x = T(x / T(ranks));
    memcpy(a + i * sizeof(T), &x, sizeof(T));
  }
}
void divide(char *a, uint64_t count, int type, int ranks) {
  switch (type) {
  case 0:
    return divideAs<int8_t>(a, count, ranks);
  case 1:
    return divideAs<uint8_t>(a, count, ranks);
  case 2:
    return divideAs<int32_t>(a, count, ranks);
  case 3:
    return divideAs<uint32_t>(a, count, ranks);
  case 4:
    return divideAs<int64_t>(a, count, ranks);
  case 5:
    return divideAs<uint64_t>(a, count, ranks);
  case 6:
    return divideAs<F16>(a, count, ranks);
  case 7:
    return divideAs<float>(a, count, ranks);
  case 8:
    return divideAs<double>(a, count, ranks);
  case 9:
    return divideAs<BF16>(a, count, ranks);
  }
}

double timeoutSeconds() {
  static const double seconds = [] {
    const char *text = getenv("SK_NCCL_TIMEOUT");
    return text && *text ? atof(text) : 30.0;
  }();
  return seconds;
}

void record(const Communicator &comm, const std::string &what) {
  const char *path = getenv("SK_NCCL_RECORD");
  if (!path || !*path)
    return;
  std::string line = "rank " + std::to_string(comm.world[size_t(comm.rank())]) + " of [";
  for (size_t i = 0; i < comm.world.size(); ++i)
    line += (i ? "," : "") + std::to_string(comm.world[i]);
  line += "]: " + what + "\n";
  int file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0666);
  if (file < 0 || write(file, line.data(), line.size()) != ssize_t(line.size()))
    complain(std::string("cannot write ") + path);
  if (file >= 0)
    close(file);
}

void Communicator::fail(ncclResult error, const std::string &what) {
  complain("NCCL, rank " + std::to_string(rank()) + ": " + what);
  state = error;
  breakDevice(device, CUDA_ERROR_LAUNCH_FAILED);
}

namespace {

struct Started {
  Clock::time_point at = Clock::now();
  bool late() const { return std::chrono::duration<double>(Clock::now() - at).count() > timeoutSeconds(); }
};

/// Ends with the task, however it ends.
struct Outstanding {
  Comm comm;
  explicit Outstanding(Comm c) : comm(std::move(c)) { ++comm->outstanding; }
  ~Outstanding() { --comm->outstanding; }
};

std::string nameOf(uint64_t number, int rank) { return "c" + std::to_string(number) + "." + std::to_string(rank); }

/// One execution of an operation, in its turn among those of the communicator.
struct Operation {
  Comm comm;
  uint64_t turn;
  Outstanding outstanding;
  std::atomic<bool> begun{false};
  Started started;
  explicit Operation(Comm c) : comm(std::move(c)), turn(comm->called++), outstanding(comm) {}
  virtual ~Operation() = default;
  virtual void begin() = 0;
  virtual bool proceed() = 0; ///< Whether it is done.
  virtual bool awaited() const = 0;

  bool dead() const { return comm->aborted || (comm->state != ncclSuccess && comm->state != ncclInProgress); }
  Progress run() {
    if (!dead() && !begun) {
      if (comm->done < turn) {
        comm->needed = std::max<uint64_t>(comm->needed, turn);
        return Progress::Later;
      }
      started = Started();
      begun = true;
      begin();
    }
    if (!dead() && !proceed())
      return Progress::Later;
    comm->done = std::max<uint64_t>(comm->done, turn + 1);
    ring();
    return Progress::Done;
  }
  bool wanted() const { return begun || comm->flush || dead() || turn < comm->needed || awaited(); }
};

template <typename T> Running running(std::shared_ptr<T> op) {
  return {[op] { return op->run(); }, [op] { return op->wanted(); }};
}

struct Collective : Operation {
  Header header;
  uint64_t in, out, number;
  std::vector<std::optional<std::vector<char>>> from;
  Collective(Comm c, Header h, uint64_t i, uint64_t o)
      : Operation(std::move(c)), header(h), in(i), out(o), number(comm->nextCollective++) {}

  uint64_t inCount() const {
    bool all = header.kind == Kind::ReduceScatter || header.kind == Kind::AllToAll;
    return header.count * uint64_t(all ? comm->ranks() : 1);
  }
  uint64_t outCount() const {
    bool all = header.kind == Kind::AllGather || header.kind == Kind::AllToAll;
    return header.count * uint64_t(all ? comm->ranks() : 1);
  }
  bool sends() const { return header.kind != Kind::Broadcast || comm->rank() == header.root; }
  bool receives() const { return header.kind != Kind::Reduce || comm->rank() == header.root; }

  void begin() override {
    Communicator &c = *comm;
    size_t bytes = sends() ? inCount() * bytesOfType(header.type) : 0;
    std::string what = describe(header);
    std::vector<char> file(sizeof header + bytes);
    memcpy(file.data(), &header, sizeof header);
    if (bytes) {
      const char *p = deviceMemory(c.device, in, bytes, false, what);
      if (!p)
        return c.fail(ncclInvalidArgument, what + ": no device memory to send");
      memcpy(file.data() + sizeof header, p, bytes);
    }
    if (!c.clique->post(nameOf(number, c.rank()), file))
      return c.fail(ncclSystemError, what + ": cannot hand over its data");
    from.resize(size_t(c.ranks()));
  }

  bool proceed() override {
    Communicator &c = *comm;
    std::string what = describe(header), missing;
    for (int r = 0; r < c.ranks(); ++r) {
      auto &file = from[size_t(r)];
      if (file)
        continue;
      file = c.clique->read(nameOf(number, r));
      if (!file) {
        missing += " " + std::to_string(r);
        continue;
      }
      Header other;
      memcpy(&other, file->data(), sizeof other);
      if (!(other == header))
        return c.fail(ncclInvalidUsage, "operation " + std::to_string(number) + " is " + what + ", but on rank " +
                                            std::to_string(r) + " " + describe(other)),
               true;
    }
    if (!missing.empty()) {
      if (started.late())
        c.fail(ncclRemoteError, what + " hangs: ranks" + missing + " did not come");
      return false;
    }
    size_t size = bytesOfType(header.type);
    if (receives() && outCount()) {
      char *p = deviceMemory(c.device, out, outCount() * size, true, what);
      if (!p)
        return c.fail(ncclInvalidArgument, what + ": no device memory to receive"), true;
      receive(p, size);
    }
    // Every rank is here, so behind the one before.
    if (number)
      c.clique->remove(nameOf(number - 1, c.rank()));
    record(c, what);
    return true;
  }

  bool awaited() const override {
    for (int r = 0; r < comm->ranks(); ++r)
      if (r != comm->rank() && comm->clique->exists(nameOf(number, r)))
        return true;
    return false;
  }

  void receive(char *to, size_t size) {
    auto data = [&](int r) { return from[size_t(r)]->data() + sizeof header; };
    uint64_t n = header.count, bytes = n * size;
    int ranks = comm->ranks(), me = comm->rank();
    switch (header.kind) {
    case Kind::AllReduce:
    case Kind::Reduce:
    case Kind::ReduceScatter: {
      uint64_t offset = header.kind == Kind::ReduceScatter ? uint64_t(me) * bytes : 0;
      memcpy(to, data(0) + offset, bytes);
      for (int r = 1; r < ranks; ++r)
        reduceInto(to, data(r) + offset, n, header.type, header.op);
      if (header.op == 4)
        divide(to, n, header.type, ranks);
      break;
    }
    case Kind::Broadcast:
      memcpy(to, data(header.root), bytes);
      break;
    case Kind::AllGather:
      for (int r = 0; r < ranks; ++r)
        memcpy(to + uint64_t(r) * bytes, data(r), bytes);
      break;
    default:
      for (int r = 0; r < ranks; ++r)
        memcpy(to + uint64_t(r) * bytes, data(r) + uint64_t(me) * bytes, bytes);
    }
  }
};

std::string pairName(char what, int from, int to, uint64_t number) {
  return what + std::to_string(from) + "-" + std::to_string(to) + "." + std::to_string(number);
}

struct Exchange : Operation {
  std::vector<Transfer> transfers;
  Exchange(Comm c, std::vector<Transfer> t) : Operation(std::move(c)), transfers(std::move(t)) {
    for (Transfer &each : transfers)
      each.number = (each.send ? comm->nextSend : comm->nextRecv)[size_t(each.peer)]++;
  }

  void begin() override {
    for (Transfer &t : transfers)
      if (!begin(t))
        return;
  }
  bool proceed() override {
    bool all = true;
    for (Transfer &t : transfers)
      if (!t.done) {
        if (!proceed(t))
          return true;
        all &= t.done;
      }
    if (!all) {
      if (started.late()) {
        std::string what;
        for (Transfer &t : transfers)
          if (!t.done)
            what += (t.send ? " send to " : " receive from ") + std::to_string(t.peer);
        comm->fail(ncclRemoteError, "an exchange hangs:" + what);
      }
      return false;
    }
    std::string line = "exchange";
    for (Transfer &t : transfers)
      line += (t.send ? " send " : " recv ") + std::to_string(t.peer) + ":" + std::to_string(t.count) + " " +
              nameOfType(t.type);
    record(*comm, line);
    return true;
  }
  bool awaited() const override {
    for (const Transfer &t : transfers)
      if (comm->clique->exists(name(t, t.send ? 'w' : 'p')))
        return true;
    return false;
  }

  std::string name(const Transfer &t, char what) const {
    int me = comm->rank();
    return t.send ? pairName(what, me, t.peer, t.number) : pairName(what, t.peer, me, t.number);
  }
  bool begin(Transfer &t) {
    Communicator &c = *comm;
    size_t bytes = t.count * bytesOfType(t.type);
    if (!t.send) {
      c.clique->post(name(t, 'w'), {}); // Waits for it.
      return true;
    }
    std::vector<char> file(sizeof(Header) + bytes);
    Header h{Kind::Exchange, t.type, -1, -1, t.count};
    memcpy(file.data(), &h, sizeof h);
    if (bytes) {
      const char *p = deviceMemory(c.device, t.address, bytes, false, "ncclSend to " + std::to_string(t.peer));
      if (!p)
        return c.fail(ncclInvalidArgument, "no device memory to send"), false;
      memcpy(file.data() + sizeof h, p, bytes);
    }
    if (!c.clique->post(name(t, 'p'), file))
      return c.fail(ncclSystemError, "cannot hand over what it sends"), false;
    return true;
  }
  bool proceed(Transfer &t) {
    Communicator &c = *comm;
    if (t.send) { // Done once it was taken.
      t.done = !c.clique->exists(name(t, 'p'));
      return true;
    }
    auto file = c.clique->read(name(t, 'p'));
    if (!file)
      return true;
    Header h, mine{Kind::Exchange, t.type, -1, -1, t.count};
    memcpy(&h, file->data(), sizeof h);
    if (!(h == mine))
      return c.fail(ncclInvalidUsage, "receives " + std::to_string(t.count) + " " + nameOfType(t.type) + " from rank " +
                                          std::to_string(t.peer) + ", which sends " + std::to_string(h.count) + " " +
                                          nameOfType(h.type)),
             false;
    size_t bytes = t.count * bytesOfType(t.type);
    if (bytes) {
      char *p = deviceMemory(c.device, t.address, bytes, true, "ncclRecv from " + std::to_string(t.peer));
      if (!p)
        return c.fail(ncclInvalidArgument, "no device memory to receive"), false;
      memcpy(p, file->data() + sizeof h, bytes);
    }
    c.clique->remove(name(t, 'w'));
    c.clique->remove(name(t, 'p'));
    t.done = true;
    return true;
  }
};

} // namespace

// Numbers are given when work is handed over, which is in the same order on all ranks.
Work collective(Comm comm, Header header, uint64_t in, uint64_t out) {
  return {describe(header), [=] { return running(std::make_shared<Collective>(comm, header, in, out)); }};
}
Work exchange(Comm comm, std::vector<Transfer> transfers) {
  return {"an exchange", [=] { return running(std::make_shared<Exchange>(comm, transfers)); }};
}

} // namespace shardkit::emu
