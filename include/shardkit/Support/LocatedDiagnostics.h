//===- LocatedDiagnostics.h - No diagnostic without a location --*- C++ -*-===//

#ifndef SHARDKIT_SUPPORT_LOCATEDDIAGNOSTICS_H
#define SHARDKIT_SUPPORT_LOCATEDDIAGNOSTICS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::spmd {

/// Gives diagnostics of ops whose location is unknown the location of `file`, the input of a tool: front ends write
/// `loc(unknown)` at ops that they make. Handlers that are registered earlier print `FILE:0:0`, not `<unknown>:0`.
void locateDiagnostics(MLIRContext *context, llvm::StringRef file);

/// Calls `locateDiagnostics` as soon as a context loads dialect `spmd`.
void registerLocatedDiagnostics(DialectRegistry &registry, llvm::StringRef file);

} // namespace mlir::spmd

#endif // SHARDKIT_SUPPORT_LOCATEDDIAGNOSTICS_H
