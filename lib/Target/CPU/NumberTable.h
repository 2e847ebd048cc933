//===- NumberTable.h - Functions of stored bits, by all their values ------===//
//
// A body that computes a float from a byte, or from two, and from the indices of some loops has few arguments: it is
// computed for all of them. So a format is found whatever the ops are that decode it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_CPU_NUMBERTABLE_H
#define SHARDKIT_LIB_TARGET_CPU_NUMBERTABLE_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace mlir::spmd::cpu {

/// The bits of values for each of several cases; one element: the same for all.
using Bits = std::vector<uint64_t>;

/// The bits of `value` where `argumentOf` gives those of arguments of `body` and `indexOf` the indices of its loops;
/// nullopt where an op is not known.
std::optional<Bits> computeBits(Value value, Block &body,
                                llvm::function_ref<std::optional<Bits>(BlockArgument)> argumentOf,
                                llvm::function_ref<std::optional<int64_t>(int64_t)> indexOf);

/// How bytes of one operand, or of two, are a number.
struct NumberFormat {
  enum Kind { Table, I8, E4M3, I6 } kind;
  std::vector<float> table; ///< Of Table, 16.
  int64_t shift = 0, highShift = 0;
};

/// Of the f32 bits for all 256 values of a byte.
std::optional<NumberFormat> findFormat(const Bits &ofByte);
/// Of those for all of two bytes, the low one minor.
std::optional<NumberFormat> findWideFormat(const Bits &ofBytes);

/// A number of at most eight bits: of each of two bytes, shifted to the right, the bits of a mask.
struct BitFields {
  struct Field {
    unsigned byte = 0, shift = 0, mask = 0;
  };
  Field fields[2];
  bool isSigned = false; ///< The eight bits have a sign.
};

/// Of the f32 bits for all values of a byte, or of two, the first one minor.
std::optional<BitFields> findBitFields(const Bits &ofBytes);

} // namespace mlir::spmd::cpu

#endif // SHARDKIT_LIB_TARGET_CPU_NUMBERTABLE_H
