//===- StoredTensor.cpp - Elements of a tensor in a file ------------------===//

#include "shardkit/rt/Formats/StoredTensor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace shardkit::rt {

namespace {

template <typename T>
void copyStrided(const char *from, int64_t fromStride, char *to, int64_t toStride, int64_t count) {
  // Sources in files may be unaligned.
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * toStride * int64_t(sizeof(T)), from + i * fromStride * int64_t(sizeof(T)), sizeof(T));
}

void copyRaw(const char *from, int64_t fromStride, char *to, int64_t toStride, int64_t count, int64_t size) {
  if (fromStride == 1 && toStride == 1)
    std::memcpy(to, from, size_t(count * size));
  else if (size == 1)
    copyStrided<uint8_t>(from, fromStride, to, toStride, count);
  else if (size == 2)
    copyStrided<uint16_t>(from, fromStride, to, toStride, count);
  else if (size == 4)
    copyStrided<uint32_t>(from, fromStride, to, toStride, count);
  else if (size == 8)
    copyStrided<uint64_t>(from, fromStride, to, toStride, count);
  else
    copyStrided<std::array<uint64_t, 2>>(from, fromStride, to, toStride, count);
}

} // namespace

void decodeElements(const StoredTensor &stored, const char *block, int64_t blockBegin, int64_t first,
                    int64_t fromStride, char *to, int64_t toStride, int64_t count) {
  switch (stored.encoding) {
  case Encoding::Raw: {
    int64_t size = dtypeSize(*stored.dtype);
    return copyRaw(block + (first * size - blockBegin), fromStride, to, toStride, count, size);
  }
  case Encoding::F32ToBF16: {
    const char *from = block + (first * 2 - blockBegin);
    for (int64_t i = 0; i < count; ++i) {
      uint16_t bits;
      std::memcpy(&bits, from + i * fromStride * 2, 2);
      // The bits as they are: NaNs keep theirs.
      uint32_t wide = uint32_t(bits) << 16;
      std::memcpy(to + i * toStride * 4, &wide, 4);
    }
    return;
  }
  case Encoding::PackedNibbles: {
    bool isSigned = stored.dtype == DType::I4;
    for (int64_t i = 0; i < count; ++i) {
      int64_t element = first + i * fromStride;
      uint8_t byte = uint8_t(block[element / 2 - blockBegin]);
      uint8_t nibble = element % 2 ? byte >> 4 : byte & 15;
      to[i * toStride] = char(isSigned && nibble >= 8 ? nibble | 0xf0 : nibble);
    }
    return;
  }
  }
}

Status StoredTensor::readElements(int64_t first, int64_t count, void *to) const {
  if (encoding == Encoding::Raw)
    return file->read(to, offset + first * dtypeSize(*dtype), count * dtypeSize(*dtype));
  std::vector<char> block;
  constexpr int64_t step = 1 << 20;
  for (int64_t done = 0; done < count; done += step) {
    int64_t n = std::min(step, count - done);
    auto [begin, end] = byteRange(first + done, n);
    block.resize(size_t(end - begin));
    SK_RETURN_IF_ERROR(file->read(block.data(), offset + begin, end - begin));
    decodeElements(*this, block.data(), begin, first + done, 1, static_cast<char *>(to) + done * dtypeSize(*dtype), 1,
                   n);
  }
  return {};
}

std::string shardName(const std::string &name, int64_t rank, int64_t ranks) {
  return name + "_shard-" + std::to_string(rank + 1) + "-of-" + std::to_string(ranks);
}

std::optional<ShardName> parseShardName(const std::string &name) {
  static const std::string shard = "_shard-", of = "-of-";
  size_t at = name.rfind(shard);
  if (at == std::string::npos || at == 0)
    return std::nullopt;
  const char *begin = name.data() + at + shard.size(), *end = name.data() + name.size();
  ShardName result{name.substr(0, at), 0, 0};
  auto [middle, error] = std::from_chars(begin, end, result.rank);
  if (error != std::errc() || size_t(end - middle) <= of.size() || std::memcmp(middle, of.data(), of.size()) != 0)
    return std::nullopt;
  auto [last, error2] = std::from_chars(middle + of.size(), end, result.ranks);
  // "01" and "+1" are not how such names are written.
  if (error2 != std::errc() || last != end || result.rank < 1 || result.rank > result.ranks ||
      shardName(result.name, result.rank - 1, result.ranks) != name)
    return std::nullopt;
  --result.rank;
  return result;
}

std::string mlcShardName(const std::string &name, int64_t rank) { return name + "_shard-" + std::to_string(rank); }

std::optional<ShardName> parseAnyShardName(const std::string &name) {
  if (std::optional<ShardName> shard = parseShardName(name))
    return shard;
  const size_t at = name.rfind("_shard-");
  if (at == std::string::npos || at == 0)
    return std::nullopt;
  ShardName result{name.substr(0, at), 0, 0};
  const char *end = name.data() + name.size();
  auto [last, error] = std::from_chars(name.data() + at + 7, end, result.rank);
  if (error != std::errc() || last != end || result.rank < 0 || mlcShardName(result.name, result.rank) != name)
    return std::nullopt;
  return result;
}

TensorContent contentOf(const StoredTensor &stored) {
  return {stored.name, stored.dtype.value_or(DType::I8), stored.shape,
          [stored](int64_t first, int64_t count, void *to) { return stored.readElements(first, count, to); }};
}

TensorContent contentOf(const TensorRef &tensor) {
  return {tensor.name, tensor.dtype, tensor.shape, [tensor](int64_t first, int64_t count, void *to) -> Status {
            int64_t size = dtypeSize(tensor.dtype);
            if (count)
              std::memcpy(to, static_cast<const char *>(tensor.data) + first * size, size_t(count * size));
            return {};
          }};
}

} // namespace shardkit::rt
