//===- RankMemory.cpp - The memory of a program of one rank ---------------===//

#include "shardkit/rt/Execution/RankMemory.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <tuple>

namespace shardkit::rt {

namespace {

/// Lays out values one after the other.
struct Layout {
  int64_t align, bytes = 0;
  int64_t add(int64_t size) {
    int64_t start = bytes;
    bytes += (size + align - 1) / align * align + (size == 0 ? align : 0);
    return start;
  }
};

int64_t bytesOf(const ValueInfo &value, bool global) { return global ? value.globalBytes() : value.localBytes(); }

int64_t arenaBytes(const FunctionInfo &function, bool global) {
  return global && function.reference ? function.reference->arenaBytes : function.entry.arenaBytes;
}

std::vector<void *> addressesOf(const std::vector<int64_t> &offsets, void *base) {
  std::vector<void *> addresses;
  for (int64_t offset : offsets)
    addresses.push_back(static_cast<char *>(base) + offset);
  return addresses;
}

using Sizes = std::vector<std::pair<std::string, int64_t>>;

Sizes sizesOf(const FunctionInfo &function, bool global) {
  Sizes values;
  for (const ValueInfo &value : function.arguments)
    values.emplace_back("argument '" + value.name + "'", bytesOf(value, global));
  for (const ValueInfo &value : function.results)
    values.emplace_back("result '" + value.name + "'", bytesOf(value, global));
  values.emplace_back("the intermediate values (arena)", arenaBytes(function, global));
  return values;
}

std::string largest(Sizes values) {
  std::string text = "; largest";
  std::sort(values.begin(), values.end(),
            [](const auto &a, const auto &b) { return std::tie(b.second, a.first) < std::tie(a.second, b.first); });
  for (size_t i = 0; i < values.size() && i < 8; ++i)
    text += (i ? ", " : " ") + values[i].first + " " + std::to_string(values[i].second);
  return text;
}

/// Where all values of a function lie.
struct FunctionLayout {
  FunctionLayout(const FunctionInfo &function, bool global, bool donate, int64_t align)
      : arguments{align}, others{align} {
    if (global)
      for (const FunctionInfo::ReferenceArgument &given : function.referenceArguments)
        argumentOffsets.push_back(arguments.add(function.referenceBytes(given)));
    else
      for (const ValueInfo &value : function.arguments)
        argumentOffsets.push_back(arguments.add(value.localBytes()));
    for (const ValueInfo &value : function.results)
      if (!donate || !value.tied)
        resultOffsets.push_back(others.add(bytesOf(value, global)));
    arena = others.add(arenaBytes(function, global));
  }
  int64_t bytes() const { return arguments.bytes + others.bytes; }

  Layout arguments, others;
  std::vector<int64_t> argumentOffsets, resultOffsets;
  int64_t arena;
};

} // namespace

ValueOffsets argumentOffsets(const FunctionInfo &held) {
  FunctionLayout layout(held, /*global=*/false, /*donate=*/false, hostAlignment);
  return {std::move(layout.argumentOffsets), layout.arguments.bytes};
}

int64_t rankBytes(const FunctionInfo &held, bool donate, int64_t alignment) {
  return FunctionLayout(held, /*global=*/false, donate, alignment).bytes();
}

std::string noHostMemory(const FunctionInfo &function, bool global) {
  return "out of memory: function '" + function.name + "' needs " +
         std::to_string(FunctionLayout(function, global, /*donate=*/false, hostAlignment).bytes()) +
         " bytes of the host" + largest(sizesOf(function, global));
}

Status noDeviceMemory(const FunctionInfo &held, int64_t rank, int64_t free) {
  const Sizes values = sizesOf(held, false);
  int64_t all = 0, left = free;
  std::string first = values.back().first;
  for (const auto &[name, bytes] : values) {
    all += bytes;
    left -= bytes;
    if (left < 0 && left + bytes >= 0)
      first = name;
  }
  return internalError("out of device memory: rank " + std::to_string(rank) + " of function '" + held.name +
                       "' has no room for " + first + ": it needs " + std::to_string(all) + " bytes, " +
                       std::to_string(free) + " are free" + largest(values));
}

void RankMemory::bind(const FunctionInfo &function, bool global) {
  const FunctionLayout layout(function, global, /*donate=*/false, hostAlignment);
  try {
    argumentMemory_.reserve(layout.arguments.bytes);
    memory_.reserve(layout.others.bytes);
  } catch (const std::bad_alloc &) {
    throw std::runtime_error(noHostMemory(function, global));
  }
  buffers_.arguments = addressesOf(layout.argumentOffsets, argumentMemory_.data());
  buffers_.results = addressesOf(layout.resultOffsets, memory_.data());
  buffers_.arena = static_cast<char *>(memory_.data()) + layout.arena;
}

} // namespace shardkit::rt
