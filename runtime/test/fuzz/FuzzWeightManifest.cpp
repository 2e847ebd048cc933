//===- FuzzWeightManifest.cpp ---------------------------------------------===//

#include "FuzzSupport.h"

#include "shardkit/rt/Manifest/Manifest.h"

using namespace shardkit::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto manifest = parseWeightManifest(std::string(reinterpret_cast<const char *>(data), size), "input");
  fuzz::checkMessage(manifest.status());
  if (!manifest.ok())
    return 0;
  // What was read is written and read again.
  auto again = parseWeightManifest(weightManifestText(*manifest), "input");
  if (!again.ok())
    fuzz::report("a manifest that was written is refused");
  for (const ValueInfo &value : manifest->weights) {
    ShardMap map(value.extents);
    for (int64_t g = 0; g < std::min<int64_t>(value.globalElements, 32); ++g) {
      ShardMap::Place place = map.find(g);
      if (place.rank < 0 || place.rank >= manifest->devices || place.local < 0 || place.local >= value.localElements ||
          place.run < 1)
        fuzz::report("an element lies in no shard");
    }
  }
  return 0;
}
