//===- Compare.cpp - setp, set, selp, slct --------------------------------===//

#include "Decode.h"

namespace shardkit::emu {

namespace {

enum Cmp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Num, Nan, Equ, Neu, Ltu, Leu, Gtu, Geu };

bool compareOf(Decoder &d, uint8_t &cmp, bool &unsignedOnly) {
  static const std::pair<std::string_view, Cmp> kNames[] = {
      {"eq", Eq},   {"ne", Ne},   {"lt", Lt},   {"le", Le},   {"gt", Gt},   {"ge", Ge},
      {"lo", Lt},   {"ls", Le},   {"hi", Gt},   {"hs", Ge},   {"num", Num}, {"nan", Nan},
      {"equ", Equ}, {"neu", Neu}, {"ltu", Ltu}, {"leu", Leu}, {"gtu", Gtu}, {"geu", Geu}};
  for (const std::string &m : d.statement().modifiers)
    for (const auto &[name, value] : kNames)
      if (m == name) {
        cmp = value;
        unsignedOnly = m == "lo" || m == "ls" || m == "hi" || m == "hs";
        return true;
      }
  return false;
}

template <typename T> bool test(uint8_t cmp, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a || b != b)
      return cmp == Nan || cmp >= Equ;
  switch (cmp) {
  case Eq:
  case Equ:
    return a == b;
  case Ne:
  case Neu:
    return a != b;
  case Lt:
  case Ltu:
    return a < b;
  case Le:
  case Leu:
    return a <= b;
  case Gt:
  case Gtu:
    return a > b;
  case Ge:
  case Geu:
    return a >= b;
  case Num:
    return true;
  default:
    return false;
  }
}
template <typename T> auto comparable(T value, bool ftz) {
  if constexpr (kIsHalf<T>)
    return float(ftz ? flushed(value) : value);
  else if constexpr (std::is_same_v<T, float>)
    return ftz ? flushed(value) : value;
  else
    return value;
}

/// op: d, d2 (or kNoRow), a, b, c (or kNoRow).
template <typename T> void setp(Exec &e, const Inst &i) {
  const T *a = e.row<T>(i.op[2]), *b = e.row<T>(i.op[3]);
  uint32_t bits = 0;
  bool ftz = i.flags & kFtz;
  auto loop = [&](auto cmp) {
    eachLane(e.mask, [&](int l) {
      bits |= uint32_t(test(decltype(cmp)::value, comparable(a[l], ftz), comparable(b[l], ftz))) << l;
    });
  };
  switch (i.mode) {
#define CASE(X)                                                                                                        \
  case X:                                                                                                              \
    loop(std::integral_constant<uint8_t, X>());                                                                        \
    break;
    CASE(Eq)
    CASE(Ne)
    CASE(Lt)
    CASE(Le)
    CASE(Gt)
    CASE(Ge)
    CASE(Num)
    CASE(Nan)
    CASE(Equ)
    CASE(Neu)
    CASE(Ltu)
    CASE(Leu)
    CASE(Gtu)
    CASE(Geu)
#undef CASE
  }
  uint32_t other = ~bits;
  if (i.op[4] != kNoRow) {
    uint32_t c = e.pred(i.op[4]);
    c = i.count == 2 ? ~c : c; // !c
    auto join = [&](uint32_t x) { return i.bytes == 1 ? x & c : i.bytes == 2 ? x | c : x ^ c; };
    bits = join(bits);
    other = join(other);
  }
  uint32_t &p = e.pred(i.op[0]);
  p = (p & ~e.mask) | (bits & e.mask);
  if (i.op[1] != kNoRow) {
    uint32_t &q = e.pred(i.op[1]);
    q = (q & ~e.mask) | (other & e.mask);
  }
}

/// p|q: the comparison of the low and of the high halves.
template <typename T> void setpPacked(Exec &e, const Inst &i) {
  using P = std::array<T, 2>;
  const P *a = e.row<P>(i.op[2]), *b = e.row<P>(i.op[3]);
  uint32_t bits[2] = {0, 0};
  bool ftz = i.flags & kFtz;
  eachLane(e.mask, [&](int l) {
    for (size_t k = 0; k < 2; ++k)
      bits[k] |= uint32_t(test(i.mode, comparable(a[l][k], ftz), comparable(b[l][k], ftz))) << l;
  });
  for (size_t k = 0; k < 2; ++k)
    if (i.op[k] != kNoRow) {
      uint32_t &p = e.pred(i.op[k]);
      p = (p & ~e.mask) | (bits[k] & e.mask);
    }
}

