//===- WeightSet.h - Weights by name, in any format -----------*- C++ -*---===//

#ifndef SHARDKIT_RT_FORMATS_WEIGHTSET_H
#define SHARDKIT_RT_FORMATS_WEIGHTSET_H

#include "shardkit/rt/Formats/StoredTensor.h"

namespace shardkit::rt {

struct OpenOptions {
  /// Data files may be symbolic links that leave the directory of the set.
  bool followLinks = false;
};

/// A file with a checksum of its own, for verification.
struct StoredFile {
  std::string path;
  int64_t bytes = 0;
  std::string md5; ///< Empty where none is recorded.
};

struct WeightSet {
  std::string path;
  std::string format; ///< safetensors, gguf, tensor-cache, npz, npy
  std::map<std::string, StoredTensor> tensors;
  std::vector<StoredFile> files;
  /// presharded.json of the set's directory, if there is one.
  std::string presharded;
};

/// A .safetensors file, an index of several (*.safetensors.index.json),
/// a .gguf file, tensor-cache.json or ndarray-cache.json, an .npz or .npy file, or a directory
/// that holds one of these. Reads and checks metadata alone.
Expected<WeightSet> openWeights(const std::string &path, const OpenOptions &options = {});

/// `relative` inside `directory`. An error for an empty or absolute path, one
/// that climbs out, and one that a symbolic link leads out of. Links of Hugging Face's cache,
/// from snapshots/REVISION to blobs of the same model, are followed.
Expected<std::string> resolveInside(const std::string &directory, const std::string &relative,
                                    const OpenOptions &options);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_FORMATS_WEIGHTSET_H
