//===- PaddingNeeds.cpp - Ops on padded shards ----------------------------===//
//
// Lanes of a parallel factor are independent, so padding is harmless unless its value can
// trap (a division), be used as an index (an extract, a gather) or keep a loop from
// ending. A reduction must not read it at all.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Rules/PaddingNeeds.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spmd;

using Needs = std::optional<PaddingNeeds>;

/// A dim with several factors is never sharded unevenly.
static bool isAlone(const ShardingRule &rule, int32_t f) {
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    for (unsigned d = 0; d < tensor.numDims; ++d) {
      ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
      if (factors.size() > 1 && llvm::is_contained(factors, f) &&
          (rule.factor(f).size == 1 ||
           llvm::any_of(factors, [&](int32_t g) { return g != f && rule.factor(g).size != 1; })))
        return false;
    }
  }
  return true;
}

static TypedAttr getOne(Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, 1.0);
  return IntegerAttr::get(type, 1);
}

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

//===----------------------------------------------------------------------===//
// Bodies over an index space
//===----------------------------------------------------------------------===//

/// True if a captured tensor is read at an index that padding lanes of loop `f` may move
/// out of bounds: at a computed index, or at the index of the loop if the tensor is not
/// sharded along with it.
static bool readsAnywhere(Operation *op, const ShardingRule &rule, int32_t f, tensor::ExtractOp extract) {
  const ShardingRule::Tensor *captured = nullptr;
  for (const ShardingRule::Tensor &tensor : rule.operands().drop_front(op->getNumOperands()))
    if (tensor.value == extract.getTensor())
      captured = &tensor;
  for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
    if (matchPattern(index, m_Constant()) || !getIndexedBody(op)->isAncestor(index.getParentRegion()))
      continue;
    int64_t loop = getLoopOfIndex(op, index);
    if (loop < 0)
      return true;
    if (loop == f && (!captured || !llvm::is_contained(rule.dimFactors(*captured, d), f)))
      return true;
  }
  return false;
}

/// Upstream calls remainders speculatable.
bool spmd::mayTrap(Operation *op) {
  if (isa<math::IPowIOp>(op))
    return true;
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
           arith::RemUIOp, index::DivSOp, index::DivUOp, index::CeilDivSOp, index::CeilDivUOp, index::FloorDivSOp,
           index::RemSOp, index::RemUOp>(op))
    return false;
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() || divisor.isAllOnes();
}

/// True if the body must not run on lanes with undefined values.
static bool isUnsafeOnPadding(Operation *op, const ShardingRule &rule, int32_t f) {
  Region *body = getIndexedBody(op);
  for (Operation &inner : body->front().without_terminator())
    if (!isSpeculatable(&inner))
      return true;
  return body
      ->walk([&](Operation *inner) {
        if (mayTrap(inner))
          return WalkResult::interrupt();
        auto extract = dyn_cast<tensor::ExtractOp>(inner);
        return extract && readsAnywhere(op, rule, f, extract) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The input that `value` is a zero-preserving conversion of.
static BlockArgument getConvertedInput(Value value, Block *body) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp,
             arith::UIToFPOp>(def))
      return {};
    value = def->getOperand(0);
  }
  auto arg = cast<BlockArgument>(value);
  return arg.getOwner() == body ? arg : BlockArgument();
}

/// Matches acc + x * y of the op's two inputs: zeros in them add nothing. Such an
/// op is kept as it is for libraries. Returns whether the product is of integers.
static std::optional<bool> matchSumOfProducts(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !isa<FloatType, IntegerType>(body->getArgument(0).getType()) ||
      !isa<FloatType, IntegerType>(body->getArgument(1).getType()))
    return std::nullopt;
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  BlockArgument acc = body->getArgument(2);
  if (add->getOperand(0) != acc && add->getOperand(1) != acc)
    return std::nullopt;
  Operation *mul = add->getOperand(add->getOperand(0) == acc ? 1 : 0).getDefiningOp();
  if (!mul || !isa<arith::MulFOp, arith::MulIOp>(mul))
    return std::nullopt;
  BlockArgument x = getConvertedInput(mul->getOperand(0), body);
  BlockArgument y = getConvertedInput(mul->getOperand(1), body);
  if (!x || !y || x.getArgNumber() + y.getArgNumber() != 1)
    return std::nullopt;
  return isa<arith::MulIOp>(mul);
}

Needs spmd::maskProduct(const ShardingRule &rule, int32_t f, TypedAttr zeroA, TypedAttr zeroB, bool integers) {
  bool hasA = rule.hasFactor(rule.operands()[0], f);
  bool hasB = rule.hasFactor(rule.operands()[1], f);
  if (hasA && hasB && !integers)
    return PaddingNeeds{{{0, zeroA}, {1, zeroB}}};
  if (!integers)
    return std::nullopt;
  return PaddingNeeds{{hasA ? PaddingNeeds::Mask{0, zeroA} : PaddingNeeds::Mask{1, zeroB}}};
}

