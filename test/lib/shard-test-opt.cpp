//===- shard-test-opt.cpp - shard-opt with ops of another dialect ---------===//
//
// The rules of its ops permit padding. test/Integration/random_foreign.py gives the ops a meaning.
//
//===----------------------------------------------------------------------===//

#include "shardkit/InitAllDialects.h"
#include "shardkit/InitAllPasses.h"
#include "shardkit/Rules/ShardingRule.h"
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
      rule.setAllowsPadding(factors.back(), true);
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

struct PaddedDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PaddedDialect)
  explicit PaddedDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<PaddedDialect>()) {
    addOperations<KeepOp, TurnedOp>();
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
