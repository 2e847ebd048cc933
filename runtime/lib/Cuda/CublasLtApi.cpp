//===- CublasLtApi.cpp - The functions of libcublasLt that are used -------===//

#include "CublasLtApi.h"

#include "Library.h"

namespace shardkit::rt::cuda {

Expected<CublasLtApi> CublasLtApi::open(int driverVersion) {
  CublasLtApi api;
  std::vector<LibraryFunction> functions = {
      {"cublasLtGetVersion", reinterpret_cast<void **>(&api.cublasLtGetVersion)},
      {"cublasLtGetStatusString", reinterpret_cast<void **>(&api.cublasLtGetStatusString)}};
#define SK_ENTRY(name, parameters) functions.push_back({#name, reinterpret_cast<void **>(&api.name)});
  SK_CUBLASLT_FUNCTIONS(SK_ENTRY)
#undef SK_ENTRY
  std::vector<std::string> names = {"libcublasLt.so.12"};
  if (driverVersion >= 13000)
    names.insert(names.begin(), "libcublasLt.so.13");
  SK_RETURN_IF_ERROR(openLibrary("cuBLASLt", names, functions));
  const size_t version = api.cublasLtGetVersion();
  if (version < oldest)
    return notFound("cuBLASLt has version " + std::to_string(version) + ", expected " + std::to_string(oldest) +
                    " (12.0) or later");
  return api;
}

Status CublasLtApi::check(cublasStatus_t result, const std::string &what) const {
  if (result == CUBLAS_STATUS_SUCCESS)
    return {};
  return internalError(what + ": cuBLASLt reports " + cublasLtGetStatusString(result));
}

} // namespace shardkit::rt::cuda
