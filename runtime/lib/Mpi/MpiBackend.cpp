//===- MpiBackend.cpp - Several processes under Open MPI ------------------===//

#include "MpiBackend.h"

#include "shardkit/rt/Support/Threads.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sched.h>
#include <unistd.h>

namespace shardkit::rt::mpi {

namespace {

constexpr int transferTag = 1, abortTag = 2, beatTag = 3;
constexpr int64_t transferBytes = int64_t(1) << 30;

double seconds(int64_t since) { return double(nanoseconds() - since) * 1e-9; }

/// Whether this process and those of its node have a core each.
bool haveCores(int processes) {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= processes;
}

} // namespace

Status MpiBackend::check(int code, const char *function) {
  if (code == MPI_SUCCESS)
    return {};
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return internalError(std::string("Open MPI refused ") + function + ": " + text);
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

Status MpiBackend::open() {
  // The watchdog waits for it; threads made later inherit this.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  SK_RETURN_IF_ERROR(startThread([this] { watch(); }, "the watchdog of processes", nullptr)); // Ends with the process.
  int provided = 0;
  SK_RETURN_IF_ERROR(check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread"));
  if (provided < MPI_THREAD_SERIALIZED)
    return internalError("this Open MPI has no support for threads, expected "
                         "MPI_THREAD_SERIALIZED");
  SK_RETURN_IF_ERROR(check(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup"));
  MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world_, &process_);
  MPI_Comm_size(world_, &processes_);
  SK_RETURN_IF_ERROR(check(MPI_Comm_dup(world_, &abort_), "MPI_Comm_dup"));
  MPI_Comm_set_errhandler(abort_, MPI_ERRORS_RETURN);
  MPI_Type_contiguous(64, MPI_BYTE, &block_);
  MPI_Type_commit(&block_);
  if (processes_ > Segment::maxProcesses)
    return invalid(std::to_string(processes_) + " processes, expected at most " +
                   std::to_string(Segment::maxProcesses));
  Status status = openNode();
  if (status.ok())
    status = findNodes();
  // An error of one process is one of all.
  int bad = status.ok() ? 0 : 1, any = 0;
  SK_RETURN_IF_ERROR(check(MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, world_), "MPI_Allreduce"));
  if (!status.ok())
    return status;
  if (any)
    return internalError("another process could not share memory with its node");
  isOpen_.store(true);
  return {};
}

Status MpiBackend::findNodes() {
  int first = process_; // Of the node.
  for (int p = processes_; p-- > 0;)
    if (isOnNode(p))
      first = p;
  std::vector<int> firsts(static_cast<size_t>(processes_));
  SK_RETURN_IF_ERROR(check(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, world_), "MPI_Allgather"));
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  if (first != process_ || firsts.size() == 1)
    return {};
  const size_t mine = size_t(std::find(firsts.begin(), firsts.end(), first) - firsts.begin());
  nextNode_ = firsts[(mine + 1) % firsts.size()];
  previousNode_ = firsts[(mine + firsts.size() - 1) % firsts.size()];
  return {};
}

Status MpiBackend::openNode() {
  MPI_Comm machine;
  SK_RETURN_IF_ERROR(check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, process_, MPI_INFO_NULL, &machine),
                           "MPI_Comm_split_type"));
  int nodeRank = 0;
  MPI_Comm_rank(machine, &nodeRank);
  const char *text = std::getenv("SK_PROCESSES_PER_NODE");
  int perNode = text ? std::atoi(text) : 0;
  SK_RETURN_IF_ERROR(
      check(MPI_Comm_split(machine, perNode > 0 ? nodeRank / perNode : 0, process_, &node_), "MPI_Comm_split"));
  MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(node_, &nodeProcess_);
  MPI_Comm_size(node_, &nodeProcesses_);
  std::vector<int> members(static_cast<size_t>(nodeProcesses_));
  MPI_Allgather(&process_, 1, MPI_INT, members.data(), 1, MPI_INT, node_);
  nodeIndex_.assign(size_t(processes_), -1);
  for (int i = 0; i < nodeProcesses_; ++i)
    nodeIndex_[size_t(members[size_t(i)])] = i;

