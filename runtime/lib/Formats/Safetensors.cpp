//===- Safetensors.cpp - The .safetensors format --------------------------===//

#include "shardkit/rt/Formats/Safetensors.h"

#include "StrictJson.h"

#include <algorithm>
#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;

namespace {

constexpr int64_t maxHeaderBytes = maxJsonBytes;

struct StoredType {
  const char *name;
  int bits;
  std::optional<DType> dtype;
};
const StoredType storedTypes[] = {{"F64", 64, DType::F64},
                                  {"F32", 32, DType::F32},
                                  {"F16", 16, DType::F16},
                                  {"BF16", 16, DType::BF16},
                                  {"I64", 64, DType::I64},
                                  {"I32", 32, DType::I32},
                                  {"I16", 16, DType::I16},
                                  {"I8", 8, DType::I8},
                                  {"BOOL", 8, DType::I1},
                                  {"U64", 64, DType::U64},
                                  {"U32", 32, DType::U32},
                                  {"U16", 16, DType::U16},
                                  {"U8", 8, DType::U8},
                                  {"F8_E4M3", 8, DType::F8E4M3FN},
                                  {"F8_E5M2", 8, DType::F8E5M2},
                                  {"F8_E8M0", 8, DType::F8E8M0FNU},
                                  {"F8_E4M3FNUZ", 8, DType::F8E4M3FNUZ},
                                  {"F8_E5M2FNUZ", 8, DType::F8E5M2FNUZ},
                                  {"F6_E2M3", 6, std::nullopt},
                                  {"F6_E3M2", 6, std::nullopt},
                                  {"F4", 4, DType::U4}, // its bits
                                  {"C64", 64, DType::C64}};

const StoredType *findType(const std::string &name) {
  for (const StoredType &type : storedTypes)
    if (name == type.name)
      return &type;
  return nullptr;
}

Expected<StoredTensor> readEntry(const std::string &name, const Json &json, int64_t dataBytes) {
  StoredTensor tensor;
  tensor.name = name;
  auto fail = [&](const std::string &message) { return invalid("tensor " + quoteName(name) + ": " + message); };
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets"))
    return fail("expected dtype, shape and data_offsets");
  if (!json["dtype"].is_string())
    return fail("dtype is not a string");
  tensor.storedType = json["dtype"].get<std::string>();
  const StoredType *type = findType(tensor.storedType);
  if (!type)
    return fail("unknown dtype " + quoteName(tensor.storedType));
  tensor.dtype = type->dtype;
  if (!json["shape"].is_array())
    return fail("shape is not a list");
  for (const Json &entry : json["shape"]) {
    int64_t size;
    if (!asSize(entry, size))
      return fail("shape has an entry that is not a size");
    tensor.shape.push_back(size);
  }
  std::optional<int64_t> count = numElements(tensor.shape);
  int64_t bits;
  if (!count || __builtin_mul_overflow(*count, type->bits, &bits))
    return fail("the shape is too large");
  if (bits % 8 != 0)
    return fail("the elements do not fill whole bytes");
  tensor.bytes = bits / 8;
  if (type->bits == 4)
    tensor.encoding = Encoding::PackedNibbles;
  const Json &offsets = json["data_offsets"];
  int64_t begin, end;
  if (!offsets.is_array() || offsets.size() != 2 || !asSize(offsets[0], begin) || !asSize(offsets[1], end) ||
      begin > end)
    return fail("data_offsets is not [begin, end]");
  std::string range = "bytes " + std::to_string(begin) + " to " + std::to_string(end);
  if (end - begin != tensor.bytes)
    return fail(range + ", expected " + std::to_string(tensor.bytes) + " bytes for " + tensor.storedType + " " +
                shapeString(tensor.shape));
  if (end > dataBytes)
    return fail(range + " lie beyond the end of the data at " + std::to_string(dataBytes) + " (truncated file?)");
  tensor.offset = begin;
  return tensor;
}

} // namespace

Expected<std::map<std::string, StoredTensor>> parseSafetensors(std::shared_ptr<File> file) {
  unsigned char head[8];
  if (file->size() < 8)
    return invalid("not a .safetensors file (" + std::to_string(file->size()) + " bytes)");
  SK_RETURN_IF_ERROR(file->read(head, 0, 8));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | head[i];
  if (length > uint64_t(maxHeaderBytes))
    return invalid("header length " + std::to_string(length) + ", expected at most " + std::to_string(maxHeaderBytes));
  if (int64_t(length) + 8 > file->size())
    return invalid("header length " + std::to_string(length) + " does not fit the file of " +
                   std::to_string(file->size()) + " bytes");
  std::string text(size_t(length), '\0');
  SK_RETURN_IF_ERROR(file->read(text.data(), 8, int64_t(length)));
  if (text.empty() || text[0] != '{')
    return invalid("the header does not start with '{'");
  SK_ASSIGN_OR_RETURN(Json json, parseStrictJson(text, "the header", "tensor"));
  int64_t dataStart = 8 + int64_t(length);
  int64_t dataBytes = file->size() - dataStart;
  std::map<std::string, StoredTensor> tensors;
  std::vector<const StoredTensor *> byOffset;
  for (auto &[name, entry] : json.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object())
        return invalid("__metadata__ is not an object");
      for (auto &[key, value] : entry.items())
        if (!value.is_string())
          return invalid("__metadata__ " + quoteName(key) + " is not a string");
      continue;
    }
    SK_ASSIGN_OR_RETURN(StoredTensor tensor, readEntry(name, entry, dataBytes));
    tensor.file = file;
    byOffset.push_back(&(tensors[name] = std::move(tensor)));
  }
  std::sort(byOffset.begin(), byOffset.end(), [](const StoredTensor *a, const StoredTensor *b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  int64_t next = 0;
  for (const StoredTensor *tensor : byOffset) {
    if (tensor->offset != next)
      return invalid("tensor " + quoteName(tensor->name) + ": starts at byte " + std::to_string(tensor->offset) +
                     (tensor->offset < next ? " and overlaps another, " : " after a hole, ") + "expected " +
                     std::to_string(next));
    next += tensor->bytes;
  }
  if (next != dataBytes)
    return invalid(std::to_string(dataBytes - next) + " bytes after the last tensor");
  for (auto &[name, tensor] : tensors)
    tensor.offset += dataStart;
  return tensors;
}

Expected<std::map<std::string, StoredTensor>> openSafetensors(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path));
  auto tensors = parseSafetensors(std::move(file));
  if (!tensors.ok()) {
    Status status = tensors.status();
    // Reading errors name the file already.
    return status.code() == Code::IO ? status : status.withContext(path);
  }
  return tensors;
}

