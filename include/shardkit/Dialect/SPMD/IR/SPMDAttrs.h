//===- SPMDAttrs.h - Attributes of the spmd dialect -------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDATTRS_H
#define SHARDKIT_DIALECT_SPMD_IR_SPMDATTRS_H

#include "shardkit/Dialect/SPMD/IR/StageFragment.h"
#include "shardkit/Layout/Sharding.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::spmd {

/// The kind of a factor in `spmd.sharding_rule`.
enum class RuleFactorKind : uint8_t { Parallel, Reduction, Windowed, Indexed, Ordered, Replicated };

/// The kinds of buffers that `spmd.slot` names.
enum class SlotKind : uint8_t { Argument, Result, Value, Sum };

} // namespace mlir::spmd

#include "shardkit/Dialect/SPMD/IR/SPMDEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "shardkit/Dialect/SPMD/IR/SPMDAttrs.h.inc"

namespace mlir::spmd {

/// Text of an axis-resource list without `<>`: `["data", ?]` or `replicated`.
AxisResourcesAttr parseBareAxisResources(AsmParser &parser);
void printBareAxisResources(AsmPrinter &printer, AxisResourcesAttr attr);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDATTRS_H
