//===- StrictJson.cpp - JSON without what the standard leaves open --------===//

#include "StrictJson.h"

#include "shardkit/rt/Formats/StoredTensor.h"

#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;

Expected<Json> parseStrictJson(const std::string &text, const std::string &document, const std::string &what) {
  std::vector<std::set<std::string>> keys;
  int nesting = 0;
  Status status;
  auto check = [&](int, Json::parse_event_t event, Json &parsed) {
    switch (event) {
    case Json::parse_event_t::object_start:
      keys.emplace_back();
      [[fallthrough]];
    case Json::parse_event_t::array_start:
      if (++nesting > 32 && status.ok())
        status = invalid(document + " is nested more than 32 levels deep");
      break;
    case Json::parse_event_t::object_end:
      keys.pop_back();
      [[fallthrough]];
    case Json::parse_event_t::array_end:
      --nesting;
      break;
    case Json::parse_event_t::key:
      if (status.ok() && !keys.empty() && !keys.back().insert(parsed.get<std::string>()).second)
        status = invalid((keys.size() == 1 ? what : std::string("key")) + " " + quoteName(parsed.get<std::string>()) +
                         " appears twice");
      break;
    default:
      break;
    }
    return status.ok(); // What follows an error is not kept.
  };
  try {
    Json json = Json::parse(text, check);
    SK_RETURN_IF_ERROR(status);
    if (!json.is_object())
      return invalid(document + " is not a JSON object");
    return json;
  } catch (const Json::parse_error &error) {
    return status.ok() ? invalid(document + " is not valid JSON at byte " + std::to_string(error.byte)) : status;
  } catch (const Json::exception &) {
    return status.ok() ? invalid(document + " is not valid JSON") : status;
  }
}

Expected<std::string> readMetadata(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path));
  if (file->size() > maxJsonBytes)
    return invalid(path + ": " + std::to_string(file->size()) + " bytes, expected at most " +
                   std::to_string(maxJsonBytes));
  std::string text(size_t(file->size()), '\0');
  SK_RETURN_IF_ERROR(file->read(text.data(), 0, file->size()));
  return text;
}

bool asSize(const Json &json, int64_t &value) {
  if (!json.is_number_unsigned() || json.get<uint64_t>() > uint64_t(INT64_MAX))
    return false;
  value = json.get<int64_t>();
  return true;
}

} // namespace shardkit::rt
