//===- Sources.cpp - Where each argument comes from -----------------------===//

#include "Sources.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"

#include <algorithm>
#include <set>

using namespace shardkit::rt;

namespace shardkit::run {

namespace {

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

std::string typeOf(const ValueInfo &value) {
  return std::string(dtypeName(value.dtype)) + " " + shapeString(value.globalShape);
}

RandomTensor makeRandom(const ValueInfo &value, const Options &options) {
  std::optional<std::pair<int64_t, int64_t>> range;
  auto given = options.ranges.find(value.name);
  if (given != options.ranges.end() && !isFloat(value.dtype))
    range = given->second;
  return RandomTensor::forValue(value, *options.randomSeed, range);
}

} // namespace

/// The shape of an --input file.
static Expected<std::optional<Shape>> findInputShape(const std::string &name, const Options &options) {
  for (const auto &[input, path] : options.inputs)
    if (input == name) {
      SK_ASSIGN_OR_RETURN(StoredTensor tensor, openNpy(path));
      return std::optional(tensor.shape);
    }
  for (const std::string &path : options.inputFiles) {
    SK_ASSIGN_OR_RETURN(auto tensors, openSafetensors(path));
    for (const auto &[input, tensor] : tensors)
      if (input == name)
        return std::optional(tensor.shape);
  }
  return std::optional<Shape>();
}

Status setSizes(const Options &options, Bundle &bundle) {
  std::set<std::string> names;
  for (size_t f = 0; f < bundle.manifest().functions.size(); ++f) {
    const FunctionInfo &function = bundle.manifest().functions[f];
    if (function.sizes.empty() || (!options.function.empty() && options.function != function.name))
      continue;
    std::vector<int64_t> sizes;
    for (const SizeInfo &size : function.sizes) {
      names.insert(size.name);
      if (auto given = options.sizes.find(size.name); given != options.sizes.end())
        sizes.push_back(given->second);
    }
    if (sizes.size() < function.sizes.size()) {
      std::vector<std::optional<Shape>> shapes;
      for (const ValueInfo &value : function.arguments) {
        SK_ASSIGN_OR_RETURN(shapes.emplace_back(), findInputShape(value.name, options));
      }
      auto found = findSizes(function, shapes);
      if (!found.ok())
        return invalid(found.status().message() + ", or --size=NAME=SIZE");
      for (size_t i = 0; i < found->size(); ++i)
        if (auto given = options.sizes.find(function.sizes[i].name);
            given != options.sizes.end() && given->second != (*found)[i])
          return invalid("--size=" + given->first + "=" + std::to_string(given->second) + ", but the inputs have " +
                         std::to_string((*found)[i]));
      sizes = *found;
    }
    SK_RETURN_IF_ERROR(bundle.setSizes(f, sizes));
  }
  for (const auto &[name, size] : options.sizes)
    if (!names.count(name))
      return notFound("--size names '" + name +
                      "', which is not a size that only the run knows; sizes: " + list(names));
  return {};
}

Expected<Sources> Sources::open(const Options &options, const Bundle &bundle,
                                const std::vector<const FunctionInfo *> &functions) {
  Sources sources;
  SK_ASSIGN_OR_RETURN(sources.constants_, SourceSet::openConstants(bundle));
  sources.options_ = &options;
  std::set<std::string> names, integers;
  for (const FunctionInfo *function : functions)
    for (const ValueInfo &value : function->arguments) {
      if (value.kind == ValueKind::Constant || value.kind == ValueKind::Size)
        continue;
      names.insert(value.name);
      if (!isFloat(value.dtype))
        integers.insert(value.name);
      if (value.load)
        for (const LoadSource &source : value.load->sources) {
          names.insert(source.name);
          if (!isFloat(source.dtype))
            integers.insert(source.name);
        }
    }
  auto unknown = [&](const std::string &option, const std::string &name) {
    return notFound(option + " names '" + name + "', which is not an argument; arguments: " + list(names));
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
    OpenOptions open;
    open.followLinks = options.followLinks;
    SK_ASSIGN_OR_RETURN(SourceSet weights, SourceSet::open(options.weights, open));
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

Expected<TensorSource> Sources::find(const ValueInfo &value, int64_t devices) const {
  if (value.kind == ValueKind::Constant)
    return constants_.find(value, devices);
  if (value.kind == ValueKind::Size) // The one number of its range.
    return TensorSource(RandomTensor::forValue(value, 0));
  auto input = inputs_.find(value.name);
  if (input != inputs_.end() && value.load)
    return invalid("weight '" + value.name + "' is made of stored tensors by a loading function, expected --weights");
  if (input != inputs_.end())
    return TensorSource(StoredSource::full(input->second));
  if (value.load)
    for (const LoadSource &source : value.load->sources)
      if (inputs_.count(source.name))
        return invalid("weight '" + value.name + "' is made of the stored tensor '" + source.name +
                       "', expected that by --weights");
  bool weight = value.kind == ValueKind::Weight;
  if (weight && weights_)
    return options_->load.mode == LoadMode::Presharded ? weights_->findPresharded(value, devices)
                                                       : weights_->find(value, devices);
  if (!options_->randomSeed)
    return notFound(
        std::string(weight ? "weight" : "input") + " '" + value.name + "' (" + typeOf(value) + ") is not given, use " +
        (weight ? std::string("--weights") : "--input " + value.name + "=FILE.npy") + " or --random-inputs=SEED");
  if (value.load)
    return random_.find(*value.load, [this](const ValueInfo &stored) { return makeRandom(stored, *options_); });
  return TensorSource(makeRandom(value, *options_));
}

static void addWeights(const FunctionInfo &function, std::vector<const ValueInfo *> &values) {
  for (const ValueInfo &value : function.arguments)
    if (value.kind == ValueKind::Weight)
      values.push_back(&value);
}

Status Sources::withAllMissing(Status first, const std::vector<const FunctionInfo *> &functions,
                               int64_t devices) const {
  if (!weights_)
    return first;
  std::vector<const ValueInfo *> values;
  for (const FunctionInfo *function : functions)
    addWeights(*function, values);
  values.erase(std::remove_if(values.begin(), values.end(),
                              [&](const ValueInfo *value) { return inputs_.count(value->name) > 0; }),
               values.end());
  return weights_->withAllMissing(std::move(first), values, devices, options_->load.mode == LoadMode::Presharded);
}

Status Sources::checkStrict(const Manifest &manifest, int process, int processes) const {
  std::vector<const ValueInfo *> values;
  for (const FunctionInfo &function : manifest.functions)
    addWeights(function, values);
  for (const PipelineInfo &pipeline : manifest.pipelines) {
    addWeights(pipeline.signature, values);
    for (const StageInfo &stage : pipeline.stages)
      addWeights(stage.held, values);
  }
  SK_RETURN_IF_ERROR(weights_->checkAllUsed(values));
  return verifyChecksums(weights_->filesWithChecksums(), size_t(process), size_t(processes));
}

Expected<std::vector<TensorSource>> Sources::resolve(const FunctionInfo &function, int64_t devices) const {
  std::vector<TensorSource> sources;
  for (const ValueInfo &value : function.arguments) {
    SK_ASSIGN_OR_RETURN(TensorSource source, find(value, devices));
    SK_RETURN_IF_ERROR(checkSource(value, source));
    sources.push_back(std::move(source));
  }
  return sources;
}

} // namespace shardkit::run
