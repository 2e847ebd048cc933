// The sharding rule of linalg.winograd_filter_transform, which ShardKit itself does not have.
#include "shardkit/Rules/ShardingRule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Filters [f, h, w, c] become tiles [a, b, c, f]: f and c are parallel, the other dims are unsharded.
struct WinogradModel : ShardingRuleOpInterface::ExternalModel<WinogradModel, linalg::WinogradFilterTransformOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto transform = cast<linalg::WinogradFilterTransformOp>(op);
    auto filter = cast<RankedTensorType>(transform.getFilter().getType());
    ShardingRule rule;
    int32_t f = rule.addFactor(filter.getDimSize(0));
    int32_t c = rule.addFactor(filter.getDimSize(3));
    rule.addOperand(transform.getFilter());
    rule.addDims({f, -1, -1, c}); // -1: a dim without a factor
    ShardingRule::Tensor &output = rule.addOperand(transform.getOutput());
    output.role = OperandRole::ShapeOnly; // its elements are not read
    output.result = 0;
    rule.addDims({-1, -1, c, f});
    rule.addResult(op->getResult(0));
    rule.addDims({-1, -1, c, f});
    return rule;
  }
};

} // namespace

void registerWinogradRule(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::WinogradFilterTransformOp::attachInterface<WinogradModel>(*context);
  });
}
