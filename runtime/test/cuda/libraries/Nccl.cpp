//===- Nccl.cpp - libnccl on the emulated device --------------------------===//

#include "Nccl.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

using namespace shardkit::emu;

struct ncclUniqueId {
  char internal[128];
};
struct ncclConfig {
  size_t size;
  unsigned magic, version;
  int blocking; // More follows.
};
using ncclComm = Communicator *;

namespace {

struct Registry {
  std::mutex mutex;
  std::map<Communicator *, Comm> comms;
};
Registry &registry() {
  static auto *registry = new Registry;
  return *registry;
}
thread_local std::string lastError;

ncclResult refuse(ncclResult error, const char *function, const std::string &what) {
  lastError = std::string(function) + ": " + what;
  complain(lastError);
  return error;
}
Comm find(ncclComm comm, const char *function) {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  auto it = r.comms.find(comm);
  if (it != r.comms.end())
    return it->second;
  refuse(ncclInvalidArgument, function, "no such communicator");
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Groups of calls
//===----------------------------------------------------------------------===//

struct Call {
  Comm comm;
  CUstream stream;
  std::optional<Header> header;
  uint64_t in = 0, out = 0;
  std::vector<Transfer> transfers;
};
struct Group {
  int depth = 0;
  std::vector<Call> calls;
  std::vector<std::thread> starting;
  ncclResult error = ncclSuccess;
};
thread_local Group group;

ncclResult hand(Call &call) {
  Work work =
      call.header ? collective(call.comm, *call.header, call.in, call.out) : exchange(call.comm, call.transfers);
  return enqueue(call.stream, std::move(work), "NCCL") ? ncclUnhandledCudaError : ncclSuccess;
}

ncclResult end() {
  for (std::thread &t : group.starting)
    t.join();
  group.starting.clear();
  std::vector<Call> calls;
  calls.swap(group.calls);
  ncclResult error = std::exchange(group.error, ncclSuccess);
  for (Call &call : calls)
    if (!error)
      error = hand(call);
  return error;
}

/// Sends and receives of a group that go over the same communicator and stream are one.
void add(Call call) {
  if (!call.header)
    for (Call &other : group.calls)
      if (!other.header && other.comm == call.comm && other.stream == call.stream) {
        other.transfers.push_back(call.transfers[0]);
        return;
      }
  group.calls.push_back(std::move(call));
}
ncclResult submit(Call call) {
  add(std::move(call));
  return group.depth ? ncclSuccess : end();
}
ncclResult invalid(ncclResult error) {
  if (group.depth && !group.error)
    group.error = error;
  return error;
}

/// What every operation asks of its arguments.
ncclResult ready(const Comm &comm, CUstream stream, int type, const char *function) {
  if (!comm)
    return ncclInvalidArgument;
  if (comm->state == ncclInProgress)
    return refuse(ncclInvalidUsage, function, "the communicator is not ready yet");
  if (comm->state != ncclSuccess)
    return refuse(comm->state, function, "the communicator has failed");
  if (comm->aborted)
    return refuse(ncclInvalidUsage, function, "the communicator was aborted");
  if (!bytesOfType(type))
    return refuse(ncclInvalidArgument, function, "unknown type " + std::to_string(type));
  int device = deviceOf(stream, function);
  if (device != comm->device)
    return refuse(ncclInvalidArgument, function, "the stream is of another device");
  return ncclSuccess;
}

uint64_t addressOf(const void *p) { return reinterpret_cast<uint64_t>(p); }

/// The buffers are apart, or the smaller one is its place in the larger one.
bool overlap(uint64_t a, uint64_t aBytes, uint64_t b, uint64_t bBytes, uint64_t inPlace) {
  return a < b + bBytes && b < a + aBytes && !(a == inPlace);
}

ncclResult call(Kind kind, const void *in, void *out, size_t count, int type, int op, int root, ncclComm handle,
                CUstream stream, const char *function) {
  Comm comm = find(handle, function);
  if (ncclResult error = ready(comm, stream, type, function))
    return invalid(error);
  bool reduces = kind == Kind::AllReduce || kind == Kind::Reduce || kind == Kind::ReduceScatter;
  if (reduces && (op < 0 || op > 4 || type > 9))
    return invalid(refuse(ncclInvalidArgument, function, "unknown reduction, or none of this type"));
  if (root >= comm->ranks() || root < -1)
    return invalid(refuse(ncclInvalidArgument, function, "no rank " + std::to_string(root)));
  uint64_t a = addressOf(in), b = addressOf(out), bytes = count * bytesOfType(type), ranks = uint64_t(comm->ranks()),
           me = uint64_t(comm->rank());
  bool clash = kind == Kind::AllGather       ? overlap(a, bytes, b, bytes * ranks, b + me * bytes)
               : kind == Kind::ReduceScatter ? overlap(b, bytes, a, bytes * ranks, a + me * bytes)
               : kind == Kind::AllToAll      ? a < b + bytes * ranks && b < a + bytes * ranks
                                             : overlap(a, bytes, b, bytes, b);
  if (clash && count && (root < 0 || root == int(me)))
    return invalid(refuse(ncclInvalidArgument, function, "the buffers overlap otherwise than in place"));
  Call c{comm, stream, Header{kind, type, reduces ? op : -1, root, count}, a, b, {}};
  return submit(std::move(c));
}

ncclResult transfer(bool send, uint64_t address, size_t count, int type, int peer, ncclComm handle, CUstream stream,
                    const char *function) {
  Comm comm = find(handle, function);
  if (ncclResult error = ready(comm, stream, type, function))
    return invalid(error);
  if (peer < 0 || peer >= comm->ranks())
    return invalid(refuse(ncclInvalidArgument, function, "no rank " + std::to_string(peer)));
  Call c{comm, stream, std::nullopt, 0, 0, {Transfer{send, peer, address, count, 0, type}}};
  return submit(std::move(c));
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

/// Waits until every rank has left a file of that name; then gives their contents.
std::vector<std::vector<char>> gather(Communicator &c, const std::string &name, const std::vector<char> &mine,
                                      const char *function) {
  std::vector<std::vector<char>> out;
  if (!c.clique->post(name + "." + std::to_string(c.rank()), mine)) {
    refuse(ncclInvalidUsage, function, "rank " + std::to_string(c.rank()) + " is there already");
    return out;
  }
  auto begin = Clock::now();
  for (int r = 0; r < c.ranks();) {
    if (auto file = c.clique->read(name + "." + std::to_string(r))) {
      out.push_back(std::move(*file));
      ++r;
      continue;
    }
    if (c.aborted || std::chrono::duration<double>(Clock::now() - begin).count() > timeoutSeconds()) {
      if (!c.aborted)
        refuse(ncclRemoteError, function, "hangs: rank " + std::to_string(r) + " did not come");
      out.clear();
      return out;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return out;
}

/// Meets the other ranks and compares what they are.
void meet(const Comm &c, const char *function) {
  std::vector<char> mine(8);
  int fields[2] = {c->ranks(), c->device};
  memcpy(mine.data(), fields, 8);
  auto files = gather(*c, "init", mine, function);
  if (files.empty()) {
    c->state = c->aborted ? ncclInvalidUsage : ncclRemoteError;
    return;
  }
  for (size_t r = 0; r < files.size(); ++r) {
    int other[2];
    memcpy(other, files[r].data(), 8);
    if (other[0] != c->ranks()) {
      refuse(ncclInvalidArgument, function, "the ranks do not agree on their number");
      c->state = ncclInvalidArgument;
      return;
    }
    for (size_t s = 0; s < r; ++s) {
      int before[2];
      memcpy(before, files[s].data(), 8);
      if (before[1] == other[1]) {
        refuse(ncclInvalidUsage, function,
               "duplicate GPU: ranks " + std::to_string(s) + " and " + std::to_string(r) + " both have device " +
                   std::to_string(other[1]));
        c->state = ncclInvalidUsage;
        return;
      }
    }
  }
  c->nextSend.resize(size_t(c->ranks()));
  c->nextRecv.resize(size_t(c->ranks()));
  c->state = ncclSuccess;
}

ncclComm enter(const Comm &c) {
  std::lock_guard lock(registry().mutex);
  registry().comms[c.get()] = c;
  return c.get();
}

bool readConfig(const ncclConfig *config, bool &blocking, const char *function) {
  if (!config)
    return true;
  if (config->magic != 0xcafebeef || config->size < sizeof(ncclConfig)) {
    refuse(ncclInvalidArgument, function, "the configuration is not initialised");
    return false;
  }
  if (config->blocking != INT_MIN)
    blocking = config->blocking != 0;
  return true;
}

ncclResult startUp(std::function<void()> run, const Comm &c) {
  std::thread thread(std::move(run));
  if (!c->blocking)
    return thread.detach(), ncclInProgress;
  if (group.depth)
    return group.starting.push_back(std::move(thread)), ncclSuccess;
  thread.join();
  return c->state;
}

} // namespace

EMU_EXPORT ncclResult ncclGetVersion(int *out) {
  *out = 22809;
  return ncclSuccess;
}
EMU_EXPORT const char *ncclGetErrorString(ncclResult error) {
  static const char *const names[] = {"no error",
                                      "unhandled cuda error",
                                      "unhandled system error",
                                      "internal error",
                                      "invalid argument",
                                      "invalid usage",
                                      "remote process exited or there was a network error",
                                      "NCCL operation in progress"};
  return error >= 0 && error < 8 ? names[error] : "unknown result code";
}
EMU_EXPORT const char *ncclGetLastError(ncclComm) { return lastError.c_str(); }

EMU_EXPORT ncclResult ncclGetUniqueId(ncclUniqueId *out) {
  memset(out, 0, sizeof *out);
  std::string token = Clique::newToken();
  memcpy(out->internal, token.c_str(), token.size() + 1);
  return ncclSuccess;
}

EMU_EXPORT ncclResult ncclCommInitRankConfig(ncclComm *out, int ranks, ncclUniqueId id, int rank,
                                             const ncclConfig *config) {
  static const char *me = "ncclCommInitRankConfig";
  if (!out || ranks < 1 || rank < 0 || rank >= ranks)
    return invalid(refuse(ncclInvalidArgument, me, "rank " + std::to_string(rank) + " of " + std::to_string(ranks)));
  id.internal[127] = 0;
  if (!strchr(id.internal, '-') || strchr(id.internal, '/'))
    return invalid(refuse(ncclInvalidArgument, me, "the id is none that ncclGetUniqueId gave"));
  auto c = std::make_shared<Communicator>();
  if (!readConfig(config, c->blocking, me))
    return invalid(ncclInvalidArgument);
  c->device = currentDevice();
  if (c->device < 0)
    return invalid(refuse(ncclInvalidUsage, me, "no context is current in this thread"));
  c->clique = std::make_unique<Clique>(id.internal, ranks, rank);
  for (int r = 0; r < ranks; ++r)
    c->world.push_back(r);
  *out = enter(c);
  return startUp([c] { meet(c, me); }, c);
}
EMU_EXPORT ncclResult ncclCommInitRank(ncclComm *out, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(out, ranks, id, rank, nullptr);
}

EMU_EXPORT ncclResult ncclCommSplit(ncclComm handle, int color, int key, ncclComm *out, const ncclConfig *config) {
  static const char *me = "ncclCommSplit";
  Comm parent = find(handle, me);
  if (!parent || !out || parent->state != ncclSuccess)
    return invalid(parent ? refuse(ncclInvalidUsage, me, "the communicator is not ready") : ncclInvalidArgument);
  auto c = std::make_shared<Communicator>();
  c->blocking = parent->blocking;
  if (!readConfig(config, c->blocking, me))
    return invalid(ncclInvalidArgument);
  c->device = parent->device;
  *out = color < 0 ? nullptr : enter(c);
  std::string name = "split" + std::to_string(parent->nextSplit++);
  auto run = [=] {
    std::vector<char> mine(8);
    int fields[2] = {color, key};
    memcpy(mine.data(), fields, 8);
    auto files = gather(*parent, name, mine, me);
    if (files.empty()) {
      c->state = ncclRemoteError;
      return;
    }
    if (color < 0) {
      c->state = ncclSuccess;
      return;
    }
    std::vector<std::pair<int, int>> members; // Key, rank of the parent.
    for (size_t r = 0; r < files.size(); ++r) {
      int other[2];
      memcpy(other, files[r].data(), 8);
      if (other[0] == color)
        members.push_back({other[1], int(r)});
    }
    std::sort(members.begin(), members.end());
    int rank = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      c->world.push_back(parent->world[size_t(members[i].second)]);
      if (members[i].second == parent->rank())
        rank = int(i);
    }
    c->clique = std::make_unique<Clique>(parent->clique->token() + "." + name + "." + std::to_string(color),
                                         int(members.size()), rank);
    meet(c, me);
  };
  return startUp(run, c);
}

EMU_EXPORT ncclResult ncclCommGetAsyncError(ncclComm handle, ncclResult *out) {
  Comm c = find(handle, "ncclCommGetAsyncError");
  if (!c)
    return ncclInvalidArgument;
  *out = c->state;
  return ncclSuccess;
}
EMU_EXPORT ncclResult ncclCommCount(ncclComm handle, int *out) {
  Comm c = find(handle, "ncclCommCount");
  if (!c || !c->clique)
    return ncclInvalidArgument;
  *out = c->ranks();
  return ncclSuccess;
}
EMU_EXPORT ncclResult ncclCommUserRank(ncclComm handle, int *out) {
  Comm c = find(handle, "ncclCommUserRank");
  if (!c || !c->clique)
    return ncclInvalidArgument;
  *out = c->rank();
  return ncclSuccess;
}
EMU_EXPORT ncclResult ncclCommCuDevice(ncclComm handle, int *out) {
  Comm c = find(handle, "ncclCommCuDevice");
  if (!c)
    return ncclInvalidArgument;
  *out = c->device;
  return ncclSuccess;
}

static void waitForWork(const Comm &c) {
  c->flush = true;
  auto begin = Clock::now();
  while (c->outstanding && !c->aborted &&
         std::chrono::duration<double>(Clock::now() - begin).count() < timeoutSeconds() + 1) {
    ring();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  c->flush = false;
}
EMU_EXPORT ncclResult ncclCommFinalize(ncclComm handle) {
  Comm c = find(handle, "ncclCommFinalize");
  if (!c)
    return ncclInvalidArgument;
  waitForWork(c);
  return c->state == ncclInProgress ? ncclInvalidUsage : c->state.load();
}
static ncclResult drop(const Comm &c) {
  if (c->clique)
    c->clique->leave();
  std::lock_guard lock(registry().mutex);
  registry().comms.erase(c.get());
  return ncclSuccess;
}
EMU_EXPORT ncclResult ncclCommDestroy(ncclComm handle) {
  Comm c = find(handle, "ncclCommDestroy");
  if (!c)
    return ncclInvalidArgument;
  waitForWork(c);
  return drop(c);
}
EMU_EXPORT ncclResult ncclCommAbort(ncclComm handle) {
  Comm c = find(handle, "ncclCommAbort");
  if (!c)
    return ncclInvalidArgument;
  c->aborted = true;
  waitForWork(c);
  auto begin = Clock::now();
  while (c->state == ncclInProgress && // Until the thread that starts it has seen it.
         std::chrono::duration<double>(Clock::now() - begin).count() < 5)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  return drop(c);
}

EMU_EXPORT ncclResult ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}
EMU_EXPORT ncclResult ncclGroupEnd() {
  if (group.depth == 0)
    return refuse(ncclInvalidUsage, "ncclGroupEnd", "no group was begun");
  return --group.depth ? ncclSuccess : end();
}

EMU_EXPORT ncclResult ncclAllReduce(const void *in, void *out, size_t count, int type, int op, ncclComm comm,
                                    CUstream stream) {
  return call(Kind::AllReduce, in, out, count, type, op, -1, comm, stream, "ncclAllReduce");
}
EMU_EXPORT ncclResult ncclReduce(const void *in, void *out, size_t count, int type, int op, int root, ncclComm comm,
                                 CUstream stream) {
  return call(Kind::Reduce, in, out, count, type, op, root, comm, stream, "ncclReduce");
}
EMU_EXPORT ncclResult ncclBroadcast(const void *in, void *out, size_t count, int type, int root, ncclComm comm,
                                    CUstream stream) {
  return call(Kind::Broadcast, in, out, count, type, 0, root, comm, stream, "ncclBroadcast");
}
EMU_EXPORT ncclResult ncclAllGather(const void *in, void *out, size_t count, int type, ncclComm comm, CUstream stream) {
  return call(Kind::AllGather, in, out, count, type, 0, -1, comm, stream, "ncclAllGather");
}
EMU_EXPORT ncclResult ncclReduceScatter(const void *in, void *out, size_t count, int type, int op, ncclComm comm,
                                        CUstream stream) {
  return call(Kind::ReduceScatter, in, out, count, type, op, -1, comm, stream, "ncclReduceScatter");
}
EMU_EXPORT ncclResult ncclAlltoAll(const void *in, void *out, size_t count, int type, ncclComm comm, CUstream stream) {
  return call(Kind::AllToAll, in, out, count, type, 0, -1, comm, stream, "ncclAlltoAll");
}
EMU_EXPORT ncclResult ncclSend(const void *in, size_t count, int type, int peer, ncclComm comm, CUstream stream) {
  return transfer(true, addressOf(in), count, type, peer, comm, stream, "ncclSend");
}
EMU_EXPORT ncclResult ncclRecv(void *out, size_t count, int type, int peer, ncclComm comm, CUstream stream) {
  return transfer(false, addressOf(out), count, type, peer, comm, stream, "ncclRecv");
}
