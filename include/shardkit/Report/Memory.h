//===- Memory.h - What a device holds at once -------------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_MEMORY_H
#define SHARDKIT_REPORT_MEMORY_H

#include "shardkit/Report/PartitionedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// A buffer that is held at the peak, as the value it was made for.
struct HeldValue : DescribedValue {
  int64_t bytes = 0;
};

/// The peak of the bytes that a device holds in a local program.
struct FunctionMemory {
  std::string function;
  int64_t peakBytes = 0, argumentBytes = 0;
  std::string at, op;             // where it is first reached
  Location location;              // for remarks
  std::vector<HeldValue> largest; // of those held there, the largest first
  /// Values whose size is not known; they are not counted.
  int64_t dynamicValues = 0;
};

/// The memory of the functions of a partitioned module that are not private, in
/// order (LiveBuffers). `top`: how many values are listed.
std::vector<FunctionMemory> computeMemory(ModuleOp module, const PartitionedValues &values, unsigned top);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_MEMORY_H
