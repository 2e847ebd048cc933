//===- Model.h - The interface of StableHLO's ops ---------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_STABLEHLO_MODEL_H
#define SHARDKIT_LIB_STABLEHLO_MODEL_H

#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd::stablehlo {

/// ShardingRuleOpInterface of all ops of stablehlo and chlo, by their names.
struct Model : ShardingRuleOpInterface::FallbackModel<Model> {
  /// False for ops without a rule.
  static bool hasRule(StringRef name);

  ShardingRule getShardingRule(Operation *op) const;
  std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) const {
    return getDefaultPaddingNeeds(op, rule, f);
  }
  void makeLocal(Operation *op, const TensorTypes &types) const;
  WindowForm getWindowForm(Operation *op) const;
  void makeWindowLocal(Operation *op, const LocalWindow &window) const;
  TypedAttr getWindowPadding(Operation *op, unsigned operand, unsigned d) const;
  PadForm getPadForm(Operation *, OpBuilder &) const { return {}; }
  std::optional<Addressing> getAddressing(Operation *) const { return std::nullopt; }
};

} // namespace mlir::spmd::stablehlo

#endif // SHARDKIT_LIB_STABLEHLO_MODEL_H
