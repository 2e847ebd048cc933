//===- TensorFile.h - Tensors in .npy and .safetensors files ----*- C++ -*-===//
//
// Reading is split in two: the header becomes a StoredTensor (type, shape, byte
// range, checked against the file's size), the bytes are read later by whoever
// needs them. Types without a dtype of ours (f8, complex) can be listed but not
// loaded; unsigned integers are read as integers of the same width.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_TENSORFILE_H
#define SHARDKIT_RT_TENSORFILE_H

#include "shardkit/rt/DType.h"
#include "shardkit/rt/File.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardkit::rt {

struct StoredTensor {
  std::string name;
  std::string storedType; ///< As the file spells it.
  std::optional<DType> dtype;
  Shape shape;
  std::shared_ptr<File> file;
  int64_t offset = 0, bytes = 0;
};

/// A whole tensor in memory, for writers.
struct TensorRef {
  std::string name;
  DType dtype;
  Shape shape;
  const void *data;
};

/// Header of an .npy file (format 1.0 to 3.0). bf16 is raw <V2, i1 is |b1.
/// Fortran order, other byte orders, structured and object types are errors.
Expected<StoredTensor> openNpy(const std::string &path);
Status writeNpy(const std::string &path, const TensorRef &tensor);

/// All tensors of a .safetensors file, by name. Checked: header length (at most
/// 100 MB), JSON, duplicate names, types, shape products, offsets in the file,
/// no overlap, no hole, no trailing bytes.
Expected<std::map<std::string, StoredTensor>>
openSafetensors(const std::string &path);
Status writeSafetensors(const std::string &path,
                        std::vector<TensorRef> tensors);

/// A weight set: one .safetensors file, an index of several
/// (*.safetensors.index.json), or a directory that holds either.
struct WeightSet {
  std::string path;
  std::map<std::string, StoredTensor> tensors;
};
Expected<WeightSet> openWeights(const std::string &path);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_TENSORFILE_H
