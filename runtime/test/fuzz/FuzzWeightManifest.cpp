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
      ShardMap::Location location = map.find(g);
      if (location.rank < 0 || location.rank >= manifest->devices || location.local < 0 ||
          location.local >= value.localElements || location.run < 1)
        fuzz::report("an element lies in no shard");
    }
  }
  return 0;
}
