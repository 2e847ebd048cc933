//===- Machine.cpp - Runs the blocks of a kernel --------------------------===//

#include "Exec.h"

#include "Special.h"

#include <algorithm>

namespace shardkit::emu {

void Exec::fault(FaultKind kind, const Inst &inst, int lane, const std::string &what) {
  int t = thread(lane);
  uint32_t x = uint32_t(t) % block.x, y = uint32_t(t) / block.x % block.y, z = uint32_t(t) / (block.x * block.y);
  std::string text = what + "\n  kernel " + kernel->name + ", block (" + std::to_string(bx) + "," + std::to_string(by) +
                     "," + std::to_string(bz) + "), thread (" + std::to_string(x) + "," + std::to_string(y) + "," +
                     std::to_string(z) + ")";
  if (frame && frame->function->name != kernel->name)
    text += ", in " + frame->function->name;
  if (inst.line > 0 && size_t(inst.line) <= kernel->ast->source.size())
    text += "\n  line " + std::to_string(inst.line) + ": " + kernel->ast->source[size_t(inst.line) - 1];
  throw DeviceFault(kind, text);
}

static std::string hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

char *Exec::global(const Inst &inst, uint64_t address, uint32_t bytes, int lane, Access access) {
  Region &region = regions[inst.line & 7];
  if (generation != memory->generation()) {
    generation = memory->generation();
    for (Region &r : regions)
      r = Region();
  }
  if (address < region.begin || address >= region.end)
    if (!memory->find(address, region)) {
      region = Region();
      fault(FaultKind::Address, inst, lane,
            std::string(writes(access) ? "write" : "read") + " of " + std::to_string(bytes) + " bytes at " +
                hex(address) + ": " + memory->describe(address));
    }
  if (address + bytes > region.end)
    fault(FaultKind::Address, inst, lane,
          std::to_string(bytes) + " bytes at " + hex(address) + " reach beyond the end: " + memory->describe(address));
  if (writes(access) && region.readOnly)
    fault(FaultKind::Address, inst, lane, "write to constant memory at " + hex(address));
  if (options->races)
    checkRaces(globalRaces, inst, address, bytes, lane, access);
  uint64_t offset = address - region.begin;
  if (region.written) {
    if (!writes(access)) {
      for (uint32_t i = 0; i < bytes; ++i)
        if (!region.written[offset + i])
          fault(FaultKind::Address, inst, lane,
                "read of memory that nothing has written, at " + hex(address + i) + ": " + memory->describe(address));
    } else {
      memset(region.written + offset, 1, bytes);
    }
  }
  return region.host + offset;
}

void Exec::checkRaces(Races &races, const Inst &inst, uint64_t where, uint32_t bytes, int lane, Access access) {
  Toucher who{blockIndex, uint16_t(thread(lane)), epoch, warp->epoch};
  std::string wrong = races.touch(where, bytes, who, access);
  if (wrong.empty())
    return;
  bool isShared = &races == &sharedRaces;
  fault(FaultKind::Launch, inst, lane,
        std::string("race in ") +
            (isShared ? "shared memory at byte " + std::to_string(where) : "device memory at " + hex(where)) + wrong +
            (isShared ? "" : ": " + memory->describe(where)));
}

char *Exec::at(const Inst &inst, Space space, uint64_t address, uint32_t bytes, int lane, Access access) {
  if (address & (bytes - 1))
    fault(FaultKind::Misaligned, inst, lane,
          "address " + hex(address) + " of " + std::to_string(bytes) + " bytes is misaligned");
  if (space == Space::Generic) {
    switch (address & kWindowMask) {
    case kSharedWindow:
      space = Space::Shared;
      break;
    case kLocalWindow:
      space = Space::Local;
      break;
    case kParamWindow:
      space = Space::Param;
      break;
    default:
      space = Space::Global;
    }
    if (space != Space::Global)
      address &= ~kWindowMask;
  }
  switch (space) {
  case Space::Shared: {
    if (address < kSharedBase || address + bytes > kSharedBase + uint64_t(sharedBytes))
      fault(FaultKind::Address, inst, lane,
            std::to_string(bytes) + " bytes at shared address " + hex(address) + "; the block has " +
                std::to_string(sharedBytes) + " bytes, from " + hex(kSharedBase) + " on");
    uint32_t offset = uint32_t(address) - kSharedBase;
    if (options->races)
      checkRaces(sharedRaces, inst, offset, bytes, lane, access);
    if (options->uninitialised) {
      if (!writes(access))
        for (uint32_t i = 0; i < bytes; ++i)
          if (!sharedWritten[offset + i])
            fault(FaultKind::Address, inst, lane,
                  "read of shared memory that nothing has written, byte " + std::to_string(offset + i));
      if (writes(access))
        memset(sharedWritten.data() + offset, 1, bytes);
    }
    return shared.data() + offset;
  }
  case Space::Local:
    if (address < kLocalBase || address + bytes > kLocalBase + uint64_t(warp->localBytes))
      fault(FaultKind::Address, inst, lane, "local address " + hex(address) + " is out of bounds");
    return warp->local.data() + size_t(lane) * warp->localBytes + (address - kLocalBase);
  case Space::Param:
    if (address < kOwnParams) {
      if (writes(access) || address + bytes > params->size())
        fault(FaultKind::Address, inst, lane, "parameter address " + hex(address) + " is out of bounds");
      return const_cast<char *>(params->data()) + address;
    }
    address -= kOwnParams;
    if (address + bytes > frame->function->paramBytes)
      fault(FaultKind::Address, inst, lane, "parameter address is out of bounds");
    return frame->params.data() + size_t(lane) * frame->function->paramBytes + address;
  default:
    return global(inst, address, bytes, lane, access);
  }
}

/// cp.async: carries out all but the last `groupsLeft` closed groups.
void Exec::complete(const Inst &inst, int lane, size_t groupsLeft) {
  auto &groups = warp->groups[lane];
  while (groups.size() > groupsLeft + 1) {
    for (const PendingCopy &copy : groups.front()) {
      char *to = at(inst, Space::Shared, copy.to, copy.bytes, lane, Write);
      memset(to, 0, copy.bytes);
      if (copy.valid)
        memcpy(to, global(inst, copy.from, copy.valid, lane, Read), copy.valid);
    }
    groups.erase(groups.begin());
  }
}

void Exec::leave(uint32_t lanes) {
  warp->alive &= ~lanes;
  warp->atSync = 0; // Who waits looks again.
  reselect = true;
}

void Exec::runWarp(Warp &w, int64_t quantum) {
  warp = &w;
  while (quantum > 0) {
    uint32_t runnable = w.alive & ~w.atBarrier & ~w.atSync;
    if (!runnable)
      return;
    Frame *best = nullptr;
    int low = 0;
    eachLane(runnable, [&](int lane) {
      Frame *f = w.frame[lane];
      if (!best || f->depth > best->depth || (f == best && w.pc[lane] < low)) {
        best = f;
        low = w.pc[lane];
      }
    });
    uint32_t lanes = 0;
    int limit = INT32_MAX;
    eachLane(w.alive & ~w.atBarrier, [&](int lane) {
      if (w.frame[lane] != best)
        return;
      if (w.pc[lane] == low)
        lanes |= 1u << lane;
      else if (w.pc[lane] > low && !(w.atSync >> lane & 1))
        limit = std::min(limit, w.pc[lane]);
      else if (w.pc[lane] > low)
        limit = std::min(limit, w.pc[lane]);
    });
    w.atSync &= ~lanes;
    frame = best;
    registers = best->registers.get();
    group = lanes;
    pc = low;
    reselect = false;
    const Inst *code = best->function->code.data();
    for (;;) {
      const Inst &inst = code[pc];
      mask = group;
      if (inst.guard != kNoRow)
        mask &= inst.guardNegated ? ~pred(inst.guard) : pred(inst.guard);
      ++pc;
      if (mask)
        inst.run(*this, inst);
      --quantum;
      if (reselect)
        break;
      if (pc >= limit || quantum <= 0) {
        setPc(group, pc);
        break;
      }
    }
  }
}

bool Exec::releaseBarriers() {
  uint32_t threads = 0;
  for (const Warp &w : warps)
    threads += uint32_t(std::popcount(w.alive));
  bool released = false;
  for (int id = 0; id < 16; ++id) {
    Barrier &b = barriers[id];
    if (!b.arrived || b.arrived < (b.expected ? b.expected : threads))
      continue;
    for (Warp &w : warps) {
      uint32_t lanes = 0;
      int line = -1;
      eachLane(w.atBarrier, [&](int lane) {
        if (w.barrier[lane] != id)
          return;
        lanes |= 1u << lane;
        if (line >= 0 && line != w.barrierLine[lane]) {
          warp = &w;
          frame = w.frame[lane];
          Inst at;
          at.line = line;
          fault(FaultKind::Launch, at, lane,
                "threads of one warp wait at different barriers, this one and line " +
                    std::to_string(w.barrierLine[lane]));
        }
        line = w.barrierLine[lane];
      });
      w.atBarrier &= ~lanes;
    }
    b = Barrier();
    ++epoch;
    released = true;
  }
  return released;
}

void Exec::runBlock() {
  uint32_t threads = uint32_t(block.count());
  const Function &entry = kernel->functions.front();
  warps = std::vector<Warp>((threads + 31) / 32);
  for (size_t i = 0; i < warps.size(); ++i) {
    Warp &w = warps[i];
    w.index = int(i);
    uint32_t lanes = std::min(32u, threads - uint32_t(i) * 32);
    w.alive = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
    auto root = std::make_unique<Frame>();
    root->function = &entry;
    root->lanes = w.alive;
    root->registers.reset(new char[entry.registerBytes]);
    memset(root->registers.get(), 0xff, entry.registerBytes);
    root->params.resize(size_t(entry.paramBytes) * 32);
    w.localBytes = entry.localBytes;
    w.local.assign(size_t(w.localBytes) * 32, char(0xff));
    for (auto &f : w.frame)
      f = root.get();
    warp = &w;
    fillSpecial(*this, *root);
    w.frames.push_back(std::move(root));
  }
  std::vector<size_t> order(warps.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = options->reversed ? order.size() - 1 - i : i;
  for (;;) {
    bool ran = false, left = false;
    for (size_t i : order) {
      Warp &w = warps[i];
      if (w.alive & ~w.atBarrier & ~w.atSync) {
        runWarp(w, 1 << 16);
        ran = true;
      }
      left |= w.alive != 0;
    }
    if (releaseBarriers())
      continue;
    if (!left)
      return;
    if (!ran)
      for (Warp &w : warps)
        if (w.alive) {
          int lane = std::countr_zero(w.atSync ? w.atSync : w.alive);
          warp = &w;
          frame = w.frame[lane];
          fault(FaultKind::Launch, frame->function->code[size_t(std::max(0, w.pc[lane] - !w.atSync))], lane,
                "the block hangs: threads wait for threads that wait elsewhere or are gone");
        }
  }
}

void launch(const Kernel &kernel, Dim3 grid, Dim3 block, uint32_t dynamicShared, const std::vector<char> &params,
            const DeviceMemory &memory, const Options &options) {
  Exec exec;
  exec.kernel = &kernel;
  exec.memory = &memory;
  exec.options = &options;
  exec.params = &params;
  exec.grid = grid;
  exec.block = block;
  exec.dynamicShared = dynamicShared;
  exec.sharedBytes = kernel.sharedBytes + dynamicShared;
  exec.constants = kernel.constants.data();
  exec.generation = memory.generation();
  uint64_t blocks = grid.count();
  for (uint64_t i = 0; i < blocks; ++i) {
    uint64_t b = options.reversed ? blocks - 1 - i : i;
    exec.blockIndex = uint32_t(i);
    exec.bx = uint32_t(b % grid.x);
    exec.by = uint32_t(b / grid.x % grid.y);
    exec.bz = uint32_t(b / grid.x / grid.y);
    exec.shared.assign(exec.sharedBytes, char(0xff));
    if (options.uninitialised)
      exec.sharedWritten.assign(exec.sharedBytes, 0);
    exec.epoch = 1;
    for (Barrier &barrier : exec.barriers)
      barrier = Barrier();
    exec.runBlock();
  }
}

} // namespace shardkit::emu
