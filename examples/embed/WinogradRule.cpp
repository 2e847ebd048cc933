// The sharding rule of linalg.winograd_filter_transform, which ShardKit itself does not have.
#include "shardkit/Rules/RuleBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Filters [f, h, w, c] become tiles [a, b, c, f]: f and c are parallel, the other dims are unsharded. The elements of
/// the output operand are not read.
struct WinogradModel : ShardingRuleOpInterface::ExternalModel<WinogradModel, linalg::WinogradFilterTransformOp> {
  ShardingRule getShardingRule(Operation *op) const {
    return RuleBuilder(op, "f..c,..cf->..cf").init(1, 0, OperandRole::ShapeOnly);
  }
};

} // namespace

void registerWinogradRule(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::WinogradFilterTransformOp::attachInterface<WinogradModel>(*context);
  });
}
