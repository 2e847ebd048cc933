//===- Compile.cpp - IR to a temporary bundle -----------------------------===//

#include "Compile.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

using namespace shardkit::rt;

namespace shardkit::run {

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  if (!path_.empty())
    std::filesystem::remove_all(path_, error);
}

Status TemporaryDirectory::create() {
  const char *base = ::getenv("TMPDIR");
  std::string pattern = std::string(base && *base ? base : "/tmp") + "/shard-run-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    return ioError("no temporary directory: " + std::string(std::strerror(errno)));
  path_ = pattern;
  return {};
}

Status compile(const Options &options, const std::string &bundle, bool &failed) {
  failed = false;
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string compiler = (self.parent_path() / "shard-compile").string();
  if (error || !std::filesystem::exists(compiler, error))
    return notFound("'" + options.program + "' is a file, to be compiled, but there is no " + compiler);
  std::vector<std::string> words = {compiler, options.program, "-o", bundle};
  if (options.verify)
    words.push_back("--with-reference");
  if (options.values)
    words.push_back("--with-values");
  words.insert(words.end(), options.compileOptions.begin(), options.compileOptions.end());
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child;
  // The MPI backend blocks SIGTERM for a thread that waits for it; not so there.
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int code = ::posix_spawn(&child, compiler.c_str(), nullptr, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (code)
    return ioError(compiler + ": cannot be run: " + std::strerror(code));
  int state = 0;
  while (::waitpid(child, &state, 0) < 0)
    if (errno != EINTR)
      return ioError(compiler + ": " + std::strerror(errno));
  if (WIFSIGNALED(state))
    return internalError("shard-compile was ended by signal " + std::to_string(WTERMSIG(state)));
  failed = WEXITSTATUS(state) != 0;
  return {};
}

} // namespace shardkit::run
