//===- FuzzIndex.cpp ------------------------------------------------------===//

#include "FuzzSupport.h"

#include "shardkit/rt/Formats/WeightSet.h"

using namespace shardkit::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string path = fuzz::directory() + "/model.safetensors.index.json";
  std::ofstream(path, std::ios::binary) << std::string(reinterpret_cast<const char *>(data), size);
  auto set = openWeights(path);
  fuzz::checkMessage(set.status());
  if (set.ok())
    for (const auto &[name, tensor] : set->tensors)
      fuzz::checkTensor(tensor);
  return 0;
}
