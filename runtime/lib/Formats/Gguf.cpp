//===- Gguf.cpp - The .gguf format of llama.cpp ---------------------------===//

#include "shardkit/rt/Formats/Gguf.h"

#include "StrictJson.h"

#include <algorithm>
#include <cstring>

namespace shardkit::rt {

namespace {

/// Of what comes before the data.
constexpr int64_t maxGgufHeaderBytes = maxJsonBytes;

struct GgufType {
  uint32_t number;
  const char *name;
  int64_t block; ///< Elements of a block, 1 for plain types.
  int64_t bytes; ///< Of a block.
  DType dtype;
};
const GgufType ggufTypes[] = {
    {0, "F32", 1, 4, DType::F32},      {1, "F16", 1, 2, DType::F16},      {2, "Q4_0", 32, 18, DType::U8},
    {3, "Q4_1", 32, 20, DType::U8},    {6, "Q5_0", 32, 22, DType::U8},    {7, "Q5_1", 32, 24, DType::U8},
    {8, "Q8_0", 32, 34, DType::U8},    {10, "Q2_K", 256, 84, DType::U8},  {11, "Q3_K", 256, 110, DType::U8},
    {12, "Q4_K", 256, 144, DType::U8}, {13, "Q5_K", 256, 176, DType::U8}, {14, "Q6_K", 256, 210, DType::U8},
    {24, "I8", 1, 1, DType::I8},       {25, "I16", 1, 2, DType::I16},     {26, "I32", 1, 4, DType::I32},
    {27, "I64", 1, 8, DType::I64},     {28, "F64", 1, 8, DType::F64},     {30, "BF16", 1, 2, DType::BF16},
    {39, "MXFP4", 32, 17, DType::U8}};

/// Reads a file from its beginning, in blocks.
class Cursor {
public:
  explicit Cursor(std::shared_ptr<File> file) : file(std::move(file)) {}

  int64_t position() const { return at; }
  int64_t remaining() const { return std::min(file->size(), maxGgufHeaderBytes) - at; }

  Status read(void *to, int64_t bytes) {
    SK_RETURN_IF_ERROR(expect(bytes));
    for (char *out = static_cast<char *>(to); bytes > 0;) {
      if (at < begin || at >= begin + int64_t(buffer.size())) {
        begin = at;
        buffer.resize(size_t(std::min<int64_t>(1 << 20, file->size() - at)));
        SK_RETURN_IF_ERROR(file->read(buffer.data(), begin, int64_t(buffer.size())));
      }
      int64_t count = std::min(bytes, begin + int64_t(buffer.size()) - at);
      std::memcpy(out, buffer.data() + (at - begin), size_t(count));
      out += count;
      at += count;
      bytes -= count;
    }
    return {};
  }

  Status skip(int64_t bytes) {
    SK_RETURN_IF_ERROR(expect(bytes));
    at += bytes;
    return {};
  }

  /// Little-endian, as all hosts of this runtime are.
  template <typename T> Expected<T> number() {
    T value = 0;
    SK_RETURN_IF_ERROR(read(&value, sizeof value));
    return value;
  }

  /// A number of elements that take at least `bytes` each.
  Expected<int64_t> count(int64_t bytes) {
    SK_ASSIGN_OR_RETURN(uint64_t value, number<uint64_t>());
    if (value > uint64_t(remaining() / bytes))
      return invalid("a count of " + std::to_string(value) + " at byte " + std::to_string(at - 8) +
                     " does not fit the file of " + std::to_string(file->size()) + " bytes");
    return int64_t(value);
  }

  Expected<std::string> text() {
    SK_ASSIGN_OR_RETURN(int64_t length, count(1));
    std::string value(size_t(length), '\0');
    SK_RETURN_IF_ERROR(read(value.data(), length));
    return value;
  }

private:
  Status expect(int64_t bytes) const {
    if (bytes <= remaining())
      return {};
    return invalid("the header ends after " + std::to_string(at) + " bytes, " + std::to_string(bytes) +
                   " more were expected (truncated file?)");
  }

