//===- FuzzTensorCache.cpp ------------------------------------------------===//

#include "FuzzSupport.h"

#include "shardkit/rt/Formats/TensorCache.h"

using namespace shardkit::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  WeightSet set;
  Status status = parseTensorCache(std::string(reinterpret_cast<const char *>(data), size), fuzz::directory(), {}, set);
  fuzz::checkMessage(status);
  if (status.ok())
    for (const auto &[name, tensor] : set.tensors)
      fuzz::checkTensor(tensor);
  return 0;
}
