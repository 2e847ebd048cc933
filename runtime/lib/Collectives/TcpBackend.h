//===- TcpBackend.h - Processes that find each other by TCP ----*- C++ -*--===//
//
// Processes are told by the environment who they are: SK_RANK, SK_WORLD_SIZE, and
// SK_ADDRESS, where process 0 listens. Everything goes through process 0, data of collectives
// too (TcpWorld.h), but for those that devices move (Cuda/Nccl.h).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_TCPBACKEND_H
#define SHARDKIT_RT_TCPBACKEND_H

#include "shardkit/rt/Collectives/Backend.h"

#include <chrono>
#include <compare>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace shardkit::rt {

class TcpBackend : public Backend {
public:
  explicit TcpBackend(double timeoutSeconds) : timeout_(timeoutSeconds) {}
  Status open();

  const char *name() const override { return "tcp"; }
  bool isOnNode(int process) const override { return process == process_; }
  bool failed() const override { return failed_.load(std::memory_order_acquire); }
  std::unique_ptr<World> makeWorld(int ranks, double timeoutSeconds) override;
  Status agree(Status mine, World *world, const std::string &what) override;
  Expected<std::vector<std::string>> exchange(const std::string &mine) override;
  Status transfer(int from, int to, void *data, int64_t bytes) override;
  Expected<NodeMemory> nodeMemory(int64_t, int64_t) override { return NodeMemory(); }
  LoadTeam *loadTeam() override { return nullptr; }
  std::pair<int64_t, int64_t> sent() const override { return {messages_, bytes_}; }
  void abort(const Status &status) override;
  void finish() override;
  [[noreturn]] void exit(int status, bool failed) override;

  void fail(const Status &status);
  Status status() const;

  // What worlds are made of.

  /// Between two ranks in one of the groups, whose messages keep their order. Messages begin with it.
  struct Route {
    int64_t group;
    int32_t from, to;
    auto operator<=>(const Route &) const = default;
  };
  /// Every process makes the same groups in the same order.
  int64_t numberGroup() { return groups_++; }
  void sendToRank(const Route &route, int process, std::string text);
  /// The next message from a rank of `process`; false if none comes, or the run has failed.
  bool receiveOfRank(const Route &route, int process, std::chrono::steady_clock::time_point until, std::string &text);

private:
  enum class Kind : int32_t { Hello, Data, Abort, Bye, Beat, Ranks };
  struct Header {
    uint32_t magic;
    Kind kind;
    int32_t from, to;
    int64_t bytes;
  };
  Status listenForOthers(int port);
  Status connectToFirst(const std::string &host, const std::string &port);
  /// To process `to`, by way of process 0. False where the connection is gone.
  bool send(int to, Kind kind, int from, const void *data, int64_t bytes);
  Status post(int to, const std::string &text);
  void failByClosed(int to);
  void failByLeaving(int process);
  /// The next message of `from`; waits `timeoutSeconds` at most, 0: until it comes.
  Expected<std::string> receive(int from, double timeoutSeconds, bool &timedOut);
  /// Reads what comes until all connections are closed.
  void listen();
  void take(const Header &header, std::string text);
  /// Reads one message. False where the connection is closed, or a message stops in the middle.
  bool takeFrom(int socket);
  /// Closes the connections, after what was sent last.
  void leave(bool hasFailed);
  /// Sends heartbeats; an error for all where none has come for too long.
  void watchPeers();

  const double timeout_;
  std::vector<int> sockets_; ///< By process; of others than 0 only that of 0. -1: none.
  std::vector<std::unique_ptr<std::mutex>> sending_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::map<int, std::deque<std::string>> inbox_;
  std::map<Route, std::deque<std::string>> rankInbox_;
  int64_t groups_ = 0;
  std::vector<bool> left_;
  std::vector<std::chrono::steady_clock::time_point> heard_; ///< Of the listener.
  Status status_;
  std::atomic<bool> failed_{false};
  bool othersKnow_ = false; ///< Of the failure: they were told, those that could be.
  std::atomic<int64_t> messages_{0}, bytes_{0};
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_TCPBACKEND_H
