//===- TcpBackend.cpp - Processes that find each other by TCP -------------===//

#include "TcpWorld.h"

#include "shardkit/rt/Support/Threads.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace shardkit::rt {

namespace {

constexpr uint32_t magic = 0x534b5431;

Status readNumber(const char *name, int low, int high, int &value) {
  const char *text = std::getenv(name);
  const std::string all = text ? text : "";
  auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error == std::errc() && end == all.data() + all.size() && value >= low && value <= high)
    return {};
  return invalid(std::string(name) + "=" + all + ", expected a number from " + std::to_string(low) + " to " +
                 std::to_string(high));
}

bool readAll(int socket, void *data, int64_t bytes) {
  for (int64_t at = 0; at < bytes;) {
    ssize_t got = ::recv(socket, static_cast<char *>(data) + at, size_t(bytes - at), 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    at += got;
  }
  return true;
}

bool writeAll(int socket, const void *data, int64_t bytes) {
  for (int64_t at = 0; at < bytes;) {
    ssize_t put = ::send(socket, static_cast<const char *>(data) + at, size_t(bytes - at), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    at += put;
  }
  return true;
}

std::string describe(const Status &status) { return std::to_string(int(status.code())) + " " + status.message(); }

Status parseStatus(const std::string &text) {
  const size_t space = text.find(' ');
  return Status(Code(std::atoi(text.c_str())), text.substr(std::min(text.size(), space + 1)));
}

} // namespace

Expected<std::unique_ptr<Backend>> openTcpBackend(double timeoutSeconds) {
  auto backend = std::make_unique<TcpBackend>(timeoutSeconds);
  SK_RETURN_IF_ERROR(backend->open());
  return std::unique_ptr<Backend>(std::move(backend));
}

Status TcpBackend::open() {
  constexpr int maxProcesses = 4096;
  if (std::getenv("SK_RANK") || std::getenv("SK_WORLD_SIZE")) {
    SK_RETURN_IF_ERROR(readNumber("SK_WORLD_SIZE", 1, maxProcesses, processes_));
    SK_RETURN_IF_ERROR(readNumber("SK_RANK", 0, processes_ - 1, process_));
  }
  sockets_.assign(size_t(processes_), -1);
  left_.assign(size_t(processes_), false);
  for (int p = 0; p < processes_; ++p)
    sending_.push_back(std::make_unique<std::mutex>());
  if (processes_ == 1)
    return {};
  const char *text = std::getenv("SK_ADDRESS");
  const std::string address = text ? text : "";
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon != std::string::npos)
    std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  if (colon == std::string::npos || colon == 0 || port < 1 || port > 65535)
    return invalid("SK_ADDRESS=" + address + ", expected HOST:PORT of process 0");
  SK_RETURN_IF_ERROR(process_ == 0 ? listenForOthers(port)
                                   : connectToFirst(address.substr(0, colon), address.substr(colon + 1)));
  return startThread([this] { listen(); }, "messages of other processes", nullptr); // Ends with the process.
}

/// A connection of processes: messages go at once, and none is waited for longer than the timeout once it has begun.
static void setUp(int socket, double timeoutSeconds) {
  int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const double seconds = std::max(timeoutSeconds, 1.0);
  const timeval limit{time_t(seconds), suseconds_t((seconds - double(time_t(seconds))) * 1e6)};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

Status TcpBackend::listenForOthers(int port) {
  int listening = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool isV6 = listening >= 0;
  if (!isV6)
    listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1, off = 0;
  ::setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 any6{};
  sockaddr_in any4{};
  any6.sin6_family = AF_INET6;
  any4.sin_family = AF_INET;
  any6.sin6_port = any4.sin_port = htons(uint16_t(port));
  if (isV6)
    ::setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  auto *any = isV6 ? reinterpret_cast<sockaddr *>(&any6) : reinterpret_cast<sockaddr *>(&any4);
  if (listening < 0 || ::bind(listening, any, isV6 ? sizeof any6 : sizeof any4) != 0 ||
      ::listen(listening, processes_) != 0) {
    Status status = ioError("process 0 cannot listen on port " + std::to_string(port) + ": " + std::strerror(errno));
    if (listening >= 0)
      ::close(listening);
    return status;
  }
  const auto start = std::chrono::steady_clock::now();
  Status status;
  for (int come = 1; come < processes_ && status.ok();) {
    pollfd waiting{listening, POLLIN, 0};
    const double left = timeout_ - std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (left <= 0) {
      std::vector<int> missing;
      for (int p = 1; p < processes_; ++p)
        if (sockets_[size_t(p)] < 0)
          missing.push_back(p);
      status = Status(Code::Timeout, "process 0 waited for the others, missing processes " + rankList(missing));
      break;
    }
    if (::poll(&waiting, 1, int(std::min(left, 1.0) * 1000)) <= 0)
      continue;
    int peer = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0)
      continue;
    // Whoever else connects is not waited for.
    timeval limit{5, 0};
    ::setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    Header hello{};
    if (!readAll(peer, &hello, sizeof hello) || hello.magic != magic || hello.kind != Kind::Hello) {
      ::close(peer);
      continue;
    }
    if (hello.from < 1 || hello.from >= processes_ || hello.bytes != processes_ || sockets_[size_t(hello.from)] >= 0) {
      status =
          invalid("process " + std::to_string(hello.from) + " of " + std::to_string(hello.bytes) +
                  " came to process 0 of " + std::to_string(processes_) + ", expected each process once (SK_RANK)");
      ::close(peer);
      break;
    }
    setUp(peer, timeout_);
    sockets_[size_t(hello.from)] = peer;
    ++come;
  }
  ::close(listening);
  if (!status.ok())
    for (int peer : sockets_)
      if (peer >= 0)
        ::close(peer);
  return status;
}

