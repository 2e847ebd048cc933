//===- StoredTensor.h - A tensor in a file, and one to be written -*- C++ -*--===//
//
// Reading is split in two: a format's reader turns metadata into StoredTensors
// (type, shape, byte range, all checked against the size of the file), and the
// bytes are read later, by the caller.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_FORMATS_STOREDTENSOR_H
#define SHARDKIT_RT_FORMATS_STOREDTENSOR_H

#include "shardkit/rt/Support/DType.h"
#include "shardkit/rt/Support/File.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardkit::rt {

/// The storage format of elements in the file.
enum class Encoding {
  Raw,
  F32ToBF16,     ///< f32 of which the upper 16 bits are stored.
  PackedNibbles, ///< i4, u4: two to a byte, the first in the low half.
};

struct StoredTensor {
  std::string name;
  std::string storedType; ///< The type name in the file.
  /// Of the elements in memory; types that no program has (6-bit floats) can be
  /// listed but not loaded. The bits of 4-bit floats are integers in memory.
  std::optional<DType> dtype;
  Shape shape;
  std::shared_ptr<File> file;
  int64_t offset = 0, bytes = 0;
  Encoding encoding = Encoding::Raw;

  /// True for 4-bit floats, whose type in memory is another.
  bool isF4() const { return storedType == "F4" || storedType == "float4_e2m1fn"; }
  /// Bits that an element takes in the file.
  int64_t storedBits() const {
    return encoding == Encoding::Raw ? dtypeSize(*dtype) * 8 : encoding == Encoding::F32ToBF16 ? 16 : 4;
  }
  /// The bytes [first, second) of the tensor that hold elements [first, first + count).
  std::pair<int64_t, int64_t> byteRange(int64_t first, int64_t count) const {
    int64_t bits = storedBits();
    // The shape was checked: eight bytes for each element do not overflow.
    return {first * bits / 8, ((first + count) * bits + 7) / 8};
  }
  /// Reads elements [first, first + count) into memory, dtypeSize() bytes each.
  Status readElements(int64_t first, int64_t count, void *to) const;
};

/// Copies `count` elements from a block that starts at byte `blockBegin` of the
/// tensor: element first + i * fromStride to element i * toStride of `to`.
void decodeElements(const StoredTensor &stored, const char *block, int64_t blockBegin, int64_t first,
                    int64_t fromStride, char *to, int64_t toStride, int64_t count);

/// "NAME_shard-K-of-N", K from 1.
std::string shardName(const std::string &name, int64_t rank, int64_t ranks);
struct ShardName {
  std::string name;
  int64_t rank = 0, ranks = 0;
};
/// The last "_shard-K-of-N" counts: NAME itself may contain such text.
std::optional<ShardName> parseShardName(const std::string &name);

/// "NAME_shard-K", K from 0: MLC's names, which do not have the number of ranks.
std::string mlcShardName(const std::string &name, int64_t rank);
/// A name in either form; `ranks` is 0 for MLC's.
std::optional<ShardName> parseAnyShardName(const std::string &name);

/// A tensor that is to be written; `read` gives elements as they lie in memory.
struct TensorContent {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::function<Status(int64_t first, int64_t count, void *to)> read;
};
TensorContent contentOf(const StoredTensor &stored);

/// A tensor in memory, for writers.
struct TensorRef {
  std::string name;
  DType dtype;
  Shape shape;
  const void *data;
};
TensorContent contentOf(const TensorRef &tensor);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_FORMATS_STOREDTENSOR_H
