//===- RelayoutRules.cpp - linalg ops that are not structured -------------===//
//
// softmax, pack and unpack. The Winograd transforms have no rule: their tiles
// overlap.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/PaddingNeeds.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

bool hasTensors(Operation *op) {
  return llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) && op->getNumResults() == 1;
}

/// Adds the destination, whose elements are not read.
void addDestination(ShardingRule &rule, Value dest) {
  ShardingRule::Tensor &tensor = rule.addOperand(dest);
  tensor.role = OperandRole::ShapeOnly;
  tensor.result = 0;
}

/// Rows are independent; the normalized dim stays unsharded.
struct SoftmaxModel : LaneWiseModel<SoftmaxModel, linalg::SoftmaxOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto softmax = cast<linalg::SoftmaxOp>(op);
    ShardingRule rule;
    SmallVector<int32_t> factors;
    if (hasTensors(op))
      for (auto [d, size] : llvm::enumerate(getShape(softmax.getInput())))
        factors.push_back(d == softmax.getDimension() ? -1 : rule.addFactor(size));
    rule.addOperand(softmax.getInput());
    rule.addDims(factors);
    addDestination(rule, softmax.getOutput());
    rule.addDims(factors);
    for (Value result : op->getResults()) {
      rule.addResult(result);
      rule.addDims(factors);
    }
    return rule;
  }
};

/// Factors of the plain and the packed tensor. A dim without a tile is one factor. A dim
/// that its tile divides is the outer factor, which may be sharded, times the tile, which
/// may not. Others stay unsharded.
struct PackFactors {
  SmallVector<SmallVector<int32_t, 2>> plain, packed;

  PackFactors(ShardingRule &rule, ArrayRef<int64_t> plainShape, ArrayRef<int64_t> packedShape,
              ArrayRef<int64_t> innerDimsPos, ArrayRef<int64_t> innerTiles, ArrayRef<int64_t> outerDimsPerm) {
    plain.resize(plainShape.size());
    packed.resize(packedShape.size());
    SmallVector<int64_t> position(plainShape.size());
    for (size_t i = 0; i < plainShape.size(); ++i)
      position[outerDimsPerm.empty() ? i : outerDimsPerm[i]] = i;
    for (auto [d, size] : llvm::enumerate(plainShape)) {
      SmallVector<int32_t, 2> &outer = packed[position[d]];
      const int64_t *tiled = llvm::find(innerDimsPos, int64_t(d));
      if (tiled == innerDimsPos.end()) {
        plain[d] = {rule.addFactor(size)};
        outer = plain[d];
        continue;
      }
      size_t t = tiled - innerDimsPos.begin();
      int64_t tile = innerTiles[t];
      if (ShapedType::isDynamic(tile) || ShapedType::isDynamic(size) || packedShape[position[d]] * tile != size)
        continue;
      int32_t a = rule.addFactor(packedShape[position[d]]);
      int32_t b = rule.addFactor(tile, FactorKind::Replicated);
      plain[d] = {a, b};
      outer = {a};
      packed[plainShape.size() + t] = {b};
    }
  }
};

void addDims(ShardingRule &rule, ArrayRef<SmallVector<int32_t, 2>> dims) {
  for (const auto &factors : dims)
    rule.addDim(factors);
}

template <typename OpTy> struct PackModel : LaneWiseModel<PackModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    constexpr bool packs = std::is_same_v<OpTy, linalg::PackOp>;
    auto pack = cast<OpTy>(op);
    ShardingRule rule;
    Value plain = packs ? pack.getSource() : pack.getDest();
    Value packed = packs ? pack.getDest() : pack.getSource();
    PackFactors factors(rule, getShape(plain), getShape(packed), pack.getInnerDimsPos(), pack.getStaticInnerTiles(),
                        pack.getOuterDimsPerm());
    rule.addOperand(pack.getSource());
    addDims(rule, packs ? factors.plain : factors.packed);
    addDestination(rule, pack.getDest());
    addDims(rule, packs ? factors.packed : factors.plain);
    for (Value operand : op->getOperands().drop_front(2))
      rule.addOperand(operand);
    for (Value result : op->getResults()) {
      rule.addResult(result);
      addDims(rule, packs ? factors.packed : factors.plain);
    }
    return rule;
  }
};

} // namespace

void spmd::registerRelayoutShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::SoftmaxOp::attachInterface<SoftmaxModel>(*context);
    linalg::PackOp::attachInterface<PackModel<linalg::PackOp>>(*context);
    linalg::UnPackOp::attachInterface<PackModel<linalg::UnPackOp>>(*context);
  });
}
