//===- Edits.h - Small changes of an op -------------------------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_EDITS_H
#define SHARDKIT_LIB_PROOF_EDITS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace mlir::spmd::proof {

/// One change of an op, as one would mend it by hand.
struct Edit {
  DictionaryAttr attributes;
  llvm::SmallVector<Value, 4> operands;
  std::optional<Location> loc; ///< of the value that it reads instead
  std::string what;            ///< "with the offset 2 in dim 0"
};

/// Applies an edit, and takes it back at the end of its life.
class EditedOp {
public:
  EditedOp(Operation *op, const Edit &edit);
  ~EditedOp();
  EditedOp(const EditedOp &) = delete;
  /// False if the op is not legal like this.
  bool isLegal() const;

private:
  Operation *op;
  DictionaryAttr attributes;
  llvm::SmallVector<Value, 4> operands;
};

/// Other numbers, comparisons, offsets, axes, dims and reductions; operands in another order.
llvm::SmallVector<Edit, 0> getOwnEdits(Operation *op);
/// Another value in place of an operand: of those that are known before, the ones that nothing reads first.
llvm::SmallVector<Edit, 0> getOperandEdits(Operation *op);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_EDITS_H
