//===- FuzzManifest.cpp ---------------------------------------------------===//

#include "FuzzSupport.h"

#include "shardkit/rt/Manifest/Manifest.h"

using namespace shardkit::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto manifest = parseManifest(std::string(reinterpret_cast<const char *>(data), size), "input");
  fuzz::checkMessage(manifest.status());
  return 0;
}
