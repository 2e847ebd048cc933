//===- CallRecord.cpp - Which collectives a rank called -------------------===//

#include "CallRecord.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <unistd.h>

namespace shardkit::rt {

static std::string lineOf(const CollectivePlan &plan, int rank, int64_t count) {
  const CollectiveInfo &info = plan.info();
  const std::vector<int> &members = plan.participants(rank);
  const int self = plan.group(rank).indexOf(rank);
  std::string line = "rank " + std::to_string(rank) + " of [", sends, receives;
  std::set<int> sources;
  for (int m = 0; m < int(members.size()); ++m) {
    line += (m ? "," : "") + std::to_string(members[size_t(m)]);
    for (const CollectivePlan::Piece &piece : plan.pieces(members[size_t(m)]))
      if (plan.elementsOf(piece) > 0)
        sources.insert(piece.sources.begin(), piece.sources.end());
    if (m == self || plan.isEmpty())
      continue;
    if (int64_t elements = count * plan.elementsFrom(self, members[size_t(m)]))
      sends += " send " + std::to_string(m) + ":" + std::to_string(elements);
    if (int64_t elements = count * plan.elementsFrom(m, rank))
      receives += " recv " + std::to_string(m) + ":" + std::to_string(elements);
  }
  line += "]: " + info.kind + " " + dtypeName(info.dtype);
  if (info.reduction != Reduction::None)
    line += std::string(" ") + reductionName(info.reduction);
  if (sources.size() == 1)
    line += " root " + std::to_string(*sources.begin());
  return line + sends + receives + "\n";
}

Status recordCall(const CollectivePlan &plan, int rank, int64_t count) {
  static const char *const path = std::getenv("SK_RECORD_CALLS");
  if (!path || !*path)
    return {};
  // One write for a line: several processes append to the file.
  static const int file = [] {
    const int opened = ::open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
    return opened >= 0 ? opened : -errno;
  }();
  const std::string line = lineOf(plan, rank, count);
  const ssize_t written = file >= 0 ? ::write(file, line.data(), line.size()) : -1;
  if (written == ssize_t(line.size()))
    return {};
  const int error = file < 0 ? -file : written < 0 ? errno : ENOSPC;
  return ioError("SK_RECORD_CALLS=" + std::string(path) + ": " + std::strerror(error));
}

} // namespace shardkit::rt