  char where[256] = {};
  Status status;
  if (nodeProcess_ == 0) {
    auto memory = SharedMemory::create(sizeof(Segment));
    if (memory.ok()) {
      segmentMemory_ = std::move(*memory);
      segment_ = new (segmentMemory_.data()) Segment;
      std::strncpy(where, segmentMemory_.path().c_str(), sizeof where - 1);
    } else {
      status = memory.status();
    }
  }
  SK_RETURN_IF_ERROR(check(MPI_Bcast(where, sizeof where, MPI_CHAR, 0, node_), "MPI_Bcast"));
  if (nodeProcess_ != 0 && where[0]) {
    auto memory = SharedMemory::open(where, sizeof(Segment));
    if (!memory.ok())
      return memory.status();
    segmentMemory_ = std::move(*memory);
    segment_ = reinterpret_cast<Segment *>(segmentMemory_.data());
  }
  if (!segment_)
    return status.ok() ? internalError("the first process of the node has no shared memory") : status;
  ProcessRecord &record = segment_->processes[nodeProcess_];
  record.beat.store(nanoseconds());
  record.pid.store(::getpid());
  return {};
}

std::unique_ptr<World> MpiBackend::makeWorld(int ranks, double timeoutSeconds) {
  return std::make_unique<MpiWorld>(*this, ranks, timeoutSeconds);
}

