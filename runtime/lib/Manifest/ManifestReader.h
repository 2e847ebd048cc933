//===- ManifestReader.h - JSON members with their context -------*- C++ -*-===//

#ifndef SHARDKIT_RT_MANIFESTREADER_H
#define SHARDKIT_RT_MANIFESTREADER_H

#include "shardkit/rt/Formats/StoredTensor.h"
#include "shardkit/rt/Manifest/Manifest.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace shardkit::rt {

/// The limit for a mesh, and for all stages together.
inline constexpr int64_t maxDevices = 1 << 24;

/// Thrown inside the manifest reader only; becomes a Status at its boundary.
struct ManifestError {
  std::string message;
};

/// A JSON value and its context for messages ("function 'main', argument 'x'").
class JsonAt {
public:
  using Json = nlohmann::json;
  JsonAt(const Json &json, std::string where) : json_(&json), where_(std::move(where)) {}

  [[noreturn]] void fail(const std::string &message) const {
    throw ManifestError{where_.empty() ? message : where_ + ": " + message};
  }
  const Json &json() const { return *json_; }
  const std::string &where() const { return where_; }

  const Json &member(const char *key) const {
    auto it = json_->find(key);
    if (it == json_->end())
      fail("'" + std::string(key) + "' is missing");
    return *it;
  }
  bool has(const char *key) const {
    auto it = json_->find(key);
    return it != json_->end() && !it->is_null();
  }
  void expectObject() const {
    if (!json_->is_object())
      fail("expected an object");
  }
  std::string string(const char *key) const {
    const Json &value = member(key);
    if (!value.is_string())
      fail("'" + std::string(key) + "' is not a string");
    return value.get<std::string>();
  }
  std::string stringOr(const char *key, std::string fallback) const {
    return has(key) ? string(key) : std::move(fallback);
  }
  /// False where it is missing.
  bool flag(const char *key) const {
    if (!has(key))
      return false;
    const Json &value = member(key);
    if (!value.is_boolean())
      fail("'" + std::string(key) + "' is not a boolean");
    return value.get<bool>();
  }
  /// 0 where it is missing.
  double notNegative(const char *key) const;
  int64_t integer(const char *key) const { return asInteger(member(key), key); }
  int64_t integerOr(const char *key, int64_t fallback) const { return has(key) ? integer(key) : fallback; }
  const Json &array(const char *key) const {
    const Json &value = member(key);
    if (!value.is_array())
      fail("'" + std::string(key) + "' is not a list");
    return value;
  }
  /// A list of integers; `count` >= 0 fixes its length.
  std::vector<int64_t> integers(const char *key) const { return asIntegers(array(key), key, -1); }
  std::vector<int64_t> asIntegers(const Json &value, const char *key, int64_t count) const {
    if (!value.is_array() || (count >= 0 && int64_t(value.size()) != count))
      fail("'" + std::string(key) + "' has an entry that is not a list of " + std::to_string(count) + " integers");
    std::vector<int64_t> result;
    for (const Json &entry : value)
      result.push_back(asInteger(entry, key));
    return result;
  }
  int64_t asInteger(const Json &value, const char *key) const {
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)))
      fail("'" + std::string(key) + "' is not an integer");
    return value.get<int64_t>();
  }

private:
  const Json *json_;
  std::string where_;
};

// These throw ManifestError.

MeshInfo readMesh(const JsonAt &at);
/// Programs compute with some types only; weights can be of `any`.
DType readDType(const JsonAt &at, bool any = false);
EntryPoint readEntry(const JsonAt &at, size_t numPrograms);
/// "arena", the buffers of an entry point of a function of sizes.
void readArena(const JsonAt &in, const std::vector<SizeInfo> &sizes, EntryPoint &entry);
/// "input", "weight" or "constant".
ValueKind readArgumentKind(const JsonAt &in, const std::string &kind);
/// With `isSlotted` the value is one of a function of a pipeline. `sizes` are those of its function.
ValueInfo readValue(const JsonAt &at, bool isResult, size_t index, int64_t devices, size_t numArguments,
                    size_t numPrograms, bool anyType = false, bool isSlotted = false,
                    const std::vector<SizeInfo> &sizes = {});
/// "local_shape" and "global_shape".
void readShape(const JsonAt &at, const char *key, Shape &shape, int64_t &elements);
/// The range of random integers; std::nullopt without 'range'.
std::optional<std::pair<int64_t, int64_t>> readRange(const JsonAt &in, DType dtype);
/// Arguments and results.
void readValues(const JsonAt &in, FunctionInfo &function, size_t numPrograms, bool isSlotted);
/// A function; with `stage`, whose mesh it runs on, a function of a pipeline.
FunctionInfo readFunction(const JsonAt &at, const Manifest &manifest, const FunctionInfo *stage);
/// The mesh that `in` names, an index; -1 for none. Checks 'devices'.
void readPlacement(const JsonAt &in, const Manifest &manifest, FunctionInfo &function);
void readReference(const JsonAt &in, FunctionInfo &function, size_t numPrograms);
/// A collective's dtype, sizes and move in closed form, from `in`; not validated.
void readMove(const JsonAt &in, CollectiveInfo &move);
PipelineInfo readPipeline(const JsonAt &at, const Manifest &manifest);
/// Verifies the instructions of all stages: values are written before they are read, all results
/// are written, and no stage waits forever. Sets the order of the instructions.
void checkInstructions(const JsonAt &in, PipelineInfo &pipeline);
/// [function, [shape, dtype], extra inputs...]
HostCall readHostCall(const nlohmann::json &entry, const JsonAt &in);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MANIFESTREADER_H
