//===- Enumeration.h - Programs element by element --------------*- C++ -*-===//
//
// Runs an unsharded function and a partitioned one on expressions, and on numbers. See
// docs/internals/Proof.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_ENUMERATION_ENUMERATION_H
#define SHARDKIT_ENUMERATION_ENUMERATION_H

#include "shardkit/Proof/Certificate.h"

namespace mlir::spmd {

/// Decides functions of `certificate` that are not proven. It is proven that each element of a result is the same
/// expression of elements of the arguments as in the unsharded function, or it is refused by arguments for which one is
/// another number. What is too large to be run in about a second stays what it is, and so does what has an op that is
/// not run. With `onlyRefused`, what is not decided is left alone.
void decideByElements(ModuleOp global, ModuleOp local, proof::Certificate &certificate, bool onlyRefused = false);

/// The same for one function, in the form that is compared. Sizes are known.
void decideByElements(func::FuncOp global, func::FuncOp local, proof::Proof &proof);

} // namespace mlir::spmd

#endif // SHARDKIT_ENUMERATION_ENUMERATION_H
