//===- RankMessage.h - Packed buffers on their way to a rank ----*- C++ -*-===//
//
// In a round every member of a group sends each other one message with what that one reads of
// its buffers, if anything: a header with the collectives it has come to, then
// the packed pieces, each at a multiple of blockBytes.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVES_RANKMESSAGE_H
#define SHARDKIT_RT_COLLECTIVES_RANKMESSAGE_H

#include "shardkit/rt/Collectives/Group.h"

namespace shardkit::rt {

struct RankMessage {
  static constexpr int64_t blockBytes = 64; ///< That of the header, too.

  uint64_t ids;  ///< A hash of the collectives of the rendezvous.
  int64_t id;    ///< The first of them.
  int64_t count; ///< Its items.
  int64_t bytes; ///< With the header.
  int32_t round;

  static uint64_t hashIds(std::span<const PublishedBuffer> buffers);
  /// The header of the message from rank `from` to rank `to`.
  static RankMessage of(std::span<const PublishedBuffer> buffers, int round, int from, int to);
  /// Bytes of the message, and where each buffer begins; 0: there is none. A message without items is a header, for
  /// peers with another number of items.
  static int64_t layOut(std::span<const PublishedBuffer> buffers, int from, int to,
                        std::vector<int64_t> *offsets = nullptr);
  /// Writes the packed buffers after the header.
  static void pack(std::span<const PublishedBuffer> buffers, int from, int to, char *message);
};
static_assert(sizeof(RankMessage) <= RankMessage::blockBytes);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_RANKMESSAGE_H
