//===- Gguf.h - The .gguf format of llama.cpp -------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_FORMATS_GGUF_H
#define SHARDKIT_RT_FORMATS_GGUF_H

#include "shardkit/rt/Formats/StoredTensor.h"

namespace shardkit::rt {

/// All tensors of a .gguf file (version 2 or 3), by name, major dim first. Tensors of blocks
/// (Q8_0, Q4_K, ...) are bytes: the last dim counts those of a row. Checked: counts and
/// lengths against the size of the file, types, duplicate names, shape products, alignment,
/// offsets in the file, no overlap. Metadata are skipped.
Expected<std::map<std::string, StoredTensor>> openGguf(const std::string &path);
Expected<std::map<std::string, StoredTensor>> parseGguf(std::shared_ptr<File> file);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_FORMATS_GGUF_H
