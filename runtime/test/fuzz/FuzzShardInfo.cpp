//===- FuzzShardInfo.cpp --------------------------------------------------===//

#include "FuzzSupport.h"

#include "shardkit/rt/Manifest/ShardInfo.h"

using namespace shardkit::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto info = parseShardInfo(std::string(reinterpret_cast<const char *>(data), size), "input");
  fuzz::checkMessage(info.status());
  if (!info.ok())
    return 0;
  for (const auto &[name, calls] : *info)
    for (const HostCall &call : calls) {
      std::vector<int64_t> extras;
      for (const auto &extra : call.extras)
        if (const auto *value = std::get_if<int64_t>(&extra))
          extras.push_back(*value);
      auto shard = parseShardCall(extras);
      fuzz::checkMessage(shard.status());
      if (shard.ok())
        fuzz::checkMessage(validateExtents(shard->extents, 64, 256, shard->ranks, false));
      auto pieces = parsePiecesCall(extras);
      fuzz::checkMessage(pieces.status());
      if (pieces.ok())
        fuzz::checkMessage(validatePieces(pieces->pieces, {256}, pieces->shape, pieces->shape, pieces->ranks));
    }
  return 0;
}
