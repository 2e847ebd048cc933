//===- TensorCache.h - TVM's tensor-cache.json ------------------*- C++ -*-===//
//
// {"metadata": {}, "records": [{"dataPath": "params_shard_0.bin",
//   "format": "raw-shard", "nbytes": N, "md5sum": "...", "records": [
//   {"name", "shape", "dtype", "format": "raw" | "f32-to-bf16", "nbytes",
//    "byteOffset"}]}]}
// Formerly named ndarray-cache.json; tensor-cache-b16.json lists the same data files with
// the types that are stored in them. f32-to-bf16 counts for float32 alone: TVM's
// writer stamps it on every record.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_FORMATS_TENSORCACHE_H
#define SHARDKIT_RT_FORMATS_TENSORCACHE_H

#include "shardkit/rt/Formats/WeightSet.h"

namespace shardkit::rt {

/// TVM's names of types: "float16", "int8", ...
std::optional<DType> parseTvmDType(const std::string &name);
const char *tvmDTypeName(DType dtype);

/// tensor-cache.json, tensor-cache-b16.json, and their former names.
bool isTensorCacheName(const std::string &fileName);

Status readTensorCache(const std::string &path, const OpenOptions &options, WeightSet &set);
/// The same of a text; the data files lie in `directory`. Errors name no file.
Status parseTensorCache(const std::string &text, const std::string &directory, const OpenOptions &options,
                        WeightSet &set);

/// Storage of f32 in a tensor cache. Both roundings are to the nearest, ties to even.
enum class F32Storage {
  Raw,
  RoundToBF16, ///< Values beyond the largest bf16 become infinity.
  ClipToBF16,  ///< Finite values beyond the largest bf16 become that, as TVM's writer does.
};

struct TensorCacheOptions {
  F32Storage f32 = F32Storage::Raw;
  /// A data file ends with the tensor that passes this size.
  int64_t maxFileBytes = int64_t(1) << 30;
};
/// One data file, tensor after tensor.
class TensorCacheFile {
public:
  static Expected<std::unique_ptr<TensorCacheFile>> create(const std::string &directory, const std::string &name,
                                                           F32Storage f32 = F32Storage::Raw);
  ~TensorCacheFile();
  Status add(const TensorContent &tensor);
  /// The file is complete; the result is its entry of the list of records.
  Expected<std::string> commit();

private:
  struct State;
  explicit TensorCacheFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};
Status writeTensorCacheIndex(const std::string &directory, const std::vector<std::string> &entries);

/// Writes `directory`/tensor-cache.json (last) and params_shard_*.bin.
Status writeTensorCache(const std::string &directory, const std::vector<TensorContent> &tensors,
                        const TensorCacheOptions &options = {});

} // namespace shardkit::rt

#endif // SHARDKIT_RT_FORMATS_TENSORCACHE_H
