//===- DimSymbols.h - Entries of spmd.symbols -------------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_DIMSYMBOLS_H
#define SHARDKIT_DIALECT_SPMD_IR_DIMSYMBOLS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::spmd {

/// The size of a dim that only the run knows: of symbol i, which is `names[i]`.
///   "b"            s0               b
///   "2 * b + 1"    s0 * 2 + 1       b
///   "s * b"        s0 * s1          s, b
struct DimSymbols {
  llvm::SmallVector<StringAttr, 2> names;
  AffineExpr size;

  /// Whether the size is `names[i]` times a number that is not 0, plus a number, where the other names are known.
  bool isLinearIn(unsigned i) const;
};

/// Reads an entry of `spmd.symbols`. One with an operator between spaces is a sum, difference or product of names
/// and numbers, in parentheses as needed; any other is one name. Fails, without an error, for other expressions.
FailureOr<DimSymbols> parseDimSymbols(StringAttr text);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_DIMSYMBOLS_H
