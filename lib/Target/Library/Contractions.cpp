//===- Contractions.cpp - Replace contractions by library calls -----------===//

#include "ScoreExpressions.h"
#include "shardkit/Target/Common/Passes.h"
#include "shardkit/rt/abi.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETCONTRACTIONS
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::target;

namespace {

struct Contraction {
  Value a, b, c;
  AffineMap mapA, mapB, mapC;
};

/// The block argument that `value` is, or extends to a larger float type.
static BlockArgument sourceArgument(Value value, Block *block) {
  while (auto ext = value.getDefiningOp<arith::ExtFOp>())
    value = ext.getIn();
  auto arg = dyn_cast<BlockArgument>(value);
  return arg && arg.getOwner() == block ? arg : BlockArgument();
}

/// acc + x * y, in either order; returns whether x is the second input.
static std::optional<bool> matchSumOfProducts(Block *block) {
  if (block->getNumArguments() != 3)
    return std::nullopt;
  auto add = block->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return std::nullopt;
  Value acc = block->getArgument(2);
  Value product = add.getLhs() == acc ? add.getRhs() : add.getLhs();
  if (add.getLhs() != acc && add.getRhs() != acc)
    return std::nullopt;
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (!mul)
    return std::nullopt;
  BlockArgument x = sourceArgument(mul.getLhs(), block);
  BlockArgument y = sourceArgument(mul.getRhs(), block);
  if (!x || !y || x.getArgNumber() + y.getArgNumber() != 1)
    return std::nullopt;
  return x.getArgNumber() == 1;
}

static bool supportedTypes(Type a, Type b, Type c) {
  if (a != b)
    return false;
  if (a.isF32() || a.isF64())
    return c == a;
  return (a.isF16() || a.isBF16()) && (c == a || c.isF32());
}

/// Every loop larger than 1 is in exactly two or in all three operands.
static bool hasRoles(AffineMap a, AffineMap b, AffineMap c, ArrayRef<int64_t> sizes) {
  int64_t loops = 0;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size == 1)
      continue;
    if (size == 0 || ++loops > SK_MAX_CONTRACTION_DIMS)
      return false;
    int uses = a.isFunctionOfDim(dim) + b.isFunctionOfDim(dim) + c.isFunctionOfDim(dim);
    if (uses < 2)
      return false;
  }
  return true;
}

static bool isZeroFilled(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() && matchPattern(value, m_AnyZeroFloat());
}

} // namespace

bool spmd::target::matchMove(Operation *op, Value &source, AffineMap &in, AffineMap &out, bool mayRound) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() != 1 || linalgOp.getNumDpsInits() != 1 ||
      linalgOp.getNumParallelLoops() != linalgOp.getNumLoops() || linalgOp->getNumResults() != 1)
    return false;
  Block *body = linalgOp.getBlock();
  Value result = body->getTerminator()->getOperand(0);
  if (auto round = result.getDefiningOp<arith::TruncFOp>(); round && mayRound)
    result = round.getIn();
  auto yielded = dyn_cast<BlockArgument>(result);
  if (!yielded || yielded.getOwner() != body || yielded.getArgNumber() != 0)
    return false;
  auto maps = linalgOp.getIndexingMapsArray();
  source = linalgOp.getDpsInputOperand(0)->get();
  in = maps[0];
  out = maps[1];
  return isa<RankedTensorType>(source.getType()) && in.isProjectedPermutation() && out.isPermutation();
}

namespace {

struct RecognizeContractions : spmd::impl::SpmdTargetContractionsBase<RecognizeContractions> {
  using Base::Base;

  std::optional<Contraction> match(linalg::LinalgOp op) {
    if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op->getNumResults() != 1)
      return std::nullopt;
    std::optional<bool> swapped = matchSumOfProducts(op.getBlock());
    if (!swapped)
      return std::nullopt;
    auto maps = op.getIndexingMapsArray();
    Contraction c{op.getDpsInputOperand(0)->get(),
                  op.getDpsInputOperand(1)->get(),
                  op.getDpsInitOperand(0)->get(),
                  maps[0],
                  maps[1],
                  maps[2]};
    for (AffineMap map : maps)
      if (!map.isProjectedPermutation())
        return std::nullopt;
    if (!isa<RankedTensorType>(c.a.getType()) || !isa<RankedTensorType>(c.b.getType()) ||
        !supportedTypes(getElementTypeOrSelf(c.a), getElementTypeOrSelf(c.b), getElementTypeOrSelf(c.c)))
      return std::nullopt;
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (op.hasDynamicShape() && sizes.size() > SK_MAX_CONTRACTION_DIMS)
      return std::nullopt;
    int64_t products = 1;
    for (int64_t size : sizes)
      products *= ShapedType::isDynamic(size) ? minProducts : size;
    // Loops over f16 and bf16 would round every sum.
    Type sums = getElementTypeOrSelf(c.c);
    bool isSmall = products < minProducts && !sums.isF16() && !sums.isBF16();
    if (isSmall || !hasRoles(c.mapA, c.mapB, c.mapC, sizes))
      return std::nullopt;
    foldMoves(c.a, c.mapA, [&](AffineMap m) { return hasRoles(m, c.mapB, c.mapC, sizes); });
    foldMoves(c.b, c.mapB, [&](AffineMap m) { return hasRoles(c.mapA, m, c.mapC, sizes); });
    return c;
  }

  /// value = move(source): reads source through a composed map instead.
  void foldMoves(Value &value, AffineMap &map, function_ref<bool(AffineMap)> legal) {
    Value source;
    AffineMap in, out;
    while (matchMove(value.getDefiningOp(), source, in, out)) {
      AffineMap composed = in.compose(inversePermutation(out)).compose(map);
      if (!legal(composed) || getElementTypeOrSelf(source) != getElementTypeOrSelf(value))
        return;
      value = source;
      map = composed;
    }
  }

  /// The last value of op, move(op), move(move(op)), ..., computed directly.
  Operation *foldOutputMoves(Operation *op, AffineMap &map) {
    Value source;
    AffineMap in, out;
    while (op->hasOneUse()) {
      Operation *user = *op->user_begin();
      if (user->getBlock() != op->getBlock() || !matchMove(user, source, in, out) || source != op->getResult(0) ||
          !in.isPermutation())
        break;
      map = out.compose(inversePermutation(in)).compose(map);
      op = user;
    }
    return op;
  }

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      std::optional<Contraction> c = match(op);
      if (!c)
        continue;
      bool overwrite = isZeroFilled(c->c);
      const bool isDynamic = op.hasDynamicShape();
      Operation *replaced = overwrite && !isDynamic ? foldOutputMoves(op, c->mapC) : op;
      OpBuilder builder(replaced);
      auto type = cast<RankedTensorType>(replaced->getResult(0).getType());
      if (overwrite && isDynamic)
        c->c = tensor::EmptyOp::create(builder, op.getLoc(), tensor::getMixedSizes(builder, op.getLoc(), c->c),
                                       type.getElementType());
      else if (overwrite)
        c->c = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(), type.getElementType());
      auto contract = ContractOp::create(builder, op.getLoc(), TypeRange{type},
                                         builder.getAffineMapArrayAttr({c->mapA, c->mapB, c->mapC}), c->a, c->b, c->c,
                                         ValueRange{}, overwrite ? builder.getUnitAttr() : UnitAttr(), StringAttr());
      replaced->getResult(0).replaceAllUsesWith(contract.getResult().front());
      // The op and its reshapes and transposes are dead, and may be later in the list:
      // canonicalization removes them with the folded producers.
    }
  }
};
} // namespace
