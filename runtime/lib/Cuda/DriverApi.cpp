//===- DriverApi.cpp - The functions of libcuda.so.1 that are used --------===//

#include "DriverApi.h"

#include "Library.h"

namespace shardkit::rt::cuda {

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Expected<DriverApi> DriverApi::open() {
  DriverApi api;
  std::vector<LibraryFunction> functions;
#define SK_ENTRY(name, exported, parameters) functions.push_back({#exported, reinterpret_cast<void **>(&api.name)});
  SK_CUDA_DRIVER_FUNCTIONS(SK_ENTRY)
#undef SK_ENTRY
  SK_RETURN_IF_ERROR(openLibrary("the CUDA driver", {"libcuda.so.1"}, functions));
  CUresult result = api.cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE)
    return notFound("the CUDA driver finds no GPU on this machine");
  SK_RETURN_IF_ERROR(api.check(result, "starting the CUDA driver"));
  SK_RETURN_IF_ERROR(api.check(api.cuDriverGetVersion(&api.version), "querying its version"));
  if (api.version < oldest)
    return notFound("the CUDA driver is of CUDA " + versionText(api.version) + ", expected " + versionText(oldest) +
                    " or later");
  return api;
}

Status DriverApi::check(CUresult result, const std::string &what) const {
  if (result == CUDA_SUCCESS)
    return {};
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    size_t free = 0, total = 0;
    cuMemGetInfo(&free, &total);
    return internalError(what + ": out of device memory: " + std::to_string(free) + " bytes are free");
  }
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    name = "an unknown error";
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    text = "no description";
  return internalError(what + ": the CUDA driver reports " + name + " (" + text + ")");
}

} // namespace shardkit::rt::cuda
