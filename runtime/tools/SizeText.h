//===- SizeText.h - Bytes for people ----------------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_TOOLS_SIZETEXT_H
#define SHARDKIT_RT_TOOLS_SIZETEXT_H

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>

namespace shardkit::tools {

/// "9999 B", "10.0 kB", "1.5 GB".
inline std::string sizeText(int64_t bytes) {
  char text[32];
  if (bytes < 10'000)
    std::snprintf(text, sizeof text, "%" PRId64 " B", bytes);
  else if (bytes < 10'000'000)
    std::snprintf(text, sizeof text, "%.1f kB", double(bytes) / 1e3);
  else if (bytes < 10'000'000'000)
    std::snprintf(text, sizeof text, "%.1f MB", double(bytes) / 1e6);
  else
    std::snprintf(text, sizeof text, "%.1f GB", double(bytes) / 1e9);
  return text;
}

} // namespace shardkit::tools

#endif // SHARDKIT_RT_TOOLS_SIZETEXT_H
