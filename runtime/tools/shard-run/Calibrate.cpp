//===- Calibrate.cpp - shard-run --calibrate ------------------------------===//

#include "Calibrate.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace shardkit::rt;

namespace shardkit::run {

static constexpr std::string_view kFlag = "--calibrate";

static bool isFlag(std::string_view word) {
  return word == kFlag || (word.substr(0, kFlag.size()) == kFlag && word[kFlag.size()] == '=');
}

bool asksForCalibration(int argc, char **argv) { return std::any_of(argv + 1, argv + argc, isFlag); }

Status calibrate(int argc, char **argv) {
  std::vector<std::string> words = {"shardkit-calibrate"};
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (!isFlag(word))
      words.emplace_back(word);
    else if (word.size() > kFlag.size())
      words.push_back("--mesh" + std::string(word.substr(kFlag.size())));
  }
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  // Unless told otherwise, it measures what the compiler of this folder makes.
  if (!error && std::filesystem::exists(folder / "shard-compile", error))
    ::setenv("SHARDKIT_HOME", folder.c_str(), /*overwrite=*/0);
  ::execv((folder / words[0]).c_str(), arguments.data());
  if (errno == ENOENT)
    ::execvp(words[0].c_str(), arguments.data());
  if (errno == ENOENT)
    return notFound("--calibrate: there is no " + words[0] + " in " + folder.string() +
                    " or on PATH, expected ShardKit's Python package: pip install ./python");
  return ioError("--calibrate: " + words[0] + " cannot be run: " + std::strerror(errno));
}

} // namespace shardkit::run
