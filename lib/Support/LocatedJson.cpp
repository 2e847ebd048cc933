//===- LocatedJson.cpp - JSON with locations ------------------------------===//

#include "shardkit/Support/LocatedJson.h"
#include "shardkit/Dialect/SPMD/IR/Renames.h"
#include "shardkit/Support/Names.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spmd;

const LocatedJson *LocatedJson::find(llvm::StringRef key) const {
  for (const Member &member : members)
    if (member.key == key)
      return &member.value;
  return nullptr;
}

namespace {

/// Reports the read position to the handler.
class CountingIterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *at, const char **reached) : at(at), reached(reached) {}
  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    *reached = ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator &o) const { return at == o.at; }
  bool operator!=(const CountingIterator &o) const { return at != o.at; }

private:
  const char *at;
  const char **reached;
};

/// Builds the tree from the events of the parser.
class JsonBuilder {
public:
  JsonBuilder(llvm::StringRef text, LocatedJson &root, const char *const &reached)
      : text(text), root(root), reached(reached) {}

  std::optional<JsonError> error;

  bool null() {
    add(LocatedJson::Null);
    return true;
  }
  bool boolean(bool value) {
    add(LocatedJson::Bool).boolean = value;
    return true;
  }
  bool number_integer(int64_t value) {
    LocatedJson &number = add(LocatedJson::Integer);
    number.integer = value;
    number.real = double(value);
    return true;
  }
  bool number_unsigned(uint64_t value) {
    if (value <= uint64_t(INT64_MAX))
      return number_integer(int64_t(value));
    return number_float(double(value), "");
  }
  bool number_float(double value, const std::string &) {
    add(LocatedJson::Real).real = value;
    return true;
  }
  bool string(std::string &value) {
    add(LocatedJson::String).text = std::move(value);
    return true;
  }
  bool binary(std::vector<uint8_t> &) { return false; } // never in text
  bool start_object(size_t) { return open(LocatedJson::Object); }
  bool start_array(size_t) { return open(LocatedJson::Array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string &key) {
    size_t offset = tokenStart();
    if (stack.back()->find(key))
      return fail(offset, "key \"" + key + "\" occurs twice, expected it once");
    stack.back()->members.push_back({std::move(key), offset, {}});
    return true;
  }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &ex) {
    // "[json.exception...] parse error at line 1, column 2: what is wrong"
    llvm::StringRef message = ex.what();
    if (size_t column = message.find("column "); column != llvm::StringRef::npos)
      message = message.substr(column).split(": ").second;
    return fail(position > 0 ? position - 1 : 0, "malformed JSON: " + message.str());
  }

private:
  static constexpr size_t kMaxDepth = 64;

  bool fail(size_t offset, std::string message) {
    error = {std::min(offset, text.size()), std::move(message)};
    return false;
  }

  /// The offset of the token that the parser has just read. After a number it had read one
  /// character more, never the first of this token.
  size_t tokenStart() {
    size_t start = text.find_first_not_of(" \t\r\n:,]}", end);
    end = reached - text.begin();
    return std::min(start, text.size());
  }

  LocatedJson &add(LocatedJson::Kind kind) {
    size_t offset = tokenStart();
    LocatedJson &slot = stack.empty()                              ? root
                        : stack.back()->kind == LocatedJson::Array ? stack.back()->items.emplace_back()
                                                                   : stack.back()->members.back().value;
    slot.kind = kind;
    slot.offset = offset;
    return slot;
  }
  bool open(LocatedJson::Kind kind) {
    LocatedJson &value = add(kind);
    if (stack.size() == kMaxDepth)
      return fail(value.offset, "JSON is nested more than 64 deep");
    // Only the last child of a value is open, so this address is stable.
    stack.push_back(&value);
    return true;
  }
  bool close() {
    stack.pop_back();
    end = reached - text.begin();
    return true;
  }

  llvm::StringRef text;
  LocatedJson &root;
  const char *const &reached;
  size_t end = 0;
  std::vector<LocatedJson *> stack;
};

} // namespace

std::optional<JsonError> mlir::spmd::parseLocatedJson(llvm::StringRef text, LocatedJson &value) {
  const char *reached = text.begin();
  JsonBuilder builder(text, value, reached);
  nlohmann::json::sax_parse(CountingIterator(text.begin(), &reached), CountingIterator(text.end(), &reached), &builder);
  return builder.error;
}

//===----------------------------------------------------------------------===//
// JsonFile
//===----------------------------------------------------------------------===//

LogicalResult JsonFile::parse(LocatedJson &root, llvm::StringRef what) {
  if (std::optional<JsonError> error = parseLocatedJson(text, root))
    return emitError(error->offset) << error->message;
  if (root.kind != LocatedJson::Object)
    return emitError(root.offset) << what << " is " << describe(root) << ", expected an object";
  return success();
}

Location JsonFile::locate(size_t offset) {
  if (offset < lastOffset)
    lastOffset = lineStart = 0, line = 1;
  for (; lastOffset < offset; ++lastOffset)
    if (text[lastOffset] == '\n') {
      ++line;
      lineStart = lastOffset + 1;
    }
  return FileLineColLoc::get(context, name, line, offset - lineStart + 1);
}

std::string JsonFile::describe(const LocatedJson &value) {
  switch (value.kind) {
  case LocatedJson::Null:
    return "null";
  case LocatedJson::Bool:
    return value.boolean ? "true" : "false";
  case LocatedJson::Integer:
    return std::to_string(value.integer);
  case LocatedJson::Real:
    return "a number";
  case LocatedJson::String:
    return "\"" + value.text + "\"";
  case LocatedJson::Array:
    return "a list";
  case LocatedJson::Object:
    return "an object";
  }
  llvm_unreachable("no such kind");
}

LogicalResult JsonFile::checkKeys(const LocatedJson &object, llvm::ArrayRef<llvm::StringRef> known) {
  for (const LocatedJson::Member &member : object.members)
    if (!llvm::is_contained(known, member.key)) {
      if (std::string renamed = describeRename(RenameKind::PlanKey, member.key); !renamed.empty())
        return emitError(member.offset) << renamed;
      return emitError(member.offset) << "unknown key \"" << member.key << "\", expected one of "
                                      << listNearest(member.key, known);
    }
  return success();
}

FailureOr<llvm::SmallVector<int64_t>> JsonFile::readIntegers(const LocatedJson &object, llvm::StringRef key) {
  const LocatedJson *list = object.find(key);
  if (!list || list->kind != LocatedJson::Array ||
      !llvm::all_of(list->items, [](const LocatedJson &v) { return v.kind == LocatedJson::Integer; }))
    return emitError(list ? list->offset : object.offset)
           << "\"" << key << "\" is " << (list ? describe(*list) : "missing") << ", expected a list of integers";
  llvm::SmallVector<int64_t> integers;
  for (const LocatedJson &item : list->items)
    integers.push_back(item.integer);
  return integers;
}

LogicalResult JsonFile::readText(const LocatedJson &object, llvm::StringRef key, std::string &out) {
  const LocatedJson *value = object.find(key);
  if (!value)
    return success();
  if (!value->isString() || value->text.empty())
    return emitError(value->offset) << "\"" << key << "\" is " << describe(*value) << ", expected a name";
  out = value->text;
  return success();
}
