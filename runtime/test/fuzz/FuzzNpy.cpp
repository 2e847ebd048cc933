//===- FuzzNpy.cpp --------------------------------------------------------===//

#include "FuzzSupport.h"

#include "shardkit/rt/Formats/Npy.h"

using namespace shardkit::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto tensor = parseNpy(fuzz::memoryFile(data, size), 0, int64_t(size));
  fuzz::checkMessage(tensor.status());
  if (tensor.ok())
    fuzz::checkTensor(*tensor);
  return 0;
}