void decodeCompare(Decoder &d, Inst &inst, Type t, size_t first) {
  bool unsignedOnly = false;
  if (!compareOf(d, inst.mode, unsignedOnly))
    d.fail("unknown comparison");
  if (inst.mode >= Num && !isFloat(t))
    d.fail("comparison of floating-point numbers on integers");
  int n = bytesOf(t);
  inst.op[2] = d.source(d.operand(first), n, t);
  inst.op[3] = d.source(d.operand(first + 1), n, t);
  inst.op[4] = kNoRow;
  if (d.operands() > first + 2) {
    Operand c = d.operand(first + 2);
    inst.count = c.negated ? 2 : 1;
    c.negated = false;
    inst.op[4] = d.predicate(c);
    inst.bytes = d.has("and") ? 1 : d.has("or") ? 2 : d.has("xor") ? 3 : 0;
    if (!inst.bytes)
      d.fail("third operand without .and, .or, .xor");
  }
  if (d.has("ftz"))
    inst.flags = kFtz;
  inst.run = isFloat(t) ? forFloat(t, [&](auto v) -> Handler { return setp<decltype(v)>; })
                        : forInteger(t, [&](auto v) -> Handler { return setp<decltype(v)>; });
}

void decodeSetp(Decoder &d, Inst &inst) {
  Type t = d.type();
  const Operand &to = d.operand(0);
  inst.op[1] = kNoRow;
  if (to.kind == Operand::Pair) {
    inst.op[0] = d.predicate(to.parts[0]);
    inst.op[1] = d.predicate(to.parts[1]);
  } else {
    inst.op[0] = d.predicate(to);
  }
  decodeCompare(d, inst, t, 1);
  if (isPacked(t)) {
    if (inst.op[4] != kNoRow)
      d.fail("a third operand of a packed comparison is not supported");
    inst.run = t == Type::F16x2 ? setpPacked<F16> : setpPacked<BF16>;
  }
}

/// set.cmp.dtype.stype d, a, b: all ones or 1.0.
void decodeSet(Decoder &d, Inst &inst) {
  Type to = d.type(0);
  if (to != Type::U32 && to != Type::S32 && to != Type::F32)
    d.fail("set gives u32, s32 or f32 here");
  Row result = d.destination(d.operand(0), 4);
  inst.op[0] = d.scratch(4);
  inst.op[1] = kNoRow;
  decodeCompare(d, inst, d.type(1), 1);
  inst.op[5] = result;
  inst.op[6] = d.constant(to == Type::F32 ? 0x3f800000u : 0xffffffffu, 4);
  // The comparison writes a predicate of its own, from which the value is made.
  Type s = d.type(1);
  auto wrap = [](auto v) -> Handler {
    return [](Exec &e, const Inst &i) {
      setp<decltype(v)>(e, i);
      uint32_t bits = e.pred(i.op[0]);
      uint32_t *out = e.row<uint32_t>(i.op[5]);
      const uint32_t *one = e.row<uint32_t>(i.op[6]);
      eachLane(e.mask, [&](int l) { out[l] = bits >> l & 1 ? one[l] : 0; });
    };
  };
  inst.run = isFloat(s) ? forFloat(s, wrap) : forInteger(s, wrap);
}

template <typename T> void selp(Exec &e, const Inst &i) {
  T *d = e.row<T>(i.op[0]);
  const T *a = e.row<T>(i.op[1]), *b = e.row<T>(i.op[2]);
  uint32_t p = e.pred(i.op[3]);
  eachLane(e.mask, [&](int l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
}

void decodeSelp(Decoder &d, Inst &inst) {
  Type t = d.type();
  int n = bytesOf(t);
  inst.op[0] = d.destination(d.operand(0), n);
  inst.op[1] = d.source(d.operand(1), n, t);
  inst.op[2] = d.source(d.operand(2), n, t);
  inst.op[3] = d.predicate(d.operand(3));
  inst.run = n == 2 ? selp<uint16_t> : n == 4 ? selp<uint32_t> : n == 8 ? selp<uint64_t> : nullptr;
}

template <typename T, typename C> void slct(Exec &e, const Inst &i) {
  T *d = e.row<T>(i.op[0]);
  const T *a = e.row<T>(i.op[1]), *b = e.row<T>(i.op[2]);
  const C *c = e.row<C>(i.op[3]);
  eachLane(e.mask, [&](int l) { d[l] = c[l] >= 0 ? a[l] : b[l]; });
}

} // namespace

void addCompareOps(DecodeTable &t) {
  t["setp"] = decodeSetp;
  t["set"] = decodeSet;
  t["selp"] = decodeSelp;
  t["slct"] = [](Decoder &d, Inst &inst) {
    int n = bytesOf(d.type(0));
    plain(d, inst, {n, n, n, 4});
    bool f = d.type(1) == Type::F32;
    inst.run = n == 8 ? (f ? slct<uint64_t, float> : slct<uint64_t, int32_t>)
                      : (f ? slct<uint32_t, float> : slct<uint32_t, int32_t>);
  };
}

} // namespace shardkit::emu
