//===- Conversion.h - Attributes to plain layouts and back ------*- C++ -*-===//
//
// Passes work on the structs of the layout library: attributes are read once
// and written once per pass.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_CONVERSION_H
#define SHARDKIT_DIALECT_SPMD_IR_CONVERSION_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

namespace mlir::spmd {

using EmitErrorFn = llvm::function_ref<InFlightDiagnostic()>;

/// The mesh as plain data. An iota device list becomes an empty one. Costs are
/// per axis.
Mesh toMesh(MeshOp op);
Mesh toMesh(llvm::StringRef name, MeshAttr attr);

/// A mesh as an op, called `name`; an iota device list is left out.
MeshOp createMesh(OpBuilder &b, Location loc, llvm::StringRef name, const Mesh &mesh);
MeshAttr toAttr(MLIRContext *context, const Mesh &mesh);

/// The mesh called `mesh` in the nearest symbol table; null if there is none.
/// Scans the module: passes use a MeshCache.
MeshOp lookupMesh(Operation *from, FlatSymbolRefAttr mesh);
MeshOp lookupMesh(Operation *from, FlatSymbolRefAttr mesh, SymbolTableCollection &symbolTable);

/// Names become indices of mesh axes, full axes get their size. Reports unknown
/// axes; verifySharding checks everything else.
FailureOr<Sharding> toSharding(ShardingAttr attr, const Mesh &mesh, EmitErrorFn emitError);
FailureOr<DimEntries> toDimEntries(llvm::ArrayRef<DimEntryAttr> entries, const Mesh &mesh, EmitErrorFn emitError);
FailureOr<llvm::SmallVector<DimEntries>> toFactors(FactorsAttr attr, const Mesh &mesh, EmitErrorFn emitError);

/// The inverse: full axes are written without a sub-axis.
ShardingAttr toAttr(MLIRContext *context, FlatSymbolRefAttr mesh, const Sharding &sharding, const Mesh &layoutMesh);
llvm::SmallVector<DimEntryAttr> toAttrs(MLIRContext *context, llvm::ArrayRef<DimEntry> entries, const Mesh &mesh);
DimShardingAttr toAttr(MLIRContext *context, const DimSharding &dim, const Mesh &mesh);

/// Shape of a value: that of a ranked shaped type, empty for a scalar.
llvm::ArrayRef<int64_t> getShape(Type type);
inline llvm::ArrayRef<int64_t> getShape(Value value) { return getShape(value.getType()); }
/// `type` with another shape.
RankedTensorType getTypeWithShape(Type type, llvm::ArrayRef<int64_t> shape);

/// Bytes of one element in memory (booleans take a byte, index 8).
int64_t getElementBytes(Type elementType);

/// A location as text for reports, `model.mlir:12:8`; empty if unknown.
std::string getLocationText(Location loc);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_CONVERSION_H
