//===- TensorCache.cpp - TVM's tensor-cache.json --------------------------===//

#include "shardkit/rt/Formats/TensorCache.h"

#include "StrictJson.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

namespace shardkit::rt {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {
struct TvmType {
  const char *name;
  DType dtype;
};
const TvmType tvmTypes[] = {{"float64", DType::F64},
                            {"float32", DType::F32},
                            {"float16", DType::F16},
                            {"bfloat16", DType::BF16},
                            {"int64", DType::I64},
                            {"int32", DType::I32},
                            {"int16", DType::I16},
                            {"int8", DType::I8},
                            {"uint64", DType::U64},
                            {"uint32", DType::U32},
                            {"uint16", DType::U16},
                            {"uint8", DType::U8},
                            {"bool", DType::I1},
                            {"int4", DType::I4},
                            {"uint4", DType::U4},
                            {"float8_e4m3fn", DType::F8E4M3FN},
                            {"float8_e5m2", DType::F8E5M2},
                            {"float8_e4m3fnuz", DType::F8E4M3FNUZ},
                            {"float8_e5m2fnuz", DType::F8E5M2FNUZ},
                            {"float8_e8m0fnu", DType::F8E8M0FNU},
                            {"complex64", DType::C64},
                            {"complex128", DType::C128},
                            {"float4_e2m1fn", DType::U4}, // its bits
                            // Names of older versions.
                            {"e4m3_float8", DType::F8E4M3FN},
                            {"e5m2_float8", DType::F8E5M2}};
} // namespace

std::optional<DType> parseTvmDType(const std::string &name) {
  for (const TvmType &type : tvmTypes)
    if (name == type.name)
      return type.dtype;
  return std::nullopt;
}

const char *tvmDTypeName(DType dtype) {
  for (const TvmType &type : tvmTypes)
    if (dtype == type.dtype)
      return type.name;
  return "";
}

namespace {

Status readRecord(const Json &json, const std::shared_ptr<File> &file, int64_t fileBytes, StoredTensor &tensor) {
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string())
    return invalid("a record has no name");
  tensor.name = json["name"].get<std::string>();
  auto fail = [&](const std::string &message) { return invalid("tensor " + quoteName(tensor.name) + ": " + message); };
  for (const char *key : {"shape", "dtype", "format", "nbytes", "byteOffset"})
    if (!json.contains(key))
      return fail("'" + std::string(key) + "' is missing");
  if (!json["dtype"].is_string() || !json["format"].is_string())
    return fail("dtype or format is not a string");
  tensor.storedType = json["dtype"].get<std::string>();
  tensor.dtype = parseTvmDType(tensor.storedType);
  if (!tensor.dtype)
    return fail("unknown dtype " + quoteName(tensor.storedType));
  if (!json["shape"].is_array() || json["shape"].size() > 64)
    return fail("shape is not a list");
  for (const Json &entry : json["shape"]) {
    int64_t size;
    if (!asSize(entry, size))
      return fail("shape has an entry that is not a size");
    tensor.shape.push_back(size);
  }
  std::optional<int64_t> count = numElements(tensor.shape);
  int64_t bits = dtypeBits(*tensor.dtype);
  std::string format = json["format"].get<std::string>();
  if (format == "f32-to-bf16") {
    if (tensor.dtype == DType::F32) {
      tensor.encoding = Encoding::F32ToBF16;
      bits = 16;
      tensor.storedType += " as bf16";
    }
  } else if (format != "raw") {
    return fail("format " + quoteName(format) + ", expected 'raw' or 'f32-to-bf16'");
  }
  if (bits == 4)
    tensor.encoding = Encoding::PackedNibbles;
  // Eight bytes for each element are known not to overflow.
  if (!count)
    return fail("the shape is too large");
  tensor.bytes = (*count * bits + 7) / 8;
  int64_t nbytes, begin;
  if (!asSize(json["nbytes"], nbytes) || !asSize(json["byteOffset"], begin))
    return fail("nbytes or byteOffset is not a size");
  if (nbytes != tensor.bytes)
    return fail("nbytes is " + std::to_string(nbytes) + ", expected " + std::to_string(tensor.bytes) + " for " +
                tensor.storedType + " " + shapeString(tensor.shape));
  int64_t end;
  if (__builtin_add_overflow(begin, nbytes, &end) || end > fileBytes)
    return fail("bytes " + std::to_string(begin) + " to " +
                (end < begin ? std::string("beyond 2^63") : std::to_string(end)) +
                " lie beyond the end of the data at " + std::to_string(fileBytes));
  tensor.offset = begin;
  tensor.file = file;
  return {};
}

} // namespace

