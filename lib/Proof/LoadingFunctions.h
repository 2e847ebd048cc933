//===- LoadingFunctions.h - What shard functions load -----------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_LOADINGFUNCTIONS_H
#define SHARDKIT_LIB_PROOF_LOADINGFUNCTIONS_H

#include "shardkit/Proof/Certificate.h"

namespace mlir::spmd::proof {

/// Proves of each shard function of the partitioned program that it makes what the loading function of the unsharded
/// program makes: the shard, or the segment of it, that the argument is, from all of the stored tensors. Shard
/// functions that were proven for an argument of the same layout are not proven again.
class LoadingProver {
public:
  LoadingProver(Certificate &certificate, bool withClaims) : certificate(certificate), withClaims(withClaims) {}

  /// Those of the arguments of `local`. One error if `global` loads an argument in another way.
  LogicalResult prove(func::FuncOp global, func::FuncOp local);

private:
  static void addUndecided(func::FuncOp shard, Proof &proof);
  LogicalResult proveArgument(func::FuncOp global, func::FuncOp local, unsigned argument);

  Certificate &certificate;
  bool withClaims;
  llvm::DenseSet<std::pair<Attribute, Attribute>> proven; ///< shard functions, each with the layout of its result
};

/// Writes what the loader copies to operands of shard functions as ops (LoaderCopies.cpp). Functions whose operands
/// have no closed form keep these, and the attribute that says so.
void writeLoaderCopies(ModuleOp local);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_LOADINGFUNCTIONS_H
