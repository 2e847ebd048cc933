//===- LocatedJson.h - JSON with locations ----------------------*- C++ -*-===//

#ifndef SHARDKIT_SUPPORT_LOCATEDJSON_H
#define SHARDKIT_SUPPORT_LOCATEDJSON_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::spmd {

struct LocatedJson {
  enum Kind { Null, Bool, Integer, Real, String, Array, Object };
  Kind kind = Null;
  /// Offset of the value in the text.
  size_t offset = 0;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0; // set for integers too
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
  size_t offset; // position of the key
  LocatedJson value;
};

struct JsonError {
  size_t offset;
  std::string message;
};

/// Parses `text` into `value`; a key that an object has twice is an error too.
std::optional<JsonError> parseLocatedJson(llvm::StringRef text, LocatedJson &value);

/// A file that is read, with messages at locations in it.
class JsonFile {
public:
  /// `text` and `name` must outlive it.
  JsonFile(llvm::StringRef text, llvm::StringRef name, MLIRContext *context)
      : text(text), name(name), context(context) {}

  /// Parses the file, which must be an object; one error otherwise. `what` names its kind in messages.
  LogicalResult parse(LocatedJson &root, llvm::StringRef what);
  Location locate(size_t offset);
  InFlightDiagnostic emitError(size_t offset) { return mlir::emitError(locate(offset)) << prefix; }
  /// A value for messages: `"x"`, `3`, `a list`.
  static std::string describe(const LocatedJson &value);
  LogicalResult checkKeys(const LocatedJson &object, llvm::ArrayRef<llvm::StringRef> known);
  /// A list of integers: the member `key` of `object`.
  FailureOr<llvm::SmallVector<int64_t>> readIntegers(const LocatedJson &object, llvm::StringRef key);
  /// The text of a member that must be a string and not empty; `out` stays as it is
  /// if there is no such member.
  LogicalResult readText(const LocatedJson &object, llvm::StringRef key, std::string &out);

  llvm::StringRef text, name;
  MLIRContext *context;
  std::string prefix; // prepended to messages

private:
  // Offsets mostly grow from call to call.
  size_t lastOffset = 0, lineStart = 0;
  unsigned line = 1;
};

} // namespace mlir::spmd

#endif // SHARDKIT_SUPPORT_LOCATEDJSON_H
