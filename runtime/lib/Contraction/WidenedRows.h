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

/// weight[i] = number[i] * scale - offset. Vectors have the elements of all runs one after the other.
struct WidenedRow {
  int32_t number;     ///< sk_number
  int32_t numVectors; ///< 1 to 4
  int64_t numRuns, length;
  const WidenedRun *runs;
  const float *table;   ///< Of SK_NUMBER_TABLE.
  const float *vectors; ///< numVectors times numRuns * length
  const uint8_t *payload, *high;
  const float *scale, *offset; ///< Or null.
};

/// The sums for each vector. The terms of each of 32 lanes (i mod 32) are added in order, then the lanes, in
/// the same way for each instruction set.
using WidenedRowFn = void (*)(const WidenedRow &row, float *sums);

void sumWidenedRowPortable(const WidenedRow &row, float *sums);
#ifdef SHARDKIT_X86_KERNELS
void sumWidenedRowAvx2(const WidenedRow &row, float *sums);
void sumWidenedRowAvx512(const WidenedRow &row, float *sums);
#endif

} // namespace shardkit::rt

#endif // SHARDKIT_RT_CONTRACTION_WIDENEDROWS_H
