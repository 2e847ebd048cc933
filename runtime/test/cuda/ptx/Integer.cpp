//===- Integer.cpp - Integer and bit instructions -------------------------===//

#include "Decode.h"

#include <algorithm>

namespace shardkit::emu {

namespace {

template <typename T> using U = std::make_unsigned_t<T>;
template <typename T> constexpr int kBits = 8 * int(sizeof(T));

struct Add {
  template <typename T> static T run(T a, T b) { return T(uint64_t(a) + uint64_t(b)); }
};
struct Sub {
  template <typename T> static T run(T a, T b) { return T(uint64_t(a) - uint64_t(b)); }
};
struct AddSat {
  static int32_t run(int32_t a, int32_t b) {
    return int32_t(std::clamp<int64_t>(int64_t(a) + b, INT32_MIN, INT32_MAX));
  }
};
struct SubSat {
  static int32_t run(int32_t a, int32_t b) {
    return int32_t(std::clamp<int64_t>(int64_t(a) - b, INT32_MIN, INT32_MAX));
  }
};
struct MulLo {
  template <typename T> static T run(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }
};
struct MulHi {
  template <typename T> static T run(T a, T b) {
    using W = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T(W(a) * W(b) >> kBits<T>);
  }
};
struct MulWide {
  static uint32_t run(uint16_t a, uint16_t b) { return uint32_t(a) * b; }
  static int32_t run(int16_t a, int16_t b) { return int32_t(a) * b; }
  static uint64_t run(uint32_t a, uint32_t b) { return uint64_t(a) * b; }
  static int64_t run(int32_t a, int32_t b) { return int64_t(a) * b; }
};
template <typename M> struct MadOf {
  template <typename T, typename C> static C run(T a, T b, C c) { return C(uint64_t(M::run(a, b)) + uint64_t(c)); }
};
struct Mul24Lo {
  template <typename T> static T run(T a, T b) {
    if constexpr (std::is_signed_v<T>)
      return T(uint32_t(int64_t(a << 8 >> 8) * int64_t(b << 8 >> 8)));
    else
      return T(uint64_t(a & 0xffffff) * (b & 0xffffff));
  }
};
struct Div {
  template <typename T> static T run(T a, T b) {
    if (b == 0)
      return T(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return T(0 - uint64_t(a));
    return T(a / b);
  }
};
struct Rem {
  template <typename T> static T run(T a, T b) {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return 0;
    return T(a % b);
  }
};
struct Min {
  template <typename T> static T run(T a, T b) { return std::min(a, b); }
};
struct Max {
  template <typename T> static T run(T a, T b) { return std::max(a, b); }
};
struct And {
  template <typename T> static T run(T a, T b) { return T(a & b); }
};
struct Or {
  template <typename T> static T run(T a, T b) { return T(a | b); }
};
struct Xor {
  template <typename T> static T run(T a, T b) { return T(a ^ b); }
};
struct Not {
  template <typename T> static T run(T a) { return T(~a); }
};
struct CNot {
  template <typename T> static T run(T a) { return T(a == 0); }
};
struct Neg {
  template <typename T> static T run(T a) { return T(0 - uint64_t(a)); }
};
struct Abs {
  template <typename T> static T run(T a) { return a < 0 ? T(0 - uint64_t(a)) : a; }
};
struct Shl {
  template <typename T> static T run(T a, uint32_t b) { return b >= kBits<T> ? T(0) : T(uint64_t(a) << b); }
};
struct Shr {
  template <typename T> static T run(T a, uint32_t b) {
    if (b >= kBits<T>)
      return a < 0 ? T(-1) : T(0);
    return T(a >> b);
  }
};
struct Popc {
  template <typename T> static uint32_t run(T a) { return uint32_t(std::popcount(a)); }
};
struct Clz {
  template <typename T> static uint32_t run(T a) { return uint32_t(std::countl_zero(a)); }
};
struct Brev {
  template <typename T> static T run(T a) {
    T out = 0;
    for (int i = 0; i < kBits<T>; ++i)
      out = T(out << 1 | (a >> i & 1));
    return out;
  }
};
template <bool Shift> struct Bfind {
  template <typename T> static uint32_t run(T a) {
    U<T> v = U<T>(a < 0 ? T(~a) : a);
    if (v == 0)
      return 0xffffffffu;
    uint32_t at = uint32_t(kBits<T> - 1 - std::countl_zero(v));
    return Shift ? uint32_t(kBits<T> - 1) - at : at;
  }
};
struct Bfe {
  template <typename T> static T run(T a, uint32_t pos, uint32_t len) {
    pos &= 255;
    len &= 255;
    if (len == 0)
      return 0;
    uint32_t top = std::min<uint32_t>(pos + len - 1, kBits<T> - 1);
    bool sign = std::is_signed_v<T> && (U<T>(a) >> top & 1);
    T out = 0;
    for (uint32_t i = 0; i < uint32_t(kBits<T>); ++i) {
      bool bit = i < len && pos + i < uint32_t(kBits<T>) ? U<T>(a) >> (pos + i) & 1 : sign;
      out = T(U<T>(out) | U<T>(bit) << i);
    }
    return out;
  }
};
template <typename T> void bfi(Exec &e, const Inst &i) {
  T *d = e.row<T>(i.op[0]);
  const T *a = e.row<T>(i.op[1]), *b = e.row<T>(i.op[2]);
  const uint32_t *p = e.row<uint32_t>(i.op[3]), *n = e.row<uint32_t>(i.op[4]);
  eachLane(e.mask, [&](int l) {
    uint32_t pos = p[l] & 255, len = n[l] & 255;
    T out = b[l];
    for (uint32_t k = 0; k < len && pos + k < uint32_t(kBits<T>); ++k) {
      T bit = T(1) << (pos + k);
      out = T((out & ~bit) | ((a[l] >> k & 1) ? bit : T(0)));
    }
    d[l] = out;
  });
}
template <bool Left, bool Wrap> struct Shf {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t n = Wrap ? c & 31 : std::min(c, 32u);
    uint64_t both = uint64_t(b) << 32 | a;
    return Left ? uint32_t(both << n >> 32) : uint32_t(both >> n);
  }
};
struct Prmt {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t both = uint64_t(b) << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; ++i) {
      uint32_t pick = c >> (4 * i) & 15;
      uint32_t byte = uint32_t(both >> (8 * (pick & 7))) & 255;
      if (pick & 8)
        byte = byte & 128 ? 255 : 0;
      out |= byte << (8 * i);
    }
    return out;
  }
};
void lop3(Exec &e, const Inst &i) {
  uint32_t *d = e.row<uint32_t>(i.op[0]);
  const uint32_t *a = e.row<uint32_t>(i.op[1]), *b = e.row<uint32_t>(i.op[2]), *c = e.row<uint32_t>(i.op[3]);
  eachLane(e.mask, [&](int l) {
    uint32_t out = 0;
    for (int k = 0; k < 8; ++k)
      if (i.offset >> k & 1)
        out |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    d[l] = out;
  });
}
template <bool Wrap> struct Bmsk {
  static uint32_t run(uint32_t a, uint32_t b) {
    if (Wrap) {
      a &= 31;
      b &= 31;
    }
    if (a >= 32 || b == 0)
      return 0;
    uint64_t ones = b >= 32 ? ~uint64_t(0) : (uint64_t(1) << b) - 1;
    return uint32_t(ones << a);
  }
};
template <bool Wrap> struct Szext {
  template <typename T> static T run(T a, uint32_t b) {
    if (Wrap)
      b &= 31;
    if (b >= 32)
      return a;
    if (b == 0)
      return 0;
    uint32_t v = uint32_t(a) << (32 - b);
    return std::is_signed_v<T> ? T(int32_t(v) >> (32 - b)) : T(v >> (32 - b));
  }
};
struct Sad {
  template <typename T> static U<T> run(T a, T b, U<T> c) {
    return U<T>(c + (a > b ? U<T>(a) - U<T>(b) : U<T>(b) - U<T>(a)));
  }
};
template <bool SignedA, bool SignedB> struct Dp4a {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 4; ++i) {
      int32_t x = SignedA ? int8_t(a >> 8 * i) : uint8_t(a >> 8 * i);
      int32_t y = SignedB ? int8_t(b >> 8 * i) : uint8_t(b >> 8 * i);
      c += uint32_t(x * y);
    }
    return c;
  }
};
template <typename Op> struct Halves {
  template <typename T> static uint32_t both(uint32_t a, uint32_t b) {
    return uint32_t(uint16_t(Op::run(T(a), T(b)))) | uint32_t(uint16_t(Op::run(T(a >> 16), T(b >> 16)))) << 16;
  }
};
template <typename Op, typename T> struct HalvesOf {
  static uint32_t run(uint32_t a, uint32_t b) { return Halves<Op>::template both<T>(a, b); }
};

