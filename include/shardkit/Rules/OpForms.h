//===- OpForms.h - What partition needs to know of an op --------*- C++ -*-===//
//
// The types of ShardingRuleOpInterface beyond the rule: padding, local types, windows, and
// rows that data address.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_OPFORMS_H
#define SHARDKIT_RULES_OPFORMS_H

#include "shardkit/Layout/Layout.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::spmd {

/// The requirements of an op on padding lanes of one factor. By default there are none:
/// the op may run on them as it is.
struct PaddingNeeds {
  /// Operands of which these lanes must hold `value`.
  struct Mask {
    unsigned operand;
    TypedAttr value;
  };
  llvm::SmallVector<Mask, 2> masks;
  /// The action of the body on these lanes (of a structured op, tensor.generate or tensor.pad).
  enum class Body : uint8_t {
    Run,    ///< computes as on other lanes
    Select, ///< yields the current elements of the outputs
    Skip,   ///< the same (zero without an output), without computing
  } body = Body::Run;
  /// The factor among those of the builtin rule of the op: the loop of a body.
  int32_t loop = -1;
};

/// Types of a tensor in the global and in the local program.
struct TensorTypes {
  llvm::function_ref<RankedTensorType(Value)> getGlobal, getLocal;
};

/// How partition computes a shard of an op that reads windows of its operands. Windows are
/// brought to the device first; elements beyond the dim are zero there.
enum class WindowForm : uint8_t {
  None,    ///< The rule has no windows.
  InPlace, ///< The op computes on windows of its operands (`makeWindowLocal`).
  Pad,     ///< Operand 0 in the middle of one value (`getPadForm`); the op is replaced.
  Concat,  ///< All operands, one after the other along the dim with windows; the op is replaced.
  Slice,   ///< tensor.extract_slice
  Insert,  ///< tensor.insert_slice
};

/// A dim of an operand that is its window now: the indices from step * k + offset on of the
/// global dim, for the chunk k of the factor.
struct LocalWindow {
  unsigned operand, dim;
  Window window;
  int64_t chunk; ///< The indices of the factor on each device.
};

/// Operand 0 with `low` and `high` elements of `padding` around it, per dim.
struct PadForm {
  SmallVector<OpFoldResult> low, high;
  Value padding; ///< A scalar; null if zero.
};

/// Rows of a table are read or written, one per tuple of coordinates: tensor.gather,
/// tensor.scatter, tosa.gather, tosa.scatter and ops alike. Partition replaces the op by loops.
struct Addressing {
  bool writes;
  unsigned tableOperand, indicesOperand;
  Value table, indices;
  /// Read: the result. Written: the operand.
  Value rows;
  /// Leading dims that `rows` and `indices` have in common.
  int64_t batch = 0;
  /// True if the last dim of `indices` runs over coordinates (else there is only one).
  bool hasTuples = false;
  /// Per dim of the table: the coordinate that addresses it, or -1; in that case the dim
  /// of `rows` that corresponds to it.
  SmallVector<int64_t> coordinate, along;
};

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_OPFORMS_H
