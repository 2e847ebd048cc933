//===- Malformed.h - Sets that every reader refuses -------------*- C++ -*-===//

#ifndef SHARDKIT_RUNTIME_TEST_MALFORMED_H
#define SHARDKIT_RUNTIME_TEST_MALFORMED_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace shardkit::rt {

/// With SK_MALFORMED=DIR in the environment, what lies at `path`, with its directory,
/// is copied to DIR/NUMBER, and DIR/NUMBER.txt has the name of the file and what an
/// error has to say of it: test/Runtime/malformed.test gives them to programs.
inline void keepMalformed(const std::string &path, const std::string &message) {
  namespace fs = std::filesystem;
  const char *directory = std::getenv("SK_MALFORMED");
  if (!directory)
    return;
  static int number = 0;
  fs::path to = fs::path(directory) / std::to_string(number++);
  fs::create_directories(to);
  fs::copy(fs::path(path).parent_path(), to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  // Links out of the directory go on doing that when the test has cleaned up.
  for (const fs::directory_entry &entry : fs::directory_iterator(fs::path(to))) {
    if (!entry.is_symlink() || !entry.exists())
      continue;
    const fs::path target = fs::read_symlink(entry), outside = to.string() + ".outside";
    fs::create_directories(outside);
    fs::copy(target, outside / target.filename(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    fs::remove(entry);
    fs::create_symlink(outside / target.filename(), entry);
  }
  std::ofstream(to.string() + ".txt") << fs::path(path).filename().string() << "\n" << message << "\n";
}

} // namespace shardkit::rt

#endif // SHARDKIT_RUNTIME_TEST_MALFORMED_H
