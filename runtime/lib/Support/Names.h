//===- Names.h - Names like one that is not known ---------------*- C++ -*-===//

#ifndef SHARDKIT_RT_SUPPORT_NAMES_H
#define SHARDKIT_RT_SUPPORT_NAMES_H

#include <cstddef>
#include <string>
#include <vector>

namespace shardkit::rt {

/// Levenshtein distance.
size_t editDistance(const std::string &a, const std::string &b);

/// "'a', 'b' or 'c'": the names that are nearest to `name`, at most so many.
std::string nearestNames(const std::string &name, const std::vector<std::string> &names, size_t most = 3);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SUPPORT_NAMES_H
