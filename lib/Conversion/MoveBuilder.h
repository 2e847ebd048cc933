//===- MoveBuilder.h - Closed forms as arithmetic ---------------*- C++ -*-===//
//
// For emitters without an op for every collective: the members of a group, and the elements
// of a result that was computed from the operands of all members.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_CONVERSION_MOVEBUILDER_H
#define SHARDKIT_LIB_CONVERSION_MOVEBUILDER_H

#include "shardkit/Conversion/CollectiveConversion.h"

namespace mlir::spmd {

/// The ranks that exchange elements, numbered from 0 in rising order.
class Members {
public:
  explicit Members(llvm::ArrayRef<RankDigit> digits);
  int64_t size() const { return count; }
  llvm::ArrayRef<RankDigit> getDigits() const { return digits; }
  /// The rank of member `k` relative to that of the first member.
  int64_t getOffset(int64_t k) const;
  /// The digit of the rank of member `k`, which must lie in the digits of the group.
  int64_t getDigit(int64_t k, const RankDigit &digit) const { return getOffset(k) / digit.stride % digit.size; }
  /// The number of the member with rank `rank`, an index.
  Value emitMember(OpBuilder &b, Location loc, Value rank) const;

private:
  llvm::SmallVector<RankDigit, 2> digits; // by falling stride
  int64_t count = 1;
};

/// Whether a device reads elements of others.
bool readsOthers(const ClosedForm &form);

/// The entry of a constant table, an index.
Value emitLookUp(OpBuilder &b, Location loc, llvm::ArrayRef<int64_t> table, Value index);

/// Combines two values of a reduction, elementwise; both have one element type. Integers of
/// one bit are unsigned.
Value emitCombined(OpBuilder &b, Location loc, ReductionKind kind, Value x, Value y);

/// The type in which elements are combined, rounded once: f32 for floats of up to 16 bits.
Type getAccumulatorType(Type element);

/// The result of a collective, if `gathered` has the operands of all members: its dims are the
/// member and the elements of an operand. `rank` is that of this device. Reductions combine
/// in rising order of ranks. Padding is zero.
Value emitFromGathered(OpBuilder &b, const CollectiveToEmit &collective, const Members &members, Value gathered,
                       Value rank);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_CONVERSION_MOVEBUILDER_H
