//===- StrictJson.cpp - JSON without what the standard leaves open --------===//

#include "StrictJson.h"

#include "shardkit/rt/Formats/StoredTensor.h"

#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;

namespace {

/// Checks a text for keys that stand twice in one object, and for deep nesting. (The callback of Json::parse could do
/// so too, but with it the library goes through all members of an object after each of them.)
class StrictCheck : public nlohmann::json_sax<Json> {
public:
  StrictCheck(const std::string &document, const std::string &what) : document_(document), what_(what) {}
  Status status;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return nest();
  }
  bool end_object() override {
    keys_.pop_back();
    --nesting_;
    return true;
  }
  bool start_array(std::size_t) override { return nest(); }
  bool end_array() override {
    --nesting_;
    return true;
  }
  bool key(string_t &key) override {
    if (keys_.back().insert(key).second)
      return true;
    return fail(invalid((keys_.size() == 1 ? what_ : "key") + " " + quoteName(key) + " appears twice"));
  }
  bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &error) override {
    const auto *syntax = dynamic_cast<const Json::parse_error *>(&error);
    return fail(invalid(document_ + " is not valid JSON" + (syntax ? " at byte " + std::to_string(syntax->byte) : "")));
  }

private:
  bool nest() { return ++nesting_ <= 32 || fail(invalid(document_ + " is nested more than 32 levels deep")); }
  bool fail(Status error) {
    status = std::move(error);
    return false;
  }

  const std::string &document_, &what_;
  std::vector<std::set<std::string>> keys_;
  int nesting_ = 0;
};

} // namespace

Expected<Json> parseStrictJson(const std::string &text, const std::string &document, const std::string &what) {
  StrictCheck check(document, what);
  if (!Json::sax_parse(text, &check))
    return check.status;
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return invalid(document + " is not a JSON object");
  return json;
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
