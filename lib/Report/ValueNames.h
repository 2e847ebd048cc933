//===- ValueNames.h - What values are called -------------------*- C++ -*--===//

#ifndef SHARDKIT_LIB_REPORT_VALUENAMES_H
#define SHARDKIT_LIB_REPORT_VALUENAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Names of the tensors of a module as printed, and their other names: NameLocs,
/// `spmd.name`, `spmd.weight`. Valid as long as the module does not change, except for
/// renamed values.
class ValueNames {
public:
  explicit ValueNames(ModuleOp module);

  /// `%12`, with the other name in parentheses if there is one.
  std::string get(Value value) const;
  /// Gives a new value the name of another one.
  void rename(Value from, Value to);
  /// Whether `selection` is one of the names, or `file:line` of the value.
  bool matches(Value value, StringRef selection) const;
  /// Appends all names of a value.
  void list(Value value, SmallVectorImpl<std::string> &names) const;

private:
  void add(Value value);
  AsmState state;
  llvm::DenseMap<Value, std::string> printed, userNames;
};

/// An error at `loc` for an unknown name, with the nearest ones.
InFlightDiagnostic emitUnknownValue(ModuleOp module, const ValueNames &names, StringRef selection, Location loc);

/// One error if `selection` names no value of the propagated `module`, but one of `original`.
LogicalResult verifySelection(ModuleOp module, ModuleOp original, StringRef selection);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_VALUENAMES_H
