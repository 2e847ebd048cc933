//===- ScatterMatch.h - Scatters on tensors ---------------------*- C++ -*-===//
//
//   out[p, v] = sum over r of (p == at[r] ? update[r, v] : -0.0)
//
// is the form of a scatter on tensors, which allows to shard any of its dims: each element
// of the result visits each update, but an update changes only one element.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_SCATTERMATCH_H
#define SHARDKIT_LIB_TARGET_COMMON_SCATTERMATCH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::spmd::target {

/// An op, on tensors or buffers, whose body changes an element only if its indices equal
/// operands.
class Scatter {
public:
  /// std::nullopt if `op` is not such an op.
  static std::optional<Scatter> match(linalg::LinalgOp op);

  /// A dim of the result whose index the inputs determine: `loop + rest == index`.
  struct Address {
    unsigned loop;
    Value index;
    SmallVector<Value> rest;
  };

  /// A read of an operand, at loops with known indices.
  using Load = llvm::function_ref<Value(OpBuilder &b, OpOperand &operand)>;

  ArrayRef<Address> getAddresses() const { return addresses; }
  /// Whether the addresses depend on `loop`.
  bool isDeciding(unsigned loop) const { return deciding.test(loop); }
  /// The inputs that are addresses.
  SmallVector<OpOperand *> getDecidingInputs() const;
  /// The index of each address if the deciding loops are `at`; it may be out of bounds of
  /// the result.
  SmallVector<Value> emitIndices(OpBuilder &b, ArrayRef<Value> at, Load load) const;

private:
  explicit Scatter(linalg::GenericOp op);
  bool addLoops(Value value, llvm::SmallBitVector &loops, llvm::SmallBitVector &read) const;
  bool addAddress(Value sum, Value index);
  Value evaluate(OpBuilder &b, Value value, ArrayRef<Value> at, Load load, IRMapping &known) const;

  linalg::GenericOp op;
  Block *body;
  SmallVector<AffineMap> maps;
  SmallVector<Address> addresses;
  llvm::SmallBitVector deciding; ///< Loops.
  llvm::SmallBitVector inputs;   ///< The inputs of the addresses.
};

/// Replaces an op that addresses rows (`getAddressing`) by the form above.
void expandScatter(Operation *op);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_SCATTERMATCH_H
