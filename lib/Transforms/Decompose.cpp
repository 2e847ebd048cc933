//===- Decompose.cpp - Ops that can be sharded better as others ---------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/DroppedDims.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDDECOMPOSEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-decompose"

using namespace mlir;
using namespace mlir::spmd;

/// An average counts the elements that are not padding: all of them in the middle of the
/// image, fewer at its boundary, which is on some devices only.
static bool hasNoLocalForm(Operation *op) {
  auto pool = dyn_cast<tosa::AvgPool2dOp>(op);
  if (!pool || op->hasAttr(kRuleAttr))
    return false;
  auto isStatic = [](Type type) {
    auto ranked = dyn_cast<RankedTensorType>(type);
    return ranked && ranked.hasStaticShape() &&
           !ranked.getElementType().isUnsignedInteger(); // has another type in linalg
  };
  return llvm::any_of(pool.getPad(), [](int64_t amount) { return amount != 0; }) &&
         llvm::all_of(op->getOperandTypes(), isStatic) && isStatic(pool.getType());
}

/// The scalar that an op broadcasts to its result, else null.
static Value getSpreadScalar(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || isa<linalg::FillOp>(op) || op->hasAttr(kRuleAttr) || linalgOp.getNumDpsInputs() != 1 ||
      op->getNumResults() != 1 || !linalgOp.hasPureTensorSemantics() || linalgOp.getNumReductionLoops() != 0)
    return {};
  OpOperand *input = linalgOp.getDpsInputOperand(0);
  auto type = dyn_cast<RankedTensorType>(input->get().getType());
  Block *body = linalgOp.getBlock();
  bool isSpread = type && type.getRank() == 0 &&
                  linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0)).isIdentity() &&
                  body->getTerminator()->getOperand(0) == body->getArgument(0);
  return isSpread ? input->get() : Value();
}

/// Frameworks broadcast a scalar once per type, and all users have that value in common:
/// layouts would propagate from one user to another. Creates a fill per user instead, if it may.
static bool makeFill(Operation *op, Value scalar, bool constantsOnly) {
  OpBuilder b(op);
  Value element;
  DenseElementsAttr constant;
  const bool isConstant = matchPattern(scalar, m_Constant(&constant));
  if (!isConstant && constantsOnly)
    return false;
  if (auto components = isConstant ? dyn_cast<ArrayAttr>(constant.getSplatValue<Attribute>()) : ArrayAttr())
    element = complex::ConstantOp::create(b, op->getLoc(), constant.getElementType(), components);
  else if (isConstant)
    element = arith::ConstantOp::create(b, op->getLoc(), constant.getSplatValue<TypedAttr>());
  else
    element = tensor::ExtractOp::create(b, op->getLoc(), scalar, ValueRange());
  Value init = cast<linalg::LinalgOp>(op).getDpsInits().front();
  auto fill = linalg::FillOp::create(b, op->getLoc(), element, init);
  fill->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  SPMD_LOG() << "fills a tensor instead of " << op->getName() << " at " << op->getLoc();
  op->replaceAllUsesWith(fill);
  op->erase();
  return true;
}

/// Whether an op only repeats the elements of a tensor along dims that this lacks. (Fills have any layout anyway.)
static bool isBroadcast(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() != 1 || op->getNumResults() != 1 || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.getNumReductionLoops() != 0 || !isa<RankedTensorType>(linalgOp.getDpsInputs().front().getType()))
    return false;
  Block *body = linalgOp.getBlock();
  AffineMap map = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInputOperand(0));
  return body->getTerminator()->getOperand(0) == body->getArgument(0) &&
         linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0)).isIdentity() &&
         llvm::any_of(llvm::seq(map.getNumDims()), [&](unsigned loop) { return !map.isFunctionOfDim(loop); });
}

/// Gives each reader of a broadcast one of its own: layouts would propagate from one reader to another through the dims
/// that the input lacks, as from layer to layer through the mask that CSE has made one value of. What the user
/// annotated stays one value. Returns the number of copies.
static unsigned splitBroadcast(Operation *op) {
  llvm::SmallSetVector<Operation *, 4> readers(op->user_begin(), op->user_end());
  auto getPlace = [&](Operation *reader) { return op->getBlock()->findAncestorOpInBlock(*reader); };
  if (readers.size() < 2 || op->hasAttr(kRuleAttr) || op->hasAttr(kShardingsAttr) ||
      llvm::any_of(readers, [&](Operation *reader) {
        return isa_and_nonnull<SPMDDialect>(reader->getDialect()) || !getPlace(reader);
      }))
    return 0;
  SPMD_LOG() << "copies " << describeValue(op->getResult(0)) << " for each of " << readers.size() << " readers";
  // The first one keeps the op; a copy is right before its reader, on its line, outside of the loops that this is in.
  SmallVector<Operation *> sorted = readers.takeVector();
  llvm::stable_sort(sorted, [&](Operation *a, Operation *b) { return getPlace(a)->isBeforeInBlock(getPlace(b)); });
  for (Operation *reader : ArrayRef(sorted).drop_front()) {
    Operation *copy = OpBuilder(getPlace(reader)).clone(*op);
    copy->setLoc(reader->getLoc());
    reader->replaceUsesOfWith(op->getResult(0), copy->getResult(0));
  }
  return sorted.size() - 1;
}

namespace {

struct DecomposePass : public spmd::impl::SPMDDecomposePassBase<DecomposePass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (failed(verifyInput(func, Phase::Annotated, getArgument())))
      return signalPassFailure();
    makeDroppedDimsExplicit(func);
    SmallVector<Operation *> ops;
    if (!func->getBlock()->getOps<MeshOp>().empty())
      func.walk([&](Operation *op) {
        if (hasNoLocalForm(op))
          ops.push_back(op);
        else if (Value scalar = getSpreadScalar(op))
          SPMD_COUNT(decomposedOps, makeFill(op, scalar, constantsOnly));
        else if (splitBroadcasts && isBroadcast(op))
          SPMD_COUNT(decomposedOps, splitBroadcast(op));
      });
    if (ops.empty())
      return;
    for (Operation *op : ops)
      SPMD_LOG() << "expands " << op->getName() << " at " << op->getLoc();
    SPMD_COUNT(decomposedOps, ops.size());
    if (getPhase(func) < int(Phase::Annotated))
      makeConstraintsOfShardings(func);
    TypeConverter converter;
    tosa::populateTosaTypeConversion(converter);
    RewritePatternSet patterns(&getContext());
    tosa::populateTosaToLinalgNamedConversionPatterns(converter, &patterns, TosaToLinalgNamedOptions());
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *op) { return !hasNoLocalForm(op); });
    if (failed(applyPartialConversion(ops, target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
