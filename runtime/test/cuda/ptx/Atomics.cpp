//===- Atomics.cpp - atom, red --------------------------------------------===//

#include "Decode.h"

#include <algorithm>

namespace shardkit::emu {

namespace {

/// `old = *p; *p = f(old)` at once: other devices may run at the same time.
template <typename T, typename F> T exchange(char *p, F &&f) {
  using B = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  B *at = reinterpret_cast<B *>(p);
  B old = __atomic_load_n(at, __ATOMIC_RELAXED);
  for (;;) {
    T value;
    memcpy(&value, &old, sizeof value);
    T next = f(value);
    B bits;
    memcpy(&bits, &next, sizeof bits);
    if (__atomic_compare_exchange_n(at, &old, bits, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return value;
  }
}

struct AAdd {
  template <typename T> static T run(T a, T b, T) {
    if constexpr (kIsHalf<T>)
      return T::of(float(a) + float(b));
    else if constexpr (std::is_integral_v<T>)
      return T(uint64_t(a) + uint64_t(b));
    else
      return a + b;
  }
};
template <bool Max> struct AMinMax {
  template <typename T> static T run(T a, T b, T) {
    if constexpr (std::is_integral_v<T>) {
      return Max ? std::max(a, b) : std::min(a, b);
    } else {
      if (float(a) != float(a))
        return b;
      if (float(b) != float(b))
        return a;
      return (a < b) == Max ? b : a;
    }
  }
};
struct AAnd {
  template <typename T> static T run(T a, T b, T) { return T(a & b); }
};
struct AOr {
  template <typename T> static T run(T a, T b, T) { return T(a | b); }
};
struct AXor {
  template <typename T> static T run(T a, T b, T) { return T(a ^ b); }
};
struct AExch {
  template <typename T> static T run(T, T b, T) { return b; }
};
struct ACas {
  template <typename T> static T run(T a, T b, T c) { return a == b ? c : a; }
};
struct AInc {
  template <typename T> static T run(T a, T b, T) { return a >= b ? T(0) : T(a + 1); }
};
struct ADec {
  template <typename T> static T run(T a, T b, T) { return a == 0 || a > b ? b : T(a - 1); }
};

// op: d (or kNoRow), address, b, c.
template <typename Op, typename T> void atomic(Exec &e, const Inst &i) {
  T *d = i.op[0] == kNoRow ? nullptr : e.row<T>(i.op[0]);
  const T *b = e.row<T>(i.op[2]), *c = e.row<T>(i.op[3]);
  eachLane(e.mask, [&](int l) {
    uint64_t base = i.wide[2] == 8 ? e.row<uint64_t>(i.op[1])[l] : e.row<uint32_t>(i.op[1])[l];
    char *p = e.at(i, i.space, base + uint64_t(i.offset), sizeof(T), l, Atomic);
    T operand = b[l], swap = c[l];
    T old = exchange<T>(p, [&](T v) { return Op::run(v, operand, swap); });
    if (d)
      d[l] = old;
  });
}
/// Both halves of 4 bytes, each on its own.
template <typename Op, typename T> void atomicPacked(Exec &e, const Inst &i) {
  using P = std::array<T, 2>;
  P *d = i.op[0] == kNoRow ? nullptr : e.row<P>(i.op[0]);
  const P *b = e.row<P>(i.op[2]);
  eachLane(e.mask, [&](int l) {
    uint64_t base = i.wide[2] == 8 ? e.row<uint64_t>(i.op[1])[l] : e.row<uint32_t>(i.op[1])[l];
    char *p = e.at(i, i.space, base + uint64_t(i.offset), 4, l, Atomic);
    P operand = b[l];
    P old = exchange<P>(p, [&](P v) { return P{Op::run(v[0], operand[0], v[0]), Op::run(v[1], operand[1], v[1])}; });
    if (d)
      d[l] = old;
  });
}

template <typename Op> Handler forAtomic(Type t) {
  if (t == Type::F16x2)
    return atomicPacked<Op, F16>;
  if (t == Type::BF16x2)
    return atomicPacked<Op, BF16>;
  Handler h = forInteger(t, [](auto v) -> Handler {
    using T = decltype(v);
    if constexpr (sizeof(T) < 4)
      return nullptr;
    else
      return atomic<Op, T>;
  });
  return h ? h : forFloat(t, [](auto v) -> Handler { return atomic<Op, decltype(v)>; });
}
template <typename Op> Handler forBits(Type t) {
  return bytesOf(t) == 8   ? atomic<Op, uint64_t>
         : bytesOf(t) == 4 ? atomic<Op, uint32_t>
         : bytesOf(t) == 2 ? atomic<Op, uint16_t>
                           : nullptr;
}

void decodeAtomic(Decoder &d, Inst &inst) {
  bool red = d.statement().op == "red";
  d.onlyModifiers({"global", "shared", "shared::cta", "relaxed", "acquire", "release", "acq_rel",
                   "cta",    "gpu",    "sys",         "noftz",   "add",     "min",     "max",
                   "inc",    "dec",    "and",         "or",      "xor",     "exch",    "cas"});
  inst.space = d.has("global")                           ? Space::Global
               : d.has("shared") || d.has("shared::cta") ? Space::Shared
                                                         : Space::Generic;
  Type t = d.type();
  int n = bytesOf(t);
  inst.op[0] = red ? kNoRow : d.destination(d.operand(0), n);
  inst.op[1] = d.address(d.operand(red ? 0 : 1), inst);
  inst.op[2] = d.source(d.operand(red ? 1 : 2), n, t);
  inst.op[3] = d.has("cas") ? d.source(d.operand(3), n, t) : inst.op[2];
  inst.run = d.has("add")    ? forAtomic<AAdd>(t)
             : d.has("min")  ? forAtomic<AMinMax<false>>(t)
             : d.has("max")  ? forAtomic<AMinMax<true>>(t)
             : d.has("inc")  ? atomic<AInc, uint32_t>
             : d.has("dec")  ? atomic<ADec, uint32_t>
             : d.has("and")  ? forBits<AAnd>(t)
             : d.has("or")   ? forBits<AOr>(t)
             : d.has("xor")  ? forBits<AXor>(t)
             : d.has("exch") ? forBits<AExch>(t)
             : d.has("cas")  ? forBits<ACas>(t)
                             : nullptr;
}

} // namespace

void addAtomicOps(DecodeTable &t) { t["atom"] = t["red"] = decodeAtomic; }

} // namespace shardkit::emu
