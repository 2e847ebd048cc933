//===- CudnnApi.cpp - The functions of libcudnn that are used -------------===//

#include "CudnnApi.h"

#include "Library.h"

namespace shardkit::rt::cuda {

Expected<CudnnApi> CudnnApi::open() {
  CudnnApi api;
  std::vector<LibraryFunction> functions = {
      {"cudnnGetVersion", reinterpret_cast<void **>(&api.cudnnGetVersion)},
      {"cudnnGetCudartVersion", reinterpret_cast<void **>(&api.cudnnGetCudartVersion)},
      {"cudnnGetErrorString", reinterpret_cast<void **>(&api.cudnnGetErrorString)},
      {"cudnnGetLastErrorString", reinterpret_cast<void **>(&api.cudnnGetLastErrorString)}};
#define SK_ENTRY(name, parameters) functions.push_back({#name, reinterpret_cast<void **>(&api.name)});
  SK_CUDNN_FUNCTIONS(SK_ENTRY)
#undef SK_ENTRY
  SK_RETURN_IF_ERROR(openLibrary("cuDNN", {"libcudnn.so.9"}, functions));
  const size_t version = api.cudnnGetVersion();
  if (version < oldest)
    return notFound("cuDNN has version " + std::to_string(version) + ", expected " + std::to_string(oldest) +
                    " (9.10.2) or later");
  // It ends the process where it looks for this one in vain.
  SK_RETURN_IF_ERROR(
      openLibrary("cuBLASLt for cuDNN", {"libcublasLt.so." + std::to_string(api.cudnnGetCudartVersion() / 1000)}, {}));
  return api;
}

Status CudnnApi::check(cudnnStatus_t result, const std::string &what) const {
  if (result == CUDNN_STATUS_SUCCESS)
    return {};
  char reason[512] = {};
  cudnnGetLastErrorString(reason, sizeof reason);
  std::string text = what + ": cuDNN reports " + cudnnGetErrorString(result);
  for (char &c : reason)
    c = c == '\n' ? ' ' : c;
  return internalError(*reason ? text + " (" + reason + ")" : text);
}

} // namespace shardkit::rt::cuda
