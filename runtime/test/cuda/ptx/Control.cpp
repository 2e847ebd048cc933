//===- Control.cpp - Branches, calls, barriers of the block ---------------===//

#include "Decode.h"

#include "Special.h"

namespace shardkit::emu {

namespace {

void branch(Exec &e, const Inst &i) {
  if (e.mask == e.group) {
    e.pc = i.target;
    return;
  }
  e.setPc(e.group & ~e.mask, e.pc);
  e.setPc(e.mask, i.target);
  e.reselect = true;
}

void branchIndexed(Exec &e, const Inst &i) {
  const uint32_t *index = e.row<uint32_t>(i.op[0]);
  e.setPc(e.group, e.pc);
  eachLane(e.mask, [&](int l) {
    if (index[l] >= i.targets.size())
      e.fault(FaultKind::Instruction, i, l, "brx.idx beyond its targets");
    e.warp->pc[l] = i.targets[index[l]];
  });
  e.reselect = true;
}

void call(Exec &e, const Inst &i) {
  const Function &f = *i.callee;
  Frame *caller = e.frame;
  auto frame = std::make_unique<Frame>();
  frame->function = &f;
  frame->parent = caller;
  frame->call = &i;
  frame->depth = caller->depth + 1;
  frame->localBase = caller->localBase + caller->function->localBytes;
  frame->returnTo = e.pc;
  frame->lanes = e.mask;
  frame->registers.reset(new char[f.registerBytes]);
  memset(frame->registers.get(), 0xff, f.registerBytes);
  frame->params.resize(size_t(f.paramBytes) * 32);
  if (frame->depth > 1000)
    e.fault(FaultKind::Address, i, std::countr_zero(e.mask), "the stack of calls overflows");
  uint32_t needed = frame->localBase - kLocalBase + f.localBytes;
  Warp &w = *e.warp;
  if (needed > w.localBytes) {
    std::vector<char> larger(size_t(needed) * 32, char(0xff));
    for (size_t l = 0; l < 32; ++l)
      memcpy(larger.data() + l * needed, w.local.data() + l * w.localBytes, w.localBytes);
    w.local.swap(larger);
    w.localBytes = needed;
  }
  uint32_t from = caller->function->paramBytes, to = f.paramBytes;
  e.setPc(e.group & ~e.mask, e.pc);
  eachLane(e.mask, [&](int l) {
    for (const Copy &c : i.arguments)
      memcpy(frame->params.data() + size_t(l) * to + c.to, caller->params.data() + size_t(l) * from + c.from, c.bytes);
    w.frame[l] = frame.get();
    w.pc[l] = 0;
  });
  fillSpecial(e, *frame);
  w.frames.push_back(std::move(frame));
  e.reselect = true;
}

void ret(Exec &e, const Inst &) {
  Frame *frame = e.frame, *caller = frame->parent;
  e.setPc(e.group & ~e.mask, e.pc);
  if (!caller)
    return e.leave(e.mask);
  uint32_t from = frame->function->paramBytes, to = caller->function->paramBytes;
  eachLane(e.mask, [&](int l) {
    for (const Copy &c : frame->call->results)
      memcpy(caller->params.data() + size_t(l) * to + c.to, frame->params.data() + size_t(l) * from + c.from, c.bytes);
    e.warp->frame[l] = caller;
    e.warp->pc[l] = frame->returnTo;
  });
  frame->lanes &= ~e.mask;
  if (!frame->lanes)
    std::erase_if(e.warp->frames, [&](const auto &f) { return f.get() == frame; });
  e.reselect = true;
}

void exitThread(Exec &e, const Inst &) {
  e.setPc(e.group & ~e.mask, e.pc);
  e.leave(e.mask);
}

// op: id and count rows; mode 1: arrive only; 2..4: red.popc, and, or.
void barrier(Exec &e, const Inst &i) {
  uint32_t id = e.row<uint32_t>(i.op[0])[std::countr_zero(e.mask)];
  int first = std::countr_zero(e.mask);
  if (id > 15)
    e.fault(FaultKind::Instruction, i, first, "barriers are 0 to 15");
  Barrier &b = e.barriers[id];
  if (i.op[1] != kNoRow) {
    b.expected = e.row<uint32_t>(i.op[1])[first];
    if (b.expected % 32 || b.expected == 0)
      e.fault(FaultKind::Instruction, i, first, "a barrier counts whole warps");
  }
  b.arrived += uint32_t(std::popcount(e.mask));
  e.setPc(e.group, e.pc);
  if (i.mode != 1) {
    e.warp->atBarrier |= e.mask;
    eachLane(e.mask, [&](int l) {
      e.warp->barrier[l] = uint8_t(id);
      e.warp->barrierLine[l] = i.line;
    });
  }
  e.reselect = true;
}

void decodeBarrier(Decoder &d, Inst &inst) {
  d.onlyModifiers({"sync", "cta", "aligned", "arrive", "warp", "red", "popc", "and", "or"});
  if (d.has("red"))
    d.fail("reductions at barriers are not supported");
  if (d.has("warp")) {
    inst.op[0] = d.source(d.operand(0), 4);
    inst.run = [](Exec &e, const Inst &i) {
      const uint32_t *members = e.row<uint32_t>(i.op[0]);
      uint32_t ready = 0;
      eachLane(e.mask, [&](int l) {
        if ((members[l] & e.warp->alive & ~e.mask) == 0)
          ready |= 1u << l;
      });
      if (uint32_t wait = e.mask & ~ready) {
        e.setPc(e.group, e.pc);
        e.setPc(wait, e.pc - 1);
        e.warp->atSync |= wait;
        e.reselect = true;
      }
      if (ready)
        ++e.warp->epoch;
    };
    return;
  }
  inst.mode = d.has("arrive");
  inst.op[0] = d.operands() ? d.source(d.operand(0), 4) : d.constant(0, 4);
  inst.op[1] = d.operands() > 1 ? d.source(d.operand(1), 4) : kNoRow;
  inst.run = barrier;
}

void decodeCall(Decoder &d, Inst &inst) {
  // call (results), name, (arguments);  each list may be missing.
  const std::vector<Operand> &ops = d.statement().operands;
  size_t at = 0;
  const Operand *results = nullptr, *arguments = nullptr;
  if (at < ops.size() && ops[at].kind == Operand::List)
    results = &ops[at++];
  if (at >= ops.size() || ops[at].kind != Operand::Symbol)
    d.fail("calls through registers are not supported");
  const std::string &name = ops[at++].name;
  if (at < ops.size() && ops[at].kind == Operand::List)
    arguments = &ops[at++];
  const FunctionAst &f = d.ast(name);
  uint32_t end = 0;
  auto layout = [&](const std::vector<Variable> &formals, const Operand *actuals, bool in, std::vector<Copy> &out) {
    if (formals.size() != (actuals ? actuals->parts.size() : 0))
      d.fail("'" + name + "' has another number of parameters");
    for (size_t i = 0; i < formals.size(); ++i) {
      uint32_t align = uint32_t(formals[i].align);
      end = (end + align - 1) / align * align;
      Copy own = d.param(actuals->parts[i].name);
      if (own.from < kOwnParams || own.bytes != uint32_t(formals[i].bytes))
        d.fail("'" + actuals->parts[i].name + "' is not of the size of the parameter");
      uint32_t mine = own.from - kOwnParams;
      out.push_back(in ? Copy{mine, end, own.bytes} : Copy{end, mine, own.bytes});
      end += own.bytes;
    }
  };
  layout(f.params, arguments, true, inst.arguments);
  layout(f.results, results, false, inst.results);
  inst.callee = d.callee(name);
  inst.run = call;
}

} // namespace

void addControlOps(DecodeTable &t) {
  t["bra"] = [](Decoder &d, Inst &inst) {
    inst.target = d.label(d.operand(0).name);
    inst.run = branch;
  };
  t["brx"] = [](Decoder &d, Inst &inst) {
    inst.op[0] = d.source(d.operand(0), 4);
    for (const std::string &name : d.targetsOf(d.operand(1).name))
      inst.targets.push_back(d.label(name));
    inst.run = branchIndexed;
  };
  t["call"] = decodeCall;
  t["ret"] = [](Decoder &, Inst &inst) { inst.run = ret; };
  t["exit"] = [](Decoder &, Inst &inst) { inst.run = exitThread; };
  t["trap"] = [](Decoder &, Inst &inst) {
    inst.run = [](Exec &e, const Inst &i) { e.fault(FaultKind::Assert, i, std::countr_zero(e.mask), "trap"); };
  };
  t["brkpt"] = t["trap"];
  t["bar"] = t["barrier"] = decodeBarrier;
}

} // namespace shardkit::emu
