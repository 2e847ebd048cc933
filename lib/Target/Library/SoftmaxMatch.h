//===- SoftmaxMatch.h - A softmax over scores -------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_LIBRARY_SOFTMAXMATCH_H
#define SHARDKIT_LIB_TARGET_LIBRARY_SOFTMAXMATCH_H

#include "ScoreExpressions.h"
#include "shardkit/rt/abi.h"

namespace mlir::spmd::target {

/// A step that transforms scores before the softmax.
struct ScoreStep {
  sk_attention_step_kind kind;
  Expression *operand = nullptr; ///< An operand that does not depend on the scores.
  double value = 0;
  bool keep = true;
  int64_t offset = 0;
  Type type = {};
};

struct SoftmaxMatch {
  Expression *product = nullptr; ///< The element of the scores.
  SmallVector<ScoreStep> steps;
  Digits query; ///< The query index of a causal mask, if there is one.
};

/// Whether `e` is the softmax over the loop `key` of transformed scores.
std::optional<SoftmaxMatch> matchSoftmax(Expressions &expressions, Expression *e, const Digits &key);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_LIBRARY_SOFTMAXMATCH_H
