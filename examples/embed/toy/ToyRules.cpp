// The dialect, and the sharding rules of its ops.
#include "Toy.h"
#include "shardkit/Rules/RuleBuilder.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::spmd;

#include "ToyDialect.cpp.inc"
#define GET_OP_CLASSES
#include "Toy.cpp.inc"

void toy::ToyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Toy.cpp.inc"
      >();
}

// k is a sum: zeros in the padding of uneven shards do not count.
ShardingRule toy::LinearOp::getShardingRule() {
  return RuleBuilder(*this, "mk,nk->mn").contraction().padding("k", PaddingContent::Neutral);
}

ShardingRule toy::RowMaxOp::getShardingRule() {
  return RuleBuilder(*this, "mk->m.").reduction(ReductionKind::Max).padding("k", PaddingContent::Neutral);
}

// The attribute `shape` holds sizes of the result.
ShardingRule toy::FillOp::getShardingRule() { return RuleBuilder(*this, "->mn").localAttributes(); }
void toy::FillOp::makeLocal(const TensorTypes &types) { setShape(types.getLocal(getResult()).getShape()); }

// Shards read `width` - 1 elements of their neighbors. Their windows have the padding.
ShardingRule toy::SmoothOp::getShardingRule() {
  DimWindow window{/*stride=*/1, /*offset=*/-int64_t(getPadding()), /*length=*/int64_t(getWidth())};
  return RuleBuilder(*this, "m.->mi").window(0, 1, 'i', window).localAttributes();
}
WindowForm toy::SmoothOp::getWindowForm() { return WindowForm::InPlace; }
void toy::SmoothOp::makeWindowLocal(const LocalWindow &) { setPadding(0); }
