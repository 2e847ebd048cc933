//===- shard-test-opt.cpp - shard-opt with ops of another dialect ---------===//
//
// The rules of padded.keep and padded.turned permit padding. test/Integration/random_foreign.py gives the ops a
// meaning. The rule of padded.indexed is that of RuleBuilder for the text in its attribute `dims`.
//
//===----------------------------------------------------------------------===//

#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"
#include "shardkit/Rules/RuleBuilder.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// An op on one tensor, whose element depends on one element. The dims of `Derived::isTurned` are reversed.
template <typename Derived>
class PaddedOp : public Op<Derived, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::OneOperand,
                           OpTrait::ZeroSuccessors, ShardingRuleOpInterface::Trait> {
public:
  using Base = Op<Derived, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::OneOperand, OpTrait::ZeroSuccessors,
                  ShardingRuleOpInterface::Trait>;
  using Base::Base;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  ShardingRule getShardingRule() {
    Operation *op = this->getOperation();
    ShardingRule rule;
    SmallVector<int32_t> factors;
    for (int64_t size : cast<RankedTensorType>(op->getOperand(0).getType()).getShape()) {
      factors.push_back(rule.addFactor(size));
      rule.setPadding(factors.back(), PaddingContent::Harmless);
    }
    rule.addOperand(op->getOperand(0));
    rule.addDims(factors);
    if (Derived::isTurned)
      std::reverse(factors.begin(), factors.end());
    rule.addResult(op->getResult(0));
    rule.addDims(factors);
    return rule;
  }
};

struct KeepOp : PaddedOp<KeepOp> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepOp)
  using PaddedOp::PaddedOp;
  static constexpr bool isTurned = false;
  static StringRef getOperationName() { return "padded.keep"; }
};
struct TurnedOp : PaddedOp<TurnedOp> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TurnedOp)
  using PaddedOp::PaddedOp;
  static constexpr bool isTurned = true;
  static StringRef getOperationName() { return "padded.turned"; }
};

struct IndexedOp : Op<IndexedOp, OpTrait::ZeroRegions, OpTrait::VariadicResults, OpTrait::VariadicOperands,
                      OpTrait::ZeroSuccessors, ShardingRuleOpInterface::Trait> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IndexedOp)
  using Op::Op;
  static StringRef getOperationName() { return "padded.indexed"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  ShardingRule getShardingRule() {
    Operation *op = getOperation();
    RuleBuilder builder(op, op->getAttrOfType<StringAttr>("dims").getValue());
    if (auto letters = op->getAttrOfType<StringAttr>("harmless"))
      builder.padding(letters.getValue(), PaddingContent::Harmless);
    if (auto letters = op->getAttrOfType<StringAttr>("neutral"))
      builder.padding(letters.getValue(), PaddingContent::Neutral);
    if (op->hasAttr("window"))
      builder.window(0, 0, 'i', {1, -1, 3});
    if (op->hasAttr("init"))
      builder.init(1, 7);
    return builder.localAttributes();
  }
};

struct PaddedDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PaddedDialect)
  explicit PaddedDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<PaddedDialect>()) {
    addOperations<KeepOp, TurnedOp, IndexedOp>();
  }
  static StringRef getDialectNamespace() { return "padded"; }
};

} // namespace

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  spmd::registerAllPasses();
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  spmd::registerAllDialects(registry);
  registry.insert<PaddedDialect>();
  return asMainReturnCode(MlirOptMain(argc, argv, "shard-opt with ops whose rules permit padding\n", registry));
}
