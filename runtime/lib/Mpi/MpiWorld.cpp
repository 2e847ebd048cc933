//===- MpiWorld.cpp - Meetings by messages --------------------------------===//
//
// Messages between two ranks (RankMessage.h) keep the order of the program, so
// nothing but the pair of ranks is in the tag.
//
//===----------------------------------------------------------------------===//

#include "MpiBackend.h"

#include "shardkit/rt/Collectives/RankMessage.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace shardkit::rt::mpi {

namespace {

constexpr int64_t blockBytes = RankMessage::blockBytes;

/// A group whose members are in several processes. Every member sends one message to every
/// peer that reads from it: a header, then the packed data of each published buffer.
///
/// Example: an all-gather of [a b] on rank 0 and [c d] on rank 1. `publish` of rank 0 posts
/// the receive of [header c d] and the send of [header a b]; `wait` waits for the receive and
/// compares the header; `release` waits for the send.
class MpiGroup : public Group {
public:
  MpiGroup(MpiWorld &world, std::vector<int> ranks, MPI_Comm comm, const std::vector<int> &processOf, bool isOneWay);
  void publish(int index, int round, std::span<const PublishedBuffer> buffers) override;
  bool wait(int index, int round, const std::function<std::string()> &describe) override;
  const char *published(int index, int peer, int round, size_t k) override;
  bool release(int index, const std::function<std::string()> &describe) override;

private:
  struct Peer {
    Buffer sent, received;
    int64_t bytes = 0; ///< Received bytes with the header; 0 if there is no message.
    int receive = -1;
    std::vector<int64_t> offsets; ///< Offset of each buffer in `received`.
  };
  struct Round {
    std::vector<Peer> peers;
    uint64_t ids = 0;
    PublishedBuffer first;
    std::vector<MPI_Request> receives, sends;
    std::vector<int> receivePeers, sendPeers;
  };
  struct Member {
    Round rounds[2];
  };
  MpiWorld &world() { return static_cast<MpiWorld &>(world_); }
  /// Of the many one-way groups few are used at a time, so that they share buffers.
  void makeRoom(Buffer &buffer, int64_t bytes);

