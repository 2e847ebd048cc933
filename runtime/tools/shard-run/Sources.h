//===- Sources.h - Where each argument comes from ---------------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_SOURCES_H
#define SHARDKIT_TOOLS_SHARDRUN_SOURCES_H

#include "Options.h"

#include "shardkit/rt/Loading/LoadPlan.h"

namespace shardkit::run {

/// Gives the functions that run their sizes: those of `options`, else those that the inputs have.
rt::Status setSizes(const Options &options, rt::Bundle &bundle);

/// The files of the command line, opened and checked once.
class Sources {
public:
  /// `functions` are those that will run, or what their stages hold: a name that none of
  /// them has is an error.
  static rt::Expected<Sources> open(const Options &options, const rt::Bundle &bundle,
                                    const std::vector<const rt::FunctionInfo *> &functions);

  /// The source of every argument, checked against its type, shape and file.
  rt::Expected<std::vector<rt::TensorSource>> resolve(const rt::FunctionInfo &function, int64_t devices) const;

  /// The error of resolve(), with all weights of `functions` that are missing if there are several.
  rt::Status withAllMissing(rt::Status first, const std::vector<const rt::FunctionInfo *> &functions,
                            int64_t devices) const;
  /// --strict: every tensor of the weights is named by an argument of the bundle, and the
  /// checksums of every `processes`-th file from `process` on are right.
  rt::Status checkStrict(const rt::Manifest &manifest, int process, int processes) const;

private:
  rt::Expected<rt::TensorSource> find(const rt::ValueInfo &value, int64_t devices) const;
  const Options *options_ = nullptr;
  std::map<std::string, rt::StoredTensor> inputs_;
  std::optional<rt::SourceSet> weights_;
  rt::SourceSet constants_;
  mutable rt::RandomStored random_;
};

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_SOURCES_H
