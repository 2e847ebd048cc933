//===- Special.cpp - Special registers ------------------------------------===//

#include "Special.h"

#include <algorithm>

namespace shardkit::emu {

static const char *kNames[] = {"%tid.x",
                               "%tid.y",
                               "%tid.z",
                               "%ntid.x",
                               "%ntid.y",
                               "%ntid.z",
                               "%ctaid.x",
                               "%ctaid.y",
                               "%ctaid.z",
                               "%nctaid.x",
                               "%nctaid.y",
                               "%nctaid.z",
                               "%laneid",
                               "%warpid",
                               "%nwarpid",
                               "%smid",
                               "%nsmid",
                               "%lanemask_eq",
                               "%lanemask_lt",
                               "%lanemask_le",
                               "%lanemask_gt",
                               "%lanemask_ge",
                               "%dynamic_smem_size",
                               "%total_smem_size"};

int specialIndex(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i])
      return int(i);
  return -1;
}

void fillSpecial(Exec &e, Frame &frame) {
  const Function &f = *frame.function;
  for (auto [row, offset] : f.locals)
    std::fill_n(reinterpret_cast<uint64_t *>(frame.registers.get() + row), 32, frame.localBase + offset);
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (f.special[i] == kNoRow)
      continue;
    auto *row = reinterpret_cast<uint32_t *>(frame.registers.get() + f.special[i]);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t t = uint32_t(e.warp->index) * 32 + lane, one = 1u << lane;
      const uint32_t values[] = {t % e.block.x,
                                 t / e.block.x % e.block.y,
                                 t / (e.block.x * e.block.y),
                                 e.block.x,
                                 e.block.y,
                                 e.block.z,
                                 e.bx,
                                 e.by,
                                 e.bz,
                                 e.grid.x,
                                 e.grid.y,
                                 e.grid.z,
                                 lane,
                                 uint32_t(e.warp->index),
                                 uint32_t(e.warps.size()),
                                 0,
                                 1,
                                 one,
                                 one - 1,
                                 one | (one - 1),
                                 ~(one | (one - 1)),
                                 ~(one - 1),
                                 e.dynamicShared,
                                 e.sharedBytes};
      row[lane] = values[i];
    }
  }
}

} // namespace shardkit::emu
