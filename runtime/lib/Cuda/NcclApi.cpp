//===- NcclApi.cpp - The functions of libnccl.so.2 that are used ----------===//

#include "NcclApi.h"

#include "Library.h"

#include <algorithm>

namespace shardkit::rt::cuda {

static std::string ncclVersionText(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

Expected<NcclApi> NcclApi::open() {
  NcclApi api;
  std::vector<LibraryFunction> functions = {{"ncclGetErrorString", reinterpret_cast<void **>(&api.ncclGetErrorString)},
                                            {"ncclGetLastError", reinterpret_cast<void **>(&api.ncclGetLastError)}};
#define SK_ENTRY(name, parameters) functions.push_back({#name, reinterpret_cast<void **>(&api.name)});
  SK_NCCL_FUNCTIONS(SK_ENTRY)
#undef SK_ENTRY
  SK_RETURN_IF_ERROR(openLibrary("NCCL", {"libnccl.so.2"}, functions));
  int version = 0;
  SK_RETURN_IF_ERROR(api.check(api.ncclGetVersion(&version), "querying its version"));
  if (version < oldest)
    return notFound("NCCL has version " + ncclVersionText(version) + ", expected " + ncclVersionText(oldest) +
                    " or later");
  return api;
}

Status NcclApi::check(ncclResult_t result, const std::string &what, ncclComm_t comm) const {
  if (result == ncclSuccess || result == ncclInProgress)
    return {};
  const char *last = ncclGetLastError(comm);
  std::string more = last ? last : "";
  std::replace(more.begin(), more.end(), '\n', ' ');
  return internalError(what + ": NCCL reports " + ncclGetErrorString(result) + (more.empty() ? "" : " (" + more + ")"));
}

} // namespace shardkit::rt::cuda
