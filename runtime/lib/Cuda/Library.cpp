//===- Library.cpp - A library of NVIDIA's, opened at run time ------------===//

#include "Library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <sstream>

namespace shardkit::rt::cuda {

namespace {

/// Those that SK_CUDA_LIBRARY_PATH names.
std::vector<std::string> givenFolders() {
  const char *given = std::getenv("SK_CUDA_LIBRARY_PATH");
  std::vector<std::string> folders;
  std::istringstream list(given ? given : "");
  for (std::string folder; std::getline(list, folder, ':');)
    if (!folder.empty())
      folders.push_back(folder);
  return folders;
}

/// The first of `names` in the first of `folders` that has one; empty where none has.
std::string findLibrary(const std::vector<std::string> &folders, const std::vector<std::string> &names) {
  std::error_code error;
  for (const std::string &folder : folders)
    for (const std::string &name : names)
      if (std::string path = folder + "/" + name; std::filesystem::exists(path, error))
        return path;
  return "";
}

} // namespace

Status openLibrary(const std::string &what, const std::vector<std::string> &names,
                   const std::vector<LibraryFunction> &functions) {
  void *library = nullptr;
  if (const std::string path = findLibrary(givenFolders(), names); !path.empty()) {
    library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *reason = ::dlerror();
      return notFound(what + " cannot be loaded: " + (reason ? reason : path.c_str()));
    }
  }
  std::string list;
  for (const std::string &name : names) {
    list += (list.empty() ? "" : " or ") + name;
    if (!library)
      library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
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