/// add.cc and so on: the carry is a predicate of its own in each frame.
template <typename T, bool Subtract> void carry(Exec &e, const Inst &i) {
  T *d = e.row<T>(i.op[0]);
  const T *a = e.row<T>(i.op[1]), *b = e.row<T>(i.op[2]);
  uint32_t in = i.mode & 1 ? e.pred(i.op[3]) : 0, out = 0;
  eachLane(e.mask, [&](int l) {
    unsigned __int128 x = a[l], y = b[l], c = in >> l & 1;
    unsigned __int128 r = Subtract ? x - y - c : x + y + c;
    d[l] = T(r);
    out |= uint32_t(r >> kBits<T> & 1) << l;
  });
  if (i.mode & 2)
    e.pred(i.op[3]) = (e.pred(i.op[3]) & ~e.mask) | out;
}

template <typename Op> void binaryInt(Decoder &d, Inst &inst) {
  Type t = d.type();
  int n = bytesOf(t);
  if (t == Type::U16x2 || t == Type::S16x2)
    inst.run = t == Type::U16x2 ? binary<HalvesOf<Op, uint16_t>, uint32_t, uint32_t, uint32_t>
                                : binary<HalvesOf<Op, int16_t>, uint32_t, uint32_t, uint32_t>;
  else
    inst.run = forInteger(t, [](auto v) -> Handler {
      using T = decltype(v);
      return binary<Op, T, T, T>;
    });
  plain(d, inst, {n, n, n}, t);
}