MPI_Comm MpiBackend::communicator(const std::vector<std::vector<int>> &members, int64_t devices,
                                  std::vector<int> &processOf) {
  // Processes that share a group are of one colour.
  std::vector<int> colours(static_cast<size_t>(processes_));
  std::iota(colours.begin(), colours.end(), 0);
  auto find = [&](int p) {
    while (colours[size_t(p)] != p)
      p = colours[size_t(p)];
    return p;
  };
  for (const std::vector<int> &ranks : members)
    for (int rank : ranks) {
      int a = find(ownerOf(ranks[0], devices)), b = find(ownerOf(rank, devices));
      colours[size_t(std::max(a, b))] = std::min(a, b);
    }
  for (int p = 0; p < processes_; ++p)
    colours[size_t(p)] = find(p);
  std::vector<int> indexInNode(static_cast<size_t>(processes_)), next(static_cast<size_t>(processes_));
  for (int p = 0; p < processes_; ++p)
    indexInNode[size_t(p)] = next[size_t(colours[size_t(p)])]++;
  for (int64_t rank = 0; rank < devices; ++rank)
    processOf[size_t(rank)] = indexInNode[size_t(ownerOf(rank, devices))];
  auto [known, added] = communicators_.emplace(colours, MPI_COMM_NULL);
  if (added) {
    // Whoever has no communicator then finds that the run has failed.
    (void)start(
        [&] {
          int code = MPI_Comm_split(world_, colours[size_t(process_)], process_, &known->second);
          if (code == MPI_SUCCESS)
            MPI_Comm_set_errhandler(known->second, MPI_ERRORS_RETURN);
          return code;
        },
        "MPI_Comm_split");
  }
  return known->second;
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

MpiBackend::Waited MpiBackend::wait(std::vector<MPI_Request> &requests, std::vector<MPI_Status> &statuses,
                                    double timeoutSeconds) {
  statuses.resize(requests.size());
  for (MPI_Status &status : statuses)
    status.MPI_ERROR = MPI_SUCCESS;
  // With a core for every process a peer is often just behind; without, it needs ours.
  // (Giving the core away for nothing, sched_yield, can take long on a busy machine.)
  static const double spin = haveCores(nodeProcesses_) ? 50e-6 : 0;
  const int64_t start = nanoseconds();
  ProcessRecord &record = segment_->processes[nodeProcess_];
  while (true) {
    uint32_t seen = record.bell.load();
    {
      std::lock_guard lock(mutex_);
      int done = 0;
      int code = MPI_Testall(int(requests.size()), requests.data(), &done, statuses.data());
      if (code != MPI_SUCCESS) {
        if (code != MPI_ERR_IN_STATUS)
          for (MPI_Status &status : statuses)
            status.MPI_ERROR = code;
        for (MPI_Status &status : statuses)
          if (status.MPI_ERROR == MPI_ERR_PENDING)
            status.MPI_ERROR = MPI_SUCCESS;
        return Waited::Error;
      }
      if (done) {
        for (MPI_Status &status : statuses)
          status.MPI_ERROR = MPI_SUCCESS; // Only set where something failed.
        return Waited::Done;
      }
    }
    if (failed())
      return Waited::Failed;
    double waited = seconds(start);
    if (timeoutSeconds > 0 && waited > timeoutSeconds)
      return Waited::TimedOut;
    if (waited > spin)
      segment_->waitForBell(nodeProcess_, seen, waited < 0.02 ? 200e-6 : 1e-3);
  }
}

Status MpiBackend::waitControl(MPI_Request request, double timeoutSeconds, bool &timedOut) {
  timedOut = false;
  for (int process = 0; process < nodeProcesses_; ++process)
    segment_->ring(process);
  std::vector<MPI_Request> requests{request};
  std::vector<MPI_Status> statuses;
  switch (wait(requests, statuses, timeoutSeconds)) {
  case Waited::Done:
    return {};
  case Waited::Failed:
    return status();
  case Waited::TimedOut:
    timedOut = true;
    return {};
  case Waited::Error:
    break;
  }
  fail(check(statuses[0].MPI_ERROR, "what processes do together"));
  return status();
}

Status MpiBackend::agree(Status mine, World *world, const std::string &what) {
  if (failed())
    return status();
  // Lowest process with an error, how many have none, and whether none uses memory of its node.
  const uint64_t came = ++segment_->processes[nodeProcess_].together;
  auto &local = control_.local, &all = control_.all;
  auto &size = control_.size;
  std::string &text = control_.text;
  // Counts are negated, so that one minimum gives both.
  local[0] = mine.ok() ? INT_MAX : process_;
  local[1] = mine.ok() ? -1 : 0;
  local[2] = nodeMemory_.use_count() <= 1;
  MPI_Request request;
  bool timedOut = false;
  auto together = [&](auto &&call, double limit) -> Status {
    SK_RETURN_IF_ERROR(start(call, "what processes do together"));
    return waitControl(request, limit, timedOut);
  };
  SK_RETURN_IF_ERROR(together([&] { return MPI_Iallreduce(local, all, 3, MPI_INT, MPI_MIN, world_, &request); },
                              world ? world->timeout() : 0));
  if (timedOut) {
    std::string missing;
    std::vector<int> arrived;
    for (int p = 0; p < processes_; ++p) {
      if (!isOnNode(p))
        continue;
      if (segment_->processes[nodeIndex_[size_t(p)]].together.load() >= came)
        arrived.push_back(p);
      else
        missing += (missing.empty() ? "" : ", ") + ranksOnProcess(p);
    }
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", world->timeout());
    failRun(Status(Code::Timeout, what + ": process " + std::to_string(process_) + " waited " + limit +
                                      " s, arrived processes " + rankList(arrived) + ", missing " +
                                      (missing.empty() ? "processes of other nodes" : missing)));
    return status();
  }
  isNodeMemoryFree_ = all[2] != 0;
  if (all[0] == INT_MAX)
    return {};
  // Its text; an error that only some have names the process.
  const int root = all[0];
  const bool some = all[1] != 0;
  size[0] = int64_t(mine.code());
  size[1] = int64_t(mine.message().size());
  SK_RETURN_IF_ERROR(together([&] { return MPI_Ibcast(size, 2, MPI_INT64_T, root, world_, &request); }, 0));
  text = mine.message();
  text.resize(size_t(size[1]));
  SK_RETURN_IF_ERROR(
      together([&] { return MPI_Ibcast(text.data(), int(text.size()), MPI_CHAR, root, world_, &request); }, 0));
  Status agreed(Code(size[0]), text);
  return some && !failed() ? agreed.withContext("process " + std::to_string(root)) : agreed;
}

Expected<std::vector<std::string>> MpiBackend::exchange(const std::string &mine) {
  ++segment_->processes[nodeProcess_].together;
  Control &c = control_;
  // What is short goes at once: its length, then itself.
  constexpr size_t unit = 512;
  c.mine.assign(unit, '\0');
  int32_t length = int32_t(mine.size());
  std::memcpy(c.mine.data(), &length, sizeof length);
  std::memcpy(c.mine.data() + sizeof length, mine.data(), std::min(mine.size(), unit - sizeof length));
  c.joined.resize(unit * size_t(processes_));
  c.sizes.resize(size_t(processes_));
  c.offsets.resize(size_t(processes_));
  MPI_Request request;
  bool timedOut = false;
  SK_RETURN_IF_ERROR(start(
      [&] {
        return MPI_Iallgather(c.mine.data(), int(unit), MPI_CHAR, c.joined.data(), int(unit), MPI_CHAR, world_,
                              &request);
      },
      "MPI_Iallgather"));
  SK_RETURN_IF_ERROR(waitControl(request, 0, timedOut));
  int64_t total = 0;
  bool isShort = true;
  std::vector<std::string> result;
  for (int p = 0; p < processes_; ++p) {
    const char *theirs = c.joined.data() + size_t(p) * unit;
    int32_t size;
    std::memcpy(&size, theirs, sizeof size);
    c.offsets[size_t(p)] = int(total);
    c.sizes[size_t(p)] = size;
    total += size;
    isShort &= size_t(size) <= unit - sizeof size;
    result.emplace_back(theirs + sizeof size, isShort ? size_t(size) : 0);
  }
  if (isShort)
    return result;
  if (total > INT_MAX)
    return internalError("processes exchange more than 2 GiB of text");
  c.mine = mine;
  c.length = int(mine.size());
  c.joined.resize(size_t(total));
  SK_RETURN_IF_ERROR(start(
      [&] {
        return MPI_Iallgatherv(c.mine.data(), c.length, MPI_CHAR, c.joined.data(), c.sizes.data(), c.offsets.data(),
                               MPI_CHAR, world_, &request);
      },
      "MPI_Iallgatherv"));
  SK_RETURN_IF_ERROR(waitControl(request, 0, timedOut));
  result.clear();
  for (int p = 0; p < processes_; ++p)
    result.push_back(c.joined.substr(size_t(c.offsets[size_t(p)]), size_t(c.sizes[size_t(p)])));
  return result;
}

Status MpiBackend::transfer(int from, int to, void *data, int64_t bytes) {
  if (from == to || (process_ != from && process_ != to))
    return {};
  for (int64_t at = 0; at < bytes; at += transferBytes) {
    char *chunk = static_cast<char *>(data) + at;
    int count = int(std::min(transferBytes, bytes - at));
    MPI_Request request;
    SK_RETURN_IF_ERROR(start(
        [&] {
          return process_ == from ? MPI_Isend(chunk, count, MPI_BYTE, to, transferTag, world_, &request)
                                  : MPI_Irecv(chunk, count, MPI_BYTE, from, transferTag, world_, &request);
        },
        "a message"));
    if (process_ == from)
      countSent(count);
    bool timedOut = false;
    SK_RETURN_IF_ERROR(waitControl(request, 0, timedOut));
  }
  return {};
}

Expected<NodeMemory> MpiBackend::nodeMemory(int64_t devices, int64_t bytes) {
  NodeMemory result;
  if (nodeProcesses_ == 1)
    return result;
  const int64_t page = 4096, stride = (bytes + page - 1) / page * page;
  int64_t ranks = 0;
  for (int64_t rank = 0; rank < devices; ++rank)
    ranks += isOnNode(ownerOf(rank, devices));
  const int64_t needed = std::max<int64_t>(page, ranks * stride);
  // All processes of the node ask for the same, and decide the same.
  if (!isNodeMemoryFree_ || !nodeMemory_ || nodeMemory_->bytes() < needed)
    SK_RETURN_IF_ERROR(makeNodeMemory(needed));
  isNodeMemoryFree_ = false;
  char *at = nodeMemory_->data();
  result.ranks.resize(size_t(devices));
  for (int64_t rank = 0; rank < devices; ++rank)
    if (isOnNode(ownerOf(rank, devices))) {
      result.ranks[size_t(rank)] = at;
      at += stride;
    }
  result.owner = nodeMemory_;
  return result;
}

Status MpiBackend::makeNodeMemory(int64_t bytes) {
  nodeMemory_ = nullptr;
  auto &where = control_.where;
  std::memset(where, 0, sizeof where);
  Expected<SharedMemory> memory = SharedMemory();
  if (nodeProcess_ == 0) {
    memory = SharedMemory::create(bytes);
    if (memory.ok())
      std::strncpy(where, memory->path().c_str(), sizeof where - 1);
  }
  MPI_Request request;
  bool timedOut = false;
  SK_RETURN_IF_ERROR(
      start([&] { return MPI_Ibcast(where, sizeof where, MPI_CHAR, 0, node_, &request); }, "MPI_Ibcast"));
  SK_RETURN_IF_ERROR(waitControl(request, 0, timedOut));
  SK_RETURN_IF_ERROR(memory.status());
  if (!where[0])
    return internalError("the first process of the node has no shared memory");
  if (nodeProcess_ != 0) {
    SK_ASSIGN_OR_RETURN(memory, SharedMemory::open(where, bytes));
  }
  nodeMemory_ = std::make_shared<SharedMemory>(std::move(*memory));
  return {};
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

Status MpiBackend::status() const {
  if (segment_->failed())
    return segment_->status();
  return failedElsewhere_.load() ? elsewhere_ : Status();
}

void MpiBackend::fail(const Status &status) {
  if (failed())
    return;
  // Nodes that share no memory hear of it by a message. It is on its way before this
  // node knows: then its processes end. Whoever holds the mutex may wait for a peer
  // that is gone, so it is not waited for forever.
  std::unique_lock lock(mutex_, std::defer_lock);
  for (int i = 0; i < 100 && nodeProcesses_ < processes_ && !lock.try_lock(); ++i)
    ::usleep(5000);
  if (lock && abortMessage_.empty()) {
    abortMessage_ = std::to_string(int(status.code())) + " " + status.message();
    for (int p = 0; p < processes_; ++p)
      if (!isOnNode(p)) {
        MPI_Request request;
        if (MPI_Isend(abortMessage_.data(), int(abortMessage_.size()), MPI_CHAR, p, abortTag, abort_, &request) ==
            MPI_SUCCESS)
          abortRequests_.push_back(request);
      }
  }
  segment_->fail(status);
}

void MpiBackend::abort(const Status &status) { failRun(status.withContext("process " + std::to_string(process_))); }

void MpiBackend::failRun(const Status &status) {
  if (MpiWorld *world = current_.load())
    world->fail(status);
  else
    fail(status);
}

void MpiBackend::watchNodes(int64_t now) {
  if (nodeProcesses_ == processes_)
    return;
  heardAt_ = heardAt_ ? heardAt_ : now;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) {
    // A call of MPI that waits for others holds it.
    lockedSince_ = lockedSince_ ? lockedSince_ : now;
    if (double(now - lockedSince_) * 1e-9 > timeout_ + 1)
      failRun(Status(Code::Timeout,
                     ranksOnProcess(process_) + " waits for processes of other nodes in Open MPI: one is gone"));
    return;
  }
  lockedSince_ = 0;
  int done = 1;
  if (nextNode_ >= 0 && beatRequest_ != MPI_REQUEST_NULL)
    MPI_Test(&beatRequest_, &done, MPI_STATUS_IGNORE);
  if (nextNode_ >= 0 && done) {
    beat_ = findEnded();
    (void)MPI_Isend(&beat_, sizeof beat_, MPI_BYTE, nextNode_, beatTag, abort_, &beatRequest_);
  }
  while (true) {
    int found = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, abort_, &found, &status) != MPI_SUCCESS || !found)
      break;
    if (status.MPI_TAG == beatTag) {
      Beat heard;
      MPI_Recv(&heard, sizeof heard, MPI_BYTE, status.MPI_SOURCE, beatTag, abort_, MPI_STATUS_IGNORE);
      takeBeat(heard);
      heardAt_ = now;
      continue;
    }
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string text(size_t(size), '\0');
    if (MPI_Recv(text.data(), size, MPI_CHAR, status.MPI_SOURCE, abortTag, abort_, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
    size_t space = text.find(' ');
    elsewhere_ = Status(Code(std::atoi(text.c_str())), text.substr(space + 1));
    failedElsewhere_.store(true, std::memory_order_release);
    segment_->fail(elsewhere_);
    return;
  }
  lock.unlock();
  if (previousNode_ >= 0 && double(now - heardAt_) * 1e-9 > timeout_ + 1) {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", timeout_ + 1);
    failRun(Status(Code::Timeout, ranksOnProcess(previousNode_) +
                                      " is silent: no process of its node has shown a sign of life for " + limit +
                                      " s"));
  }
}

MpiBackend::Beat MpiBackend::findEnded() const {
  Beat ended{segment_->endedElsewhere.load(), segment_->endedTogether.load()};
  for (int p = 0; p < processes_; ++p) {
    if (!isOnNode(p))
      continue;
    const ProcessRecord &record = segment_->processes[nodeIndex_[size_t(p)]];
    if (record.isAtEnd.load() && (ended.endedProcess < 0 || record.together.load() < ended.endedTogether))
      ended = {p, record.together.load()};
  }
  return ended;
}

void MpiBackend::takeBeat(const Beat &beat) {
  if (beat.endedProcess < 0 || isOnNode(int(beat.endedProcess)))
    return;
  if (segment_->endedElsewhere.load() >= 0 && segment_->endedTogether.load() <= beat.endedTogether)
    return;
  segment_->endedTogether.store(beat.endedTogether);
  segment_->endedElsewhere.store(int32_t(beat.endedProcess));
}

void MpiBackend::failByEnd(int process) {
  failRun(Status(Code::Aborted, ranksOnProcess(process) + " has left: process " + std::to_string(process) +
                                    " ended with an error of its own"));
}

void MpiBackend::moveMessages() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  int found = 0;
  if (lock)
    (void)MPI_Iprobe(MPI_ANY_SOURCE, abortTag, abort_, &found, MPI_STATUS_IGNORE);
}

