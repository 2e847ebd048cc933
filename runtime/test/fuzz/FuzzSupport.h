//===- FuzzSupport.h - What every fuzz target does --------------*- C++ -*-===//
//
// A parser must return a Status or a result that later code can use as it is: no
// crash, no endless loop, no memory beyond what the input describes, and one line
// of text in every message.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RUNTIME_TEST_FUZZ_FUZZSUPPORT_H
#define SHARDKIT_RUNTIME_TEST_FUZZ_FUZZSUPPORT_H

#include "shardkit/rt/Formats/StoredTensor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace shardkit::rt::fuzz {

[[noreturn]] inline void report(const char *what) {
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

inline void checkMessage(const Status &status) {
  if (!status.ok() && (status.message().empty() || status.message().find('\n') != std::string::npos))
    report("a message is not one line");
}

/// What a parser lets through lies in its file and can be read.
inline void checkTensor(const StoredTensor &tensor) {
  auto elements = numElements(tensor.shape);
  if (!tensor.file || !elements || tensor.offset < 0 || tensor.bytes < 0 ||
      tensor.offset > tensor.file->size() - tensor.bytes)
    report("a tensor lies outside of its file");
  if (!tensor.dtype)
    return;
  if (tensor.byteRange(0, *elements).second != tensor.bytes)
    report("the bytes of a tensor are not those of its shape");
  int64_t count = std::min<int64_t>(*elements, 64);
  char buffer[64 * 8];
  if (!tensor.readElements(*elements - count, count, buffer).ok())
    report("the last elements of a tensor cannot be read");
}

inline std::shared_ptr<File> memoryFile(const uint8_t *data, size_t size) {
  auto file = File::fromMemory(data, int64_t(size), "input");
  if (!file.ok())
    report("no memory file");
  return *file;
}

/// A directory with data files that metadata may name: 64 bytes, one tensor.
inline const std::string &directory() {
  static const std::string path = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "shardkit-fuzz-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      report("no temporary directory");
    std::ofstream(pattern + "/p.bin", std::ios::binary) << std::string(64, 'x');
    std::string header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    std::string text(1, char(header.size()));
    text += std::string(7, '\0') + header + "12345678";
    std::ofstream(pattern + "/a.safetensors", std::ios::binary) << text;
    static struct Remove {
      std::string path;
      ~Remove() { std::filesystem::remove_all(path); }
    } remove{pattern};
    return pattern;
  }();
  return path;
}

} // namespace shardkit::rt::fuzz

#endif // SHARDKIT_RUNTIME_TEST_FUZZ_FUZZSUPPORT_H
