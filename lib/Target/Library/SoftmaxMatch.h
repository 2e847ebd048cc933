//===- SoftmaxMatch.h - A softmax over scores -------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_LIBRARY_SOFTMAXMATCH_H
#define SHARDKIT_LIB_TARGET_LIBRARY_SOFTMAXMATCH_H

#include "ScoreExpressions.h"
#include "shardkit/rt/abi.h"

namespace mlir::spmd::target {

/// What happens to a score before the softmax.
struct ScoreStep {
  sk_attention_step_kind kind;
  Expression *operand = nullptr; ///< Without the scores.
  double value = 0;
  bool keep = true;
  int64_t offset = 0;
  Type type = {};
};

struct SoftmaxMatch {
  Expression *product = nullptr; ///< The scores at the element.
  SmallVector<ScoreStep> steps;
  Digits query; ///< What a causal mask counts, if there is one.
};

/// Whether `e` is the softmax of scores after some steps, over the loop `key`.
std::optional<SoftmaxMatch> matchSoftmax(Expressions &expressions, Expression *e, const Digits &key);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_LIBRARY_SOFTMAXMATCH_H
