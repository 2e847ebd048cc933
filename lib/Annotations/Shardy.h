//===- Shardy.h - Names in Shardy's dialect ---------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_ANNOTATIONS_SHARDY_H
#define SHARDKIT_LIB_ANNOTATIONS_SHARDY_H

#include "llvm/ADT/StringRef.h"

namespace mlir::spmd {

inline constexpr llvm::StringLiteral kSdySharding = "sdy.sharding";
inline constexpr llvm::StringLiteral kSdyRule = "sdy.sharding_rule";
/// Costs of a mesh, a discardable attribute on the mesh of Shardy.
inline constexpr llvm::StringLiteral kCosts[] = {"alpha", "beta", "flops", "bandwidth", "memory", "spmd.overlap"};
inline constexpr llvm::StringLiteral kCostsAttr = "shardkit.costs";

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_ANNOTATIONS_SHARDY_H
