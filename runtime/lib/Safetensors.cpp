//===- Safetensors.cpp - The .safetensors format, and weight sets -----------===//

#include "shardkit/rt/TensorFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;

namespace {

constexpr int64_t maxHeaderBytes = 100'000'000;

struct StoredType {
  const char *name;
  int bits;
  std::optional<DType> dtype;
};
const StoredType storedTypes[] = {
    {"F64", 64, DType::F64},   {"F32", 32, DType::F32},
    {"F16", 16, DType::F16},   {"BF16", 16, DType::BF16},
    {"I64", 64, DType::I64},   {"I32", 32, DType::I32},
    {"I16", 16, DType::I16},   {"I8", 8, DType::I8},
    {"BOOL", 8, DType::I1},    {"U64", 64, DType::I64},
    {"U32", 32, DType::I32},   {"U16", 16, DType::I16},
    {"U8", 8, DType::I8},      {"F8_E4M3", 8, std::nullopt},
    {"F8_E5M2", 8, std::nullopt}, {"F8_E8M0", 8, std::nullopt},
    {"F6_E2M3", 6, std::nullopt}, {"F6_E3M2", 6, std::nullopt},
    {"F4", 4, std::nullopt},   {"C64", 64, std::nullopt}};

const StoredType *findType(const std::string &name) {
  for (const StoredType &type : storedTypes)
    if (name == type.name)
      return &type;
  return nullptr;
}

bool asSize(const Json &json, int64_t &value) {
  if (!json.is_number_unsigned() ||
      json.get<uint64_t>() > uint64_t(INT64_MAX))
    return false;
  value = json.get<int64_t>();
  return true;
}

/// Parses JSON and refuses a name that stands twice in the outer object (the
/// library would keep the last one).
Expected<Json> parseUnique(const std::string &text) {
  std::set<std::string> names;
  std::string duplicate;
  auto check = [&](int depth, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !names.insert(parsed.get<std::string>()).second)
      duplicate = parsed.get<std::string>();
    return true;
  };
  try {
    Json json = Json::parse(text, check);
    if (!duplicate.empty())
      return invalid("tensor '" + duplicate + "' appears twice");
    if (!json.is_object())
      return invalid("the header is not a JSON object");
    return json;
  } catch (const Json::exception &error) {
    return invalid("the header is not valid JSON");
  }
}

Expected<StoredTensor> readEntry(const std::string &name, const Json &json,
                                 int64_t dataBytes) {
  StoredTensor tensor;
  tensor.name = name;
  auto fail = [&](const std::string &message) {
    return invalid("tensor '" + name + "': " + message);
  };
  if (!json.is_object() || !json.contains("dtype") ||
      !json.contains("shape") || !json.contains("data_offsets"))
    return fail("expected dtype, shape and data_offsets");
  if (!json["dtype"].is_string())
    return fail("dtype is not a string");
  tensor.storedType = json["dtype"].get<std::string>();
  const StoredType *type = findType(tensor.storedType);
  if (!type)
    return fail("unknown dtype '" + tensor.storedType + "'");
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
  const Json &offsets = json["data_offsets"];
  int64_t begin, end;
  if (!offsets.is_array() || offsets.size() != 2 ||
      !asSize(offsets[0], begin) || !asSize(offsets[1], end) || begin > end)
    return fail("data_offsets is not [begin, end]");
  std::string range =
      "bytes " + std::to_string(begin) + " to " + std::to_string(end);
  if (end - begin != tensor.bytes)
    return fail(range + ", expected " + std::to_string(tensor.bytes) +
                " bytes for " + tensor.storedType + " " +
                shapeString(tensor.shape));
  if (end > dataBytes)
    return fail(range + " lie beyond the end of the data at " +
                std::to_string(dataBytes) + " (truncated file?)");
  tensor.offset = begin;
  return tensor;
}

Expected<std::map<std::string, StoredTensor>> readFile(std::shared_ptr<File> file) {
  unsigned char head[8];
  if (file->size() < 8)
    return invalid("not a .safetensors file (" + std::to_string(file->size()) +
                   " bytes)");
  SK_RETURN_IF_ERROR(file->read(head, 0, 8));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | head[i];
  if (length > uint64_t(maxHeaderBytes))
    return invalid("header length " + std::to_string(length) +
                   ", expected at most " + std::to_string(maxHeaderBytes));
  if (int64_t(length) + 8 > file->size())
    return invalid("header length " + std::to_string(length) +
                   " does not fit the file of " +
                   std::to_string(file->size()) + " bytes");
  std::string text(size_t(length), '\0');
  SK_RETURN_IF_ERROR(file->read(text.data(), 8, int64_t(length)));
  if (text.empty() || text[0] != '{')
    return invalid("the header does not start with '{'");
  SK_ASSIGN_OR_RETURN(Json json, parseUnique(text));
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
          return invalid("__metadata__ '" + key + "' is not a string");
      continue;
    }
    SK_ASSIGN_OR_RETURN(StoredTensor tensor, readEntry(name, entry, dataBytes));
    tensor.file = file;
    byOffset.push_back(&(tensors[name] = std::move(tensor)));
  }
  std::sort(byOffset.begin(), byOffset.end(),
            [](const StoredTensor *a, const StoredTensor *b) {
              return std::pair(a->offset, a->bytes) <
                     std::pair(b->offset, b->bytes);
            });
  int64_t next = 0;
  for (const StoredTensor *tensor : byOffset) {
    if (tensor->offset != next)
      return invalid("tensor '" + tensor->name + "': starts at byte " +
                     std::to_string(tensor->offset) +
                     (tensor->offset < next ? " and overlaps another, "
                                            : " after a hole, ") +
                     "expected " + std::to_string(next));
    next += tensor->bytes;
  }
  if (next != dataBytes)
    return invalid(std::to_string(dataBytes - next) +
                   " bytes after the last tensor");
  for (auto &[name, tensor] : tensors)
    tensor.offset += dataStart;
  return tensors;
}