/// The floating-point instruction of the same name.
void asFloat(Decoder &d, Inst &inst) {
  static const DecodeTable floats = [] {
    DecodeTable table;
    addFloatOps(table);
    return table;
  }();
  auto it = floats.find(std::string(d.statement().op + ".f"));
  if (it == floats.end())
    d.fail("not an instruction of floating-point numbers");
  it->second(d, inst);
}

template <typename Op, typename Sat, bool Subtract> void addSub(Decoder &d, Inst &inst) {
  Type t = d.type();
  if (isFloat(t))
    return asFloat(d, inst);
  bool in = d.statement().op == "addc" || d.statement().op == "subc";
  if (in || d.has("cc")) {
    int n = bytesOf(t);
    plain(d, inst, {n, n, n});
    Operand cc;
    cc.kind = Operand::Register;
    cc.name = "%cc";
    inst.op[3] = d.predicate(cc);
    inst.mode = uint8_t((in ? 1 : 0) | (d.has("cc") ? 2 : 0));
    inst.run = n == 8 ? carry<uint64_t, Subtract> : carry<uint32_t, Subtract>;
    return;
  }
  d.onlyModifiers({"sat"});
  binaryInt<Op>(d, inst);
  if (d.has("sat")) {
    if (t != Type::S32)
      d.fail(".sat is for s32");
    inst.run = binary<Sat, int32_t, int32_t, int32_t>;
  }
}

template <typename Op> void eitherBinary(Decoder &d, Inst &inst) {
  if (isFloat(d.type()))
    return asFloat(d, inst);
  d.onlyModifiers({});
  binaryInt<Op>(d, inst);
}
template <typename Op> void eitherUnary(Decoder &d, Inst &inst) {
  if (isFloat(d.type()))
    return asFloat(d, inst);
  int n = bytesOf(d.type());
  inst.run = forInteger(d.type(), [](auto v) -> Handler {
    using T = decltype(v);
    return unary<Op, T, T>;
  });
  plain(d, inst, {n, n});
}

void mul(Decoder &d, Inst &inst) {
  Type t = d.type();
  if (isFloat(t))
    return asFloat(d, inst);
  d.onlyModifiers({"lo", "hi", "wide"});
  int n = bytesOf(t);
  if (d.has("wide")) {
    plain(d, inst, {2 * n, n, n});
    inst.run = t == Type::U16   ? binary<MulWide, uint32_t, uint16_t, uint16_t>
               : t == Type::S16 ? binary<MulWide, int32_t, int16_t, int16_t>
               : t == Type::U32 ? binary<MulWide, uint64_t, uint32_t, uint32_t>
               : t == Type::S32 ? binary<MulWide, int64_t, int32_t, int32_t>
                                : nullptr;
  } else if (d.has("hi")) {
    binaryInt<MulHi>(d, inst);
  } else {
    binaryInt<MulLo>(d, inst);
  }
}