std::string MpiBackend::ranksOnProcess(int process) const {
  const MpiWorld *world = current_.load();
  std::string text;
  if (world) {
    auto [begin, end] = ranksOf(process, world->size());
    for (int64_t rank = begin; rank < end; ++rank)
      text += (text.empty() ? "" : ", ") + world->describeRank(int(rank));
  }
  return text.empty() ? "process " + std::to_string(process) : text;
}

void MpiBackend::watchPeers(int64_t now) {
  const uint64_t begun = segment_->processes[nodeProcess_].together.load();
  if (const int ended = segment_->endedElsewhere.load(); ended >= 0 && segment_->endedTogether.load() < begun)
    return failByEnd(ended);
  for (int p = 0; p < processes_; ++p) {
    if (p == process_ || !isOnNode(p))
      continue;
    const ProcessRecord &peer = segment_->processes[nodeIndex_[size_t(p)]];
    int32_t pid = peer.pid.load();
    // It does not come to what this process waits in. (That of which it knew the end is agreed on.)
    if (pid && (peer.left.load() || peer.isAtEnd.load()) && peer.together.load() < begun)
      return failByEnd(p);
    if (!pid || peer.left.load())
      continue;
    if (::kill(pid, 0) != 0 && errno == ESRCH && !peer.left.load()) {
      failRun(Status(Code::Aborted,
                     ranksOnProcess(p) + " is gone: process " + std::to_string(pid) + " has ended without a word"));
      return;
    }
    double silent = double(now - peer.beat.load()) * 1e-9;
    if (silent > timeout_ && !peer.left.load()) {
      char limit[32];
      std::snprintf(limit, sizeof limit, "%g", timeout_);
      failRun(Status(Code::Timeout, ranksOnProcess(p) + " is silent: process " + std::to_string(pid) +
                                        " has shown no sign of life for " + limit + " s"));
      return;
    }
  }
}

