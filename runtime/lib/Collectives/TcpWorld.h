//===- TcpWorld.h - Ranks in processes that TCP connects -------*- C++ -*--===//

#ifndef SHARDKIT_RT_TCPWORLD_H
#define SHARDKIT_RT_TCPWORLD_H

#include "TcpBackend.h"

namespace shardkit::rt {

/// The ranks that this process and others run as threads. Members of a group send each other messages (RankMessage.h).
class TcpWorld : public World {
public:
  TcpWorld(TcpBackend &backend, int ranks, double timeoutSeconds);

  TcpBackend &backend() { return backend_; }
  int processOf(int rank) const { return backend_.ownerOf(rank, int64_t(records_.size())); }
  bool isPacked() const override { return true; }
  std::vector<Group *> groups(const std::vector<std::vector<int>> &members, bool isPrivate) override;
  Group &oneWay(const std::vector<int> &senders, const std::vector<int> &receivers) override;
  bool failed() const override { return backend_.failed(); }
  Status status() const override { return backend_.status(); }
  bool isKnown(int rank) const override { return processOf(rank) == backend_.process(); }
  void vanish() override;

private:
  void keepError(Status status) override { backend_.fail(status); }

  TcpBackend &backend_;
  std::vector<RankRecord> storage_;
  std::map<std::vector<int>, std::unique_ptr<Group>> known_;
  std::vector<std::unique_ptr<Group>> privateGroups_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_TCPWORLD_H