  std::shared_ptr<File> file;
  std::vector<char> buffer;
  int64_t begin = 0, at = 0;
};

constexpr uint32_t stringType = 8, arrayType = 9;

/// The bytes of a number of a type of metadata; 0 for others.
int64_t bytesOf(uint32_t type) {
  static constexpr int64_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < std::size(bytes) ? bytes[type] : 0;
}

Status skipValue(Cursor &cursor, uint32_t type, int depth) {
  if (type == stringType) {
    SK_ASSIGN_OR_RETURN(int64_t length, cursor.count(1));
    return cursor.skip(length);
  }
  if (type != arrayType) {
    if (int64_t bytes = bytesOf(type))
      return cursor.skip(bytes);
    return invalid("unknown type " + std::to_string(type) + " of metadata at byte " +
                   std::to_string(cursor.position()));
  }
  if (depth == 4)
    return invalid("lists of metadata in each other, expected at most 4");
  SK_ASSIGN_OR_RETURN(uint32_t element, cursor.number<uint32_t>());
  SK_ASSIGN_OR_RETURN(int64_t count, cursor.count(element == stringType ? 8 : std::max<int64_t>(bytesOf(element), 1)));
  if (int64_t bytes = bytesOf(element))
    return cursor.skip(count * bytes);
  for (int64_t i = 0; i < count; ++i)
    SK_RETURN_IF_ERROR(skipValue(cursor, element, depth + 1));
  return {};
}

/// Skips metadata; the alignment of the data, if they name one.
Expected<int64_t> readMetadataValues(Cursor &cursor, int64_t count) {
  int64_t alignment = 32;
  for (int64_t i = 0; i < count; ++i) {
    SK_ASSIGN_OR_RETURN(std::string key, cursor.text());
    SK_ASSIGN_OR_RETURN(uint32_t type, cursor.number<uint32_t>());
    if (key != "general.alignment") {
      SK_RETURN_IF_ERROR(skipValue(cursor, type, 0));
      continue;
    }
    constexpr uint32_t u32 = 4, most = 1 << 20;
    uint32_t value = 0;
    if (type == u32)
      SK_RETURN_IF_ERROR(cursor.read(&value, sizeof value));
    if (value == 0 || value > most || (value & (value - 1)))
      return invalid("general.alignment is not a power of two of at most " + std::to_string(most));
    alignment = value;
  }
  return alignment;
}

Expected<StoredTensor> readEntry(Cursor &cursor, int64_t alignment) {
  StoredTensor tensor;
  SK_ASSIGN_OR_RETURN(tensor.name, cursor.text());
  auto fail = [&](const std::string &message) { return invalid("tensor " + quoteName(tensor.name) + ": " + message); };
  SK_ASSIGN_OR_RETURN(uint32_t rank, cursor.number<uint32_t>());
  if (rank > 4)
    return fail(std::to_string(rank) + " dims, expected at most 4");
  for (uint32_t d = 0; d < rank; ++d) { // The minor dim is first.
    SK_ASSIGN_OR_RETURN(uint64_t size, cursor.number<uint64_t>());
    if (size > uint64_t(INT64_MAX))
      return fail("the shape is too large");
    tensor.shape.insert(tensor.shape.begin(), int64_t(size));
  }
  SK_ASSIGN_OR_RETURN(uint32_t number, cursor.number<uint32_t>());
  const auto *type = std::find_if(std::begin(ggufTypes), std::end(ggufTypes),
                                  [&](const GgufType &known) { return known.number == number; });
  if (type == std::end(ggufTypes))
    return fail("unknown type " + std::to_string(number));
  tensor.storedType = type->name;
  tensor.dtype = type->dtype;
  if (type->block > 1) {
    if (tensor.shape.empty() || tensor.shape.back() % type->block != 0)
      return fail("rows of " + std::to_string(tensor.shape.empty() ? 1 : tensor.shape.back()) +
                  " elements, expected blocks of " + std::to_string(type->block) + " for " + type->name);
    if (__builtin_mul_overflow(tensor.shape.back() / type->block, type->bytes, &tensor.shape.back()))
      return fail("the shape is too large");
  }
  std::optional<int64_t> count = numElements(tensor.shape);
  if (!count || __builtin_mul_overflow(*count, dtypeSize(type->dtype), &tensor.bytes))
    return fail("the shape is too large");
  SK_ASSIGN_OR_RETURN(uint64_t offset, cursor.number<uint64_t>());
  if (offset % uint64_t(alignment) != 0 || offset > uint64_t(INT64_MAX))
    return fail("offset " + std::to_string(offset) + ", expected a multiple of " + std::to_string(alignment));
  tensor.offset = int64_t(offset);
  return tensor;
}

} // namespace

Expected<std::map<std::string, StoredTensor>> parseGguf(std::shared_ptr<File> file) {
  Cursor cursor(file);
  char magic[4] = {};
  if (file->size() >= 4)
    SK_RETURN_IF_ERROR(cursor.read(magic, 4));
  if (std::memcmp(magic, "GGUF", 4) != 0)
    return invalid("not a .gguf file (" + std::to_string(file->size()) + " bytes)");
  SK_ASSIGN_OR_RETURN(uint32_t version, cursor.number<uint32_t>());
  if (version != 2 && version != 3)
    return invalid("version " + std::to_string(version) + ", expected 2 or 3");
  SK_ASSIGN_OR_RETURN(int64_t numTensors, cursor.count(24));
  SK_ASSIGN_OR_RETURN(int64_t numValues, cursor.count(12));
  SK_ASSIGN_OR_RETURN(int64_t alignment, readMetadataValues(cursor, numValues));
  std::map<std::string, StoredTensor> tensors;
  for (int64_t i = 0; i < numTensors; ++i) {
    SK_ASSIGN_OR_RETURN(StoredTensor tensor, readEntry(cursor, alignment));
    tensor.file = file;
    std::string name = tensor.name;
    if (!tensors.emplace(name, std::move(tensor)).second)
      return invalid("tensor " + quoteName(name) + " appears twice");
  }
  const int64_t dataStart = (cursor.position() + alignment - 1) / alignment * alignment;
  const int64_t dataBytes = std::max<int64_t>(file->size() - dataStart, 0);
  std::vector<StoredTensor *> byOffset;
  for (auto &[name, tensor] : tensors)
    byOffset.push_back(&tensor);
  std::sort(byOffset.begin(), byOffset.end(), [](const StoredTensor *a, const StoredTensor *b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  int64_t next = 0;
  for (StoredTensor *tensor : byOffset) {
    const std::string what = "tensor " + quoteName(tensor->name) + ": bytes " + std::to_string(tensor->offset);
    if (tensor->bytes > dataBytes || tensor->offset > dataBytes - tensor->bytes)
      return invalid(what + " and " + std::to_string(tensor->bytes) + " more lie beyond the end of the data at " +
                     std::to_string(dataBytes) + " (truncated file?)");
    if (tensor->offset < next)
      return invalid(what + " overlap another tensor, which ends at " + std::to_string(next));
    next = tensor->offset + tensor->bytes;
    tensor->offset += dataStart;
  }
  return tensors;
}

Expected<std::map<std::string, StoredTensor>> openGguf(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path));
  auto tensors = parseGguf(std::move(file));
  if (!tensors.ok()) {
    Status status = tensors.status();
    // Reading errors name the file already.
    return status.code() == Code::IO ? status : status.withContext(path);
  }
  return tensors;
}

} // namespace shardkit::rt
