//===- StrictJson.h - JSON without what the standard leaves open -*- C++ -*--===//

#ifndef SHARDKIT_RT_FORMATS_STRICTJSON_H
#define SHARDKIT_RT_FORMATS_STRICTJSON_H

#include "shardkit/rt/Support/File.h"
#include "shardkit/rt/Support/Status.h"

#include <nlohmann/json.hpp>

namespace shardkit::rt {

inline constexpr int64_t maxJsonBytes = 100'000'000;

/// Parses an object. A key that stands twice in one object (the library would
/// keep the last) and nesting beyond 32 levels are errors. `what` is what a
/// duplicate is called at the outermost level ("tensor").
Expected<nlohmann::json> parseStrictJson(const std::string &text, const std::string &document,
                                         const std::string &what = "key");

/// The text of a metadata file of at most maxJsonBytes. Errors name the file.
Expected<std::string> readMetadata(const std::string &path);

/// An integer in [0, INT64_MAX].
bool asSize(const nlohmann::json &json, int64_t &value);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_FORMATS_STRICTJSON_H
