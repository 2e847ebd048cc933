//===- Verification.h - Legality of shardings, with diagnostics -*- C++ -*-===//
//
// Shared by the verifiers of attributes and ops and by passes that make
// shardings from user input (axis resources, plans).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_VERIFICATION_H
#define SHARDKIT_DIALECT_SPMD_IR_VERIFICATION_H

#include "shardkit/Dialect/SPMD/IR/Conversion.h"

namespace mlir::spmd {

/// Checks a sharding of a value of `type` on `mesh`: axis names, reuse, rank, sub-axes
/// and strides. `what` names the value in diagnostics ("argument #1", "result #0",
/// "operand"). Its axes must divide every dimension; with `allowUneven`, full axes need
/// not (padding).
LogicalResult verifyShardingOf(ShardingAttr attr, Type type, const Mesh &mesh, const llvm::Twine &what,
                               EmitErrorFn emitError, bool allowUneven = true);
/// The same on plain data, without the check of the reduction of an unreduced value.
LogicalResult verifyShardingOf(const Sharding &sharding, Type type, const Mesh &mesh, const llvm::Twine &what,
                               EmitErrorFn emitError, bool allowUneven = true);

/// Checks that a reduction is defined for elements of `type`; a note lists those that are.
LogicalResult verifyReductionOf(ReductionKind kind, Type type, EmitErrorFn emitError);

/// Reports that no mesh is called `name`, with a note that lists the existing ones.
void emitUnknownMesh(FlatSymbolRefAttr name, Operation *from, EmitErrorFn emitError);
/// Reports that `mesh` has no axis called `name`.
void emitUnknownAxis(llvm::StringRef name, const Mesh &mesh, EmitErrorFn emitError);

/// `"a", "b"`: the names nearest to `name` among `known`, all of them if none is near.
std::string nearestNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_VERIFICATION_H