void MpiBackend::watchStart(double limit) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  const char *number = std::getenv("OMPI_COMM_WORLD_RANK");
  const std::string self = number ? "process " + std::string(number) : "a process";
  const int64_t start = nanoseconds();
  while (!isOpen_.load()) {
    timespec pause{0, 20000000};
    const bool isEnded = ::sigtimedwait(&signals, nullptr, &pause) == SIGTERM;
    if (isOpen_.load() && !isEnded)
      return;
    char text[32];
    std::snprintf(text, sizeof text, "%g", limit);
    if (isEnded)
      std::fprintf(stderr, "error: %s is ended by SIGTERM while processes start\n", self.c_str());
    else if (seconds(start) > limit)
      std::fprintf(stderr, "error: %s waited %s s for the other processes to start: one is gone or did not come\n",
                   self.c_str(), text);
    else
      continue;
    std::fflush(stderr);
    ::_exit(isEnded ? 143 : 1);
  }
}

void MpiBackend::watch() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  watchStart(std::max(timeout_, 10.0));
  int64_t endingSince = 0, failingSince = 0;
  const double tick = std::clamp(timeout_ / 20, 0.01, 0.1);
  const double grace = std::clamp(timeout_, 0.5, 5.0);
  int64_t failedAt = 0, ticked = 0;
  while (true) {
    // Messages of which the other side has asked for the rest need a hand here.
    const bool isMoving = moving_.load() > 0 && !ending_.load() && !failed();
    timespec pause{0, isMoving ? 200000 : long(tick * 1e9)};
    int signal = ::sigtimedwait(&signals, nullptr, &pause);
    if (signal == SIGTERM) {
      // mpirun ends the others when one has failed: then that is the reason.
      if (mayReport()) {
        if (failed())
          endNow(status(), 1);
        // The others do not wait for it.
        const Status ended(Code::Aborted, ranksOnProcess(process_) + " is ended by SIGTERM");
        failRun(ended);
        endNow(ended, 143);
      }
    }
    int64_t now = nanoseconds();
    if (isMoving) {
      moveMessages();
      if (double(now - ticked) * 1e-9 < tick)
        continue;
    }
    ticked = now;
    segment_->processes[nodeProcess_].beat.store(now);
    if (ending_.load()) {
      // All have come to the end: nothing is lost where Open MPI does not return.
      endingSince = endingSince ? endingSince : now;
      if (double(now - endingSince) * 1e-9 > timeout_)
        ::_exit(endStatus_.load());
      continue;
    }
    failingSince = segment_->isFailing() ? (failingSince ? failingSince : now) : 0;
    if (failingSince && double(now - failingSince) * 1e-9 > 1)
      segment_->finishFailure();
    if (!failed())
      watchNodes(now);
    if (!failed())
      watchPeers(now);
    if (failed()) {
      failedAt = failedAt ? failedAt : now;
      // Whoever still computes, or is stuck in a library, does not come to say it; or to end.
      const double since = double(now - failedAt) * 1e-9;
      if (since > grace && mayReport())
        endNow(status(), 1);
      if (since > 2 * grace)
        this->exit(1, /*failed=*/true);
    }
  }
}