Status readIndex(const std::filesystem::path &path, WeightSet &set) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path.string()));
  if (file->size() > maxHeaderBytes)
    return invalid("the index is larger than " +
                   std::to_string(maxHeaderBytes) + " bytes");
  std::string text(size_t(file->size()), '\0');
  SK_RETURN_IF_ERROR(file->read(text.data(), 0, file->size()));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("weight_map") ||
      !json["weight_map"].is_object())
    return invalid("expected a JSON object with weight_map");
  std::map<std::string, std::map<std::string, StoredTensor>> files;
  for (auto &[name, where] : json["weight_map"].items()) {
    if (!where.is_string())
      return invalid("weight '" + name + "': the file is not a string");
    std::string part = where.get<std::string>();
    std::filesystem::path relative(part);
    if (part.empty() || relative.is_absolute() ||
        std::any_of(relative.begin(), relative.end(),
                    [](const auto &p) { return p == ".."; }))
      return invalid("weight '" + name + "': the file '" + part +
                     "' leaves the directory");
    auto found = files.find(part);
    if (found == files.end()) {
      SK_ASSIGN_OR_RETURN(auto tensors, openSafetensors(
                              (path.parent_path() / relative).string()));
      found = files.emplace(part, std::move(tensors)).first;
    }
    auto tensor = found->second.find(name);
    if (tensor == found->second.end())
      return invalid("weight '" + name + "' is not in '" + part + "'");
    set.tensors.emplace(name, tensor->second);
  }
  return {};
}

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

} // namespace

Expected<std::map<std::string, StoredTensor>>
openSafetensors(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path));
  auto tensors = readFile(std::move(file));
  if (!tensors.ok()) {
    Status status = tensors.status();
    // Reading errors name the file already.
    return status.code() == Code::IO ? status : status.withContext(path);
  }
  return tensors;
}

Expected<WeightSet> openWeights(const std::string &path) {
  namespace fs = std::filesystem;
  WeightSet set;
  set.path = path;
  std::error_code error;
  std::vector<std::string> files = {path};
  if (fs::is_directory(path, error)) {
    files.clear();
    std::vector<std::string> indices;
    for (const auto &entry : fs::directory_iterator(path, error)) {
      std::string name = entry.path().string();
      if (endsWith(name, ".safetensors.index.json"))
        indices.push_back(name);
      else if (endsWith(name, ".safetensors"))
        files.push_back(name);
    }
    if (indices.size() > 1)
      return invalid(path + ": several *.safetensors.index.json, name one");
    if (!indices.empty())
      files = indices;
    if (files.empty())
      return notFound(path + ": the directory holds no *.safetensors and no "
                             "*.safetensors.index.json");
    std::sort(files.begin(), files.end());
  }
  for (const std::string &file : files) {
    if (endsWith(file, ".json")) {
      Status status = readIndex(file, set);
      if (!status.ok())
        return status.message().find(path) == 0 ? status
                                                : status.withContext(file);
      continue;
    }
    SK_ASSIGN_OR_RETURN(auto tensors, openSafetensors(file));
    for (auto &[name, tensor] : tensors)
      if (!set.tensors.emplace(name, tensor).second)
        return invalid(file + ": tensor '" + name +
                       "' appears in another file of the directory too");
  }
  return set;
}

Status writeSafetensors(const std::string &path,
                        std::vector<TensorRef> tensors) {
  // Larger types first, so that every tensor is aligned.
  std::sort(tensors.begin(), tensors.end(),
                   [](const TensorRef &a, const TensorRef &b) {
                     int64_t sa = dtypeSize(a.dtype), sb = dtypeSize(b.dtype);
                     return sa != sb ? sa > sb : a.name < b.name;
                   });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::vector<FilePart> parts(2);
  int64_t offset = 0;
  for (const TensorRef &tensor : tensors) {
    std::optional<int64_t> count = numElements(tensor.shape);
    if (!count || header.contains(tensor.name) ||
        tensor.name == "__metadata__")
      return invalid(path + ": tensor '" + tensor.name +
                     "' appears twice or is too large");
    int64_t bytes = *count * dtypeSize(tensor.dtype);
    const char *type = "";
    for (const StoredType &candidate : storedTypes)
      if (candidate.dtype == tensor.dtype) {
        type = candidate.name;
        break;
      }
    header[tensor.name] = {{"dtype", type},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
    parts.push_back({tensor.data, bytes});
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += char(uint64_t(text.size()) >> (8 * i));
  parts[0] = {length.data(), 8};
  parts[1] = {text.data(), int64_t(text.size())};
  return writeFile(path, parts);
}

} // namespace shardkit::rt