Needs spmd::getBodyPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  bool unsafe = isUnsafeOnPadding(op, rule, f);
  bool reduces = rule.factor(f).kind != FactorKind::Parallel;
  if (!unsafe && !reduces)
    return PaddingNeeds();
  // A window of a lane beyond a sum holds elements of other lanes, so it cannot be masked.
  if (linalgOp && !unsafe && !rule.factor(f).hasWindows)
    if (std::optional<bool> integers = matchSumOfProducts(linalgOp))
      if (Needs needs = maskProduct(rule, f, getExactNeutral(ReductionKind::Sum, elementOf(op->getOperand(0))),
                                    getNeutralElement(ReductionKind::Sum, elementOf(op->getOperand(1))), *integers))
        return needs;
  for (Value result : op->getResults())
    if (!elementOf(result).isIntOrIndexOrFloat())
      return std::nullopt;
  if (linalgOp && op->getNumResults() != linalgOp.getNumDpsInits())
    return std::nullopt;
  return PaddingNeeds{{}, unsafe ? PaddingNeeds::Body::Skip : PaddingNeeds::Body::Select};
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

Needs spmd::maskOperand(const ShardingRule &rule, int32_t f, unsigned index, TypedAttr value) {
  if (!rule.hasFactor(rule.operands()[index], f))
    return PaddingNeeds();
  if (!value)
    return std::nullopt;
  return PaddingNeeds{{{index, value}}};
}

static Needs getNeedsOfElementwise(Operation *op, const ShardingRule &rule, int32_t f) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
          arith::RemUIOp>(op))
    return maskOperand(rule, f, 1, getOne(elementOf(op->getOperand(1))));
  if (isa<math::IPowIOp>(op)) // 0 to a negative power is a division by zero
    return maskOperand(rule, f, 0, getOne(elementOf(op->getOperand(0))));
  if (op->getNumRegions() == 0 && isSpeculatable(op) && !mayTrap(op))
    return PaddingNeeds();
  return std::nullopt;
}

/// The neutral element in all operands that have the factor. In a product all but the first hold +0.0, so that it is
/// -0.0.
static Needs maskWithNeutral(Operation *op, const ShardingRule &rule, int32_t f) {
  auto isPartial = [&](const ShardingRule::Tensor &result) { return rule.isPartial(result, f); };
  const auto *result = llvm::find_if(rule.results(), isPartial);
  if (result == rule.results().end())
    return std::nullopt;
  PaddingNeeds needs;
  for (unsigned t = 0; t < op->getNumOperands(); ++t) {
    const ShardingRule::Tensor &operand = rule.tensor(t);
    if (operand.role != OperandRole::Input || !rule.hasFactor(operand, f))
      continue;
    Type element = operand.type.getElementType();
    if (!element.isIntOrIndexOrFloat())
      return std::nullopt;
    bool isFirst = needs.masks.empty() || result->reduction != ReductionKind::Sum;
    needs.masks.push_back(
        {t, isFirst ? getExactNeutral(result->reduction, element) : getNeutralElement(result->reduction, element)});
  }
  return needs;
}

/// Zero in the operands of integers that have the factor.
static Needs maskIntegers(Operation *op, const ShardingRule &rule, int32_t f) {
  PaddingNeeds needs;
  for (unsigned t = 0; t < op->getNumOperands(); ++t)
    if (const ShardingRule::Tensor &operand = rule.tensor(t); operand.type && rule.hasFactor(operand, f))
      if (Type element = operand.type.getElementType(); element.isIntOrIndex())
        needs.masks.push_back({t, IntegerAttr::get(element, 0)});
  return needs;
}

/// True for a pure op whose operands with factor `f` are floats, which are no indices.
static bool isPureOnFloats(Operation *op, const ShardingRule &rule, int32_t f) {
  return op->isRegistered() && op->getNumRegions() == 0 && isSpeculatable(op) &&
         llvm::all_of(rule.operands(), [&](const ShardingRule::Tensor &operand) {
           return !rule.hasFactor(operand, f) || isa<FloatType>(operand.type.getElementType());
         });
}

Needs spmd::getDefaultPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) {
  const Factor &factor = rule.factor(f);
  if (factor.padding == PaddingContent::Harmless)
    return factor.kind == FactorKind::Parallel ? Needs(PaddingNeeds()) : std::nullopt;
  if (factor.padding == PaddingContent::Neutral)
    return maskWithNeutral(op, rule, f);
  if (factor.kind != FactorKind::Parallel)
    return std::nullopt;
  if (factor.padding == PaddingContent::Zero)
    return maskIntegers(op, rule, f);
  if (std::optional<Addressing> addressing = getAddressing(op))
    return maskOperand(rule, f, addressing->indicesOperand,
                       getNeutralElement(ReductionKind::Sum, elementOf(addressing->indices)));
  if (op->hasTrait<OpTrait::Elementwise>())
    return getNeedsOfElementwise(op, rule, f);
  if (!hasBuiltinRules(op->getName().getDialectNamespace()) && isPureOnFloats(op, rule, f))
    return PaddingNeeds();
  return std::nullopt;
}