  /// Fails the world with the missing ranks: by the flight records of the node, and for other
  /// nodes the ranks whose messages are missing.
  void timedOut(int index, std::vector<MPI_Request> &requests, const std::vector<int> &peers, const std::string &what);
  MpiBackend &backend_;
  MPI_Comm comm_;
  const bool isOneWay_;
  std::vector<int> processes_; ///< Process of each member, in comm_.
  std::vector<Member> members_;
};

MpiGroup::MpiGroup(MpiWorld &world, std::vector<int> ranks, MPI_Comm comm, const std::vector<int> &processOf,
                   bool isOneWay)
    : Group(world, std::move(ranks)), backend_(world.backend()), comm_(comm), isOneWay_(isOneWay),
      members_(ranks_.size()) {
  for (int rank : ranks_)
    processes_.push_back(processOf[size_t(rank)]);
}

void MpiGroup::publish(int index, int round, std::span<const PublishedBuffer> buffers) {
  Member &member = members_[size_t(index)];
  Round &mine = member.rounds[round];
  mine.peers.resize(ranks_.size());
  mine.ids = RankMessage::hashIds(buffers);
  mine.first = buffers[0];
  const int rank = ranks_[size_t(index)], size = world_.size();
  int code = MPI_SUCCESS;
  for (int peer = 0; peer < this->size(); ++peer) {
    Peer &from = mine.peers[size_t(peer)];
    from.offsets.clear();
    from.bytes = RankMessage::layOut(buffers, ranks_[size_t(peer)], rank, &from.offsets);
    from.receive = -1;
    if (from.bytes == 0)
      continue;
    makeRoom(from.received, from.bytes);
    if (peer == index) {
      RankMessage::pack(buffers, rank, rank, static_cast<char *>(from.received.data()));
      continue;
    }
    from.receive = int(mine.receives.size());
    mine.receivePeers.push_back(peer);
    MPI_Request request;
    std::lock_guard lock(backend_.mutex());
    code = std::max(code, MPI_Irecv(from.received.data(), int(from.bytes / blockBytes), backend_.block(),
                                    processes_[size_t(peer)], ranks_[size_t(peer)] * size + rank, comm_, &request));
    mine.receives.push_back(request);
  }
  for (int step = 1; step < this->size(); ++step) {
    int peer = (index + step) % this->size();
    Peer &to = mine.peers[size_t(peer)];
    const RankMessage header = RankMessage::of(buffers, round, rank, ranks_[size_t(peer)]);
    const int64_t bytes = header.bytes;
    if (bytes == 0)
      continue;
    makeRoom(to.sent, bytes);
    char *data = static_cast<char *>(to.sent.data());
    std::memcpy(data, &header, sizeof header);
    RankMessage::pack(buffers, rank, ranks_[size_t(peer)], data);
    MPI_Request request;
    {
      std::lock_guard lock(backend_.mutex());
      code = std::max(code, MPI_Isend(data, int(bytes / blockBytes), backend_.block(), processes_[size_t(peer)],
                                      rank * size + ranks_[size_t(peer)], comm_, &request));
    }
    mine.sends.push_back(request);
    mine.sendPeers.push_back(peer);
    backend_.countSent(bytes);
    backend_.ring(processes_[size_t(peer)]);
  }
  if (code != MPI_SUCCESS)
    world_.fail(MpiBackend::check(code, "a message").withContext("rank " + std::to_string(rank)), rank);
}

bool MpiGroup::wait(int index, int round, const std::function<std::string()> &describe) {
  Round &mine = members_[size_t(index)].rounds[round];
  std::vector<MPI_Status> statuses;
  auto waited = backend_.wait(mine.receives, statuses, world_.timeout());
  if (waited == MpiBackend::Waited::Failed)
    return false;
  if (waited == MpiBackend::Waited::TimedOut) {
    timedOut(index, mine.receives, mine.receivePeers, describe());
    return false;
  }
  for (size_t i = 0; i < mine.receives.size(); ++i) {
    const int peer = mine.receivePeers[i];
    RankMessage header{};
    const Peer &from = mine.peers[size_t(peer)];
    std::memcpy(&header, from.received.data(), sizeof header);
    // A message of another collective may have another size as well, which is an error
    // of MPI; its header has come.
    if (header.ids == mine.ids && header.round == round && header.bytes == from.bytes &&
        statuses[i].MPI_ERROR == MPI_SUCCESS)
      continue;
    if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_TRUNCATE)
      world_.fail(MpiBackend::check(statuses[i].MPI_ERROR, "a message").withContext(describe()), ranks_[size_t(index)]);
    else
      world_.fail(World::mismatchStatus(describe(), ranks_[size_t(index)], mine.first, ranks_[size_t(peer)],
                                        {header.id, nullptr, nullptr, header.count}),
                  ranks_[size_t(index)]);
    return false;
  }
  mine.receives.clear();
  mine.receivePeers.clear();
  return true;
}

const char *MpiGroup::published(int index, int peer, int round, size_t k) {
  const Peer &from = members_[size_t(index)].rounds[round].peers[size_t(peer)];
  return static_cast<const char *>(from.received.data()) + from.offsets[k];
}

bool MpiGroup::release(int index, const std::function<std::string()> &describe) {
  for (Round &mine : members_[size_t(index)].rounds) {
    std::vector<MPI_Status> statuses;
    auto waited = backend_.wait(mine.sends, statuses, world_.timeout());
    if (waited == MpiBackend::Waited::TimedOut)
      timedOut(index, mine.sends, mine.sendPeers, describe());
    else if (waited == MpiBackend::Waited::Error)
      world_.fail(internalError(describe() + ": a message could not be sent"), ranks_[size_t(index)]);
    if (waited != MpiBackend::Waited::Done)
      return false;
    mine.sends.clear();
    mine.sendPeers.clear();
    if (isOneWay_)
      for (Peer &peer : mine.peers)
        for (Buffer *buffer : {&peer.sent, &peer.received})
          if (buffer->bytes() > 0)
            world().giveRoomBack(std::move(*buffer));
  }
  return true;
}

