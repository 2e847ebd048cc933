//===- Padding.h - Keep padding lanes out of results ------------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_PADDING_H
#define SHARDKIT_PARTITION_PADDING_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Options.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// A dim of a value, or a loop of an op, that its axes do not divide.
struct UnevenLoop {
  unsigned position;
  int64_t size; ///< in the global program
  DimEntries entries;
  bool operator==(const UnevenLoop &o) const {
    return position == o.position && size == o.size && entries == o.entries;
  }
};

/// The dims of a value of `shape` that its sharding cuts unevenly.
SmallVector<UnevenLoop, 1> getUnevenDims(const Sharding &sharding, ArrayRef<int64_t> shape);

/// The padding of one function: what its ops need is collected before any type
/// changes and built when all are local.
class Padding {
public:
  explicit Padding(FunctionMeshes &meshes) : meshes(meshes) {}

  /// Notes what an op of the global program needs; `getSharding` is null for what
  /// has no layout. Reports an op that has no form on padded shards.
  LogicalResult collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  /// Fills the padding lanes of a local value for all its users (tests).
  void fill(Value value, ArrayRef<UnevenLoop> dims, PaddingFill with);
  /// Masks operands and guards bodies. Ops may be replaced.
  void apply();

private:
  struct Mask {
    Operation *op;
    unsigned operand;
    TypedAttr value;
    SmallVector<UnevenLoop, 1> dims;
  };
  struct Guard {
    Operation *op;
    PaddingNeeds::Body body;
    SmallVector<UnevenLoop, 1> loops;
  };
  /// Elements of the chunk of this device that are no padding; not positive where
  /// it has none. Computed at the builder's place.
  Value getCount(OpBuilder &b, Location loc, const UnevenLoop &loop);
  Value createMasked(OpBuilder &b, Location loc, Value value, ArrayRef<UnevenLoop> dims, TypedAttr with);
  void guard(const Guard &guard);

  FunctionMeshes &meshes;
  std::vector<Mask> masks;
  std::vector<Guard> guards;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_PADDING_H
