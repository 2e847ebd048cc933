//===- Shardings.h - Shardings of a boundary from elsewhere -----*- C++ -*-===//

#ifndef SHARDKIT_PROOF_SHARDINGS_H
#define SHARDKIT_PROOF_SHARDINGS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd::proof {

/// Gives arguments and results of the public functions of `local` the shardings that the function of that name in
/// `source` has, with the meshes that they name. Functions of which an argument or a result has a sharding keep theirs,
/// unless `replace` is set. One error where the signatures or the meshes differ.
LogicalResult takeShardings(ModuleOp source, ModuleOp local, bool replace);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_SHARDINGS_H
