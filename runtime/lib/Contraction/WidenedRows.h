//===- WidenedRows.h - Rows of a weight of few bits times vectors -*- C++ -*-===//
//
// A row of the weight is a list of runs: numbers that follow each other in memory, with one scale and one offset. A
// number is decoded in registers, and multiplied by so many vectors. The one loop over rows (WidenedRows.inc) is
// compiled for each instruction set; a format is a decoder of 16 numbers.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CONTRACTION_WIDENEDROWS_H
#define SHARDKIT_RT_CONTRACTION_WIDENEDROWS_H

#include <cstdint>

namespace shardkit::rt {

/// Offsets from those of the row, and the lowest bits of what is read of each byte.
struct WidenedRun {
  int64_t payload, high, scale, offset;
  int32_t shift, highShift;
};

/// How two runs at a time, of 16 numbers or 32, lie in memory. Next: the second one follows, with the same shifts.
/// LowHigh, HighLow: the halves of the same bytes, the low half first or last.
enum class WidenedPairs { None, Next, LowHigh, HighLow };

/// weight[i] = number[i] * scale - offset. Vectors have the elements of all runs one after the other.
struct WidenedRow {
  int32_t number;     ///< sk_number
  int32_t numVectors; ///< 1 to 4
  WidenedPairs pairs;
  int64_t numRuns, length;
  const WidenedRun *runs;
  const float *table;   ///< Of SK_NUMBER_TABLE.
  const float *vectors; ///< numVectors times numRuns * length
  const uint8_t *payload, *high;
  const float *scale, *offset; ///< Or null.
};

/// The scales of the runs of a row: scale = outer scale * number of few bits.
struct WidenedInner {
  struct Number {
    int64_t at[2], outer; ///< Offsets from those of the row.
    uint8_t shift[2], mask[2];
  };
  const Number *numbers = nullptr; ///< By runs.
  int64_t numRuns = 0;
  int32_t sign = 0; ///< The bit of a sign, or 0.
  /// Where all groups of eight runs have one outer scale each, and read bytes that lie likewise in 16 bytes from
  /// `begin` on: these bytes, shifts and masks. Else no group.
  struct Group {
    int64_t begin, outer;
  };
  const Group *groups = nullptr;
  int64_t numGroups = 0;
  uint8_t index[2][16] = {};
  int32_t shift[2][8] = {}, mask[2][8] = {};
  int64_t end = 0; ///< So many bytes from those of the row on are read in groups.
};

/// `isReadable`: `inner.end` bytes from `bytes` on are those of the tensor.
using WidenedInnerFn = void (*)(const WidenedInner &inner, const uint8_t *bytes, bool isReadable, const float *outer,
                                float *scales);

/// The sums for each vector. The terms of each of 32 lanes (i mod 32) are added in order, then the lanes, in
/// the same way for each instruction set.
using WidenedRowFn = void (*)(const WidenedRow &row, float *sums);

/// The code for an instruction set.
struct WidenedRowCode {
  WidenedRowFn sum;
  WidenedInnerFn readInner;
};

extern const WidenedRowCode portableWidenedRows;
#ifdef SHARDKIT_X86_KERNELS
extern const WidenedRowCode avx2WidenedRows, avx512WidenedRows;
#endif

} // namespace shardkit::rt

#endif // SHARDKIT_RT_CONTRACTION_WIDENEDROWS_H
