//===- Races.cpp - Threads at one byte with no order between them ---------===//

#include "Races.h"

namespace shardkit::emu {

Races::Touch &Races::at(uint64_t address) {
  uint64_t index = address / std::tuple_size_v<Page>;
  if (!last || index != lastIndex) {
    std::unique_ptr<Page> &page = pages[index];
    if (!page)
      page = std::make_unique<Page>();
    last = page.get();
    lastIndex = index;
  }
  return (*last)[address % std::tuple_size_v<Page>];
}

bool Races::unordered(const Toucher &other, const Toucher &who, bool several) const {
  if (other.thread == Toucher::kNobody)
    return false;
  if (other.block != who.block)
    return !perBlock;
  if (other.epoch != who.epoch || (other.thread == who.thread && !several))
    return false;
  return several || other.thread / 32 != who.thread / 32 || other.warpEpoch == who.warpEpoch;
}

std::string Races::touch(uint64_t address, uint32_t bytes, const Toucher &who, Access access) {
  for (uint32_t i = 0; i < bytes; ++i) {
    Touch &t = at(address + i);
    const bool afterWrite = unordered(t.writer, who, false) && !(t.atomic && access == Atomic);
    const bool afterRead =
        writes(access) && (unordered(t.reader, who, t.severalThreads) || (t.severalBlocks && !perBlock));
    if (afterWrite || afterRead) {
      const Toucher &other = afterWrite ? t.writer : t.reader;
      const bool blocks = afterRead && !afterWrite && t.severalBlocks;
      const bool threads = afterRead && !afterWrite && t.severalThreads;
      return "+" + std::to_string(i) + ": " + (writes(access) ? "write" : "read") + " after the " +
             (afterWrite ? "write" : "read") + " of " +
             (blocks    ? "several blocks"
              : threads ? "several threads"
                        : "thread " + std::to_string(other.thread)) +
             (other.block != who.block ? " of another block" : " with no barrier between");
    }
    if (writes(access) ? t.constant : access == ReadConstant && t.writer.thread != Toucher::kNobody)
      return "+" + std::to_string(i) + ": read as constant, and written";
    if (!writes(access)) {
      t.constant |= access == ReadConstant;
      const bool known = t.reader.thread != Toucher::kNobody, sameBlock = t.reader.block == who.block;
      t.severalBlocks |= known && !sameBlock;
      t.severalThreads =
          known && sameBlock && t.reader.epoch == who.epoch && (t.severalThreads || t.reader.thread != who.thread);
      t.reader = who;
    } else {
      t.writer = who;
      t.atomic = access == Atomic;
    }
  }
  return "";
}

} // namespace shardkit::emu
