//===- Npy.h - NumPy's .npy and .npz ----------------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_FORMATS_NPY_H
#define SHARDKIT_RT_FORMATS_NPY_H

#include "shardkit/rt/Formats/StoredTensor.h"

namespace shardkit::rt {

/// Header of an .npy file (format 1.0 to 3.0). bf16 is raw <V2, f8E4M3FN raw
/// |V1 (no other f8 is written), i1 is |b1. Fortran order, other byte orders,
/// structured and object types are errors.
Expected<StoredTensor> openNpy(const std::string &path);

/// The same, of bytes [offset, offset + bytes) of a file; errors name no file.
Expected<StoredTensor> parseNpy(std::shared_ptr<File> file, int64_t offset, int64_t bytes);

Status writeNpy(const std::string &path, const TensorContent &tensor);
Status writeNpy(const std::string &path, const TensorRef &tensor);

/// The arrays of an .npz (numpy.savez) by name, without ".npy". Members are read
/// where they lie: compressed ones are an error.
Expected<std::map<std::string, StoredTensor>> openNpz(const std::string &path);
Expected<std::map<std::string, StoredTensor>> parseNpz(std::shared_ptr<File> file);
Status writeNpz(const std::string &path, const std::vector<TensorContent> &tensors);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_FORMATS_NPY_H
