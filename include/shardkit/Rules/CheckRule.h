//===- CheckRule.h - Whether a rule gives the right numbers -----*- C++ -*-===//
//
// verifyShardingRule finds rules that do not fit their op; a rule may fit and be wrong. Here the
// op is computed in shards, as its rule and its other methods of ShardingRuleOpInterface permit,
// and compared with the op itself. An interpreter computes both:
//
//   FailureOr<TensorValues> interpretLinear(Operation *op, ArrayRef<TensorValue> in) {
//     TensorValue out(cast<RankedTensorType>(op->getResult(0).getType()));
//     forEachIndex(out.type.getShape(), [&](ArrayRef<int64_t> i) {
//       for (int64_t k = 0; k < in[0].type.getDimSize(1); ++k)
//         out.at(i) += in[0].at({i[0], k}) * in[1].at({i[1], k});
//     });
//     return TensorValues{out};
//   }
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_CHECKRULE_H
#define SHARDKIT_RULES_CHECKRULE_H

#include "shardkit/Rules/ShardingRule.h"
#include <vector>

namespace mlir::spmd {

/// Calls `function` with each index of a shape, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> function);

/// The elements of a tensor of static shape as numbers, in row-major order. A scalar operand is one of no dims.
struct TensorValue {
  RankedTensorType type;
  std::vector<double> elements;

  explicit TensorValue(RankedTensorType type, double element = 0)
      : type(type), elements(type.getNumElements(), element) {}
  double &at(llvm::ArrayRef<int64_t> index) { return elements[flatten(index)]; }
  double at(llvm::ArrayRef<int64_t> index) const { return elements[flatten(index)]; }

private:
  size_t flatten(llvm::ArrayRef<int64_t> index) const;
};
using TensorValues = std::vector<TensorValue>;

/// Computes the results of an op, one per result and of its type, or emits an error. `op` is that of
/// a shard, with local attributes and types. It is alone in the function `main` of a module, whose
/// arguments are its operands: an interpreter may lower and run this module.
using OpInterpreter = llvm::function_ref<FailureOr<TensorValues>(Operation *op, llvm::ArrayRef<TensorValue> operands)>;

/// The coverage of a check.
struct RuleCheck {
  /// The number of ways in which the op was sharded.
  unsigned cases = 0;
  /// Factors that may be sharded, but not by computing the op on shards: partition replaces it
  /// (windows of forms Pad and Concat, selections).
  llvm::SmallVector<int32_t, 2> unchecked;
  /// Factors that are sharded only where devices divide them: the op may not run on their padding, they share a dim, or
  /// they have a granule.
  llvm::SmallVector<int32_t, 2> even;
  /// Factors that the op's own rule shards, and that are replicated since an attribute may hold their size
  /// (`RuleBuilder::localAttributes`).
  llvm::SmallVector<int32_t, 2> replicated;
};

/// Shards each factor of the rule of `op` in 2 and 3, all pairs of factors, and all factors at
/// once; unevenly where the op may run on padding, whose elements are NaN unless the rule requires
/// a value. Emits an error at `op` if the rule does not fit, and for the first element that
/// differs from that of the full op by more than a relative 1e-4. Where `getAddressing` states that rows are read or
/// written at indices in a sharded dim, partition replaces the op by loops: the check computes what these do, which the
/// op must do too.
///
/// `operands`: their elements. By default an operand that is computed from constants alone has its own
/// elements, by the interpreter. Others are numbers without symmetry between -2 and 2 (integers from 0
/// to 2). Values are tensors of static shape and of integers or floats; operands may be scalars too. The time is that
/// of the interpreter, for at most 2 n^2 + 1 cases of n factors.
FailureOr<RuleCheck> checkShardingRule(Operation *op, OpInterpreter interpret,
                                       llvm::ArrayRef<TensorValue> operands = {});

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_CHECKRULE_H