bool isTensorCacheName(const std::string &fileName) {
  return fileName == "tensor-cache.json" || fileName == "tensor-cache-b16.json" || fileName == "ndarray-cache.json" ||
         fileName == "ndarray-cache-b16.json";
}

Status parseTensorCache(const std::string &text, const std::string &directory, const OpenOptions &options,
                        WeightSet &set) {
  SK_ASSIGN_OR_RETURN(Json json, parseStrictJson(text, "the tensor cache"));
  if (!json.contains("records") || !json["records"].is_array())
    return invalid("expected a JSON object with records");
  std::set<std::string> seen;
  for (const Json &entry : json["records"]) {
    if (!entry.is_object() || !entry.contains("dataPath") || !entry["dataPath"].is_string())
      return invalid("a data file has no dataPath");
    std::string relative = entry["dataPath"].get<std::string>();
    auto fail = [&](const std::string &message) {
      return invalid("data file " + quoteName(relative) + ": " + message);
    };
    if (!seen.insert(relative).second)
      return fail("listed twice");
    if (!entry.contains("format") || entry["format"] != "raw-shard")
      return fail("the format is not 'raw-shard'");
    int64_t bytes;
    if (!entry.contains("nbytes") || !asSize(entry["nbytes"], bytes))
      return fail("nbytes is not a size");
    if (!entry.contains("records") || !entry["records"].is_array())
      return fail("records is not a list");
    std::string md5;
    if (entry.contains("md5sum")) {
      if (!entry["md5sum"].is_string())
        return fail("md5sum is not a string");
      md5 = entry["md5sum"].get<std::string>();
    }
    auto full = resolveInside(directory, relative, options);
    if (!full.ok())
      return full.status();
    SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(*full));
    if (file->size() != bytes)
      return fail(std::to_string(file->size()) + " bytes, expected " + std::to_string(bytes) +
                  (file->size() < bytes ? " (truncated file?)" : ""));
    set.files.push_back({*full, bytes, md5});
    std::vector<std::pair<int64_t, const StoredTensor *>> ranges;
    for (const Json &record : entry["records"]) {
      StoredTensor tensor;
      Status status = readRecord(record, file, bytes, tensor);
      if (!status.ok())
        return status.withContext("data file " + quoteName(relative));
      auto [it, added] = set.tensors.emplace(tensor.name, tensor);
      if (!added)
        return fail("tensor " + quoteName(tensor.name) + " appears twice");
      if (tensor.bytes > 0)
        ranges.emplace_back(tensor.offset, &it->second);
    }
    std::sort(ranges.begin(), ranges.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    for (size_t i = 1; i < ranges.size(); ++i) {
      const StoredTensor &a = *ranges[i - 1].second, &b = *ranges[i].second;
      if (b.offset < a.offset + a.bytes)
        return fail("tensor " + quoteName(b.name) + ": starts at byte " + std::to_string(b.offset) + " and overlaps " +
                    quoteName(a.name) + ", which ends at " + std::to_string(a.offset + a.bytes));
    }
  }
  return {};
}

Status readTensorCache(const std::string &path, const OpenOptions &options, WeightSet &set) {
  SK_ASSIGN_OR_RETURN(std::string text, readMetadata(path));
  Status status = parseTensorCache(text, fs::path(path).parent_path().string(), options, set);
  return status.code() == Code::IO || status.code() == Code::NotFound ? status : status.withContext(path);
}

struct TensorCacheFile::State {
  std::string name, path;
  F32Storage f32;
  std::unique_ptr<FileWriter> writer;
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
};

/// Replaces finite values beyond the largest finite bf16 by that.
static float clipToBf16(float value) {
  constexpr float max = 0x1.fep127f;
  return std::isfinite(value) ? std::clamp(value, -max, max) : value;
}

TensorCacheFile::TensorCacheFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TensorCacheFile::~TensorCacheFile() = default;

Expected<std::unique_ptr<TensorCacheFile>> TensorCacheFile::create(const std::string &directory,
                                                                   const std::string &name, F32Storage f32) {
  auto state = std::make_unique<State>();
  state->name = name;
  state->path = (fs::path(directory) / name).string();
  state->f32 = f32;
  SK_ASSIGN_OR_RETURN(state->writer, FileWriter::create(state->path));
  state->writer->keepMd5();
  return std::unique_ptr<TensorCacheFile>(new TensorCacheFile(std::move(state)));
}

