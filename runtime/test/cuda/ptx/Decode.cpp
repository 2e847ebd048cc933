//===- Decode.cpp - From PTX statements to instructions -------------------===//

#include "Decode.h"

#include "Special.h"

#include <algorithm>

namespace shardkit::emu {

static uint64_t alignTo(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

static const DecodeTable &table() {
  static const DecodeTable table = [] {
    DecodeTable t;
    addIntegerOps(t);
    addFloatOps(t);
    addCompareOps(t);
    addConvertOps(t);
    addMemoryOps(t);
    addAtomicOps(t);
    addControlOps(t);
    addWarpOps(t);
    addMatrixOps(t);
    return t;
  }();
  return table;
}

Decoder::Decoder(const ModuleAst &module, const FunctionAst &kernel,
                 const std::function<uint64_t(const std::string &)> &addressOf)
    : module_(module), kernelAst_(kernel), addressOf_(addressOf), kernel_(std::make_unique<Kernel>()) {}

void Decoder::fail(const std::string &what) const {
  if (!statement_)
    throw PtxError(functionAst_ ? functionAst_->line : 0, what);
  std::string text;
  if (statement_->line > 0 && size_t(statement_->line) <= module_.source.size())
    text = module_.source[size_t(statement_->line) - 1];
  throw PtxError(statement_->line,
                 what + " in '" +
                     text.substr(text.find_first_not_of(" \t") == text.npos ? 0 : text.find_first_not_of(" \t")) + "'");
}

const Operand &Decoder::operand(size_t i) const {
  if (i >= statement_->operands.size())
    fail("too few operands");
  return statement_->operands[i];
}

Type Decoder::type(size_t n) const {
  for (const std::string &m : statement_->modifiers)
    if (Type t = typeOf(m); t != Type::None && n-- == 0)
      return t;
  return Type::None;
}

void Decoder::onlyModifiers(std::initializer_list<std::string_view> known) const {
  for (const std::string &m : statement_->modifiers)
    if (typeOf(m) == Type::None && std::find(known.begin(), known.end(), m) == known.end())
      fail("unknown modifier '." + m + "'");
}

int Decoder::widthOf(const Operand &o) const {
  if (o.kind != Operand::Register)
    return 0;
  auto it = rows_.find(o.name);
  return it != rows_.end() ? it->second.second : specialIndex(o.name) >= 0 ? 4 : 0;
}

Row Decoder::constant(uint64_t value, int bytes) {
  if (bytes < 8)
    value &= (uint64_t(1) << (8 * bytes)) - 1;
  auto [it, fresh] = constants_.try_emplace({value, bytes}, int32_t(kernel_->constants.size()));
  if (fresh) {
    kernel_->constants.resize(kernel_->constants.size() + 32 * 8);
    for (int lane = 0; lane < 32; ++lane)
      memcpy(kernel_->constants.data() + it->second + lane * bytes, &value, size_t(bytes));
  }
  return ~it->second;
}

uint64_t Decoder::number(const Operand &o) const {
  if (o.kind != Operand::Integer)
    fail("expected a number");
  return o.value;
}

Row Decoder::source(const Operand &o, int bytes, Type type) {
  switch (o.kind) {
  case Operand::Register: {
    if (int special = specialIndex(o.name); special >= 0 && !rows_.count(o.name)) {
      Row &row = function_->special[size_t(special)];
      if (row == kNoRow)
        row = scratch(4);
      if (bytes != 4 && bytes)
        fail(o.name + " has 4 bytes");
      return row;
    }
    auto it = rows_.find(o.name);
    if (it == rows_.end())
      fail("unknown register '" + o.name + "'");
    if (bytes && it->second.second != bytes)
      fail("register '" + o.name + "' has " + std::to_string(it->second.second) + " bytes, expected " +
           std::to_string(bytes));
    return it->second.first;
  }
  case Operand::Integer:
    return constant(o.value, bytes);
  case Operand::Float32:
    if (bytes != 4)
      fail("f32 number, expected " + std::to_string(bytes) + " bytes");
    return constant(o.value, 4);
  case Operand::Float64:
    if (bytes == 4 && type == Type::F32)
      return constant(bitsOf(float(std::bit_cast<double>(o.value))), 4);
    if (bytes != 8)
      fail("f64 number, expected " + std::to_string(bytes) + " bytes");
    return constant(o.value, 8);
  case Operand::Symbol:
    if (bytes != 8 && bytes != 4)
      fail("address of '" + o.name + "' in " + std::to_string(bytes) + " bytes");
    if (auto it = places_.find(o.name); it != places_.end() && it->second.space == Space::Local) {
      if (bytes != 8)
        fail("a local address has 8 bytes");
      Row row = scratch(8);
      function_->locals.push_back({row, it->second.offset + o.value});
      return row;
    }
    return constant(symbol(o.name) + o.value, bytes);
  default:
    fail("expected a register or number");
  }
}

Row Decoder::destination(const Operand &o, int bytes) {
  if (o.kind == Operand::Sink)
    return scratch(bytes);
  if (o.kind != Operand::Register || !rows_.count(o.name))
    fail("expected a register to write");
  return source(o, bytes);
}

Row Decoder::predicate(const Operand &o) {
  if (o.kind == Operand::Sink)
    return scratch(4);
  if (o.kind == Operand::Integer)
    return constant(o.value ? ~uint64_t(0) : 0, 4);
  if (o.kind != Operand::Register || o.negated)
    fail("expected a predicate");
  auto it = rows_.find(o.name);
  if (it == rows_.end() || it->second.second != 0)
    fail("expected a predicate, found '" + o.name + "'");
  return it->second.first;
}

Row Decoder::scratch(int bytes) {
  Row row = Row(function_->registerBytes);
  function_->registerBytes += uint32_t(32 * std::max(bytes, 1));
  function_->registerBytes = uint32_t(alignTo(function_->registerBytes, 64));
  return row;
}

Space Decoder::spaceOf(const std::string &name) const {
  if (auto it = places_.find(name); it != places_.end())
    return it->second.space;
  if (shared_.count(name) || dynamic_.count(name))
    return Space::Shared;
  for (const Variable &v : module_.variables)
    if (v.name == name)
      return v.space;
  fail("unknown symbol '" + name + "'");
}

uint64_t Decoder::symbol(const std::string &name) {
  if (auto it = places_.find(name); it != places_.end())
    return it->second.offset;
  if (auto it = shared_.find(name); it != shared_.end())
    return it->second;
  if (dynamic_.count(name))
    return kSharedBase + kernel_->sharedBytes;
  for (const Variable &v : module_.variables)
    if (v.name == name)
      return addressOf_(name);
  fail("unknown symbol '" + name + "'");
}

Row Decoder::address(const Operand &o, Inst &inst) {
  if (o.kind != Operand::Address)
    fail("expected an address");
  const Operand &base = o.parts[0];
  inst.offset = int64_t(o.value);
  inst.wide[2] = 8;
  if (base.kind == Operand::Register) {
    inst.wide[2] = uint8_t(widthOf(base));
    if (inst.wide[2] != 4 && inst.wide[2] != 8)
      fail("an address has 4 or 8 bytes");
    return source(base, inst.wide[2]);
  }
  return source(base, 8);
}

int Decoder::label(const std::string &name) const {
  auto it = functionAst_->labels.find(name);
  if (it == functionAst_->labels.end())
    fail("unknown label '" + name + "'");
  return it->second;
}

const std::vector<std::string> &Decoder::targetsOf(const std::string &table) const {
  for (const Statement &s : functionAst_->body)
    if (s.op == ".branchtargets" && s.modifiers[0] == table)
      return s.targets;
  fail("unknown branch targets '" + table + "'");
}

const FunctionAst &Decoder::ast(const std::string &name) const {
  const FunctionAst *f = module_.function(name);
  if (!f)
    fail("unresolved extern function '" + name + "'");
  return *f;
}

const Function *Decoder::callee(const std::string &name) {
  auto [it, fresh] = functions_.try_emplace(name, nullptr);
  if (fresh) {
    kernel_->functions.emplace_back();
    it->second = &kernel_->functions.back();
    todo_.push_back({&ast(name), it->second});
  }
  return it->second;
}

Copy Decoder::param(const std::string &name) const {
  auto it = places_.find(name);
  if (it == places_.end() || it->second.space != Space::Param)
    fail("unknown parameter '" + name + "'");
  return {uint32_t(it->second.offset), uint32_t(it->second.offset), uint32_t(it->second.bytes)};
}

void Decoder::floatFlags(Inst &inst) const {
  for (const std::string &m : statement_->modifiers) {
    if (m == "ftz")
      inst.flags |= kFtz;
    else if (m == "sat")
      inst.flags |= kSat;
    else if (m == "relu")
      inst.flags |= kRelu;
    else if (m == "NaN")
      inst.flags |= kNaN;
    else if (m == "satfinite")
      inst.flags |= kSatFinite;
    else if (m == "rz" || m == "rm" || m == "rp" || m == "rna") {
      inst.mode = uint8_t(m == "rz" ? Round::Zero : m == "rm" ? Round::Down : m == "rp" ? Round::Up : Round::Away);
      inst.flags |= kRounded;
    }
  }
}

void Decoder::layoutParams(const FunctionAst &f, std::map<std::string, Place> &places, uint64_t &end,
                           bool kernel) const {
  uint64_t base = kernel ? 0 : kOwnParams;
  for (const auto *list : {&f.params, &f.results})
    for (const Variable &v : *list) {
      end = alignTo(end, uint64_t(v.align));
      places[v.name] = {Space::Param, base + end, v.bytes};
      end += uint64_t(v.bytes);
    }
}

void Decoder::layout(const FunctionAst &f, Function &out) {
  functionAst_ = &f;
  function_ = &out;
  places_.clear();
  rows_.clear();
  out.name = f.name;
  out.special.fill(kNoRow);
  uint64_t params = 0, own = 0, local = 0;
  layoutParams(f, places_, params, f.kernel);
  if (!f.kernel)
    own = params;
  for (const Variable &v : f.variables) {
    if (v.space == Space::Param) {
      own = alignTo(own, uint64_t(v.align));
      places_[v.name] = {Space::Param, kOwnParams + own, v.bytes};
      own += uint64_t(v.bytes);
    } else if (v.space == Space::Local) {
      local = alignTo(local, uint64_t(v.align));
      places_[v.name] = {Space::Local, local, v.bytes};
      local += uint64_t(v.bytes);
    } else if (v.space != Space::Shared) {
      fail("variable '" + v.name + "' of a function is in a space that is not supported there");
    }
  }
  out.paramBytes = uint32_t(alignTo(own, 16));
  out.localBytes = uint32_t(alignTo(local, 16));
  rows_["%cc"] = {0, 0}; // The carry.
  out.registerBytes = 4;
  for (const auto &[name, type] : f.registers) {
    int bytes = bytesOf(type);
    if (bytes)
      out.registerBytes = uint32_t(alignTo(out.registerBytes, 64));
    rows_[name] = {int32_t(out.registerBytes), bytes};
    out.registerBytes += bytes ? uint32_t(32 * bytes) : 4;
  }
  out.registerBytes = uint32_t(alignTo(out.registerBytes, 64));
}

void Decoder::decodeBody() {
  const FunctionAst &f = *functionAst_;
  Function &out = *function_;
  for (const Statement &s : f.body) {
    statement_ = &s;
    out.code.emplace_back();
    Inst &inst = out.code.back();
    inst.line = s.line;
    if (s.op == ".branchtargets") { // Nothing to run: branch to what follows.
      inst.run = [](Exec &, const Inst &) {};
      continue;
    }
    auto it = table().find(s.op);
    if (it == table().end())
      fail("unknown instruction '" + s.text() + "'");
    if (!s.guard.empty()) {
      Operand guard;
      guard.kind = Operand::Register;
      guard.name = s.guard;
      inst.guard = predicate(guard);
      inst.guardNegated = s.guardNegated;
    }
    it->second(*this, inst);
    if (!inst.run)
      fail("'" + s.text() + "' is not supported");
  }
  statement_ = nullptr;
  Inst end; // A body may end without ret.
  end.line = f.line;
  Statement ret;
  ret.line = f.line;
  ret.op = "ret";
  statement_ = &ret;
  table().at("ret")(*this, end);
  statement_ = nullptr;
  out.code.push_back(end);
}

/// The next address of that alignment and, where something might count on more, no better.
static uint64_t leastAligned(uint64_t at, uint64_t align) {
  at = alignTo(at, align);
  return align < 128 && at % (2 * align) == 0 ? at + align : at;
}

void Decoder::placeShared(const Variable &v) {
  if (v.external) {
    dynamic_.insert(v.name);
    dynamicAlign_ = std::max(dynamicAlign_, uint64_t(v.align));
    return;
  }
  uint64_t at = leastAligned(kernel_->sharedBytes, uint64_t(v.align));
  shared_[v.name] = kSharedBase + at;
  kernel_->sharedBytes = uint32_t(at + uint64_t(v.bytes));
}

/// What of shared memory a function and its callees use.
void Decoder::shareds(const FunctionAst &f, std::set<std::string> &seen) {
  if (!seen.insert("()" + f.name).second)
    return;
  auto visit = [&](auto &&self, const Operand &o) -> void {
    if (o.kind == Operand::Symbol) {
      seen.insert(o.name);
      if (const FunctionAst *callee = module_.function(o.name))
        shareds(*callee, seen);
    }
    for (const Operand &part : o.parts)
      self(self, part);
  };
  for (const Statement &s : f.body)
    for (const Operand &o : s.operands)
      visit(visit, o);
  for (const Variable &v : f.variables)
    if (v.space == Space::Shared)
      placeShared(v);
}

std::unique_ptr<Kernel> Decoder::run() {
  Kernel &k = *kernel_;
  k.name = kernelAst_.name;
  k.ast = &module_;
  std::copy_n(kernelAst_.maxThreads, 3, k.maxThreads);
  std::copy_n(kernelAst_.requiredThreads, 3, k.requiredThreads);
  std::map<std::string, Place> places;
  uint64_t end = 0;
  layoutParams(kernelAst_, places, end, true);
  k.paramBytes = uint32_t(end);
  for (const Variable &v : kernelAst_.params) {
    k.params.push_back({uint32_t(places[v.name].offset), uint32_t(v.bytes)});
    k.paramAligns.push_back(uint32_t(v.align));
  }

  std::set<std::string> seen;
  shareds(kernelAst_, seen);
  for (const Variable &v : module_.variables)
    if (v.space == Space::Shared && seen.count(v.name))
      placeShared(v);
  if (!dynamic_.empty())
    k.sharedBytes = uint32_t(leastAligned(k.sharedBytes, dynamicAlign_));

  k.functions.emplace_back();
  functions_[kernelAst_.name] = &k.functions.back();
  todo_.push_back({&kernelAst_, &k.functions.back()});
  while (!todo_.empty()) {
    auto [f, out] = todo_.back();
    todo_.pop_back();
    layout(*f, *out);
    decodeBody();
  }
  return std::move(kernel_);
}

std::unique_ptr<Kernel> decode(const ModuleAst &module, const FunctionAst &kernel,
                               const std::function<uint64_t(const std::string &)> &addressOf) {
  return Decoder(module, kernel, addressOf).run();
}

} // namespace shardkit::emu
