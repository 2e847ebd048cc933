//===- Races.h - Threads at one byte with no order between them -*- C++ -*--===//

#ifndef SHARDKIT_TEST_CUDA_PTX_RACES_H
#define SHARDKIT_TEST_CUDA_PTX_RACES_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

namespace shardkit::emu {

/// What a thread does with memory. What is read as constant (`ld.global.nc`) may not be written by the kernel at all;
/// strong stores (`st.volatile`, `st.relaxed`) count as atomic.
enum Access { Read, ReadConstant, Write, Atomic };
inline bool writes(Access access) { return access >= Write; }

/// A thread, and how often what it waits with has been in order.
struct Toucher {
  static constexpr uint16_t kNobody = 0xffff;
  uint32_t block = 0; ///< Of the grid, counted as it runs.
  uint16_t thread = kNobody;
  uint32_t epoch = 0;     ///< Barriers of its block so far.
  uint32_t warpEpoch = 0; ///< Synchronisations of its warp so far.
};

/// Who touched each byte of a memory last, during one kernel.
class Races {
public:
  /// `perBlock`: each block has a memory of its own.
  explicit Races(bool perBlock) : perBlock(perBlock) {}

  /// Says that `who` touches some bytes. What is wrong with that, as `+3: read after the write of thread 7 ...`
  /// with the byte's place, or nothing.
  std::string touch(uint64_t address, uint32_t bytes, const Toucher &who, Access access);

private:
  struct Touch {
    Toucher writer, reader;
    bool atomic = false;         ///< The write was.
    bool severalThreads = false; ///< Of the reader's block have read since the last barrier.
    bool severalBlocks = false;  ///< Have read.
    bool constant = false;       ///< It was read as such.
  };
  using Page = std::array<Touch, 1024>;

  Touch &at(uint64_t address);
  /// Whether nothing orders `other` before `who`.
  bool unordered(const Toucher &other, const Toucher &who, bool several) const;

  bool perBlock;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  Page *last = nullptr;
  uint64_t lastIndex = 0;
};

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_PTX_RACES_H
