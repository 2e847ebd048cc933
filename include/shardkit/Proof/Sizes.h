//===- Sizes.h - Sizes that only the run knows ------------------*- C++ -*-===//
//
// A size that the program computes gets a number that stands for it: one that no dim has,
// equal for equal sizes. The types of both programs are rewritten to have these numbers, so
// that the rest of the proof deals with static types. A number is not taken for a bound:
// IndexForm::getRange() lets an index of such a dim be as large as any.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOF_SIZES_H
#define SHARDKIT_PROOF_SIZES_H

#include "shardkit/Proof/IndexForm.h"
#include "mlir/IR/Operation.h"
#include <vector>

namespace mlir::spmd::proof {

class SizeTable {
public:
  /// The number that stands for a size; a constant stands for itself.
  int64_t get(const IndexForm &size);
  /// The size that a number stands for.
  IndexForm getForm(int64_t size) const;

private:
  std::vector<IndexForm> forms;
};

/// Rewrites the types of the results of `op`, whose operands have static types. `getIndex` gives a size of the program
/// in closed form. Leaves a dynamic size where it is not known.
void resolveSizes(Operation *op, SizeTable &sizes, llvm::function_ref<std::optional<IndexForm>(Value)> getIndex);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_SIZES_H