Expected<std::unique_ptr<FileWriter>> startSafetensors(const std::string &path,
                                                       const std::vector<TensorContent> &tensors,
                                                       const SafetensorsOptions &options) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!options.metadata.empty())
    header["__metadata__"] = options.metadata;
  // An ordered object looks keys up one after the other.
  nlohmann::ordered_json::object_t::Container &entries = header.get_ref<nlohmann::ordered_json::object_t &>();
  std::set<std::string> names{"__metadata__"};
  int64_t offset = 0;
  for (const TensorContent &tensor : tensors) {
    std::optional<int64_t> count = numElements(tensor.shape);
    if (!count || !names.insert(tensor.name).second)
      return invalid(path + ": tensor " + quoteName(tensor.name) + " appears twice or is too large");
    const char *type = nullptr;
    for (const StoredType &candidate : storedTypes)
      if (!type && candidate.dtype == tensor.dtype)
        type = candidate.name;
    if (!type)
      return invalid(path + ": tensor " + quoteName(tensor.name) + " is " + dtypeName(tensor.dtype) +
                     ", which .safetensors has no type for");
    int64_t end;
    if (__builtin_add_overflow(offset, *count * dtypeSize(tensor.dtype), &end))
      return invalid(path + ": the tensors are too large");
    entries.emplace_back(
        tensor.name, nlohmann::ordered_json{{"dtype", type}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}});
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception &) {
    return invalid(path + ": a tensor has a name that is not UTF-8");
  }
  size_t alignment = size_t(std::max<int64_t>(8, options.alignment));
  text.append((alignment - (8 + text.size()) % alignment) % alignment, ' ');
  if (int64_t(text.size()) > maxHeaderBytes)
    return invalid(path + ": the header would take " + std::to_string(text.size()) + " bytes, expected at most " +
                   std::to_string(maxHeaderBytes));
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += char(uint64_t(text.size()) >> (8 * i));
  SK_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> writer, FileWriter::create(path));
  if (options.md5)
    writer->keepMd5();
  SK_RETURN_IF_ERROR(writer->write(length.data(), 8));
  SK_RETURN_IF_ERROR(writer->write(text.data(), int64_t(text.size())));
  return writer;
}

Status writeSafetensors(const std::string &path, std::vector<TensorContent> tensors) {
  // Larger types first, so that every tensor is aligned.
  std::sort(tensors.begin(), tensors.end(), [](const TensorContent &a, const TensorContent &b) {
    int64_t sa = dtypeSize(a.dtype), sb = dtypeSize(b.dtype);
    return sa != sb ? sa > sb : a.name < b.name;
  });
  SK_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> writer, startSafetensors(path, tensors));
  std::vector<char> block;
  for (const TensorContent &tensor : tensors) {
    int64_t size = dtypeSize(tensor.dtype), step = (4 << 20) / size;
    int64_t elements = *numElements(tensor.shape);
    block.resize(std::max(block.size(), size_t(std::min(step, elements) * size)));
    for (int64_t at = 0; at < elements; at += step) {
      int64_t n = std::min(step, elements - at);
      SK_RETURN_IF_ERROR(tensor.read(at, n, block.data()));
      SK_RETURN_IF_ERROR(writer->write(block.data(), n * size));
    }
  }
  return writer->commit();
}

Status writeSafetensorsSet(const std::string &directory, const std::vector<TensorContent> &tensors,
                           int64_t maxFileBytes) {
  std::vector<std::vector<TensorContent>> files(1);
  int64_t bytes = 0, total = 0;
  for (const TensorContent &tensor : tensors) {
    int64_t size = numElements(tensor.shape).value_or(0) * dtypeSize(tensor.dtype);
    if (!files.back().empty() && bytes + size > maxFileBytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().push_back(tensor);
    bytes += size;
    total += size;
  }
  if (files.size() == 1)
    return writeSafetensors(directory + "/model.safetensors", files[0]);
  nlohmann::ordered_json index = {{"metadata", {{"total_size", total}}},
                                  {"weight_map", nlohmann::ordered_json::object()}};
  for (size_t i = 0; i < files.size(); ++i) {
    char name[64];
    std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", i + 1, files.size());
    SK_RETURN_IF_ERROR(writeSafetensors(directory + "/" + name, files[i]));
    for (const TensorContent &tensor : files[i])
      index["weight_map"][tensor.name] = name;
  }
  std::string text = index.dump(2) + "\n";
  return writeFile(directory + "/model.safetensors.index.json", {{text.data(), int64_t(text.size())}});
}

Status writeSafetensors(const std::string &path, const std::vector<TensorRef> &tensors) {
  std::vector<TensorContent> contents;
  for (const TensorRef &tensor : tensors)
    contents.push_back(contentOf(tensor));
  return writeSafetensors(path, std::move(contents));
}

} // namespace shardkit::rt
