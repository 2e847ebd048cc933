//===- Decode.h - From PTX statements to instructions ----------*- C++ -*--===//

#ifndef SHARDKIT_TEST_CUDA_PTX_DECODE_H
#define SHARDKIT_TEST_CUDA_PTX_DECODE_H

#include "Exec.h"
#include "Float.h"

#include <set>

namespace shardkit::emu {

// Inst::flags of floating-point instructions; Inst::mode is a Round.
enum : uint8_t { kFtz = 1, kSat = 2, kRelu = 4, kNaN = 8, kSatFinite = 16, kRounded = 32 };

/// Decodes a kernel and the functions that it calls.
class Decoder {
public:
  Decoder(const ModuleAst &module, const FunctionAst &kernel,
          const std::function<uint64_t(const std::string &)> &addressOf);
  std::unique_ptr<Kernel> run();

  [[noreturn]] void fail(const std::string &what) const;
  const Statement &statement() const { return *statement_; }
  const Operand &operand(size_t i) const;
  size_t operands() const { return statement_->operands.size(); }
  bool has(std::string_view modifier) const { return statement_->has(modifier); }
  /// The nth type among the modifiers; None where there are fewer.
  Type type(size_t n = 0) const;
  /// Fails on modifiers other than types and these.
  void onlyModifiers(std::initializer_list<std::string_view> known) const;

  /// Bytes of a register; 0 of a number, an address or `_`.
  int widthOf(const Operand &o) const;
  /// Row of a source of that many bytes: register, number, symbol or special register.
  Row source(const Operand &o, int bytes, Type type = Type::None);
  Row destination(const Operand &o, int bytes);
  Row predicate(const Operand &o);
  Row constant(uint64_t value, int bytes);
  /// The address of [..] : its row and Inst::offset, and Inst::wide[2].
  Row address(const Operand &o, Inst &inst);
  uint64_t number(const Operand &o) const;
  /// Where a variable is, in its own space.
  uint64_t symbol(const std::string &name);
  Space spaceOf(const std::string &name) const;
  int label(const std::string &name) const;
  const std::vector<std::string> &targetsOf(const std::string &table) const;
  const Function *callee(const std::string &name);
  /// Offset and bytes of a parameter of the function at hand or that it declares.
  Copy param(const std::string &name) const;
  const FunctionAst &ast(const std::string &name) const;
  /// Float flags from the modifiers: rounding, ftz, sat, relu, NaN.
  void floatFlags(Inst &inst) const;
  Row scratch(int bytes); ///< A row of its own.

private:
  struct Place {
    Space space;
    uint64_t offset;
    int64_t bytes;
  };
  const ModuleAst &module_;
  const FunctionAst &kernelAst_;
  const std::function<uint64_t(const std::string &)> &addressOf_;
  std::unique_ptr<Kernel> kernel_;
  std::map<std::string, Function *> functions_;
  std::vector<std::pair<const FunctionAst *, Function *>> todo_;
  std::map<std::pair<uint64_t, int>, int32_t> constants_;
  std::map<std::string, uint64_t> shared_; ///< Offset of static shared variables.
  std::set<std::string> dynamic_;
  uint64_t dynamicAlign_ = 1;
  // Of the function at hand.
  const FunctionAst *functionAst_ = nullptr;
  Function *function_ = nullptr;
  std::map<std::string, Place> places_;
  std::map<std::string, std::pair<int32_t, int>> rows_; ///< Row and bytes.
  const Statement *statement_ = nullptr;

  void layout(const FunctionAst &ast, Function &out);
  void decodeBody();
  void layoutParams(const FunctionAst &ast, std::map<std::string, Place> &places, uint64_t &end, bool kernel) const;
  void placeShared(const Variable &v);
  void shareds(const FunctionAst &ast, std::set<std::string> &seen);
};

/// Decodes the operands of one mnemonic. Sets Inst::run.
using DecodeFn = void (*)(Decoder &, Inst &);
using DecodeTable = std::unordered_map<std::string_view, DecodeFn>;
void addIntegerOps(DecodeTable &table);
void addFloatOps(DecodeTable &table);
void addCompareOps(DecodeTable &table);
void addConvertOps(DecodeTable &table);
void addMemoryOps(DecodeTable &table);
void addAtomicOps(DecodeTable &table);
void addControlOps(DecodeTable &table);
void addWarpOps(DecodeTable &table);
void addMatrixOps(DecodeTable &table);

/// Calls f with a value of the C++ type; b32 is unsigned. Null where there is none.
template <typename F> Handler forInteger(Type t, F &&f) {
  switch (t) {
  case Type::U8:
  case Type::B8:
    return f(uint8_t());
  case Type::U16:
  case Type::B16:
    return f(uint16_t());
  case Type::U32:
  case Type::B32:
    return f(uint32_t());
  case Type::U64:
  case Type::B64:
    return f(uint64_t());
  case Type::S8:
    return f(int8_t());
  case Type::S16:
    return f(int16_t());
  case Type::S32:
    return f(int32_t());
  case Type::S64:
    return f(int64_t());
  default:
    return nullptr;
  }
}
template <typename F> Handler forFloat(Type t, F &&f) {
  switch (t) {
  case Type::F16:
  case Type::F16x2:
    return f(F16());
  case Type::BF16:
  case Type::BF16x2:
    return f(BF16());
  case Type::F32:
    return f(float());
  case Type::F64:
    return f(double());
  default:
    return nullptr;
  }
}
inline bool isFloat(Type t) {
  return t == Type::F16 || t == Type::F16x2 || t == Type::BF16 || t == Type::BF16x2 || t == Type::F32 || t == Type::F64;
}
inline bool isPacked(Type t) { return t == Type::F16x2 || t == Type::BF16x2; }

template <typename Op, typename D, typename A> void unary(Exec &e, const Inst &i) {
  D *d = e.row<D>(i.op[0]);
  const A *a = e.row<A>(i.op[1]);
  eachLane(e.mask, [&](int l) { d[l] = Op::run(a[l]); });
}
template <typename Op, typename D, typename A, typename B> void binary(Exec &e, const Inst &i) {
  D *d = e.row<D>(i.op[0]);
  const A *a = e.row<A>(i.op[1]);
  const B *b = e.row<B>(i.op[2]);
  eachLane(e.mask, [&](int l) { d[l] = Op::run(a[l], b[l]); });
}
template <typename Op, typename D, typename A, typename B, typename C> void ternary(Exec &e, const Inst &i) {
  D *d = e.row<D>(i.op[0]);
  const A *a = e.row<A>(i.op[1]);
  const B *b = e.row<B>(i.op[2]);
  const C *c = e.row<C>(i.op[3]);
  eachLane(e.mask, [&](int l) { d[l] = Op::run(a[l], b[l], c[l]); });
}

/// op d, a, b.. with registers of these sizes.
inline void plain(Decoder &d, Inst &inst, std::initializer_list<int> sizes, Type type = Type::None) {
  if (d.operands() != sizes.size())
    d.fail("expected " + std::to_string(sizes.size()) + " operands");
  int n = 0;
  for (int size : sizes) {
    inst.op[size_t(n)] = n == 0 ? d.destination(d.operand(0), size) : d.source(d.operand(size_t(n)), size, type);
    ++n;
  }
  inst.ops = n;
}

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_PTX_DECODE_H
