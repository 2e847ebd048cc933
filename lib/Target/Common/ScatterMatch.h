//===- ScatterMatch.h - Updates of places that data say ---------*- C++ -*-===//
//
//   out[p, v] = sum over r of (p == at[r] ? update[r, v] : -0.0)
//
// is how a scatter stands on tensors, where any of its dims may be cut: every place
// looks at every update. Only one place is changed by each.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_SCATTERMATCH_H
#define SHARDKIT_LIB_TARGET_COMMON_SCATTERMATCH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::spmd::target {

/// An op, on tensors or buffers, whose body changes an element only where indices equal
/// what data say.
class Scatter {
public:
  /// Nothing where `op` is none.
  static std::optional<Scatter> match(linalg::LinalgOp op);

  /// A dim of the result whose place the others say: `loop + rest == place`.
  struct Address {
    unsigned loop;
    Value place;
    SmallVector<Value> rest;
  };

  /// A read of an operand, at loops that are known.
  using Load = llvm::function_ref<Value(OpBuilder &b, OpOperand &operand)>;

  ArrayRef<Address> getAddresses() const { return addresses; }
  /// Whether the places depend on `loop`.
  bool isDeciding(unsigned loop) const { return deciding.test(loop); }
  /// The inputs that say them.
  SmallVector<OpOperand *> getDecidingInputs() const;
  /// The index of the loop of each address, where the deciding loops are `at`; it may be
  /// no place of the result.
  SmallVector<Value> emitPlaces(OpBuilder &b, ArrayRef<Value> at, Load load) const;

private:
  explicit Scatter(linalg::GenericOp op);
  bool addLoops(Value value, llvm::SmallBitVector &loops, llvm::SmallBitVector &read) const;
  bool addAddress(Value sum, Value place);
  Value evaluate(OpBuilder &b, Value value, ArrayRef<Value> at, Load load, IRMapping &known) const;

  linalg::GenericOp op;
  Block *body;
  SmallVector<AffineMap> maps;
  SmallVector<Address> addresses;
  llvm::SmallBitVector deciding; ///< Loops.
  llvm::SmallBitVector inputs;   ///< That the addresses are made of.
};

/// Replaces an op that addresses rows (`getAddressing`) by what stands above.
void expandScatter(Operation *op);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_SCATTERMATCH_H
