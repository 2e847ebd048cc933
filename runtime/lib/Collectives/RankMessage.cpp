//===- RankMessage.cpp - Packed buffers on their way to a rank ------------===//

#include "shardkit/rt/Collectives/RankMessage.h"

namespace shardkit::rt {

static int64_t roundUp(int64_t bytes) {
  return (bytes + RankMessage::blockBytes - 1) / RankMessage::blockBytes * RankMessage::blockBytes;
}

uint64_t RankMessage::hashIds(std::span<const PublishedBuffer> buffers) {
  uint64_t hash = buffers.size();
  for (const PublishedBuffer &one : buffers)
    hash = ((hash ^ uint64_t(one.id)) * 0x9e3779b97f4a7c15u ^ uint64_t(one.count)) * 0x9e3779b97f4a7c15u + 1;
  return hash;
}

RankMessage RankMessage::of(std::span<const PublishedBuffer> buffers, int round, int from, int to) {
  return {hashIds(buffers), buffers[0].id, buffers[0].count, layOut(buffers, from, to), round};
}

int64_t RankMessage::layOut(std::span<const PublishedBuffer> buffers, int from, int to, std::vector<int64_t> *offsets) {
  int64_t at = blockBytes;
  bool isNeeded = false;
  for (const PublishedBuffer &one : buffers) {
    if (offsets)
      offsets->push_back(at);
    int64_t bytes = one.reading->bytes(from, to, one.count);
    isNeeded |= bytes > 0 || (one.count == 0 && one.reading->bytes(from, to, 1) > 0);
    at += roundUp(bytes);
  }
  return isNeeded ? at : 0;
}

void RankMessage::pack(std::span<const PublishedBuffer> buffers, int from, int to, char *message) {
  int64_t at = blockBytes;
  for (const PublishedBuffer &one : buffers) {
    int64_t bytes = one.reading->bytes(from, to, one.count);
    if (bytes > 0)
      one.reading->pack(from, to, one.count, one.data, message + at);
    at += roundUp(bytes);
  }
}

} // namespace shardkit::rt