void mad(Decoder &d, Inst &inst) {
  Type t = d.type();
  if (isFloat(t))
    return asFloat(d, inst);
  d.onlyModifiers({"lo", "hi", "wide"});
  int n = bytesOf(t);
  if (d.has("wide")) {
    plain(d, inst, {2 * n, n, n, 2 * n});
    using W = MadOf<MulWide>;
    inst.run = t == Type::U16   ? ternary<W, uint32_t, uint16_t, uint16_t, uint32_t>
               : t == Type::S16 ? ternary<W, int32_t, int16_t, int16_t, int32_t>
               : t == Type::U32 ? ternary<W, uint64_t, uint32_t, uint32_t, uint64_t>
               : t == Type::S32 ? ternary<W, int64_t, int32_t, int32_t, int64_t>
                                : nullptr;
    return;
  }
  plain(d, inst, {n, n, n, n});
  bool hi = d.has("hi");
  inst.run = forInteger(t, [&](auto v) -> Handler {
    using T = decltype(v);
    return hi ? ternary<MadOf<MulHi>, T, T, T, T> : ternary<MadOf<MulLo>, T, T, T, T>;
  });
}

void mul24(Decoder &d, Inst &inst) {
  if (!d.has("lo"))
    d.fail("only .lo is supported");
  binaryInt<Mul24Lo>(d, inst);
  inst.run = d.type() == Type::S32 ? binary<Mul24Lo, int32_t, int32_t, int32_t>
                                   : binary<Mul24Lo, uint32_t, uint32_t, uint32_t>;
}

template <typename Op> void logic(Decoder &d, Inst &inst) {
  if (d.type() != Type::Pred)
    return binaryInt<Op>(d, inst);
  if (d.operands() != 3)
    d.fail("expected 3 operands");
  for (size_t i = 0; i < 3; ++i)
    inst.op[i] = d.predicate(d.operand(i));
  inst.run = [](Exec &e, const Inst &i) {
    uint32_t &p = e.pred(i.op[0]);
    p = (p & ~e.mask) | (Op::run(e.pred(i.op[1]), e.pred(i.op[2])) & e.mask);
  };
}

void bitNot(Decoder &d, Inst &inst) {
  if (d.type() != Type::Pred)
    return eitherUnary<Not>(d, inst);
  inst.op[0] = d.predicate(d.operand(0));
  inst.op[1] = d.predicate(d.operand(1));
  inst.run = [](Exec &e, const Inst &i) {
    uint32_t &p = e.pred(i.op[0]);
    p = (p & ~e.mask) | (~e.pred(i.op[1]) & e.mask);
  };
}

template <typename Op> void shift(Decoder &d, Inst &inst) {
  int n = bytesOf(d.type());
  inst.run = forInteger(d.type(), [](auto v) -> Handler {
    using T = decltype(v);
    return binary<Op, T, T, uint32_t>;
  });
  plain(d, inst, {n, n, 4});
}

template <typename Op> void count(Decoder &d, Inst &inst) {
  int n = bytesOf(d.type());
  inst.run = n == 8 ? unary<Op, uint32_t, uint64_t> : unary<Op, uint32_t, uint32_t>;
  plain(d, inst, {4, n});
}

void bfind(Decoder &d, Inst &inst) {
  int n = bytesOf(d.type());
  bool amount = d.has("shiftamt");
  inst.run = forInteger(d.type(), [&](auto v) -> Handler {
    using T = decltype(v);
    return amount ? unary<Bfind<true>, uint32_t, T> : unary<Bfind<false>, uint32_t, T>;
  });
  plain(d, inst, {4, n});
}

void bfe(Decoder &d, Inst &inst) {
  int n = bytesOf(d.type());
  inst.run = forInteger(d.type(), [](auto v) -> Handler {
    using T = decltype(v);
    return ternary<Bfe, T, T, uint32_t, uint32_t>;
  });
  plain(d, inst, {n, n, 4, 4});
}