Status TcpBackend::connectToFirst(const std::string &host, const std::string &port) {
  const auto start = std::chrono::steady_clock::now();
  std::string reason = "it does not answer";
  do {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found)) {
      reason = ::gai_strerror(code);
    } else {
      for (addrinfo *one = found; one; one = one->ai_next) {
        int made = ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        if (made >= 0 && ::connect(made, one->ai_addr, one->ai_addrlen) == 0) {
          ::freeaddrinfo(found);
          setUp(made, timeout_);
          sockets_[0] = made;
          const Header hello{magic, Kind::Hello, process_, 0, processes_};
          if (writeAll(made, &hello, sizeof hello))
            return {};
          return ioError("process 0 at " + host + ":" + port + " closed the connection");
        }
        reason = std::strerror(errno);
        if (made >= 0)
          ::close(made);
      }
      ::freeaddrinfo(found);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < timeout_);
  return Status(Code::Timeout, "process " + std::to_string(process_) + " cannot reach process 0 at " + host + ":" +
                                   port + ": " + reason);
}

std::unique_ptr<World> TcpBackend::makeWorld(int ranks, double timeoutSeconds) {
  return std::make_unique<TcpWorld>(*this, ranks, timeoutSeconds);
}

bool TcpBackend::send(int to, Kind kind, int from, const void *data, int64_t bytes) {
  const int by = process_ == 0 ? to : 0;
  const Header header{magic, kind, from, to, bytes};
  std::lock_guard lock(*sending_[size_t(by)]);
  const int socket = sockets_[size_t(by)];
  if (socket < 0)
    return false;
  messages_ += kind != Kind::Beat;
  bytes_ += bytes;
  return writeAll(socket, &header, sizeof header) && writeAll(socket, data, bytes);
}

Status TcpBackend::post(int to, const std::string &text) {
  if (failed())
    return status();
  if (!send(to, Kind::Data, process_, text.data(), int64_t(text.size())))
    failByClosed(to);
  return status();
}

void TcpBackend::failByClosed(int to) {
  fail(Status(Code::Aborted,
              "process " + std::to_string(process_ == 0 ? to : 0) + " is gone: its connection is closed"));
}

void TcpBackend::failByLeaving(int process) {
  if (!failed())
    fail(Status(Code::Aborted, "process " + std::to_string(process) + " has left: it ended with an error of its own"));
}

Expected<std::string> TcpBackend::receive(int from, double timeoutSeconds, bool &timedOut) {
  std::unique_lock lock(mutex_);
  auto ready = [&] { return failed() || !inbox_[from].empty() || left_[size_t(from)]; };
  if (timeoutSeconds <= 0)
    came_.wait(lock, ready);
  else if (!came_.wait_for(lock, std::chrono::duration<double>(timeoutSeconds), ready)) {
    timedOut = true;
    return std::string();
  }
  if (inbox_[from].empty()) {
    lock.unlock();
    failByLeaving(from);
    return status();
  }
  std::string text = std::move(inbox_[from].front());
  inbox_[from].pop_front();
  return text;
}

void TcpBackend::take(const Header &header, std::string text) {
  if (header.kind == Kind::Beat)
    return;
  if (header.kind == Kind::Bye) {
    std::lock_guard lock(mutex_);
    left_[size_t(header.from)] = true;
    came_.notify_all();
  } else if (header.kind == Kind::Abort) {
    fail(parseStatus(text));
  } else if (header.to != process_) {
    send(header.to, header.kind, header.from, text.data(), int64_t(text.size()));
  } else {
    std::lock_guard lock(mutex_);
    Route route;
    if (header.kind == Kind::Ranks && text.size() >= sizeof route) {
      std::memcpy(&route, text.data(), sizeof route);
      rankInbox_[route].push_back(std::move(text));
    } else {
      inbox_[header.from].push_back(std::move(text));
    }
    came_.notify_all();
  }
}

