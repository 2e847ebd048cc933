//===- Grid.cpp - Which devices hold which shard --------------------------===//

#include "Grid.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

static constexpr int64_t kMaxDevices = 4096;
static constexpr size_t kMaxRows = 16, kMaxColumns = 8, kMaxRuns = 3, kMaxNames = 6;

/// The elements of a dim on a device: `2:4,6:8`, or `-` if it has only padding.
static std::string nameOf(ArrayRef<std::pair<int64_t, int64_t>> intervals) {
  if (intervals.empty())
    return "-";
  std::string text;
  for (auto [begin, end] : intervals.take_front(kMaxRuns))
    text += (text.empty() ? "" : ",") + std::to_string(begin) + ":" + std::to_string(end);
  return text + (intervals.size() > kMaxRuns ? ",..." : "");
}

/// `0-3,8`, of ascending numbers.
static std::string nameOf(ArrayRef<int64_t> devices) {
  std::string text;
  size_t names = 0;
  for (size_t i = 0; i < devices.size();) {
    if (++names > kMaxNames)
      return text + ",... (" + std::to_string(devices.size()) + ")";
    size_t last = i;
    while (last + 1 < devices.size() && devices[last + 1] == devices[last] + 1)
      ++last;
    text += (text.empty() ? "" : ",") + std::to_string(devices[i]);
    if (last > i)
      text += (last == i + 1 ? "," : "-") + std::to_string(devices[last]);
    i = last + 1;
  }
  return text;
}

namespace {
/// Shards by their start, with a name per dim; empty shards are last.
class ShardNames {
public:
  using Key = SmallVector<int64_t>;
  void add(const Key &key, std::vector<std::string> names) { shards.try_emplace(key, std::move(names)); }
  /// Numbers the shards in order, and lists the names of the first ones.
  void number(size_t most) {
    for (auto &[key, names] : shards) {
      numbers[key] = numbers.size();
      if (list.size() < most)
        list.push_back(names);
      else if (list.size() == most)
        list.emplace_back(names.size(), "...");
    }
  }
  size_t find(const Key &key) const { return numbers.find(key)->second; }
  std::vector<std::vector<std::string>> list;

private:
  std::map<Key, std::vector<std::string>> shards;
  std::map<Key, size_t> numbers;
};
} // namespace

static std::vector<std::string> toLines(const std::vector<std::vector<std::string>> &table) {
  std::vector<size_t> widths;
  for (const auto &row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (auto [width, text] : llvm::zip(widths, row))
      width = std::max(width, text.size());
  }
  std::vector<std::string> lines;
  for (const auto &row : table) {
    std::string line;
    for (auto [i, text] : llvm::enumerate(row))
      line += (i ? "  " : "") + text + std::string(widths[i] - text.size(), ' ');
    lines.push_back(llvm::StringRef(line).rtrim().str());
  }
  return lines;
}

std::vector<std::string> mlir::spmd::drawGrid(const Sharding &sharding, const Mesh &mesh, ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return {"no grid: sizes are not known"};
  if (llvm::is_contained(shape, 0))
    return {"no grid: the value has no elements"};
  int64_t devices = mesh.numDevices();
  if (devices > kMaxDevices)
    return {"no grid: " + std::to_string(devices) + " devices, at most " + std::to_string(kMaxDevices) + " are drawn"};
  Layout layout = Layout::get(sharding, mesh, shape);
  SmallVector<unsigned> sharded; // the sharded dims
  for (unsigned d = 0; d < shape.size(); ++d)
    if (layout.localShape()[d] != shape[d])
      sharded.push_back(d);

  ShardNames rows, columns;
  std::vector<std::pair<ShardNames::Key, ShardNames::Key>> keys; // by rank: of its row, of its column
  for (int64_t rank = 0; rank < devices; ++rank) {
    ShardNames::Key row, column;
    std::vector<std::string> names;
    for (unsigned d : sharded) {
      auto intervals = layout.getOwnedIntervals(d, rank, kMaxRuns + 1);
      (d == sharded.back() ? column : row).push_back(intervals.empty() ? shape[d] : intervals.front().first);
      names.push_back("dim " + std::to_string(d) + " " + nameOf(intervals));
    }
    columns.add(column, {sharded.empty() ? "all of it" : names.back()});
    if (!sharded.empty())
      names.pop_back();
    rows.add(row, std::move(names));
    keys.emplace_back(std::move(row), std::move(column));
  }
  rows.number(kMaxRows);
  columns.number(kMaxColumns);

  std::map<std::pair<size_t, size_t>, SmallVector<int64_t>> holders;
  for (auto [rank, key] : llvm::enumerate(keys))
    holders[{rows.find(key.first), columns.find(key.second)}].push_back(mesh.device(rank));
  std::vector<std::vector<std::string>> table{std::vector<std::string>(rows.list.front().size())};
  for (const auto &names : columns.list)
    table.front().push_back(names.front());
  for (auto [r, names] : llvm::enumerate(rows.list)) {
    table.push_back(names);
    for (size_t c = 0; c < columns.list.size(); ++c) {
      auto &holding = holders[{r, c}];
      llvm::sort(holding);
      table.back().push_back(r == kMaxRows || c == kMaxColumns ? "..." : nameOf(holding));
    }
  }
  std::vector<std::string> lines = toLines(table);
  if (!layout.partial.empty())
    lines.push_back("each holds a partial " + stringifyReductionKind(layout.partialKind).str());
  return lines;
}
