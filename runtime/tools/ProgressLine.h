//===- ProgressLine.h - Bytes read so far, on a terminal --------*- C++ -*-===//

#ifndef SHARDKIT_RT_TOOLS_PROGRESSLINE_H
#define SHARDKIT_RT_TOOLS_PROGRESSLINE_H

#include "SizeText.h"

#include <functional>
#include <unistd.h>

namespace shardkit::tools {

inline void clearProgress() {
  if (::isatty(2))
    std::fputs("\r\033[K", stderr);
}

/// Writes over one line and clears it at the end; null where stderr is no terminal.
inline std::function<void(int64_t, int64_t)> progressLine() {
  if (!::isatty(2))
    return nullptr;
  return [](int64_t done, int64_t all) {
    clearProgress();
    if (done < all)
      std::fprintf(stderr, "read %s of %s", sizeText(done).c_str(), sizeText(all).c_str());
  };
}

} // namespace shardkit::tools

#endif // SHARDKIT_RT_TOOLS_PROGRESSLINE_H