void TcpBackend::sendToRank(const Route &route, int process, std::string text) {
  if (process == process_)
    return take({magic, Kind::Ranks, process_, process_, int64_t(text.size())}, std::move(text));
  if (!failed() && !send(process, Kind::Ranks, process_, text.data(), int64_t(text.size())))
    failByClosed(process);
}

bool TcpBackend::receiveOfRank(const Route &route, int process, std::chrono::steady_clock::time_point until,
                               std::string &text) {
  std::unique_lock lock(mutex_);
  std::deque<std::string> &come = rankInbox_[route];
  if (!came_.wait_until(lock, until, [&] { return failed() || !come.empty() || left_[size_t(process)]; }))
    return false;
  if (!come.empty()) {
    text = std::move(come.front());
    come.pop_front();
    if (come.empty())
      rankInbox_.erase(route);
    return true;
  }
  lock.unlock();
  failByLeaving(process);
  return false;
}

bool TcpBackend::takeFrom(int socket) {
  constexpr int64_t maxBytes = int64_t(1) << 40;
  Header header{};
  if (!readAll(socket, &header, sizeof header) || header.magic != magic || header.bytes < 0 ||
      header.bytes > maxBytes || header.from < 0 || header.from >= processes_ || header.to < 0 ||
      header.to >= processes_)
    return false;
  std::string text(size_t(header.bytes), '\0');
  if (!readAll(socket, text.data(), header.bytes))
    return false;
  take(header, std::move(text));
  return true;
}

void TcpBackend::watchPeers() {
  const auto now = std::chrono::steady_clock::now();
  for (int p = 0; p < processes_; ++p) {
    if (sockets_[size_t(p)] < 0)
      continue;
    {
      std::lock_guard lock(mutex_);
      if (left_[size_t(p)])
        continue;
    }
    send(p, Kind::Beat, process_, nullptr, 0);
    const double silent = std::chrono::duration<double>(now - heard_[size_t(p)]).count();
    if (silent > timeout_ && !failed()) {
      char limit[32];
      std::snprintf(limit, sizeof limit, "%g", timeout_);
      fail(Status(Code::Timeout,
                  "process " + std::to_string(p) + " is silent: it has shown no sign of life for " + limit + " s"));
    }
  }
}

void TcpBackend::listen() {
  std::vector<pollfd> waiting;
  std::vector<int> peers;
  for (int p = 0; p < processes_; ++p)
    if (sockets_[size_t(p)] >= 0) {
      waiting.push_back({sockets_[size_t(p)], POLLIN, 0});
      peers.push_back(p);
    }
  heard_.assign(size_t(processes_), std::chrono::steady_clock::now());
  const auto tick = std::chrono::duration<double>(std::clamp(timeout_ / 20, 0.01, 0.1));
  auto watched = std::chrono::steady_clock::now();
  while (true) {
    if (std::chrono::steady_clock::now() - watched >= tick) {
      watched = std::chrono::steady_clock::now();
      watchPeers();
    }
    if (::poll(waiting.data(), waiting.size(), int(tick.count() * 1000)) < 0)
      continue;
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (!waiting[i].revents)
        continue;
      heard_[size_t(peers[i])] = std::chrono::steady_clock::now();
      if (takeFrom(waiting[i].fd))
        continue;
      waiting[i].fd = -1; // Not polled any more.
      bool hasLeft;
      {
        std::lock_guard lock(mutex_);
        hasLeft = left_[size_t(peers[i])];
      }
      if (!hasLeft)
        fail(Status(Code::Aborted, "process " + std::to_string(peers[i]) + " is gone: it has ended without a word"));
      std::lock_guard lock(mutex_);
      left_[size_t(peers[i])] = true;
      came_.notify_all();
    }
  }
}

Status TcpBackend::agree(Status mine, World *world, const std::string &what) {
  if (processes_ == 1)
    return failed() ? status() : mine;
  const double limit = world ? world->timeout() : 0;
  auto late = [&](int process) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", limit);
    Status status(Code::Timeout, what + ": process " + std::to_string(process_) + " waited " + text +
                                     " s for process " + std::to_string(process));
    world->fail(status);
    return this->status();
  };
  bool timedOut = false;
  if (process_ != 0) {
    SK_RETURN_IF_ERROR(post(0, describe(mine)));
    // Process 0 waits for the others first, and says so.
    auto all = receive(0, limit > 0 ? 1.5 * limit + 1 : 0, timedOut);
    if (timedOut)
      return late(0);
    SK_RETURN_IF_ERROR(all.status());
    return parseStatus(*all);
  }
  std::vector<Status> statuses = {mine};
  for (int p = 1; p < processes_; ++p) {
    auto one = receive(p, limit, timedOut);
    if (timedOut)
      return late(p);
    SK_RETURN_IF_ERROR(one.status());
    statuses.push_back(parseStatus(*one));
  }
  auto first = std::find_if(statuses.begin(), statuses.end(), [](const Status &status) { return !status.ok(); });
  Status agreed;
  if (first != statuses.end()) {
    const bool all = std::none_of(statuses.begin(), statuses.end(), [](const Status &status) { return status.ok(); });
    agreed = all ? *first : first->withContext("process " + std::to_string(first - statuses.begin()));
  }
  for (int p = 1; p < processes_; ++p)
    SK_RETURN_IF_ERROR(post(p, describe(agreed)));
  return agreed;
}