/// The factor of the builtin rule that has the same kind as factor `f` of the rule on the
/// op, and is the only factor of the same dims; -1 if there is none.
static int32_t getBuiltinFactor(const ShardingRule &builtin, const ShardingRule &rule, int32_t f) {
  int32_t result = -1;
  for (bool verify : {false, true})
    for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t)
      for (unsigned d = 0; d < rule.tensor(t).numDims; ++d) {
        ArrayRef<int32_t> written = rule.dimFactors(rule.tensor(t), d);
        ArrayRef<int32_t> factors = builtin.dimFactors(builtin.tensor(t), d);
        bool isHere = llvm::is_contained(written, f);
        if (!verify && isHere && result < 0 && factors.size() == 1)
          result = factors.front();
        if (verify &&
            (isHere != llvm::is_contained(factors, result) || (isHere && builtin.getWindow(builtin.tensor(t), d))))
          return -1;
      }
  return result >= 0 && builtin.factor(result).kind == rule.factor(f).kind ? result : -1;
}

static Needs getNeeds(Operation *op, const ShardingRule &rule, int32_t f) {
  if (rule.factor(f).hasWindows && rule.factor(f).kind == FactorKind::Reduction && !getIndexedBody(op))
    return std::nullopt;
  // Indices never select padding.
  if (rule.factor(f).kind == FactorKind::Indexed)
    return PaddingNeeds();
  if (auto iface = dyn_cast<ShardingRuleOpInterface>(op))
    return iface.getPaddingNeeds(rule, f);
  if (op->hasTrait<OpTrait::Elementwise>())
    return getNeedsOfElementwise(op, rule, f);
  return std::nullopt;
}

Needs spmd::getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) {
  if (rule.factor(f).kind == FactorKind::Replicated || !isAlone(rule, f))
    return std::nullopt;
  Needs needs;
  int32_t loop = f;
  if (!op->hasAttr(kRuleAttr)) {
    needs = getNeeds(op, rule, f);
  } else {
    ShardingRule builtin = getBuiltinShardingRule(op);
    loop = getBuiltinFactor(builtin, rule, f);
    if (loop >= 0)
      needs = getNeeds(op, builtin, loop);
  }
  if (needs)
    needs->loop = loop;
  return needs;
}

void spmd::markUnevenFactors(ShardingRule &rule, Operation *op) {
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
    rule.setAllowsPadding(f, getPaddingNeeds(op, rule, f).has_value());
  // The padding of a dynamic dim is known at run time only.
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t)
    for (unsigned d = 0; d < rule.tensor(t).numDims; ++d)
      if (rule.tensor(t).type && rule.tensor(t).type.isDynamicDim(d))
        for (int32_t f : rule.dimFactors(rule.tensor(t), d))
          rule.setAllowsPadding(f, false);
}

SmallVector<AffineExpr> spmd::getSizes(const ShardingRule &rule, int32_t f,
                                       llvm::function_ref<AffineExpr(Value, unsigned)> getDim) {
  SmallVector<AffineExpr> sizes;
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    for (unsigned d = 0; d < tensor.numDims; ++d)
      if (tensor.value && llvm::is_contained(rule.dimFactors(tensor, d), f))
        sizes.push_back(getDim(tensor.value, d));
  }
  return sizes;
}

std::optional<std::string> spmd::getReasonAgainstPadding(Operation *op, const ShardingRule &rule, int32_t f,
                                                         llvm::function_ref<AffineExpr(Value, unsigned)> getDim) {
  SmallVector<AffineExpr> sizes = getSizes(rule, f, getDim);
  if (llvm::all_of(sizes, [](AffineExpr size) { return !size; }))
    return std::nullopt;
  // All dims of the factor are of one size argument, and none is a known size.
  if (!llvm::all_of(sizes, [&](AffineExpr size) { return size && size == sizes.front(); }))
    return ("dims of " + op->getName().getStringRef() + " are equal by what it computes alone").str();
  if (!getPaddingNeeds(op, rule, f))
    return (op->getName().getStringRef() + " has no form on padded shards").str();
  return std::nullopt;
}

bool spmd::canShard(const Factor &factor, ArrayRef<DimEntry> entries, const Mesh &mesh) {
  if (factor.hasWindows && factor.kind != FactorKind::Indexed && !allowsPadding(entries, mesh))
    return false;
  if (deviceFactor(entries) > 1 && llvm::divideCeil(factor.size, totalFactor(entries)) % factor.granule != 0)
    return false;
  if (int64_t shards = deviceFactor(entries);
      shards > 1 && factor.minShard > 1 && llvm::divideCeilSigned(factor.size, shards) < factor.minShard)
    return false;
  if (factor.kind == FactorKind::Selection &&
      llvm::any_of(entries, [](const DimEntry &entry) { return entry.isStride(); }))
    return false;
  return divides(entries, factor.size) || (factor.allowsPadding && allowsPadding(entries, mesh));
}

bool spmd::canShardWindows(ArrayRef<DimEntry> entries, int64_t size) {
  int64_t shards = deviceFactor(entries);
  return divides(entries, size) || int64_t(llvm::divideCeil(size, shards)) * shards * 4 <= size * 5;
}
