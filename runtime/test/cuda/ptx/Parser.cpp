//===- Parser.cpp - Reads PTX text ----------------------------------------===//

#include "Ast.h"

#include <bit>
#include <cstdlib>
#include <cstring>

namespace shardkit::emu {

static const std::pair<const char *, Type> kTypes[] = {
    {"pred", Type::Pred},    {"u8", Type::U8},         {"u16", Type::U16},     {"u32", Type::U32},
    {"u64", Type::U64},      {"s8", Type::S8},         {"s16", Type::S16},     {"s32", Type::S32},
    {"s64", Type::S64},      {"b8", Type::B8},         {"b16", Type::B16},     {"b32", Type::B32},
    {"b64", Type::B64},      {"b128", Type::B128},     {"f16", Type::F16},     {"f16x2", Type::F16x2},
    {"bf16", Type::BF16},    {"bf16x2", Type::BF16x2}, {"f32", Type::F32},     {"f64", Type::F64},
    {"tf32", Type::TF32},    {"u16x2", Type::U16x2},   {"s16x2", Type::S16x2}, {"e4m3x2", Type::E4M3x2},
    {"e5m2x2", Type::E5M2x2}};

Type typeOf(std::string_view word) {
  for (const auto &[name, type] : kTypes)
    if (word == name)
      return type;
  return Type::None;
}

int bytesOf(Type type) {
  switch (type) {
  case Type::None:
  case Type::Pred:
    return 0;
  case Type::U8:
  case Type::S8:
  case Type::B8:
    return 1;
  case Type::U16:
  case Type::S16:
  case Type::B16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return 2;
  case Type::U64:
  case Type::S64:
  case Type::B64:
  case Type::F64:
    return 8;
  case Type::B128:
    return 16;
  default:
    return 4;
  }
}

std::string Statement::text() const {
  std::string out = op;
  for (const std::string &m : modifiers)
    out += "." + m;
  return out;
}

const FunctionAst *ModuleAst::function(std::string_view name) const {
  for (const FunctionAst &f : functions)
    if (f.name == name && f.defined)
      return &f;
  return nullptr;
}

namespace {

bool isName(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%'; }

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}
  ModuleAst run();

private:
  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  ModuleAst module_;
  // Of the function at hand: what its scopes have renamed.
  FunctionAst *function_ = nullptr;
  std::vector<std::map<std::string, std::string>> scopes_;
  int renamed_ = 0;
  std::string pendingTargets_;

  [[noreturn]] void fail(const std::string &what) { throw PtxError(line_, what); }

  void skip() {
    for (;;) {
      if (at_ >= text_.size())
        return;
      char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (isspace((unsigned char)c)) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n')
          ++at_;
      } else if (text_.substr(at_, 2) == "/*") {
        size_t end = text_.find("*/", at_ + 2);
        if (end == text_.npos)
          fail("comment without end");
        for (; at_ < end + 2; ++at_)
          line_ += text_[at_] == '\n';
      } else {
        return;
      }
    }
  }
  bool done() {
    skip();
    return at_ >= text_.size();
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : 0;
  }
  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail(std::string("expected '") + c + "', found '" + std::string(text_.substr(at_, 12)) + "'");
  }
  /// A name; with dots where `dotted` ("%tid.x", "ld.global.b32", ".reg").
  std::string word(bool dotted = false) {
    skip();
    size_t begin = at_;
    while (at_ < text_.size() &&
           (isName(text_[at_]) || (dotted && (text_[at_] == '.' || text_.substr(at_, 2) == "::"))))
      at_ += text_.substr(at_, 2) == "::" ? 2 : 1;
    if (at_ == begin)
      fail("expected a name, found '" + std::string(text_.substr(at_, 12)) + "'");
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string directive() {
    expect('.');
    return word();
  }
  void skipLine() {
    while (at_ < text_.size() && text_[at_] != '\n')
      ++at_;
  }

  Operand number();
  int64_t integer() {
    Operand n = number();
    if (n.kind != Operand::Integer)
      fail("expected an integer");
    return int64_t(n.value);
  }
  Operand operand();
  Operand address();
  std::string renamed(const std::string &name) {
    for (size_t i = scopes_.size(); i-- > 0;)
      if (auto it = scopes_[i].find(name); it != scopes_[i].end())
        return it->second;
    return name;
  }
  bool isRegister(const std::string &name) const {
    return name[0] == '%' || (function_ && function_->registers.count(name));
  }
  /// Inner scopes (inline assembly) have registers of their own.
  void declare(const std::string &name, Type type) {
    std::string own = scopes_.size() > 1 ? name + "@" + std::to_string(renamed_++) : name;
    if (own != name)
      scopes_.back()[name] = own;
    function_->registers[own] = type;
  }
  Variable variable(Space space, bool initialised);
  void initialiser(Variable &var);
  void registers();
  std::vector<Variable> parameters();
  void function(bool kernel);
  void body(FunctionAst &f);
  void statement(FunctionAst &f);
  void skipBlock();
};

