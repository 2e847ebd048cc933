//===- FuzzGguf.cpp -------------------------------------------------------===//

#include "FuzzSupport.h"

#include "shardkit/rt/Formats/Gguf.h"

using namespace shardkit::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto tensors = parseGguf(fuzz::memoryFile(data, size));
  fuzz::checkMessage(tensors.status());
  if (tensors.ok())
    for (const auto &[name, tensor] : *tensors)
      fuzz::checkTensor(tensor);
  return 0;
}
