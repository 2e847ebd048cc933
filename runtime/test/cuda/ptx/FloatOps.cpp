//===- FloatOps.cpp - Floating-point instructions -------------------------===//

#include "Decode.h"

#include <algorithm>
#include <cfenv>

namespace shardkit::emu {

namespace {

template <typename T> T of(double value) {
  if constexpr (kIsHalf<T>)
    return T::of(value);
  else
    return T(value);
}
template <typename T> T nan() {
  if constexpr (kIsHalf<T>)
    return T{T::kNaN};
  else if constexpr (sizeof(T) == 4)
    return floatOf(0x7fffffff);
  else
    return std::numeric_limits<double>::quiet_NaN();
}
template <typename T> bool isNaN(T value) {
  if constexpr (kIsHalf<T>)
    return (value.bits & 0x7fff) > T::kInfinity;
  else
    return value != value;
}
template <typename T> bool negative(T value) {
  if constexpr (kIsHalf<T>)
    return value.bits >> 15;
  else
    return std::signbit(value);
}
template <typename T> T flip(T value, bool sign, bool keep) {
  if constexpr (kIsHalf<T>)
    return T{uint16_t(keep ? value.bits ^ 0x8000 : (value.bits & 0x7fff) | sign << 15)};
  else
    return keep ? -value : std::copysign(value, sign ? T(-1) : T(1));
}

struct FAdd {
  template <typename T> static T run(T a, T b) {
    if constexpr (kIsHalf<T>)
      return T::of(float(a) + float(b));
    else
      return a + b;
  }
};
struct FSub {
  template <typename T> static T run(T a, T b) {
    if constexpr (kIsHalf<T>)
      return T::of(float(a) - float(b));
    else
      return a - b;
  }
};
struct FMul {
  template <typename T> static T run(T a, T b) {
    if constexpr (kIsHalf<T>)
      return T::of(float(a) * float(b));
    else
      return a * b;
  }
};
struct FDiv {
  template <typename T> static T run(T a, T b) {
    if constexpr (kIsHalf<T>)
      return T::of(float(a) / float(b));
    else
      return a / b;
  }
};
struct FFma {
  template <typename T> static T run(T a, T b, T c) {
    if constexpr (kIsHalf<T>)
      return T::of(fusedOdd(float(a), float(b), float(c)));
    else
      return std::fma(a, b, c);
  }
};
template <bool Max, bool Propagate> struct FMinMax {
  template <typename T> static T run(T a, T b) {
    if (isNaN(a) || isNaN(b)) {
      if (Propagate || (isNaN(a) && isNaN(b)))
        return nan<T>();
      return isNaN(a) ? b : a;
    }
    if (float(a) == float(b) && sizeof(T) < 8 ? true : a == b)
      return negative(a) == Max ? b : a;
    return (a < b) == Max ? b : a;
  }
};
struct FNeg {
  template <typename T> static T run(T a) { return flip(a, false, true); }
};
struct FAbs {
  template <typename T> static T run(T a) { return flip(a, false, false); }
};
struct FCopysign { // d = sign of a, size of b
  template <typename T> static T run(T a, T b) { return flip(b, negative(a), false); }
};
struct FSqrt {
  template <typename T> static T run(T a) { return std::sqrt(a); }
};
struct FRcp {
  template <typename T> static T run(T a) { return T(1) / a; }
};
struct FRsqrt {
  template <typename T> static T run(T a) { return T(1 / std::sqrt(double(a))); }
};
struct FEx2 {
  template <typename T> static T run(T a) { return of<T>(std::exp2(double(a))); }
};
struct FLg2 {
  template <typename T> static T run(T a) { return of<T>(std::log2(double(a))); }
};
struct FSin {
  template <typename T> static T run(T a) { return of<T>(std::sin(double(a))); }
};
struct FCos {
  template <typename T> static T run(T a) { return of<T>(std::cos(double(a))); }
};
struct FTanh {
  template <typename T> static T run(T a) { return of<T>(std::tanh(double(a))); }
};

/// What stands behind the operation: .ftz, .sat, .relu.
template <typename T> T finish(T v, uint8_t flags) {
  if (flags & kFtz)
    v = flushed(v);
  if (flags & kSat) {
    if (isNaN(v) || negative(v))
      v = of<T>(0.0);
    else if (v > 1)
      v = of<T>(1.0);
  }
  if (flags & kRelu)
    if (!isNaN(v) && negative(v))
      v = of<T>(0.0);
  return v;
}
template <typename T> T begin(T v, uint8_t flags) { return flags & kFtz ? flushed(v) : v; }

struct Rounding {
  explicit Rounding(const Inst &i) : changed(i.flags & kRounded) {
    if (changed)
      std::fesetround(i.mode == uint8_t(Round::Zero)   ? FE_TOWARDZERO
                      : i.mode == uint8_t(Round::Down) ? FE_DOWNWARD
                                                       : FE_UPWARD);
  }
  ~Rounding() {
    if (changed)
      std::fesetround(FE_TONEAREST);
  }
  bool changed;
};

// One operation of 1..3 operands on each lane; a packed one on both halves of 4 bytes.
template <typename Op, typename T, int N> void each(Exec &e, const Inst &i) {
  T *d = e.row<T>(i.op[0]);
  const T *a = e.row<T>(i.op[1]), *b = N > 1 ? e.row<T>(i.op[2]) : a, *c = N > 2 ? e.row<T>(i.op[3]) : a;
  auto one = [&](T x, T y, T z) {
    if constexpr (N == 1)
      return Op::run(x);
    else if constexpr (N == 2)
      return Op::run(x, y);
    else
      return Op::run(x, y, z);
  };
  if (!i.flags)
    return eachLane(e.mask, [&](int l) { d[l] = one(a[l], b[l], c[l]); });
  Rounding rounding(i);
  uint8_t f = i.flags;
  eachLane(e.mask, [&](int l) { d[l] = finish(one(begin(a[l], f), begin(b[l], f), begin(c[l], f)), f); });
}
template <typename Op, typename T, int N> void eachPacked(Exec &e, const Inst &i) {
  using P = std::array<T, 2>;
  P *d = e.row<P>(i.op[0]);
  const P *a = e.row<P>(i.op[1]), *b = N > 1 ? e.row<P>(i.op[2]) : a, *c = N > 2 ? e.row<P>(i.op[3]) : a;
  uint8_t f = i.flags;
  eachLane(e.mask, [&](int l) {
    P out;
    for (size_t k = 0; k < 2; ++k) {
      T x = begin(a[l][k], f), y = begin(b[l][k], f), z = begin(c[l][k], f), r;
      if constexpr (N == 1)
        r = Op::run(x);
      else if constexpr (N == 2)
        r = Op::run(x, y);
      else
        r = Op::run(x, y, z);
      out[k] = finish(r, f);
    }
    d[l] = out;
  });
}

template <typename Op, int N> void decode(Decoder &d, Inst &inst) {
  d.onlyModifiers({"rn", "rz", "rm", "rp", "ftz", "sat", "relu", "NaN", "approx", "full"});
  Type t = d.type();
  int n = bytesOf(t);
  if (d.operands() != N + 1)
    d.fail("expected " + std::to_string(N + 1) + " operands");
  inst.op[0] = d.destination(d.operand(0), n);
  for (size_t k = 1; k <= N; ++k)
    inst.op[k] = d.source(d.operand(k), n, t);
  d.floatFlags(inst);
  inst.flags &= uint8_t(~kNaN);
  if ((inst.flags & kRounded) && n < 4)
    d.fail("f16 and bf16 round to nearest");
  bool packed = isPacked(t);
  inst.run = forFloat(t, [&](auto v) -> Handler {
    using T = decltype(v);
    if constexpr (kIsHalf<T>)
      return packed ? eachPacked<Op, T, N> : each<Op, T, N>;
    else
      return each<Op, T, N>;
  });
}
/// Of f32 and f64 only.
template <typename Op> void decodeRoot(Decoder &d, Inst &inst) {
  d.onlyModifiers({"rn", "rz", "rm", "rp", "ftz", "approx"});
  Type t = d.type();
  plain(d, inst, {bytesOf(t), bytesOf(t)}, t);
  d.floatFlags(inst);
  inst.run = t == Type::F32 ? each<Op, float, 1> : t == Type::F64 ? each<Op, double, 1> : nullptr;
}
/// Of f32, f16, bf16 and their pairs.
template <typename Op> void decodeApprox(Decoder &d, Inst &inst) {
  if (!d.has("approx"))
    d.fail("only .approx is legal");
  decode<Op, 1>(d, inst);
}
template <bool Max> void minMax(Decoder &d, Inst &inst) {
  if (d.has("NaN"))
    decode<FMinMax<Max, true>, 2>(d, inst);
  else
    decode<FMinMax<Max, false>, 2>(d, inst);
}

void testp(Decoder &d, Inst &inst) {
  Type t = d.type();
  inst.op[0] = d.predicate(d.operand(0));
  inst.op[1] = d.source(d.operand(1), bytesOf(t), t);
  static const char *const kinds[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  for (uint8_t k = 0; k < 6; ++k)
    if (d.has(kinds[k]))
      inst.mode = uint8_t(k + 1);
  if (!inst.mode)
    d.fail("unknown test");
  inst.wide[0] = uint8_t(bytesOf(t));
  inst.run = [](Exec &e, const Inst &i) {
    uint32_t &p = e.pred(i.op[0]);
    eachLane(e.mask, [&](int l) {
      bool wide = i.wide[0] == 8;
      double v = wide ? e.row<double>(i.op[1])[l] : double(e.row<float>(i.op[1])[l]);
      int c = wide ? std::fpclassify(v) : std::fpclassify(e.row<float>(i.op[1])[l]);
      const bool values[] = {bool(std::isfinite(v)), bool(std::isinf(v)), v == v, v != v,
                             c == FP_NORMAL,         c == FP_SUBNORMAL};
      p = (p & ~(1u << l)) | uint32_t(values[i.mode - 1]) << l;
    });
  };
}

} // namespace

void addFloatOps(DecodeTable &t) {
  t["add.f"] = decode<FAdd, 2>;
  t["sub.f"] = decode<FSub, 2>;
  t["mul.f"] = decode<FMul, 2>;
  t["div.f"] = decode<FDiv, 2>;
  t["mad.f"] = decode<FFma, 3>;
  t["fma"] = decode<FFma, 3>;
  t["min.f"] = minMax<false>;
  t["max.f"] = minMax<true>;
  t["neg.f"] = decode<FNeg, 1>;
  t["abs.f"] = decode<FAbs, 1>;
  t["copysign"] = decode<FCopysign, 2>;
  t["sqrt"] = decodeRoot<FSqrt>;
  t["rcp"] = decodeRoot<FRcp>;
  t["rsqrt"] = decodeRoot<FRsqrt>;
  t["ex2"] = decodeApprox<FEx2>;
  t["lg2"] = decodeApprox<FLg2>;
  t["sin"] = decodeApprox<FSin>;
  t["cos"] = decodeApprox<FCos>;
  t["tanh"] = decodeApprox<FTanh>;
  t["testp"] = testp;
}

} // namespace shardkit::emu
