//===- Exec.h - The state of a running block -------------------*- C++ -*--===//

#ifndef SHARDKIT_TEST_CUDA_PTX_EXEC_H
#define SHARDKIT_TEST_CUDA_PTX_EXEC_H

#include "Machine.h"
#include "Races.h"

#include <bit>
#include <cstring>

namespace shardkit::emu {

// Generic addresses of shared and local memory, and parameters, which have no other.
inline constexpr uint64_t kSharedWindow = uint64_t(0x7f1) << 48;
inline constexpr uint64_t kLocalWindow = uint64_t(0x7f2) << 48;
inline constexpr uint64_t kParamWindow = uint64_t(0x7f3) << 48;
inline constexpr uint64_t kWindowMask = uint64_t(0xfff) << 48;
// In shared and local memory address 0 is nothing's.
inline constexpr uint32_t kSharedBase = 1024, kLocalBase = 64;
// Parameters that a body declares for its calls lie behind those of the kernel.
inline constexpr uint32_t kOwnParams = 1 << 20;

/// A call that some lanes of a warp are in.
struct Frame {
  const Function *function = nullptr;
  Frame *parent = nullptr;
  const Inst *call = nullptr;
  int depth = 0;
  uint32_t localBase = kLocalBase;
  int returnTo = 0;
  uint32_t lanes = 0;
  std::unique_ptr<char[]> registers;
  std::vector<char> params; ///< paramBytes per lane.
};

struct PendingCopy {
  uint64_t from;
  uint32_t to;
  uint8_t bytes, valid;
};

struct Warp {
  int index = 0;
  uint32_t alive = 0;
  uint32_t atBarrier = 0; ///< Lanes that wait for the block.
  uint32_t atSync = 0;    ///< Lanes that wait for lanes of their warp.
  int pc[32] = {};
  Frame *frame[32] = {};
  uint8_t barrier[32] = {};
  int barrierLine[32] = {};
  uint32_t epoch = 0; ///< Counts the synchronisations of the warp.
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<char> local; ///< Per lane, `localBytes`.
  uint32_t localBytes = 0;
  std::vector<std::vector<PendingCopy>> groups[32]; ///< cp.async: the last is open.
};

struct Barrier {
  uint32_t arrived = 0, expected = 0; ///< expected 0: all threads.
  int reduce = -1;
  uint32_t votes = 0;
};

struct Exec {
  const Kernel *kernel = nullptr;
  const DeviceMemory *memory = nullptr;
  const Options *options = nullptr;
  const std::vector<char> *params = nullptr;
  Dim3 grid, block;
  uint32_t bx = 0, by = 0, bz = 0;
  uint32_t blockIndex = 0;                     ///< As they run.
  uint32_t dynamicShared = 0, sharedBytes = 0; ///< All of it.
  uint32_t epoch = 1;                          ///< Counts barriers.
  std::vector<char> shared;
  std::vector<uint8_t> sharedWritten;
  Races sharedRaces{/*perBlock=*/true}, globalRaces{/*perBlock=*/false};
  Barrier barriers[16];
  std::vector<Warp> warps;

  // The instruction at hand.
  Warp *warp = nullptr;
  Frame *frame = nullptr;
  char *registers = nullptr;
  const char *constants = nullptr;
  uint32_t group = 0; ///< Lanes at it.
  uint32_t mask = 0;  ///< Those whose guard holds.
  int pc = 0;         ///< The next one.
  bool reselect = false;

  Region regions[8];
  uint64_t generation = 0;

  template <typename T> T *row(Row r) {
    return reinterpret_cast<T *>(r >= 0 ? registers + r : const_cast<char *>(constants) + ~r);
  }
  /// A predicate is a bit per lane.
  uint32_t &pred(Row r) { return *row<uint32_t>(r); }

  void setPc(uint32_t lanes, int to) {
    for (uint32_t m = lanes; m; m &= m - 1)
      warp->pc[std::countr_zero(m)] = to;
  }

  int thread(int lane) const { return warp->index * 32 + lane; }
  [[noreturn]] void fault(FaultKind kind, const Inst &inst, int lane, const std::string &what);

  /// Host memory of `bytes` bytes at an address; checks all that is checked.
  char *at(const Inst &inst, Space space, uint64_t address, uint32_t bytes, int lane, Access access);
  char *global(const Inst &inst, uint64_t address, uint32_t bytes, int lane, Access access);
  /// For either kind of memory, `where` a byte of it.
  void checkRaces(Races &races, const Inst &inst, uint64_t where, uint32_t bytes, int lane, Access access);
  void complete(const Inst &inst, int lane, size_t groupsLeft);

  void runBlock();
  void runWarp(Warp &w, int64_t quantum);
  bool releaseBarriers();
  void leave(uint32_t lanes); ///< exit
};

template <typename F> inline void eachLane(uint32_t mask, F &&f) {
  if (mask == 0xffffffffu)
    for (int lane = 0; lane < 32; ++lane)
      f(lane);
  else
    for (uint32_t m = mask; m; m &= m - 1)
      f(std::countr_zero(m));
}

inline uint64_t readWide(const void *row, int bytes, int lane) {
  switch (bytes) {
  case 1:
    return static_cast<const uint8_t *>(row)[lane];
  case 2:
    return static_cast<const uint16_t *>(row)[lane];
  case 4:
    return static_cast<const uint32_t *>(row)[lane];
  default:
    return static_cast<const uint64_t *>(row)[lane];
  }
}
inline void writeWide(void *row, int bytes, int lane, uint64_t value) {
  switch (bytes) {
  case 1:
    static_cast<uint8_t *>(row)[lane] = uint8_t(value);
    break;
  case 2:
    static_cast<uint16_t *>(row)[lane] = uint16_t(value);
    break;
  case 4:
    static_cast<uint32_t *>(row)[lane] = uint32_t(value);
    break;
  default:
    static_cast<uint64_t *>(row)[lane] = value;
  }
}

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_PTX_EXEC_H
