//===- ShardingText.cpp - Shardings as text -------------------------------===//
//
//   sharding ::= `[` (dim (`,` dim)*)? `]` (`,` `replicated` `=` axes)?
//                (`,` `unreduced` (`(` kind `)`)? `=` axes)?
//   dim      ::= `{` (entry (`,` entry)*)? (`,`? `?`)? `}` (`p` integer)?
//   entry    ::= integer | string (`:` `(` integer `)` integer)?
//   axes     ::= `{` (entry (`,` entry)*)? `}`
//
//===----------------------------------------------------------------------===//

#include "shardkit/Layout/Sharding.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::spmd;
using llvm::StringRef;

static void print(llvm::raw_ostream &os, const DimEntry &entry, const Mesh &mesh) {
  if (entry.isStride()) {
    os << entry.size;
    return;
  }
  if (static_cast<size_t>(entry.axis) >= mesh.axes.size()) {
    os << "<axis " << entry.axis << ">";
    return;
  }
  const MeshAxis &axis = mesh.axes[entry.axis];
  os << '"';
  llvm::printEscapedString(axis.name, os);
  os << '"';
  if (entry.pre != 1 || entry.size != axis.size)
    os << ":(" << entry.pre << ')' << entry.size;
}

static void print(llvm::raw_ostream &os, llvm::ArrayRef<DimEntry> entries, const Mesh &mesh) {
  bool first = true;
  for (const DimEntry &entry : entries) {
    if (!first)
      os << ", ";
    first = false;
    print(os, entry, mesh);
  }
}

std::string mlir::spmd::toString(llvm::ArrayRef<DimEntry> entries, const Mesh &mesh) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, entries, mesh);
  return text;
}

std::string mlir::spmd::toString(const Sharding &sharding, const Mesh &mesh) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  bool first = true;
  for (const DimSharding &dim : sharding.dims) {
    if (!first)
      os << ", ";
    first = false;
    os << '{';
    print(os, dim.entries, mesh);
    if (dim.open)
      os << (dim.entries.empty() ? "?" : ", ?");
    os << '}';
    if (dim.priority)
      os << 'p' << dim.priority;
  }
  os << ']';
  if (!sharding.replicated.empty()) {
    os << ", replicated = {";
    print(os, sharding.replicated, mesh);
    os << '}';
  }
  if (!sharding.unreduced.empty()) {
    os << ", unreduced";
    if (sharding.unreducedKind != ReductionKind::Sum)
      os << '(' << stringifyReductionKind(sharding.unreducedKind) << ')';
    os << " = {";
    print(os, sharding.unreduced, mesh);
    os << '}';
  }
  return text;
}

namespace {
class Parser {
public:
  Parser(StringRef text, const Mesh &mesh, ShardingError &error)
      : text(text), remaining(text), mesh(mesh), error(error) {}
  std::optional<Sharding> parse();

private:
  bool parseDim(DimSharding &result);
  bool parseAxes(DimEntries &result);
  bool parseEntry(DimEntries &result);
  bool parseString(std::string &result);
  bool parseInteger(int64_t &value);

  void skipSpace() { remaining = remaining.ltrim(); }
  bool consume(StringRef token);
  bool expect(StringRef token) { return consume(token) || syntax(("'" + token + "'").str()); }
  bool syntax(const std::string &expected);
  bool fail(const char *reason, std::string message);