void MpiBackend::endNow(const Status &status, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  std::fflush(stderr);
  this->exit(code, /*failed=*/true);
  std::abort(); // GCC overlooks that a virtual function does not return.
}

Status MpiBackend::waitForAll() {
  // Not counted: who waits in something else meanwhile finds that this process does not come to it.
  segment_->processes[nodeProcess_].isAtEnd.store(true);
  MPI_Request request;
  bool timedOut = false;
  SK_RETURN_IF_ERROR(start([&] { return MPI_Ibarrier(world_, &request); }, "MPI_Ibarrier"));
  return waitControl(request, 0, timedOut);
}

void MpiBackend::finish() {
  // No process ends before all have come here: until then each sees who is gone.
  if (Status all = waitForAll(); !all.ok()) {
    if (mayReport())
      std::fprintf(stderr, "error: %s\n", all.message().c_str());
    this->exit(1, /*failed=*/true);
  }
  segment_->processes[nodeProcess_].left.store(true);
  ending_.store(true);
  std::lock_guard lock(mutex_);
  MPI_Finalize();
}

void MpiBackend::exit(int status, bool hasFailed) {
  std::fflush(stdout);
  std::fflush(stderr);
  if (!hasFailed && !failed()) {
    endStatus_.store(status);
    finish();
    ::_exit(status);
  }
  ProcessRecord &record = segment_->processes[nodeProcess_];
  record.left.store(true);
  // Messages to other nodes need a hand to get there.
  for (int i = 0; i < 50 && !abortRequests_.empty(); ++i) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    int done = 0;
    if (lock &&
        MPI_Testall(int(abortRequests_.size()), abortRequests_.data(), &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
        done)
      break;
    ::usleep(2000);
  }
  ::_exit(status);
}

} // namespace shardkit::rt::mpi

extern "C" __attribute__((visibility("default"))) shardkit::rt::Backend *sk_open_mpi_backend(double timeoutSeconds,
                                                                                             std::string *message) {
  auto backend = std::make_unique<shardkit::rt::mpi::MpiBackend>(timeoutSeconds);
  shardkit::rt::Status status = backend->open();
  if (status.ok())
    return backend.release();
  *message = status.message();
  return nullptr;
}
