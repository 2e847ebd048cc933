//===- Names.cpp - Names like one that is not known -----------------------===//

#include "Support/Names.h"

#include <algorithm>

namespace shardkit::rt {

size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearestNames(const std::string &name, const std::vector<std::string> &names, size_t most) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string &known : names)
    ranked.emplace_back(editDistance(name, known), known);
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::string text;
  const size_t count = std::min(most, ranked.size());
  for (size_t i = 0; i < count; ++i)
    text += (i == 0 ? "'" : i + 1 == count ? " or '" : ", '") + ranked[i].second + "'";
  return text;
}

} // namespace shardkit::rt
