//===- AttrSyntax.h - Pieces of attribute syntax ----------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_DIALECT_SPMD_IR_ATTRSYNTAX_H
#define SHARDKIT_LIB_DIALECT_SPMD_IR_ATTRSYNTAX_H

#include "shardkit/Dialect/SPMD/IR/SPMDAttrs.h"

namespace mlir::spmd {

/// Attr::getChecked for files without the storage classes.
template <typename AttrT, typename... Args>
AttrT getVerified(llvm::function_ref<InFlightDiagnostic()> emitError, MLIRContext *context, const Args &...args) {
  if (failed(AttrT::verify(emitError, args...)))
    return {};
  return AttrT::get(context, args...);
}

/// `"x"`, `"x":(m)k` or `2`.
ParseResult parseDimEntry(AsmParser &parser, DimEntryAttr &entry);
void printDimEntry(AsmPrinter &printer, DimEntryAttr entry);
/// `{"x", "y":(1)2}`: no strides, no `?`.
ParseResult parseAxisSet(AsmParser &parser, llvm::SmallVectorImpl<DimEntryAttr> &entries);
void printAxisSet(AsmPrinter &printer, llvm::ArrayRef<DimEntryAttr> entries);
/// `{"x", 2, ?}p1`
ParseResult parseDimSharding(AsmParser &parser, DimShardingAttr &dim);
void printDimSharding(AsmPrinter &printer, DimShardingAttr dim);
/// `[{...}, {...}]`
ParseResult parseDimShardings(AsmParser &parser, llvm::SmallVectorImpl<DimShardingAttr> &dims);
/// `sum`, `max`, ...
ParseResult parseReductionKeyword(AsmParser &parser, ReductionKind &kind);
/// `[1, 2, 3]`
ParseResult parseIntegers(AsmParser &parser, llvm::SmallVectorImpl<int64_t> &values);
/// `name =`
ParseResult parseKeywordEqual(AsmParser &parser, llvm::StringRef name);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_DIALECT_SPMD_IR_ATTRSYNTAX_H
