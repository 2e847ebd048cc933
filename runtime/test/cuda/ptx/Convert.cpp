//===- Convert.cpp - mov, cvt, cvta ---------------------------------------===//

#include "Decode.h"

#include <cfenv>

namespace shardkit::emu {

namespace {

// Inst::mode of a conversion to an integral value.
enum : uint8_t { kToNearest = 1, kToZero, kToFloor, kToCeil };

double integral(double v, uint8_t mode) {
  switch (mode) {
  case kToNearest:
    return std::nearbyint(v);
  case kToFloor:
    return std::floor(v);
  case kToCeil:
    return std::ceil(v);
  default:
    return std::trunc(v);
  }
}

template <typename D> D toInteger(double v, uint8_t mode, bool wideSource) {
  if (v != v)
    return wideSource || sizeof(D) == 8 ? D(uint64_t(1) << (8 * sizeof(D) - 1)) : D(0);
  v = integral(v, mode);
  if (v <= double(std::numeric_limits<D>::min()))
    return std::numeric_limits<D>::min();
  if (v >= double(std::numeric_limits<D>::max()))
    return std::numeric_limits<D>::max();
  return D(v);
}

/// An integer as a double whose last bit says whether it is exact, for one rounding more.
template <typename S> double oddDouble(S v) {
  double d = double(v);
  if constexpr (sizeof(S) == 8) {
    __int128 exact = v, got = __int128(d);
    if (got != exact) {
      uint64_t bits = std::bit_cast<uint64_t>(d);
      if (!(bits & 1))
        bits += (got < exact) == (d > 0) ? 1 : -1;
      return std::bit_cast<double>(bits);
    }
  }
  return d;
}

template <typename D> D narrow(double v, const Inst &i) {
  Round mode = i.flags & kRounded ? Round(i.mode) : Round::Nearest;
  bool finite = i.flags & kSatFinite;
  if constexpr (std::is_same_v<D, double>)
    return v;
  else if constexpr (std::is_same_v<D, float>)
    return mode == Round::Nearest ? float(v) : floatOf(roundTo(kF32, v, mode, finite));
  else if constexpr (std::is_same_v<D, F16>)
    return F16{uint16_t(roundTo(kF16, v, mode, finite))};
  else
    return BF16{uint16_t(roundTo(kBF16, v, mode, finite))};
}

template <typename S, typename D> D convert(S s, const Inst &i) {
  if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
    if (i.flags & kSat) {
      __int128 v = s;
      if (v < __int128(std::numeric_limits<D>::min()))
        return std::numeric_limits<D>::min();
      if (v > __int128(std::numeric_limits<D>::max()))
        return std::numeric_limits<D>::max();
    }
    return D(s);
  } else if constexpr (std::is_integral_v<D>) {
    if constexpr (kIsHalf<S> || std::is_same_v<S, float>)
      if (i.flags & kFtz)
        s = flushed(s);
    return toInteger<D>(double(s), i.mode, sizeof(S) == 8);
  } else {
    D d;
    if constexpr (std::is_integral_v<S>) {
      if constexpr (std::is_same_v<D, double>) {
        if (i.flags & kRounded) {
          int old = std::fegetround();
          std::fesetround(i.mode == uint8_t(Round::Zero)   ? FE_TOWARDZERO
                          : i.mode == uint8_t(Round::Down) ? FE_DOWNWARD
                                                           : FE_UPWARD);
          volatile S held = s;
          volatile double out = double(held);
          std::fesetround(old);
          d = out;
        } else {
          d = double(s);
        }
      } else if constexpr (std::is_same_v<D, float>) {
        d = i.flags & kRounded ? narrow<float>(oddDouble(s), i) : float(s);
      } else {
        d = narrow<D>(oddDouble(s), i);
      }
    } else {
      if (i.flags & kFtz)
        s = flushed(s);
      if constexpr (std::is_same_v<S, D>) {
        d = s;
        if (i.bytes) { // .rni and so on: to an integral value.
          double v = integral(double(s), i.bytes);
          if (double(s) == double(s))
            d = narrow<D>(v, Inst());
        }
      } else if constexpr (std::is_same_v<S, float> && kIsHalf<D>) {
        d = i.flags & (kRounded | kSatFinite) ? narrow<D>(double(s), i) : D::of(s);
      } else {
        d = narrow<D>(double(s), i);
      }
    }
    if (i.flags & (kSat | kRelu | kFtz)) {
      double v = double(d);
      if (i.flags & kSat)
        d = narrow<D>(v != v || v <= 0 ? 0.0 : v > 1 ? 1.0 : v, Inst());
      if ((i.flags & kRelu) && v < 0)
        d = narrow<D>(0.0, Inst());
      if (i.flags & kFtz)
        d = flushed(d);
    }
    return d;
  }
}

template <typename S, typename D> void cvt(Exec &e, const Inst &i) {
  char *d = e.row<char>(i.op[0]);
  const char *a = e.row<char>(i.op[1]);
  if (i.wide[0] == sizeof(D) && i.wide[1] == sizeof(S))
    return eachLane(e.mask,
                    [&](int l) { reinterpret_cast<D *>(d)[l] = convert<S, D>(reinterpret_cast<const S *>(a)[l], i); });
  eachLane(e.mask, [&](int l) {
    uint64_t bits = readWide(a, i.wide[1], l);
    S s;
    memcpy(&s, &bits, sizeof s);
    D v = convert<S, D>(s, i);
    uint64_t out;
    if constexpr (std::is_integral_v<D>) {
      out = uint64_t(v); // Sign-extended where D is signed.
    } else {
      out = 0;
      memcpy(&out, &v, sizeof v);
    }
    writeWide(d, i.wide[0], l, out);
  });
}

template <typename S> Handler cvtTo(Type to) {
  Handler h = forInteger(to, [](auto d) -> Handler { return cvt<S, decltype(d)>; });
  return h ? h : forFloat(to, [](auto d) -> Handler { return cvt<S, decltype(d)>; });
}

template <typename T> uint32_t pack16(float v, const Inst &i) {
  if ((i.flags & kRelu) && v < 0)
    v = 0;
  if (i.flags & (kRounded | kSatFinite))
    return narrow<T>(double(v), i).bits;
  return T::of(v).bits;
}

void decodeCvt(Decoder &d, Inst &inst) {
  Type to = d.type(0), from = d.type(1);
  d.onlyModifiers(
      {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu", "satfinite", "pack"});
  d.floatFlags(inst);
  if (d.has("pack"))
    d.fail("cvt.pack is not supported");
  if (to == Type::TF32) {
    plain(d, inst, {4, 4}, Type::F32);
    if (!d.has("rna") && !d.has("rn") && !d.has("rz"))
      d.fail("rounding of tf32");
    inst.run = [](Exec &e, const Inst &i) {
      uint32_t *out = e.row<uint32_t>(i.op[0]);
      const float *a = e.row<float>(i.op[1]);
      Round mode = i.flags & kRounded ? Round(i.mode) : Round::Nearest;
      eachLane(e.mask, [&](int l) {
        out[l] = a[l] != a[l] ? 0x7fffffff : roundTo(kTF32, a[l], mode) << 13;
        if ((i.flags & kRelu) && out[l] >> 31 && a[l] == a[l])
          out[l] = 0;
      });
    };
    return;
  }
  if (isPacked(to) && from == Type::F32) { // d = {b, a}: a is the upper half.
    plain(d, inst, {4, 4, 4}, Type::F32);
    auto handler = [](auto half) -> Handler {
      return [](Exec &e, const Inst &i) {
        using T = decltype(half);
        uint32_t *out = e.row<uint32_t>(i.op[0]);
        const float *a = e.row<float>(i.op[1]), *b = e.row<float>(i.op[2]);
        eachLane(e.mask, [&](int l) { out[l] = pack16<T>(a[l], i) << 16 | pack16<T>(b[l], i); });
      };
    };
    inst.run = to == Type::F16x2 ? handler(F16()) : handler(BF16());
    return;
  }
  if (to == Type::E4M3x2 || to == Type::E5M2x2) {
    if (from != Type::F32)
      d.fail("only from f32");
    plain(d, inst, {2, 4, 4}, Type::F32);
    auto handler = [](auto e4) -> Handler {
      return [](Exec &e, const Inst &i) {
        uint16_t *out = e.row<uint16_t>(i.op[0]);
        const float *a = e.row<float>(i.op[1]), *b = e.row<float>(i.op[2]);
        auto one = [&](float v) -> uint32_t {
          if ((i.flags & kRelu) && v < 0)
            v = 0;
          return decltype(e4)::value ? floatToE4M3(v) : roundTo(kE5M2, v, Round::Nearest, true);
        };
        eachLane(e.mask, [&](int l) { out[l] = uint16_t(one(a[l]) << 8 | one(b[l])); });
      };
    };
    inst.run = to == Type::E4M3x2 ? handler(std::true_type()) : handler(std::false_type());
    return;
  }
  if (from == Type::E4M3x2 || from == Type::E5M2x2) {
    if (to != Type::F16x2)
      d.fail("only to f16x2");
    plain(d, inst, {4, 2});
    inst.mode = from == Type::E4M3x2;
    inst.run = [](Exec &e, const Inst &i) {
      uint32_t *out = e.row<uint32_t>(i.op[0]);
      const uint16_t *a = e.row<uint16_t>(i.op[1]);
      auto one = [&](uint8_t v) -> uint32_t { return floatToHalf(i.mode ? e4m3ToFloat(v) : e5m2ToFloat(v)); };
      eachLane(e.mask, [&](int l) { out[l] = one(uint8_t(a[l] >> 8)) << 16 | one(uint8_t(a[l])); });
    };
    return;
  }
  static const std::pair<std::string_view, uint8_t> kIntegral[] = {
      {"rni", kToNearest}, {"rzi", kToZero}, {"rmi", kToFloor}, {"rpi", kToCeil}};
  for (const auto &[name, mode] : kIntegral)
    if (d.has(name)) {
      if (isFloat(to) && to != from)
        d.fail("." + std::string(name) + " between different types");
      (isFloat(to) ? inst.bytes : inst.mode) = mode;
    }
  if (isFloat(from) && !isFloat(to) && !inst.mode)
    d.fail("conversion to an integer without rounding");
  if (isPacked(to) || isPacked(from))
    d.fail("conversion of pairs");
  if (d.operands() != 2)
    d.fail("expected 2 operands");
  const Operand &a = d.operand(1);
  inst.wide[0] = uint8_t(d.widthOf(d.operand(0)));
  inst.wide[1] = uint8_t(a.kind == Operand::Register ? d.widthOf(a) : bytesOf(from));
  if (inst.wide[0] < bytesOf(to) || inst.wide[1] < bytesOf(from))
    d.fail("register is too small");
  inst.op[0] = d.destination(d.operand(0), inst.wide[0]);
  inst.op[1] = d.source(a, inst.wide[1], from);
  inst.run = forInteger(from, [&](auto s) -> Handler { return cvtTo<decltype(s)>(to); });
  if (!inst.run)
    inst.run = forFloat(from, [&](auto s) -> Handler { return cvtTo<decltype(s)>(to); });
}

template <typename T> void move(Exec &e, const Inst &i) {
  T *d = e.row<T>(i.op[0]);
  const T *a = e.row<T>(i.op[1]);
  eachLane(e.mask, [&](int l) { d[l] = a[l]; });
}

/// Takes a value apart into, or makes it of, `count` parts of `bytes` bytes.
template <bool Apart> void parts(Exec &e, const Inst &i) {
  char *whole = e.row<char>(i.op[0]);
  eachLane(e.mask, [&](int l) {
    char *at = whole + l * i.wide[0];
    for (int k = 0; k < i.count; ++k) {
      char *part = e.row<char>(i.op[size_t(k) + 1]) + l * i.bytes;
      if (Apart)
        memcpy(part, at + k * i.bytes, i.bytes);
      else
        memcpy(at + k * i.bytes, part, i.bytes);
    }
  });
}

void clock(Decoder &d, Inst &inst, int bytes) {
  inst.op[0] = d.destination(d.operand(0), bytes);
  inst.wide[0] = uint8_t(bytes);
  inst.run = [](Exec &e, const Inst &i) {
    static uint64_t ticks = 0;
    ticks += 16;
    eachLane(e.mask, [&](int l) { writeWide(e.row<char>(i.op[0]), i.wide[0], l, ticks); });
  };
}

void decodeMov(Decoder &d, Inst &inst) {
  Type t = d.type();
  int n = bytesOf(t);
  const Operand &to = d.operand(0), &from = d.operand(1);
  if (t == Type::Pred) {
    inst.op[0] = d.predicate(to);
    inst.op[1] = d.predicate(from);
    inst.run = [](Exec &e, const Inst &i) {
      uint32_t &p = e.pred(i.op[0]);
      p = (p & ~e.mask) | (e.pred(i.op[1]) & e.mask);
    };
    return;
  }
  const Operand *vector = to.kind == Operand::Vector ? &to : from.kind == Operand::Vector ? &from : nullptr;
  if (vector) {
    const Operand &whole = vector == &to ? from : to;
    inst.count = uint8_t(vector->parts.size());
    if (!inst.count || inst.count > 8 || n % inst.count)
      d.fail("illegal number of parts");
    inst.bytes = uint8_t(n / inst.count);
    inst.wide[0] = uint8_t(n);
    inst.op[0] = vector == &to ? d.source(whole, n, t) : d.destination(whole, n);
    for (size_t k = 0; k < inst.count; ++k)
      inst.op[k + 1] =
          vector == &to ? d.destination(vector->parts[k], inst.bytes) : d.source(vector->parts[k], inst.bytes);
    inst.run = vector == &to ? parts<true> : parts<false>;
    return;
  }
  if (from.kind == Operand::Register) {
    if (from.name == "%clock" || from.name == "%clock_hi")
      return clock(d, inst, 4);
    if (from.name == "%clock64" || from.name == "%globaltimer" || from.name == "%gridid")
      return clock(d, inst, 8);
  }
  plain(d, inst, {n, n}, t);
  inst.run = n == 2   ? move<uint16_t>
             : n == 4 ? move<uint32_t>
             : n == 8 ? move<uint64_t>
             : n == 1 ? move<uint8_t>
                      : nullptr;
}

template <typename T> void cvta(Exec &e, const Inst &i) {
  T *d = e.row<T>(i.op[0]);
  const T *a = e.row<T>(i.op[1]);
  uint64_t window = uint64_t(i.offset);
  if (i.mode) // to the space
    eachLane(e.mask, [&](int l) {
      if (window && (uint64_t(a[l]) & kWindowMask) != window)
        e.fault(FaultKind::Address, i, l, "cvta.to of an address of another space");
      d[l] = window ? T(uint64_t(a[l]) & ~kWindowMask) : a[l];
    });
  else
    eachLane(e.mask, [&](int l) { d[l] = T(a[l] | window); });
}

void decodeCvta(Decoder &d, Inst &inst) {
  inst.mode = d.has("to");
  inst.offset = int64_t(d.has("shared")  ? kSharedWindow
                        : d.has("local") ? kLocalWindow
                        : d.has("param") ? kParamWindow
                                         : 0);
  if (bytesOf(d.type()) != 8)
    d.fail("addresses have 64 bits");
  plain(d, inst, {8, 8});
  inst.run = cvta<uint64_t>;
}

void decodeIsspacep(Decoder &d, Inst &inst) {
  inst.op[0] = d.predicate(d.operand(0));
  inst.op[1] = d.source(d.operand(1), 8);
  inst.offset = int64_t(d.has("shared")  ? kSharedWindow
                        : d.has("local") ? kLocalWindow
                        : d.has("param") ? kParamWindow
                                         : 0);
  inst.run = [](Exec &e, const Inst &i) {
    uint32_t &p = e.pred(i.op[0]);
    const uint64_t *a = e.row<uint64_t>(i.op[1]);
    eachLane(e.mask, [&](int l) {
      uint64_t window = a[l] & kWindowMask;
      bool known = window == kSharedWindow || window == kLocalWindow || window == kParamWindow;
      bool in = i.offset ? window == uint64_t(i.offset) : !known;
      p = (p & ~(1u << l)) | uint32_t(in) << l;
    });
  };
}

} // namespace

void addConvertOps(DecodeTable &t) {
  t["cvt"] = decodeCvt;
  t["mov"] = decodeMov;
  t["cvta"] = decodeCvta;
  t["isspacep"] = decodeIsspacep;
}

} // namespace shardkit::emu
