//===- Library.cpp - A library of NVIDIA's, opened at run time --------------===//

#include "Library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace shardkit::rt::cuda {

Status openLibrary(const std::string &what, const std::vector<std::string> &names,
                   const std::vector<LibraryFunction> &functions) {
  const char *given = std::getenv("SK_CUDA_LIBRARY_PATH");
  const std::string directory = given ? given : "";
  std::string list;
  void *library = nullptr;
  for (const std::string &name : names) {
    list += (list.empty() ? "" : " or ") + name;
    const std::string path = directory + "/" + name;
    std::error_code error;
    if (!library && !directory.empty() && std::filesystem::exists(path, error)) {
      library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library) {
        const char *reason = ::dlerror();
        return notFound(what + " cannot be loaded: " + (reason ? reason : path.c_str()));
      }
    }
  }
  for (size_t i = 0; i < names.size() && !library; ++i)
    library = ::dlopen(names[i].c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return notFound("this machine lacks " + what + " (" + list +
                    "), which SK_CUDA_LIBRARY_PATH or LD_LIBRARY_PATH may point to");
  for (const LibraryFunction &function : functions) {
    *function.address = ::dlsym(library, function.name);
    if (!*function.address)
      return notFound(what + " has no function " + function.name + ": it is too old");
  }
  return {};
}

} // namespace shardkit::rt::cuda
