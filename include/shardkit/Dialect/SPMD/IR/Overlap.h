//===- Overlap.h - Collectives that overlap with compute --------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_OVERLAP_H
#define SHARDKIT_DIALECT_SPMD_IR_OVERLAP_H

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include <optional>

namespace mlir::spmd {

/// `spmd.overlap` of a mesh: the fraction of a collective that passes while devices compute, if it is known.
inline std::optional<double> getOverlap(MeshOp op) {
  auto overlap = op->getAttrOfType<FloatAttr>(kOverlapAttr);
  return overlap ? std::optional(overlap.getValueAsDouble()) : std::nullopt;
}

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_OVERLAP_H