Status TensorCacheFile::add(const TensorContent &tensor) {
  FileWriter &writer = *state_->writer;
  std::optional<int64_t> count = numElements(tensor.shape);
  if (!count)
    return invalid(state_->path + ": tensor " + quoteName(tensor.name) + " is too large");
  bool narrow = state_->f32 != F32Storage::Raw && tensor.dtype == DType::F32;
  int64_t bits = narrow ? 16 : dtypeBits(tensor.dtype), bytes = (*count * bits + 7) / 8;
  state_->records.push_back({{"name", tensor.name},
                             {"shape", tensor.shape},
                             {"dtype", tvmDTypeName(tensor.dtype)},
                             {"format", state_->f32 == F32Storage::Raw ? "raw" : "f32-to-bf16"},
                             {"nbytes", bytes},
                             {"byteOffset", writer.written()}});
  int64_t size = dtypeSize(tensor.dtype), step = 1 << 20; // Even: whole bytes of nibbles.
  std::vector<char> block, packed;
  for (int64_t at = 0; at < *count; at += step) {
    int64_t n = std::min(step, *count - at);
    block.resize(size_t(n * size));
    SK_RETURN_IF_ERROR(tensor.read(at, n, block.data()));
    const char *data = block.data();
    int64_t length = n * size;
    if (narrow) {
      packed.resize(size_t(n * 2));
      for (int64_t i = 0; i < n; ++i) {
        float value;
        std::memcpy(&value, block.data() + i * 4, 4);
        if (state_->f32 == F32Storage::ClipToBF16)
          value = clipToBf16(value);
        uint16_t half = floatToBf16(value); // NaN stays NaN.
        std::memcpy(packed.data() + i * 2, &half, 2);
      }
      data = packed.data();
      length = n * 2;
    } else if (bits == 4) {
      packed.assign(size_t((n + 1) / 2), 0);
      for (int64_t i = 0; i < n; ++i)
        packed[size_t(i / 2)] |= char((block[size_t(i)] & 15) << (i % 2 * 4));
      data = packed.data();
      length = (n + 1) / 2;
    }
    SK_RETURN_IF_ERROR(writer.write(data, length));
  }
  return {};
}

Expected<std::string> TensorCacheFile::commit() {
  nlohmann::ordered_json entry = {{"dataPath", state_->name},
                                  {"format", "raw-shard"},
                                  {"nbytes", state_->writer->written()},
                                  {"records", std::move(state_->records)},
                                  {"md5sum", state_->writer->md5()}};
  SK_RETURN_IF_ERROR(state_->writer->commit());
  try {
    return entry.dump();
  } catch (const Json::exception &) {
    return invalid(state_->path + ": a tensor has a name that is not UTF-8");
  }
}

Status writeTensorCacheIndex(const std::string &directory, const std::vector<std::string> &entries) {
  nlohmann::ordered_json top = {{"metadata", Json::object()}, {"records", Json::array()}};
  for (const std::string &entry : entries)
    top["records"].push_back(nlohmann::ordered_json::parse(entry));
  std::string text = top.dump(2) + "\n";
  return writeFile((fs::path(directory) / "tensor-cache.json").string(), {{text.data(), int64_t(text.size())}});
}

Status writeTensorCache(const std::string &directory, const std::vector<TensorContent> &tensors,
                        const TensorCacheOptions &options) {
  std::set<std::string> names;
  std::vector<std::string> entries;
  std::unique_ptr<TensorCacheFile> file;
  int64_t bytes = 0;
  auto finish = [&]() -> Status {
    if (!file)
      return {};
    SK_ASSIGN_OR_RETURN(std::string entry, file->commit());
    entries.push_back(std::move(entry));
    file.reset();
    bytes = 0;
    return {};
  };
  for (const TensorContent &tensor : tensors) {
    if (!names.insert(tensor.name).second)
      return invalid(directory + ": tensor " + quoteName(tensor.name) + " appears twice");
    int64_t size = numElements(tensor.shape).value_or(0) * dtypeSize(tensor.dtype);
    if (bytes > 0 && bytes + size > options.maxFileBytes)
      SK_RETURN_IF_ERROR(finish());
    if (!file) {
      SK_ASSIGN_OR_RETURN(file, TensorCacheFile::create(
                                    directory, "params_shard_" + std::to_string(entries.size()) + ".bin", options.f32));
    }
    SK_RETURN_IF_ERROR(file->add(tensor));
    bytes += size;
  }
  SK_RETURN_IF_ERROR(finish());
  return writeTensorCacheIndex(directory, entries);
}

} // namespace shardkit::rt
