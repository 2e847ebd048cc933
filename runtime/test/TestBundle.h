//===- TestBundle.h - The bundle of bundle/program.c ------------*- C++ -*-===//

#ifndef SHARDKIT_RUNTIME_TEST_TESTBUNDLE_H
#define SHARDKIT_RUNTIME_TEST_TESTBUNDLE_H

#include "Support.h"

#include <nlohmann/json.hpp>

#include <functional>

namespace shardkit::rt::test {

/// Writes a bundle with functions of bundle/program.c (of bundle/cuda.c with `isCuda`), each as bundle/manifest.json.in
/// describes main and as `change` alters that; returns `path`.
inline std::string writeTestBundle(const std::string &path, const std::vector<std::string> &functions,
                                   const std::function<void(nlohmann::json &function)> &change = {},
                                   bool isCuda = false) {
  std::filesystem::create_directories(path + "/programs");
  std::filesystem::copy(isCuda ? TEST_CUDA_PROGRAM : TEST_PROGRAM, path + "/programs/program.so");
  nlohmann::json manifest;
  for (const std::string &function : functions) {
    std::string text = readText(std::string(TEST_BUNDLE) + "/manifest.json.in");
    for (size_t at; (at = text.find("@NAME@")) != std::string::npos;)
      text.replace(at, 6, function);
    nlohmann::json one = nlohmann::json::parse(text);
    if (change)
      change(one["functions"][0]);
    if (manifest.is_null())
      manifest = one;
    else
      manifest["functions"].push_back(one["functions"][0]);
  }
  if (isCuda) {
    manifest["target"] = "cuda";
    manifest["chip"] = "sm_80";
  }
  writeText(path + "/manifest.json", manifest.dump());
  return path;
}

} // namespace shardkit::rt::test

#endif // SHARDKIT_RUNTIME_TEST_TESTBUNDLE_H
