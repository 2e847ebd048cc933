//===- LocatedJson.h - JSON with places, for messages -----------*- C++ -*-===//

#ifndef SHARDKIT_LIB_PLAN_LOCATEDJSON_H
#define SHARDKIT_LIB_PLAN_LOCATEDJSON_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::spmd {

struct LocatedJson {
  enum Kind { Null, Bool, Integer, Real, String, Array, Object };
  Kind kind = Null;
  /// Where the value begins in the text.
  size_t offset = 0;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0; // of integers too
  std::string text;
  std::vector<LocatedJson> items;
  struct Member;
  std::vector<Member> members; // in order

  bool isString() const { return kind == String; }
  bool isNumber() const { return kind == Integer || kind == Real; }
  /// Null if there is no such member.
  const LocatedJson *find(llvm::StringRef key) const;
};

struct LocatedJson::Member {
  std::string key;
  size_t offset; // of the key
  LocatedJson value;
};

struct JsonError {
  size_t offset;
  std::string message;
};

/// Parses `text` into `value`; a key that an object has twice is an error too.
std::optional<JsonError> parseLocatedJson(llvm::StringRef text, LocatedJson &value);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_PLAN_LOCATEDJSON_H
