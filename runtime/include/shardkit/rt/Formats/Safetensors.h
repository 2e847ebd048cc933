//===- Safetensors.h - The .safetensors format ------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_FORMATS_SAFETENSORS_H
#define SHARDKIT_RT_FORMATS_SAFETENSORS_H

#include "shardkit/rt/Formats/StoredTensor.h"

namespace shardkit::rt {

/// All tensors of a .safetensors file, by name. Checked: header length (at most
/// 100 MB), JSON, duplicate names, types, shape products, offsets in the file,
/// no overlap, no hole, no trailing bytes.
Expected<std::map<std::string, StoredTensor>> openSafetensors(const std::string &path);
Expected<std::map<std::string, StoredTensor>> parseSafetensors(std::shared_ptr<File> file);

struct SafetensorsOptions {
  std::map<std::string, std::string> metadata;
  /// The data starts at a multiple of this many bytes.
  int64_t alignment = 8;
  bool md5 = false; ///< FileWriter::md5() is that of the whole file.
};
/// Writes what comes before the data of `tensors`, of which only names, types and
/// shapes count. The data are written in their order, as they lie in memory, then
/// committed.
Expected<std::unique_ptr<FileWriter>> startSafetensors(const std::string &path,
                                                       const std::vector<TensorContent> &tensors,
                                                       const SafetensorsOptions &options = {});
/// Larger element types come first, so that every tensor is aligned to its own.
/// What the format has no type for (i4, u4) is an error.
Status writeSafetensors(const std::string &path, std::vector<TensorContent> tensors);
Status writeSafetensors(const std::string &path, const std::vector<TensorRef> &tensors);

/// Writes `directory`/model.safetensors, or where that would pass `maxFileBytes`
/// model-00001-of-0000N.safetensors and their index (last).
Status writeSafetensorsSet(const std::string &directory, const std::vector<TensorContent> &tensors,
                           int64_t maxFileBytes);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_FORMATS_SAFETENSORS_H
