//===- OpSyntax.h - Helpers of op parsers and verifiers ---------*- C++ -*-===//

#ifndef SHARDKIT_LIB_DIALECT_SPMD_IR_OPSYNTAX_H
#define SHARDKIT_LIB_DIALECT_SPMD_IR_OPSYNTAX_H

#include "AttrSyntax.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"

namespace mlir::spmd {

//===--- custom directives ------------------------------------------------===//

/// `<@pod, [...]>`, `axis_resources [...]` or `ort <...>`.
inline ParseResult parseShardingOrResources(OpAsmParser &parser, ShardingAttr &sharding, AxisResourcesAttr &resources,
                                            OrtAttr &ort) {
  if (succeeded(parser.parseOptionalKeyword("axis_resources"))) {
    resources = parseBareAxisResources(parser);
    return success(!!resources);
  }
  // `#spmd.ort<...>` after an operand would lex as a result number.
  if (succeeded(parser.parseOptionalKeyword("ort"))) {
    ort = dyn_cast_or_null<OrtAttr>(OrtAttr::parse(parser, {}));
    return success(!!ort);
  }
  sharding = dyn_cast_or_null<ShardingAttr>(ShardingAttr::parse(parser, {}));
  return success(!!sharding);
}
inline void printShardingOrResources(OpAsmPrinter &printer, Operation *, ShardingAttr sharding,
                                     AxisResourcesAttr resources, OrtAttr ort) {
  if (resources) {
    printer << "axis_resources ";
    printBareAxisResources(printer, resources);
  } else if (ort) {
    printer << "ort ";
    printer.printStrippedAttrOrType(ort);
  } else if (sharding) {
    printer.printStrippedAttrOrType(sharding);
  }
}

inline ParseResult parseBareAxisResources(OpAsmParser &parser, AxisResourcesAttr &attr) {
  attr = parseBareAxisResources(static_cast<AsmParser &>(parser));
  return success(!!attr);
}
inline void printBareAxisResources(OpAsmPrinter &printer, Operation *, AxisResourcesAttr attr) {
  printBareAxisResources(static_cast<AsmPrinter &>(printer), attr);
}

inline ParseResult parseReduction(OpAsmParser &parser, ReductionKindAttr &attr) {
  ReductionKind kind;
  if (parseReductionKeyword(parser, kind))
    return failure();
  attr = ReductionKindAttr::get(parser.getContext(), kind);
  return success();
}
inline void printReduction(OpAsmPrinter &printer, Operation *, ReductionKindAttr attr) {
  printer << stringifyReductionKind(attr.getValue());
}

/// An integer without its type.
inline ParseResult parseI64(OpAsmParser &parser, IntegerAttr &attr) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}
inline void printI64(OpAsmPrinter &printer, Operation *, IntegerAttr attr) { printer << attr.getInt(); }

//===--- verification -----------------------------------------------------===//

/// The mesh of that name, as plain data; reports at `op` if there is none.
FailureOr<Mesh> getMeshOrEmit(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbolTable);

/// Checks the sharding of a value of `type` that an op's attribute describes.
LogicalResult verifySharding(Operation *op, ShardingAttr sharding, Type type, const llvm::Twine &what,
                             SymbolTableCollection &symbolTable, bool allowUneven = true);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_DIALECT_SPMD_IR_OPSYNTAX_H
