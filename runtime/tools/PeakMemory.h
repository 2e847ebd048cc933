//===- PeakMemory.h - The most memory of this process -----------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_PEAKMEMORY_H
#define SHARDKIT_TOOLS_PEAKMEMORY_H

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sys/resource.h>

namespace shardkit::tools {

/// The peak of resident bytes of this program. Not getrusage where the system has better:
/// ru_maxrss survives exec, so that it may be the peak of the program that started this one.
inline int64_t peakMemory() {
  if (std::unique_ptr<FILE, int (*)(FILE *)> status(std::fopen("/proc/self/status", "re"), std::fclose); status) {
    char line[256];
    int64_t kilobytes;
    while (std::fgets(line, sizeof line, status.get()))
      if (std::sscanf(line, "VmHWM: %" SCNd64 " kB", &kilobytes) == 1)
        return kilobytes * 1024;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

} // namespace shardkit::tools

#endif // SHARDKIT_TOOLS_PEAKMEMORY_H
