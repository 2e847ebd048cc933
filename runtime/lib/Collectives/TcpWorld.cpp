//===- TcpWorld.cpp - Ranks in processes that TCP connects ----------------===//

#include "TcpWorld.h"

#include "shardkit/rt/Collectives/RankMessage.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

namespace shardkit::rt {

namespace {

/// A send has ended when `publish` returns, so that `release` waits for nobody.
class TcpGroup : public Group {
public:
  TcpGroup(TcpWorld &world, std::vector<int> ranks)
      : Group(world, std::move(ranks)), number_(world.backend().numberGroup()), members_(ranks_.size()) {}

  void publish(int index, int round, std::span<const PublishedBuffer> buffers) override;
  bool wait(int index, int round, const std::function<std::string()> &describe) override;
  const char *published(int index, int peer, int round, size_t k) override {
    const Peer &from = members_[size_t(index)].rounds[round].peers[size_t(peer)];
    return from.message.data() + blockBytes + from.offsets[k];
  }
  bool release(int, const std::function<std::string()> &) override { return !world_.failed(); }

private:
  /// Of the route, in front of a message.
  static constexpr int64_t blockBytes = RankMessage::blockBytes;
  static_assert(sizeof(TcpBackend::Route) <= blockBytes);

  struct Peer {
    std::string message;
    int64_t bytes = 0; ///< Of the message, without the route; 0: there is none.
    std::vector<int64_t> offsets;
  };
  struct Round {
    std::vector<Peer> peers;
    RankMessage mine{};
  };
  struct Member {
    Round rounds[2];
  };
  TcpWorld &world() { return static_cast<TcpWorld &>(world_); }
  std::string makeMessage(std::span<const PublishedBuffer> buffers, int round, int from, int to) const;
  void timedOut(int index, int round, int from, const std::string &what);

  const int64_t number_;
  std::vector<Member> members_;
};

std::string TcpGroup::makeMessage(std::span<const PublishedBuffer> buffers, int round, int from, int to) const {
  const RankMessage header = RankMessage::of(buffers, round, from, to);
  if (header.bytes == 0)
    return "";
  std::string text(size_t(blockBytes + header.bytes), '\0');
  const TcpBackend::Route route{number_, from, to};
  std::memcpy(text.data(), &route, sizeof route);
  std::memcpy(text.data() + blockBytes, &header, sizeof header);
  RankMessage::pack(buffers, from, to, text.data() + blockBytes);
  return text;
}

void TcpGroup::publish(int index, int round, std::span<const PublishedBuffer> buffers) {
  Round &mine = members_[size_t(index)].rounds[round];
  const int rank = ranks_[size_t(index)];
  mine.mine = RankMessage::of(buffers, round, rank, rank);
  mine.peers.resize(ranks_.size());
  for (int step = 0; step < size(); ++step) {
    const int peer = (index + step) % size(), other = ranks_[size_t(peer)];
    Peer &from = mine.peers[size_t(peer)];
    from.offsets.clear();
    from.bytes = RankMessage::layOut(buffers, other, rank, &from.offsets);
    std::string text = makeMessage(buffers, round, rank, other);
    if (peer == index)
      from.message = std::move(text);
    else if (!text.empty())
      world().backend().sendToRank({number_, rank, other}, world().processOf(other), std::move(text));
  }
}

bool TcpGroup::wait(int index, int round, const std::function<std::string()> &describe) {
  Round &mine = members_[size_t(index)].rounds[round];
  const int rank = ranks_[size_t(index)];
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                            std::chrono::duration<double>(world_.timeout()));
  for (int step = 1; step < size(); ++step) {
    const int peer = (index + step) % size(), other = ranks_[size_t(peer)];
    Peer &from = mine.peers[size_t(peer)];
    if (from.bytes == 0)
      continue;
    if (!world().backend().receiveOfRank({number_, other, rank}, world().processOf(other), until, from.message)) {
      if (!world_.failed())
        timedOut(index, round, step, describe());
      return false;
    }
    RankMessage header{};
    if (int64_t(from.message.size()) >= blockBytes + int64_t(sizeof header))
      std::memcpy(&header, from.message.data() + blockBytes, sizeof header);
    if (header.ids == mine.mine.ids && header.round == round && header.bytes == from.bytes &&
        int64_t(from.message.size()) == blockBytes + from.bytes)
      continue;
    world_.fail(World::mismatchStatus(describe(), rank, {mine.mine.id, nullptr, nullptr, mine.mine.count}, other,
                                      {header.id, nullptr, nullptr, header.count}),
                rank);
    return false;
  }
  return !world_.failed();
}

/// Those that it has not waited for yet may have come.
void TcpGroup::timedOut(int index, int round, int first, const std::string &what) {
  Round &mine = members_[size_t(index)].rounds[round];
  const int rank = ranks_[size_t(index)];
  std::vector<int> arrived, missing;
  for (int step = 0; step < size(); ++step) {
    const int peer = (index + step) % size(), other = ranks_[size_t(peer)];
    Peer &from = mine.peers[size_t(peer)];
    const bool isMissing =
        step == first || (step > first && from.bytes > 0 &&
                          !world().backend().receiveOfRank({number_, other, rank}, world().processOf(other),
                                                           std::chrono::steady_clock::now(), from.message));
    (isMissing ? missing : arrived).push_back(other);
  }
  world_.fail(world_.timeoutStatus(what, rank, arrived, missing), rank);
}

} // namespace

TcpWorld::TcpWorld(TcpBackend &backend, int ranks, double timeoutSeconds)
    : World(timeoutSeconds), backend_(backend), storage_(size_t(ranks)) {
  for (RankRecord &record : storage_)
    records_.push_back(&record);
}

std::vector<Group *> TcpWorld::groups(const std::vector<std::vector<int>> &members, bool isPrivate) {
  std::vector<Group *> result(records_.size());
  for (const std::vector<int> &ranks : members) {
    if (ranks.empty())
      continue;
    std::unique_ptr<Group> &group = isPrivate ? privateGroups_.emplace_back() : known_[ranks];
    if (!group)
      group = std::make_unique<TcpGroup>(*this, ranks);
    for (int rank : ranks)
      result[size_t(rank)] = group.get();
  }
  return result;
}

Group &TcpWorld::oneWay(const std::vector<int> &senders, const std::vector<int> &receivers) {
  const std::vector<int> ranks = joinRanks(senders, receivers);
  return *groups({ranks}, /*isPrivate=*/true)[size_t(ranks[0])];
}

void TcpWorld::vanish() { ::kill(::getpid(), SIGKILL); }

} // namespace shardkit::rt