  StringRef text, remaining;
  const Mesh &mesh;
  ShardingError &error;
  int64_t dim = -1;
};

std::optional<Sharding> Parser::parse() {
  Sharding sharding;
  if (!expect("["))
    return std::nullopt;
  if (!consume("]")) {
    do {
      dim = sharding.dims.size();
      if (!parseDim(sharding.dims.emplace_back()))
        return std::nullopt;
    } while (consume(","));
    if (!expect("]"))
      return std::nullopt;
  }
  dim = -1;
  bool sawReplicated = false, sawUnreduced = false;
  while (consume(",")) {
    if (!sawReplicated && consume("replicated")) {
      sawReplicated = true;
      if (!expect("=") || !parseAxes(sharding.replicated))
        return std::nullopt;
    } else if (!sawUnreduced && consume("unreduced")) {
      sawUnreduced = true;
      if (consume("(")) {
        skipSpace();
        StringRef word = remaining.take_while(llvm::isAlpha);
        remaining = remaining.drop_front(word.size());
        auto kind = parseReductionKind(word);
        if (!kind) {
          fail("unknown_reduction", "unknown reduction '" + word.str() +
                                        "', expected sum, prod, and, or, xor, max, min, umax, "
                                        "umin, maxnum or minnum");
          return std::nullopt;
        }
        sharding.unreducedKind = *kind;
        if (!expect(")"))
          return std::nullopt;
      }
      if (!expect("=") || !parseAxes(sharding.unreduced))
        return std::nullopt;
    } else {
      syntax("'replicated' or 'unreduced', each at most once");
      return std::nullopt;
    }
  }
  skipSpace();
  if (!remaining.empty()) {
    syntax("the end");
    return std::nullopt;
  }
  return sharding;
}

bool Parser::parseDim(DimSharding &result) {
  if (!expect("{"))
    return false;
  if (!consume("}")) {
    do {
      if (consume("?")) {
        result.open = true;
        break;
      }
      if (!parseEntry(result.entries))
        return false;
    } while (consume(","));
    if (!expect("}"))
      return false;
  }
  if (remaining.starts_with("p")) {
    remaining = remaining.drop_front();
    return parseInteger(result.priority);
  }
  return true;
}

bool Parser::parseAxes(DimEntries &result) {
  if (!expect("{"))
    return false;
  if (consume("}"))
    return true;
  do {
    if (!parseEntry(result))
      return false;
  } while (consume(","));
  return expect("}");
}

bool Parser::parseEntry(DimEntries &result) {
  skipSpace();
  if (!remaining.starts_with("\"")) {
    int64_t stride;
    if (!parseInteger(stride))
      return false;
    result.push_back(DimEntry::stride(stride));
    return true;
  }
  std::string name;
  if (!parseString(name))
    return false;
  auto axis = mesh.findAxis(name);
  if (!axis)
    return fail("unknown_axis", "unknown axis \"" + name + "\", available axes: " + mesh.axesToString());
  DimEntry entry{static_cast<int32_t>(*axis), 1, mesh.axes[*axis].size};
  if (consume(":") && !(expect("(") && parseInteger(entry.pre) && expect(")") && parseInteger(entry.size)))
    return false;
  result.push_back(entry);
  return true;
}

bool Parser::parseString(std::string &result) {
  remaining = remaining.drop_front(); // the quote
  while (!remaining.empty() && remaining.front() != '"') {
    char c = remaining.front();
    remaining = remaining.drop_front();
    if (c == '\\' && !remaining.empty()) {
      if (remaining.front() == '"' || remaining.front() == '\\') {
        c = remaining.front();
        remaining = remaining.drop_front();
      } else if (remaining.size() >= 2 && llvm::isHexDigit(remaining[0]) && llvm::isHexDigit(remaining[1])) {
        c = static_cast<char>(llvm::hexFromNibbles(remaining[0], remaining[1]));
        remaining = remaining.drop_front(2);
      }
    }
    result.push_back(c);
  }
  return consume("\"") || syntax("a closing quote");
}

bool Parser::parseInteger(int64_t &value) {
  skipSpace();
  if (remaining.empty() || !llvm::isDigit(remaining.front()) || remaining.consumeInteger(10, value))
    return syntax("an axis name, an integer or '?'");
  return true;
}

bool Parser::consume(StringRef token) {
  skipSpace();
  return remaining.consume_front(token);
}

bool Parser::syntax(const std::string &expected) {
  return fail("syntax", "malformed sharding at character " + std::to_string(text.size() - remaining.size()) +
                            ", expected " + expected);
}

bool Parser::fail(const char *reason, std::string message) {
  error = ShardingError{reason, std::move(message), dim};
  return false;
}
} // namespace

std::optional<Sharding> mlir::spmd::parseSharding(StringRef text, const Mesh &mesh, ShardingError &error) {
  return Parser(text, mesh, error).parse();
}
