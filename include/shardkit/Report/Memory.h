//===- Memory.h - Peak memory of a device -----------------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_MEMORY_H
#define SHARDKIT_REPORT_MEMORY_H

#include "shardkit/Report/PartitionedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// A buffer that is live at the peak, described by its value.
struct HeldValue : DescribedValue {
  int64_t bytes = 0;
};

/// The peak of the bytes that a device holds in a local program.
struct FunctionMemory {
  std::string function;
  int64_t peakBytes = 0, argumentBytes = 0;
  std::string at, op;             // the first op with that peak
  Location location;              // for remarks
  std::vector<HeldValue> largest; // live at the peak, the largest first
  /// Values whose size is not known; they are not counted.
  int64_t dynamicValues = 0;
  /// The bytes that are held at the peak as a sum of products of the sizes that only the run knows; empty if there are
  /// none.
  std::string formula;
};

class KnownSizes;

/// The memory of the public functions of a partitioned module, in order (LiveBuffers).
/// `top`: the number of values to list.
std::vector<FunctionMemory> computeMemory(ModuleOp module, const PartitionedValues &values, const KnownSizes &sizes,
                                          unsigned top);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_MEMORY_H