void shf(Decoder &d, Inst &inst) {
  bool left = d.has("l"), wrap = d.has("wrap");
  plain(d, inst, {4, 4, 4, 4});
  using T = uint32_t;
  inst.run = left ? (wrap ? ternary<Shf<true, true>, T, T, T, T> : ternary<Shf<true, false>, T, T, T, T>)
                  : (wrap ? ternary<Shf<false, true>, T, T, T, T> : ternary<Shf<false, false>, T, T, T, T>);
}

} // namespace

void addIntegerOps(DecodeTable &t) {
  t["add"] = t["addc"] = addSub<Add, AddSat, false>;
  t["sub"] = t["subc"] = addSub<Sub, SubSat, true>;
  t["mul"] = mul;
  t["mad"] = mad;
  t["mul24"] = mul24;
  t["div"] = eitherBinary<Div>;
  t["rem"] = eitherBinary<Rem>;
  t["min"] = eitherBinary<Min>;
  t["max"] = eitherBinary<Max>;
  t["neg"] = eitherUnary<Neg>;
  t["abs"] = eitherUnary<Abs>;
  t["and"] = logic<And>;
  t["or"] = logic<Or>;
  t["xor"] = logic<Xor>;
  t["not"] = bitNot;
  t["cnot"] = eitherUnary<CNot>;
  t["shl"] = shift<Shl>;
  t["shr"] = shift<Shr>;
  t["shf"] = shf;
  t["popc"] = count<Popc>;
  t["clz"] = count<Clz>;
  t["brev"] = [](Decoder &d, Inst &inst) {
    int n = bytesOf(d.type());
    inst.run = n == 8 ? unary<Brev, uint64_t, uint64_t> : unary<Brev, uint32_t, uint32_t>;
    plain(d, inst, {n, n});
  };
  t["bfind"] = bfind;
  t["bfe"] = bfe;
  t["bfi"] = [](Decoder &d, Inst &inst) {
    int n = bytesOf(d.type());
    inst.run = n == 8 ? bfi<uint64_t> : bfi<uint32_t>;
    plain(d, inst, {n, n, n, 4, 4});
  };
  t["prmt"] = [](Decoder &d, Inst &inst) {
    d.onlyModifiers({});
    inst.run = ternary<Prmt, uint32_t, uint32_t, uint32_t, uint32_t>;
    plain(d, inst, {4, 4, 4, 4});
  };
  t["lop3"] = [](Decoder &d, Inst &inst) {
    d.onlyModifiers({});
    for (size_t i = 0; i < 4; ++i)
      inst.op[i] = i ? d.source(d.operand(i), 4) : d.destination(d.operand(0), 4);
    inst.offset = int64_t(d.number(d.operand(4)));
    inst.run = lop3;
  };
  t["bmsk"] = [](Decoder &d, Inst &inst) {
    plain(d, inst, {4, 4, 4});
    inst.run = d.has("wrap") ? binary<Bmsk<true>, uint32_t, uint32_t, uint32_t>
                             : binary<Bmsk<false>, uint32_t, uint32_t, uint32_t>;
  };
  t["szext"] = [](Decoder &d, Inst &inst) {
    plain(d, inst, {4, 4, 4});
    bool s = d.type() == Type::S32;
    if (d.has("wrap"))
      inst.run =
          s ? binary<Szext<true>, int32_t, int32_t, uint32_t> : binary<Szext<true>, uint32_t, uint32_t, uint32_t>;
    else
      inst.run =
          s ? binary<Szext<false>, int32_t, int32_t, uint32_t> : binary<Szext<false>, uint32_t, uint32_t, uint32_t>;
  };
  t["sad"] = [](Decoder &d, Inst &inst) {
    int n = bytesOf(d.type());
    plain(d, inst, {n, n, n, n});
    inst.run = forInteger(d.type(), [](auto v) -> Handler {
      using T = decltype(v);
      return ternary<Sad, U<T>, T, T, U<T>>;
    });
  };
  t["dp4a"] = [](Decoder &d, Inst &inst) {
    plain(d, inst, {4, 4, 4, 4});
    bool a = d.type(0) == Type::S32, b = d.type(1) == Type::S32;
    using T = uint32_t;
    inst.run = a ? (b ? ternary<Dp4a<true, true>, T, T, T, T> : ternary<Dp4a<true, false>, T, T, T, T>)
                 : (b ? ternary<Dp4a<false, true>, T, T, T, T> : ternary<Dp4a<false, false>, T, T, T, T>);
  };
}

} // namespace shardkit::emu
