//===- GuardedCall.cpp - Accesses of host functions beyond their tensors --===//

#include "GuardedCall.h"

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace shardkit::rt {

static constexpr char guardPattern = char(0xa5);

Expected<GuardedMemory> GuardedMemory::create(int64_t bytes) {
  const int64_t page = ::sysconf(_SC_PAGESIZE), aligned = (bytes + 63) / 64 * 64;
  const int64_t inside = (aligned + page - 1) / page * page;
  GuardedMemory memory;
  void *map = ::mmap(nullptr, size_t(inside + 2 * page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    return ioError("no guarded memory of " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  memory.map_ = static_cast<char *>(map);
  memory.mapBytes_ = inside + 2 * page;
  memory.bytes_ = bytes;
  memory.data_ = memory.map_ + page + inside - aligned;
  SK_RETURN_IF_ERROR(memory.makeWritable());
  std::memset(memory.map_ + page, guardPattern, size_t(inside));
  std::memset(memory.data_, 0, size_t(bytes));
  return memory;
}

GuardedMemory::~GuardedMemory() {
  if (map_)
    ::munmap(map_, size_t(mapBytes_));
}

void GuardedMemory::swap(GuardedMemory &other) {
  std::swap(map_, other.map_);
  std::swap(data_, other.data_);
  std::swap(mapBytes_, other.mapBytes_);
  std::swap(bytes_, other.bytes_);
}

static Status setAccess(char *map, int64_t mapBytes, int access) {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  if (mapBytes > 2 * page && ::mprotect(map + page, size_t(mapBytes - 2 * page), access) != 0)
    return ioError(std::string("guarded memory: ") + std::strerror(errno));
  return {};
}

Status GuardedMemory::makeReadOnly() { return setAccess(map_, mapBytes_, PROT_READ); }
Status GuardedMemory::makeWritable() { return setAccess(map_, mapBytes_, PROT_READ | PROT_WRITE); }

bool GuardedMemory::contains(const void *address) const {
  return address >= map_ && address < static_cast<const void *>(map_ + mapBytes_);
}

std::optional<int64_t> GuardedMemory::findChange() const {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  for (const char *at = data_; at > map_ + page;)
    if (*--at != guardPattern)
      return at - data_;
  for (const char *at = data_ + bytes_; at < map_ + mapBytes_ - page; ++at)
    if (*at != guardPattern)
      return at - data_;
  return std::nullopt;
}

Buffer GuardedMemory::release() {
  char *map = std::exchange(map_, nullptr);
  return Buffer(data_, bytes_, [map, bytes = mapBytes_](void *) { ::munmap(map, size_t(bytes)); });
}

namespace {

/// The call that this thread is in.
struct ActiveCall {
  const GuardedMemory *in, *out;
  sigjmp_buf back;
  void *volatile address = nullptr;
};
thread_local ActiveCall *activeCall = nullptr;
struct sigaction previousActions[2];

void handleFault(int signal, siginfo_t *info, void *) {
  ActiveCall *call = activeCall;
  if (call && (call->in->contains(info->si_addr) || call->out->contains(info->si_addr))) {
    call->address = info->si_addr;
    siglongjmp(call->back, 1);
  }
  // Not of a guarded tensor: the access is repeated under the previous handler.
  ::sigaction(signal, &previousActions[signal == SIGBUS], nullptr);
}

void installHandler() {
  struct sigaction action = {};
  action.sa_sigaction = handleFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, &previousActions[0]);
  ::sigaction(SIGBUS, &action, &previousActions[1]);
}

/// True if `function` returned; false after a fault in a guarded tensor.
bool runCaught(const std::function<int()> &function, ActiveCall &call, int &returned) {
  struct Reset {
    ~Reset() { activeCall = nullptr; } // Also if the function throws.
  } reset;
  if (sigsetjmp(call.back, 1) != 0)
    return false;
  activeCall = &call;
  returned = function();
  return true;
}

Status wrongByte(const char *tensor, int64_t byte, int64_t bytes, bool isRead) {
  const bool isInside = byte >= 0 && byte < bytes;
  return invalid(std::string(isInside || !isRead ? "wrote to" : "accessed") + " byte " + std::to_string(byte) +
                 " of its " + tensor + ", which has " + std::to_string(bytes) + " bytes" +
                 (isInside ? " and is read only" : ""));
}

} // namespace

Expected<int> callGuarded(const std::function<int()> &function, const GuardedMemory &in, const GuardedMemory &out) {
  static std::once_flag once;
  std::call_once(once, installHandler);
  ActiveCall call{&in, &out, {}, nullptr};
  int returned = 0;
  if (!runCaught(function, call, returned)) {
    const bool isOutput = out.contains(call.address);
    const GuardedMemory &memory = isOutput ? out : in;
    return wrongByte(isOutput ? "output" : "input", static_cast<char *>(call.address) - memory.data(), memory.bytes(),
                     /*isRead=*/true);
  }
  if (std::optional<int64_t> byte = out.findChange())
    return wrongByte("output", *byte, out.bytes(), /*isRead=*/false);
  return returned;
}

} // namespace shardkit::rt
