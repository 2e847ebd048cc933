//===- KnownSizes.h - A program at sizes that only the run knows -*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_KNOWNSIZES_H
#define SHARDKIT_LIB_REPORT_KNOWNSIZES_H

#include "shardkit/Report/Report.h"
#include "shardkit/Rules/SymbolicSizes.h"

namespace mlir::spmd {

/// While it lives, the values of a partitioned module have static types: those at sizes that the run may have.
class KnownSizes {
public:
  /// The hints of sizes, else their upper bounds, else one element for each device; with `atBounds` the bounds come
  /// first. Sizes that the program cannot have become multiples of the devices.
  KnownSizes(ModuleOp module, bool atBounds);
  ~KnownSizes();
  KnownSizes(const KnownSizes &) = delete;
  KnownSizes &operator=(const KnownSizes &) = delete;

  /// By function and name.
  ArrayRef<ReportSize> getSizes() const { return sizes; }
  /// The sum of the bytes of values of a function: `2048 + 64 * b + 128 * ceil(b / 2) * s`; empty where it is a number.
  std::string getFormula(func::FuncOp func, ArrayRef<Value> values) const;

private:
  /// The values of unknown size of a function, whose dims are then known.
  SmallVector<Value> findValues(func::FuncOp func);
  /// The likely sizes; multiples of the devices near them if these do not divide what is sharded there: no call has
  /// such sizes.
  SmallVector<int64_t> chooseSizes(func::FuncOp func, ArrayRef<Value> values, int64_t devices, bool atBounds) const;
  void setSizes(func::FuncOp func, ArrayRef<Value> values, ArrayRef<int64_t> given);
  void setType(Value value, ArrayRef<AffineExpr> dims, ArrayRef<int64_t> given);

  std::vector<ReportSize> sizes;
  llvm::DenseMap<Value, SmallVector<AffineExpr>> dimsOf; ///< Of values of unknown size.
  std::vector<std::pair<Value, Type>> types;             ///< Before.
  std::vector<std::pair<func::FuncOp, FunctionType>> functionTypes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_KNOWNSIZES_H