Expected<std::vector<std::string>> TcpBackend::exchange(const std::string &mine) {
  bool unused = false;
  std::vector<std::string> all = {mine};
  if (processes_ == 1)
    return all;
  if (process_ == 0) {
    std::string joined;
    for (int p = 1; p < processes_; ++p) {
      SK_ASSIGN_OR_RETURN(std::string one, receive(p, 0, unused));
      all.push_back(std::move(one));
    }
    for (const std::string &one : all) {
      const int64_t bytes = int64_t(one.size());
      joined.append(reinterpret_cast<const char *>(&bytes), sizeof bytes);
      joined += one;
    }
    for (int p = 1; p < processes_; ++p)
      SK_RETURN_IF_ERROR(post(p, joined));
    return all;
  }
  SK_RETURN_IF_ERROR(post(0, mine));
  SK_ASSIGN_OR_RETURN(std::string joined, receive(0, 0, unused));
  all.clear();
  for (size_t at = 0; int(all.size()) < processes_;) {
    int64_t bytes = 0;
    if (at + sizeof bytes > joined.size())
      return internalError("process 0 sent fewer bytes than it announced");
    std::memcpy(&bytes, joined.data() + at, sizeof bytes);
    all.push_back(joined.substr(at + sizeof bytes, size_t(bytes)));
    at += sizeof bytes + size_t(bytes);
  }
  return all;
}

Status TcpBackend::transfer(int from, int to, void *data, int64_t bytes) {
  if (from == to || (process_ != from && process_ != to))
    return {};
  if (process_ == from)
    return post(to, std::string(static_cast<const char *>(data), size_t(bytes)));
  bool unused = false;
  SK_ASSIGN_OR_RETURN(std::string text, receive(from, 0, unused));
  if (int64_t(text.size()) != bytes)
    return internalError("process " + std::to_string(from) + " sent " + std::to_string(text.size()) +
                         " bytes, expected " + std::to_string(bytes));
  std::memcpy(data, text.data(), text.size());
  return {};
}

Status TcpBackend::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void TcpBackend::fail(const Status &status) {
  {
    std::lock_guard lock(mutex_);
    if (failed_.load())
      return;
    status_ = status;
    failed_.store(true, std::memory_order_release);
    came_.notify_all();
  }
  const std::string text = describe(status);
  for (int p = 0; p < processes_; ++p)
    if (p != process_ && (process_ == 0 || p == 0))
      send(p, Kind::Abort, process_, text.data(), int64_t(text.size()));
  std::lock_guard lock(mutex_);
  othersKnow_ = true;
  came_.notify_all();
}

void TcpBackend::abort(const Status &status) { fail(status.withContext("process " + std::to_string(process_))); }

void TcpBackend::finish() {
  if (!failed() && processes_ > 1) {
    for (int p = 0; p < processes_; ++p)
      if (p != process_ && (process_ == 0 || p == 0))
        send(p, Kind::Bye, process_, nullptr, 0);
    // Messages between others go through process 0: it stays until all have left.
    std::unique_lock lock(mutex_);
    if (process_ == 0)
      came_.wait_for(lock, std::chrono::duration<double>(timeout_),
                     [&] { return std::all_of(left_.begin() + 1, left_.end(), [](bool left) { return left; }); });
  }
  leave(failed());
}

void TcpBackend::leave(bool hasFailed) {
  if (failed()) { // Another thread may be telling the others why.
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, std::chrono::duration<double>(timeout_), [&] { return othersKnow_; });
  }
  // What was sent last shall not be lost by closing at once.
  for (int socket : sockets_)
    if (socket >= 0)
      ::shutdown(socket, SHUT_WR);
  if (hasFailed)
    ::usleep(100000);
}

void TcpBackend::exit(int status, bool hasFailed) {
  std::fflush(stdout);
  std::fflush(stderr);
  if (hasFailed)
    leave(true);
  else
    finish();
  ::_exit(status);
}

} // namespace shardkit::rt
