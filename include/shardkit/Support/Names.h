//===- Names.h - Names of arguments, results and values ---------*- C++ -*-===//

#ifndef SHARDKIT_SUPPORT_NAMES_H
#define SHARDKIT_SUPPORT_NAMES_H

#include "shardkit/Dialect/SPMD/IR/DimSymbols.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// `spmd.weight`, else `spmd.name`, else `arg0`.
std::string getArgumentName(func::FuncOp func, unsigned i);
/// The size of dim `d` of an argument, which has dynamic type there: its entry of `spmd.symbols`, else the name `x.0`.
DimSymbols getDimSymbols(func::FuncOp func, unsigned i, int64_t d);
/// `spmd.name`, else `result0`.
std::string getResultName(func::FuncOp func, unsigned i);

/// A name with `*`, which stands for any characters within one component; components
/// are separated by dots.
///   a.*.k  matches a.b.k     a*  matches ab, not a.b
/// As a prefix it also matches all names below it:
///   a  matches a and a.b, not ab     a.*  matches a.b and a.b.c
class NamePattern {
public:
  explicit NamePattern(llvm::StringRef text);
  bool isLiteral() const { return !text.contains('*'); }
  llvm::StringRef getText() const { return text; }
  bool matches(llvm::StringRef name) const { return match(name, /*prefix=*/false); }
  bool matchesPrefix(llvm::StringRef name) const { return match(name, /*prefix=*/true); }

private:
  bool match(llvm::StringRef name, bool prefix) const;
  llvm::StringRef text;
  llvm::SmallVector<llvm::StringRef, 4> components;
};

/// Calls `visit` with `a`, `a.b` and `a.b.c` for `a.b.c`, shortest first.
void forEachPrefix(llvm::StringRef name, llvm::function_ref<void(llvm::StringRef)> visit);

/// `"a", "b"`: at most four of `known`, the nearest to `name` first.
std::string listNearest(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

/// A value that a plan can name: an argument, or the result of an op other than a
/// constraint. With several results, `.0`, `.1` follow the name of the op.
struct NamedValue {
  Value value;
  /// The argument's name, or the NameLoc of the op and of constraints on it.
  llvm::SmallVector<std::string, 1> names;
  /// `op#3`: the number of an op with a result, from 0 in program order, without ops in
  /// scalar bodies; `arg#0` for an argument.
  std::string position;
  /// True if the first name is that of the op, not of a constraint on it.
  bool isNamed = false;
};
/// All of them in program order.
std::vector<NamedValue> collectNamedValues(func::FuncOp func);

/// The value under constraints and reshards.
Value skipAnnotations(Value value);

/// True for `op#3`, `op#3.1` and `arg#0`.
bool isPosition(llvm::StringRef name);

/// Hash of a function without its annotations and without the elements of large
/// constants, 16 hex digits.
std::string hashFunction(func::FuncOp func);

} // namespace mlir::spmd

#endif // SHARDKIT_SUPPORT_NAMES_H
