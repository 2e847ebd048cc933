//===- ValueNames.h - What values are called -------------------*- C++ -*--===//

#ifndef SHARDKIT_LIB_REPORT_VALUENAMES_H
#define SHARDKIT_LIB_REPORT_VALUENAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Names of the tensors of a module as it prints them, and the other names they
/// go by: NameLocs, `spmd.name`, `spmd.weight`. Valid as long as the module
/// is not changed, but for values that are renamed.
class ValueNames {
public:
  explicit ValueNames(ModuleOp module);

  /// `%12`, with the other name in brackets where there is one.
  std::string get(Value value) const;
  /// Calls a new value what another was called.
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

/// An error at `loc` that no value has the name, with the nearest ones.
InFlightDiagnostic emitUnknownValue(ModuleOp module, const ValueNames &names, StringRef selection, Location loc);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_VALUENAMES_H
