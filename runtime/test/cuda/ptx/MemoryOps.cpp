//===- MemoryOps.cpp - ld, st, cp.async -----------------------------------===//

#include "Decode.h"

namespace shardkit::emu {

namespace {

uint64_t addressOf(Exec &e, const Inst &i, Row row, int lane) {
  uint64_t base = i.wide[2] == 8 ? e.row<uint64_t>(row)[lane] : e.row<uint32_t>(row)[lane];
  return base + uint64_t(i.offset);
}

// op: the values, then the address.
template <typename T> void load(Exec &e, const Inst &i) {
  uint32_t bytes = uint32_t(sizeof(T)) * i.count;
  Row address = i.op[i.count];
  eachLane(e.mask, [&](int l) {
    const char *from = e.at(i, i.space, addressOf(e, i, address, l), bytes, l, i.constant ? ReadConstant : Read);
    for (size_t k = 0; k < i.count; ++k)
      memcpy(e.row<T>(i.op[k]) + l, from + k * sizeof(T), sizeof(T));
  });
}
/// Into registers that are larger than what is loaded; T says how it is extended.
template <typename T> void loadWide(Exec &e, const Inst &i) {
  uint32_t bytes = uint32_t(sizeof(T)) * i.count;
  Row address = i.op[i.count];
  eachLane(e.mask, [&](int l) {
    const char *from = e.at(i, i.space, addressOf(e, i, address, l), bytes, l, i.constant ? ReadConstant : Read);
    for (size_t k = 0; k < i.count; ++k) {
      T v;
      memcpy(&v, from + k * sizeof(T), sizeof(T));
      writeWide(e.row<char>(i.op[k]), i.wide[0], l, uint64_t(v));
    }
  });
}
template <typename T> void store(Exec &e, const Inst &i) {
  uint32_t bytes = uint32_t(sizeof(T)) * i.count;
  Row address = i.op[i.count];
  eachLane(e.mask, [&](int l) {
    char *to = e.at(i, i.space, addressOf(e, i, address, l), bytes, l, i.strong ? Atomic : Write);
    for (size_t k = 0; k < i.count; ++k) {
      T v = T(readWide(e.row<char>(i.op[k]), i.wide[0], l));
      memcpy(to + k * sizeof(T), &v, sizeof(T));
    }
  });
}

Space spaceIn(Decoder &d) {
  for (const std::string &m : d.statement().modifiers) {
    if (m == "global")
      return Space::Global;
    if (m == "shared" || m == "shared::cta")
      return Space::Shared;
    if (m == "local")
      return Space::Local;
    if (m == "param" || m == "param::entry" || m == "param::func")
      return Space::Param;
    if (m == "const")
      return Space::Const;
    if (m == "shared::cluster")
      d.fail("clusters are not supported");
  }
  return Space::Generic;
}

void decodeLoadStore(Decoder &d, Inst &inst) {
  bool ld = d.statement().op[0] == 'l';
  for (const std::string &m : d.statement().modifiers) {
    static const std::string_view known[] = {
        "global",      "shared", "shared::cta", "local",    "param",   "param::entry",
        "param::func", "const",  "nc",          "volatile", "relaxed", "acquire",
        "release",     "weak",   "mmio",        "gpu",      "sys",     "cta",
        "cluster",     "ca",     "cg",          "cs",       "lu",      "cv",
        "wb",          "wt",     "v2",          "v4",       "v8",      "shared::cluster"};
    bool hint = m.substr(0, 4) == "L1::" || m.substr(0, 4) == "L2::";
    if (typeOf(m) == Type::None && !hint && std::find(std::begin(known), std::end(known), m) == std::end(known))
      d.fail("unknown modifier '." + m + "'");
  }
  inst.space = spaceIn(d);
  inst.constant = d.has("nc");
  inst.strong = d.has("volatile") || d.has("relaxed") || d.has("release");
  Type t = d.type();
  inst.bytes = uint8_t(bytesOf(t));
  const Operand &value = d.operand(ld ? 0 : 1), &address = d.operand(ld ? 1 : 0);
  std::vector<const Operand *> values;
  if (value.kind == Operand::Vector)
    for (const Operand &part : value.parts)
      values.push_back(&part);
  else
    values.push_back(&value);
  size_t expected = d.has("v2") ? 2 : d.has("v4") ? 4 : d.has("v8") ? 8 : 1;
  if (values.size() != expected || inst.bytes * expected > 32 || inst.bytes > 8 || !inst.bytes)
    d.fail("illegal vector");
  inst.count = uint8_t(expected);
  inst.wide[0] = 0;
  for (const Operand *v : values)
    if (v->kind == Operand::Register)
      inst.wide[0] = uint8_t(d.widthOf(*v));
  if (!inst.wide[0])
    inst.wide[0] = inst.bytes;
  if (inst.wide[0] < inst.bytes)
    d.fail("register is too small");
  for (size_t k = 0; k < expected; ++k)
    inst.op[k] = ld ? d.destination(*values[k], inst.wide[0]) : d.source(*values[k], inst.wide[0], t);
  inst.op[expected] = d.address(address, inst);
  bool same = inst.wide[0] == inst.bytes;
  inst.run = forInteger(t, [&](auto v) -> Handler {
    using T = decltype(v);
    return !ld ? store<std::make_unsigned_t<T>> : same ? load<T> : loadWide<T>;
  });
  if (!inst.run)
    switch (inst.bytes) {
    case 2:
      inst.run = !ld ? store<uint16_t> : same ? load<uint16_t> : loadWide<uint16_t>;
      break;
    case 4:
      inst.run = !ld ? store<uint32_t> : same ? load<uint32_t> : loadWide<uint32_t>;
      break;
    case 8:
      inst.run = !ld ? store<uint64_t> : load<uint64_t>;
      break;
    }
}

/// cp.async.{ca,cg}.shared.global [to], [from], bytes {, valid};  It lands as late as is
/// legal: when something waits for it.
void copyAsync(Exec &e, const Inst &i) {
  eachLane(e.mask, [&](int l) {
    uint64_t to = i.wide[0] == 8 ? e.row<uint64_t>(i.op[0])[l] : e.row<uint32_t>(i.op[0])[l];
    to += uint64_t(i.offset);
    uint64_t from = e.row<uint64_t>(i.op[1])[l] + uint64_t(int64_t(i.target));
    uint32_t valid = i.op[2] == kNoRow ? i.bytes : std::min<uint32_t>(i.bytes, e.row<uint32_t>(i.op[2])[l]);
    if ((to | from) & (i.bytes - 1u))
      e.fault(FaultKind::Misaligned, i, l, "cp.async of misaligned addresses");
    if (to < kSharedBase || to + i.bytes > kSharedBase + uint64_t(e.sharedBytes))
      e.fault(FaultKind::Address, i, l, "cp.async to an address outside of shared memory");
    if (valid)
      e.global(i, from, valid, l, Read);
    auto &groups = e.warp->groups[l];
    if (groups.empty())
      groups.emplace_back();
    groups.back().push_back({from, uint32_t(to), i.bytes, uint8_t(valid)});
  });
}

void decodeCp(Decoder &d, Inst &inst) {
  if (!d.has("async") || d.has("bulk") || d.has("reduce") || d.has("mbarrier"))
    d.fail("only cp.async with its groups is supported");
  if (d.has("commit_group")) {
    inst.run = [](Exec &e, const Inst &) {
      eachLane(e.mask, [&](int l) {
        auto &groups = e.warp->groups[l];
        if (groups.empty())
          groups.emplace_back();
        groups.emplace_back();
      });
    };
    return;
  }
  if (d.has("wait_group")) {
    inst.offset = int64_t(d.number(d.operand(0)));
    inst.run = [](Exec &e, const Inst &i) { eachLane(e.mask, [&](int l) { e.complete(i, l, size_t(i.offset)); }); };
    return;
  }
  if (d.has("wait_all")) {
    inst.run = [](Exec &e, const Inst &i) {
      eachLane(e.mask, [&](int l) {
        e.warp->groups[l].emplace_back();
        e.complete(i, l, 0);
      });
    };
    return;
  }
  inst.op[1] = d.address(d.operand(1), inst);
  if (inst.wide[2] != 8)
    d.fail("a global address has 8 bytes");
  inst.target = int(inst.offset);
  inst.op[0] = d.address(d.operand(0), inst);
  inst.wide[0] = inst.wide[2];
  uint64_t bytes = d.number(d.operand(2));
  if (bytes != 16 && (d.has("cg") || (bytes != 4 && bytes != 8)))
    d.fail("illegal number of bytes");
  inst.bytes = uint8_t(bytes);
  inst.op[2] = d.operands() > 3 ? d.source(d.operand(3), 4) : kNoRow;
  inst.run = copyAsync;
}

void nothing(Decoder &, Inst &inst) {
  inst.run = [](Exec &, const Inst &) {};
}

} // namespace

void addMemoryOps(DecodeTable &t) {
  t["ld"] = t["ldu"] = t["st"] = decodeLoadStore;
  t["cp"] = decodeCp;
  t["membar"] = t["fence"] = t["prefetch"] = t["prefetchu"] = t["nanosleep"] = nothing;
  t["griddepcontrol"] = t["pmevent"] = t["applypriority"] = nothing;
}

} // namespace shardkit::emu
