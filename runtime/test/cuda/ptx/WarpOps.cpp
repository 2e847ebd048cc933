//===- WarpOps.cpp - Exchange between the lanes of a warp -----------------===//

#include "Decode.h"

namespace shardkit::emu {

namespace {

/// The lanes whose partners are all here. The others wait for theirs; at this
/// instruction they try again.
uint32_t assembled(Exec &e, const Inst &i, const uint32_t *members) {
  uint32_t ready = 0;
  eachLane(e.mask, [&](int l) {
    if (!(members[l] >> l & 1))
      e.fault(FaultKind::Instruction, i, l, "the thread is not in the member mask of its instruction");
    if ((members[l] & e.warp->alive & ~e.mask) == 0)
      ready |= 1u << l;
  });
  if (uint32_t wait = e.mask & ~ready) {
    e.setPc(e.group, e.pc);
    e.setPc(wait, e.pc - 1);
    e.warp->atSync |= wait;
    e.reselect = true;
  }
  return ready;
}

enum { kUp, kDown, kBfly, kIdx };

// op: d, predicate (or kNoRow), a, b, c, members.
void shfl(Exec &e, const Inst &i) {
  uint32_t ready = assembled(e, i, e.row<uint32_t>(i.op[5]));
  uint32_t *d = e.row<uint32_t>(i.op[0]);
  const uint32_t *a = e.row<uint32_t>(i.op[2]), *b = e.row<uint32_t>(i.op[3]), *c = e.row<uint32_t>(i.op[4]);
  uint32_t out[32], in = 0;
  eachLane(ready, [&](int lane) {
    uint32_t bval = b[lane] & 31, cval = c[lane] & 31, segmask = c[lane] >> 8 & 31;
    uint32_t l = uint32_t(lane);
    uint32_t maxLane = (l & segmask) | (cval & ~segmask), minLane = l & segmask;
    int j = 0;
    bool p = false;
    switch (i.mode) {
    case kUp:
      j = int(l) - int(bval);
      p = j >= int(maxLane);
      break;
    case kDown:
      j = int(l + bval);
      p = j <= int(maxLane);
      break;
    case kBfly:
      j = int(l ^ bval);
      p = j <= int(maxLane);
      break;
    case kIdx:
      j = int(minLane | (bval & ~segmask));
      p = j <= int(maxLane);
      break;
    }
    if (!p)
      j = lane;
    if (!(ready >> j & 1))
      e.fault(FaultKind::Instruction, i, lane,
              "shfl.sync reads lane " + std::to_string(j) + ", which does not take part");
    out[lane] = a[j];
    in |= uint32_t(p) << lane;
  });
  eachLane(ready, [&](int l) { d[l] = out[l]; });
  if (i.op[1] != kNoRow) {
    uint32_t &p = e.pred(i.op[1]);
    p = (p & ~ready) | in;
  }
}

void decodeShfl(Decoder &d, Inst &inst) {
  if (!d.has("sync"))
    d.fail("shfl without .sync is not supported by the chip");
  inst.mode = d.has("up") ? kUp : d.has("down") ? kDown : d.has("bfly") ? kBfly : kIdx;
  const Operand &to = d.operand(0);
  inst.op[1] = kNoRow;
  if (to.kind == Operand::Pair) {
    inst.op[0] = d.destination(to.parts[0], 4);
    inst.op[1] = d.predicate(to.parts[1]);
  } else {
    inst.op[0] = d.destination(to, 4);
  }
  for (size_t k = 1; k < 5; ++k)
    inst.op[k + 1] = d.source(d.operand(k), 4);
  inst.run = shfl;
}

enum { kAny, kAll, kUni, kBallot };

// op: d, a predicate, members. bytes: the predicate is negated.
void vote(Exec &e, const Inst &i) {
  const uint32_t *members = e.row<uint32_t>(i.op[2]);
  uint32_t ready = assembled(e, i, members);
  uint32_t a = i.bytes ? ~e.pred(i.op[1]) : e.pred(i.op[1]);
  uint32_t bits = 0;
  eachLane(ready, [&](int l) {
    uint32_t m = members[l] & e.warp->alive, v = a & m;
    if (i.mode == kBallot)
      e.row<uint32_t>(i.op[0])[l] = v;
    else
      bits |= uint32_t(i.mode == kAny ? v != 0 : i.mode == kAll ? v == m : v == m || v == 0) << l;
  });
  if (i.mode != kBallot) {
    uint32_t &p = e.pred(i.op[0]);
    p = (p & ~ready) | bits;
  }
}

void decodeVote(Decoder &d, Inst &inst) {
  if (!d.has("sync"))
    d.fail("vote without .sync is not supported by the chip");
  inst.mode = d.has("ballot") ? kBallot : d.has("any") ? kAny : d.has("all") ? kAll : kUni;
  inst.op[0] = inst.mode == kBallot ? d.destination(d.operand(0), 4) : d.predicate(d.operand(0));
  Operand a = d.operand(1);
  inst.bytes = a.negated;
  a.negated = false;
  inst.op[1] = d.predicate(a);
  inst.op[2] = d.source(d.operand(2), 4);
  inst.run = vote;
}

template <typename T> void match(Exec &e, const Inst &i) {
  const uint32_t *members = e.row<uint32_t>(i.op[3]);
  uint32_t ready = assembled(e, i, members);
  uint32_t *d = e.row<uint32_t>(i.op[0]);
  const T *a = e.row<T>(i.op[2]);
  uint32_t bits = 0;
  eachLane(ready, [&](int l) {
    uint32_t m = members[l] & e.warp->alive, same = 0;
    eachLane(m, [&](int k) { same |= uint32_t(a[k] == a[l]) << k; });
    if (i.mode) { // all
      d[l] = same == m ? m : 0;
      bits |= uint32_t(same == m) << l;
    } else {
      d[l] = same;
    }
  });
  if (i.op[1] != kNoRow) {
    uint32_t &p = e.pred(i.op[1]);
    p = (p & ~ready) | bits;
  }
}

// redux.sync.op.type d, a, members
template <typename T, int Op> void redux(Exec &e, const Inst &i) {
  const uint32_t *members = e.row<uint32_t>(i.op[2]);
  uint32_t ready = assembled(e, i, members);
  T *d = e.row<T>(i.op[0]);
  const T *a = e.row<T>(i.op[1]);
  T out[32];
  eachLane(ready, [&](int l) {
    bool first = true;
    T acc = 0;
    eachLane(members[l] & e.warp->alive, [&](int k) {
      T v = a[k];
      if (first)
        acc = v;
      else if constexpr (Op == 0)
        acc = T(uint32_t(acc) + uint32_t(v));
      else if constexpr (Op == 1)
        acc = std::min(acc, v);
      else if constexpr (Op == 2)
        acc = std::max(acc, v);
      else if constexpr (Op == 3)
        acc &= v;
      else if constexpr (Op == 4)
        acc |= v;
      else
        acc ^= v;
      first = false;
    });
    out[l] = acc;
  });
  eachLane(ready, [&](int l) { d[l] = out[l]; });
}

template <typename T> Handler reduxOf(Decoder &d) {
  return d.has("add")   ? redux<T, 0>
         : d.has("min") ? redux<T, 1>
         : d.has("max") ? redux<T, 2>
         : d.has("and") ? redux<T, 3>
         : d.has("or")  ? redux<T, 4>
         : d.has("xor") ? redux<T, 5>
                        : nullptr;
}

} // namespace

void addWarpOps(DecodeTable &t) {
  t["shfl"] = decodeShfl;
  t["vote"] = decodeVote;
  t["match"] = [](Decoder &d, Inst &inst) {
    const Operand &to = d.operand(0);
    inst.mode = d.has("all");
    inst.op[1] = kNoRow;
    if (to.kind == Operand::Pair) {
      inst.op[0] = d.destination(to.parts[0], 4);
      inst.op[1] = d.predicate(to.parts[1]);
    } else {
      inst.op[0] = d.destination(to, 4);
    }
    int n = bytesOf(d.type());
    inst.op[2] = d.source(d.operand(1), n);
    inst.op[3] = d.source(d.operand(2), 4);
    inst.run = n == 8 ? match<uint64_t> : match<uint32_t>;
  };
  t["redux"] = [](Decoder &d, Inst &inst) {
    plain(d, inst, {4, 4, 4});
    inst.run = d.type() == Type::S32 ? reduxOf<int32_t>(d) : reduxOf<uint32_t>(d);
  };
  t["activemask"] = [](Decoder &d, Inst &inst) {
    inst.op[0] = d.destination(d.operand(0), 4);
    inst.run = [](Exec &e, const Inst &i) {
      uint32_t *out = e.row<uint32_t>(i.op[0]);
      eachLane(e.mask, [&](int l) { out[l] = e.mask; });
    };
  };
  t["elect"] = [](Decoder &d, Inst &inst) {
    const Operand &to = d.operand(0);
    inst.op[0] = d.destination(to.parts.at(0), 4);
    inst.op[1] = d.predicate(to.parts.at(1));
    inst.op[2] = d.source(d.operand(1), 4);
    inst.run = [](Exec &e, const Inst &i) {
      const uint32_t *members = e.row<uint32_t>(i.op[2]);
      uint32_t ready = assembled(e, i, members);
      uint32_t &p = e.pred(i.op[1]);
      eachLane(ready, [&](int l) {
        int leader = std::countr_zero(members[l] & e.warp->alive);
        e.row<uint32_t>(i.op[0])[l] = uint32_t(leader);
        p = (p & ~(1u << l)) | uint32_t(leader == l) << l;
      });
    };
  };
}

} // namespace shardkit::emu