void MpiGroup::makeRoom(Buffer &buffer, int64_t bytes) {
  if (isOneWay_)
    buffer = world().takeRoom(bytes);
  else
    buffer.reserve(bytes);
}

void MpiGroup::timedOut(int index, std::vector<MPI_Request> &requests, const std::vector<int> &peers,
                        const std::string &what) {
  const int rank = ranks_[size_t(index)];
  const uint64_t mine = world_.record(rank).entered.load();
  std::vector<int> arrived, missing, awaited;
  for (int peer = 0; peer < size(); ++peer) {
    bool waits = false;
    for (size_t i = 0; i < requests.size(); ++i)
      waits |= peers[i] == peer && requests[i] != MPI_REQUEST_NULL;
    const int other = ranks_[size_t(peer)];
    if (waits)
      awaited.push_back(other);
    bool here = static_cast<MpiWorld &>(world_).isKnown(other);
    bool late = here && !isOneWay_ ? world_.record(other).entered.load() < mine : waits;
    (late ? missing : arrived).push_back(other);
  }
  if (missing.empty())
    missing = awaited;
  world_.fail(world_.timeoutStatus(what, rank, arrived, missing), rank);
}

} // namespace

MpiWorld::MpiWorld(MpiBackend &backend, int ranks, double timeoutSeconds)
    : World(timeoutSeconds), backend_(backend), elsewhere_(size_t(ranks)) {
  for (int rank = 0; rank < ranks; ++rank)
    records_.push_back(backend.isOnNode(backend.ownerOf(rank, ranks)) ? &backend.segment().ranks[rank]
                                                                      : &elsewhere_[size_t(rank)]);
}

MpiWorld::~MpiWorld() {
  backend_.forget(this);
  backend_.countMoving(hasOneWays_ ? -1 : 0);
}

std::vector<Group *> MpiWorld::groups(const std::vector<std::vector<int>> &members, bool isPrivate) {
  return groups(members, isPrivate, /*isOneWay=*/false);
}

Group &MpiWorld::oneWay(const std::vector<int> &senders, const std::vector<int> &receivers) {
  const std::vector<int> ranks = joinRanks(senders, receivers);
  backend_.countMoving(hasOneWays_ ? 0 : 1);
  hasOneWays_ = true;
  return *groups({ranks}, /*own=*/true, /*isOneWay=*/true)[size_t(ranks[0])];
}

std::vector<Group *> MpiWorld::groups(const std::vector<std::vector<int>> &members, bool isPrivate, bool isOneWay) {
  std::vector<std::shared_ptr<Group>> made;
  std::vector<std::shared_ptr<Group>> &groups = isPrivate ? made : known_[members];
  if (groups.empty()) {
    std::vector<int> processOf(records_.size());
    MPI_Comm comm = backend_.communicator(members, int64_t(records_.size()), processOf);
    for (const std::vector<int> &ranks : members)
      if (!ranks.empty())
        groups.push_back(std::make_shared<MpiGroup>(*this, ranks, comm, processOf, isOneWay));
  }
  std::vector<Group *> result(records_.size());
  for (const std::shared_ptr<Group> &group : groups)
    for (int rank : group->ranks())
      result[size_t(rank)] = group.get();
  if (isPrivate)
    privateGroups_.insert(privateGroups_.end(), made.begin(), made.end());
  return result;
}

void MpiWorld::vanish() { ::kill(::getpid(), SIGKILL); }

} // namespace shardkit::rt::mpi