Operand Parser::number() {
  Operand out;
  out.kind = Operand::Integer;
  bool minus = accept('-');
  skip();
  size_t begin = at_;
  while (at_ < text_.size() && (isalnum((unsigned char)text_[at_]) || text_[at_] == '.' ||
                                ((text_[at_] == '+' || text_[at_] == '-') && at_ > begin &&
                                 tolower(text_[at_ - 1]) == 'e' && text_.substr(begin, 2) != "0x")))
    ++at_;
  std::string digits(text_.substr(begin, at_ - begin));
  if (digits.empty() || !isdigit((unsigned char)digits[0]))
    fail("expected a number, found '" + std::string(text_.substr(begin, 12)) + "'");
  char *end = nullptr;
  if (digits.size() == 10 && digits[0] == '0' && (digits[1] == 'f' || digits[1] == 'F')) {
    out.kind = Operand::Float32;
    out.value = strtoull(digits.c_str() + 2, &end, 16);
    if (minus)
      out.value ^= 0x80000000u;
  } else if (digits.size() == 18 && digits[0] == '0' && (digits[1] == 'd' || digits[1] == 'D')) {
    out.kind = Operand::Float64;
    out.value = strtoull(digits.c_str() + 2, &end, 16);
    if (minus)
      out.value ^= uint64_t(1) << 63;
  } else if (digits.find('.') != digits.npos) {
    double value = strtod(digits.c_str(), &end);
    value = minus ? -value : value;
    out.kind = Operand::Float64;
    memcpy(&out.value, &value, 8);
  } else {
    while (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u'))
      digits.pop_back();
    bool binary = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B');
    out.value = binary ? strtoull(digits.c_str() + 2, &end, 2) : strtoull(digits.c_str(), &end, 0);
    if (minus)
      out.value = 0 - out.value;
  }
  if (*end)
    fail("expected a number, found '" + digits + "'");
  return out;
}

Operand Parser::address() {
  expect('[');
  Operand out;
  out.kind = Operand::Address;
  char c = peek();
  if (isdigit((unsigned char)c) || c == '-')
    out.parts.push_back(number());
  else {
    Operand base;
    std::string name = word();
    base.name = renamed(name);
    base.kind = isRegister(base.name) ? Operand::Register : Operand::Symbol;
    out.parts.push_back(base);
  }
  if (accept('+'))
    out.value = uint64_t(integer());
  else if (peek() == '-')
    out.value = uint64_t(integer());
  expect(']');
  return out;
}

Operand Parser::operand() {
  char c = peek();
  if (c == '[')
    return address();
  if (c == '{' || c == '(') {
    ++at_;
    Operand out;
    out.kind = c == '{' ? Operand::Vector : Operand::List;
    char close = c == '{' ? '}' : ')';
    if (!accept(close)) {
      do
        out.parts.push_back(operand());
      while (accept(','));
      expect(close);
    }
    return out;
  }
  Operand out;
  if (isdigit((unsigned char)c) || c == '-')
    return number();
  out.negated = accept('!');
  std::string name = word(true);
  if (name == "_") {
    out.kind = Operand::Sink;
  } else {
    out.name = renamed(name);
    out.kind = isRegister(out.name) ? Operand::Register : Operand::Symbol;
  }
  if (out.kind == Operand::Symbol && accept('+'))
    out.value = uint64_t(integer());
  if (accept('|')) {
    Operand pair;
    pair.kind = Operand::Pair;
    pair.parts.push_back(out);
    pair.parts.push_back(operand());
    return pair;
  }
  return out;
}

/// After the space: [.align n] [.v2] .type name [n]... [= init]
Variable Parser::variable(Space space, bool initialised) {
  Variable var;
  var.space = space;
  var.line = line_;
  bool aligned = false;
  int vector = 1;
  while (peek() == '.') {
    std::string w = directive();
    if (w == "align") {
      var.align = integer();
      aligned = true;
    } else if (w == "ptr") { // .ptr [.space] [.align n]: what the pointer points to
      while (peek() == '.') {
        size_t back = at_;
        std::string p = directive();
        if (p == "align")
          (void)integer();
        else if (p != "global" && p != "shared" && p != "local" && p != "const")
          at_ = back;
        if (at_ == back)
          break;
      }
    } else if (w == "v2" || w == "v4") {
      vector = w[1] - '0';
    } else if (w == "attribute") {
      expect('(');
      while (!accept(')'))
        ++at_;
    } else if (Type t = typeOf(w); t != Type::None) {
      var.type = t;
    } else {
      fail("unknown attribute '." + w + "' of a variable");
    }
  }
  if (!aligned)
    var.align = bytesOf(var.type) * vector;
  var.name = word();
  int64_t count = vector;
  bool open = false;
  while (accept('[')) {
    if (peek() == ']')
      open = true;
    else
      count *= integer();
    expect(']');
  }
  var.bytes = open ? 0 : count * bytesOf(var.type);
  if (initialised && accept('='))
    initialiser(var);
  if (open && var.bytes == 0)
    var.external = true;
  return var;
}

void Parser::initialiser(Variable &var) {
  int size = bytesOf(var.type);
  int64_t at = 0;
  auto put = [&](uint64_t bits, int n) {
    if (int64_t(var.init.size()) < at + n)
      var.init.resize(size_t(at + n));
    memcpy(var.init.data() + at, &bits, size_t(n));
    at += n;
  };
  auto element = [&](auto &&self) -> void {
    if (accept('{')) {
      if (accept('}'))
        return;
      do
        self(self);
      while (accept(','));
      expect('}');
      return;
    }
    char c = peek();
    if (isdigit((unsigned char)c) || c == '-') {
      Operand n = number();
      if (accept('(')) // 0xFF00(symbol)
        fail("masks of addresses in initialisers are not supported");
      uint64_t bits = n.value;
      if (n.kind == Operand::Float64 && size == 4) {
        float f = float(std::bit_cast<double>(bits));
        bits = std::bit_cast<uint32_t>(f);
      }
      put(bits, size);
      return;
    }
    std::string symbol = word();
    if (symbol == "generic") {
      expect('(');
      symbol = word();
      expect(')');
    }
    int64_t offset = accept('+') ? integer() : peek() == '-' ? integer() : 0;
    var.references.push_back({at, size, symbol, offset});
    put(0, size);
  };
  element(element);
  if (var.bytes == 0)
    var.bytes = at;
  if (at > var.bytes)
    fail("initialiser of '" + var.name + "' is longer than the variable");
}

/// After ".reg".
void Parser::registers() {
  if (peek() != '.')
    fail("expected a type after .reg");
  std::string w = directive();
  if (w == "v2" || w == "v4")
    fail("registers of vectors are not supported");
  Type type = typeOf(w);
  if (type == Type::None)
    fail("unknown type '." + w + "'");
  do {
    std::string name = word();
    if (accept('<')) {
      int64_t count = integer();
      expect('>');
      for (int64_t i = 0; i < count; ++i)
        declare(name + std::to_string(i), type);
    } else {
      declare(name, type);
    }
  } while (accept(','));
  expect(';');
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> out;
  if (!accept('('))
    return out;
  if (accept(')'))
    return out;
  do {
    std::string w = directive();
    if (w != "param")
      fail("parameters in registers are not supported");
    out.push_back(variable(Space::Param, false));
  } while (accept(','));
  expect(')');
  return out;
}

void Parser::function(bool kernel) {
  FunctionAst f;
  f.kernel = kernel;
  f.line = line_;
  if (!kernel)
    f.results = parameters();
  f.name = word();
  f.params = parameters();
  while (peek() == '.') {
    std::string w = directive();
    if (w == "noreturn")
      continue;
    int values[3] = {1, 1, 1}, n = 0;
    if (w == "pragma") {
      while (!accept(';'))
        ++at_;
      continue;
    }
    if (w == "blocksareclusters" || w == "explicitcluster")
      fail("clusters are not supported");
    do {
      if (n == 3)
        fail("too many numbers after ." + w);
      values[n++] = int(integer());
    } while (accept(','));
    if (w == "maxntid")
      memcpy(f.maxThreads, values, sizeof values);
    else if (w == "reqntid")
      memcpy(f.requiredThreads, values, sizeof values);
    else if (w != "minnctapersm" && w != "maxnreg" && w != "maxnctapersm")
      fail("unknown directive '." + w + "'");
  }
  if (accept(';')) { // A declaration.
    module_.functions.push_back(std::move(f));
    return;
  }
  f.defined = true;
  function_ = &f;
  renamed_ = 0;
  body(f);
  function_ = nullptr;
  module_.functions.push_back(std::move(f));
}

void Parser::body(FunctionAst &f) {
  expect('{');
  scopes_.push_back({});
  while (!accept('}')) {
    if (done())
      fail("function '" + f.name + "' without end");
    if (peek() == '{')
      body(f);
    else
      statement(f);
  }
  scopes_.pop_back();
}

void Parser::statement(FunctionAst &f) {
  int line = line_;
  if (peek() == '.') {
    std::string w = directive();
    if (w == "reg") {
      return registers();
    }
    if (w == "loc" || w == "file")
      return skipLine();
    if (w == "pragma") {
      while (!accept(';'))
        ++at_;
      return;
    }
    Space space = w == "local"    ? Space::Local
                  : w == "shared" ? Space::Shared
                  : w == "param"  ? Space::Param
                  : w == "global" ? Space::Global
                  : w == "const"  ? Space::Const
                                  : Space::Generic;
    if (space == Space::Generic)
      fail("unknown directive '." + w + "'");
    Variable var = variable(space, true);
    expect(';');
    std::string name = var.name;
    var.name = name + "@" + std::to_string(renamed_++);
    scopes_.back()[name] = var.name;
    f.variables.push_back(std::move(var));
    return;
  }
  if (accept(';'))
    return;
  Statement s;
  skip();
  s.line = line_;
  if (accept('@')) {
    s.guardNegated = accept('!');
    s.guard = renamed(word());
  }
  skip();
  std::string head = word(true);
  if (s.guard.empty() && peek() == ':' && head.find('.') == head.npos) {
    ++at_;
    f.labels[head] = int(f.body.size());
    if (peek() == '.') { // name: .branchtargets a, b;
      size_t here = at_;
      if (directive() == "branchtargets") {
        Statement table;
        table.line = line;
        table.op = ".branchtargets";
        table.modifiers = {head};
        do
          table.targets.push_back(word());
        while (accept(','));
        expect(';');
        f.body.push_back(std::move(table));
      } else {
        at_ = here;
      }
    }
    return;
  }
  for (size_t begin = 0; begin <= head.size();) {
    size_t dot = head.find('.', begin);
    if (dot == head.npos)
      dot = head.size();
    std::string part = head.substr(begin, dot - begin);
    if (begin == 0)
      s.op = part;
    else
      s.modifiers.push_back(part);
    begin = dot + 1;
  }
  if (!accept(';')) {
    do
      s.operands.push_back(operand());
    while (accept(','));
    expect(';');
  }
  f.body.push_back(std::move(s));
}

void Parser::skipBlock() {
  expect('{');
  int depth = 1;
  while (depth) {
    char c = peek();
    if (!c)
      fail("block without end");
    ++at_;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
}

ModuleAst Parser::run() {
  for (size_t begin = 0; begin <= text_.size();) {
    size_t end = text_.find('\n', begin);
    if (end == text_.npos)
      end = text_.size();
    module_.source.emplace_back(text_.substr(begin, end - begin));
    begin = end + 1;
  }
  bool external = false;
  while (!done()) {
    std::string w = directive();
    if (w == "version") {
      Operand n;
      skip();
      int major = 0, minor = 0, used = 0;
      if (sscanf(std::string(text_.substr(at_, 16)).c_str(), "%d.%d%n", &major, &minor, &used) < 2)
        fail("expected a version");
      at_ += size_t(used);
      module_.version = 10 * major + minor;
    } else if (w == "target") {
      module_.target = word();
      while (accept(','))
        word();
    } else if (w == "address_size") {
      if (integer() != 64)
        fail("addresses have 64 bits here");
    } else if (w == "visible" || w == "weak" || w == "common") {
      continue;
    } else if (w == "extern") {
      external = true;
      continue;
    } else if (w == "entry" || w == "func") {
      if (w == "func")
        while (peek() == '.') // .func .attribute(...)
          fail("attributes of functions are not supported");
      function(w == "entry");
    } else if (w == "global" || w == "const" || w == "shared") {
      Variable var = variable(w == "global" ? Space::Global : w == "const" ? Space::Const : Space::Shared, true);
      if (external && var.space != Space::Shared)
        fail("unresolved variable '" + var.name + "'");
      var.external |= external;
      expect(';');
      module_.variables.push_back(std::move(var));
    } else if (w == "file" || w == "loc") {
      skipLine();
    } else if (w == "section") {
      if (peek() == '.')
        expect('.');
      word();
      skipBlock();
    } else if (w == "pragma") {
      while (!accept(';'))
        ++at_;
    } else {
      fail("unknown directive '." + w + "'");
    }
    external = false;
  }
  if (!module_.version || module_.target.empty())
    fail("no .version and .target");
  return std::move(module_);
}

} // namespace

ModuleAst parsePtx(std::string_view text) { return Parser(text).run(); }

} // namespace shardkit::emu
