//===- Sources.cpp - Where each argument comes from -------------------------===//

#include "Sources.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"

#include <algorithm>
#include <set>

using namespace shardkit::rt;

namespace shardkit::run {

namespace {

/// Levenshtein distance, for "did you mean".
size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1,
                         diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string list(const std::set<std::string> &names) {
  std::string text;
  size_t count = 0;
  for (const std::string &name : names) {
    if (++count > 20)
      return text + ", ...";
    text += (text.empty() ? "'" : ", '") + name + "'";
  }
  return text.empty() ? "none" : text;
}

/// What the set offers instead of `name`.
std::string choices(const std::string &name, const WeightSet &set) {
  std::string best;
  size_t least = name.size() / 3 + 2;
  for (const auto &[candidate, tensor] : set.tensors)
    if (size_t d = distance(name, candidate); d < least && d < name.size()) {
      least = d;
      best = candidate;
    }
  if (!best.empty())
    return ", did you mean '" + best + "'";
  std::set<std::string> names;
  for (const auto &entry : set.tensors)
    names.insert(entry.first);
  return names.empty() ? "" : ": " + list(names);
}

std::string typeOf(const ValueInfo &value) {
  return std::string(dtypeName(value.dtype)) + " " +
         shapeString(value.globalShape);
}

} // namespace

Expected<Sources>
Sources::open(const Options &options,
              const std::vector<const FunctionInfo *> &functions) {
  Sources sources;
  sources.options_ = &options;
  std::set<std::string> names, integers;
  for (const FunctionInfo *function : functions)
    for (const ValueInfo &value : function->arguments) {
      names.insert(value.name);
      if (!isFloat(value.dtype))
        integers.insert(value.name);
    }
  auto unknown = [&](const std::string &option, const std::string &name) {
    return notFound(option + " names '" + name +
                    "', which is no argument; arguments: " + list(names));
  };
  for (const auto &[name, path] : options.inputs) {
    if (!names.count(name))
      return unknown("--input", name);
    auto tensor = openNpy(path);
    if (!tensor.ok())
      return tensor.status().withContext("input '" + name + "'");
    sources.inputs_.emplace(name, std::move(*tensor));
  }
  for (const std::string &path : options.inputFiles) {
    SK_ASSIGN_OR_RETURN(auto tensors, openSafetensors(path));
    for (auto &[name, tensor] : tensors) {
      if (!names.count(name))
        return unknown(path, name);
      if (!sources.inputs_.emplace(name, tensor).second)
        return invalid("input '" + name + "' is given twice");
    }
  }
  if (!options.weights.empty()) {
    SK_ASSIGN_OR_RETURN(WeightSet weights, openWeights(options.weights));
    sources.weights_ = std::move(weights);
  }
  for (const auto &[name, range] : options.ranges) {
    if (!names.count(name))
      return unknown("--range", name);
    if (!integers.count(name))
      return invalid("--range names '" + name + "', which is not of integers");
  }
  return sources;
}

Expected<TensorSource> Sources::find(const ValueInfo &value) const {
  auto input = inputs_.find(value.name);
  if (input != inputs_.end())
    return TensorSource(input->second);
  bool weight = value.kind == ValueKind::Weight;
  if (weight && weights_) {
    auto tensor = weights_->tensors.find(value.name);
    if (tensor != weights_->tensors.end())
      return TensorSource(tensor->second);
    return notFound("missing weight '" + value.name + "' (" + typeOf(value) +
                    "), " + weights_->path + " holds " +
                    std::to_string(weights_->tensors.size()) + " tensors" +
                    choices(value.name, *weights_));
  }
  if (!options_->randomSeed)
    return notFound(std::string(weight ? "weight" : "input") + " '" +
                    value.name + "' (" + typeOf(value) + ") is not given, use " +
                    (weight ? std::string("--weights")
                            : "--input " + value.name + "=FILE.npy") +
                    " or --random-inputs=SEED");
  std::optional<std::pair<int64_t, int64_t>> range;
  auto given = options_->ranges.find(value.name);
  if (given != options_->ranges.end() && !isFloat(value.dtype))
    range = given->second;
  return TensorSource(
      RandomTensor::forValue(value, *options_->randomSeed, range));
}

Expected<std::vector<TensorSource>>
Sources::resolve(const FunctionInfo &function) const {
  std::vector<TensorSource> sources;
  for (const ValueInfo &value : function.arguments) {
    SK_ASSIGN_OR_RETURN(TensorSource source, find(value));
    SK_RETURN_IF_ERROR(checkSource(value, source));
    sources.push_back(std::move(source));
  }
  return sources;
}

} // namespace shardkit::run
