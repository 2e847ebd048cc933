//===- Padding.cpp - Keep padding lanes out of results --------------------===//
//
// Two forms: an operand whose padding lanes are replaced by a value that does
// nothing, and a body that leaves padding lanes out. Which one an op needs is
// written down in lib/Rules/PaddingNeeds.cpp.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Partition/Padding.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

SmallVector<UnevenLoop, 1> spmd::getUnevenDims(const Sharding &sharding, ArrayRef<int64_t> shape) {
  SmallVector<UnevenLoop, 1> dims;
  for (auto [d, dim] : llvm::enumerate(sharding.dims))
    if (!divides(dim.entries, shape[d]))
      dims.push_back({unsigned(d), shape[d], canonicalize(dim.entries)});
  return dims;
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

AffineExpr Padding::getPaddedSize(const ShardingRule &rule, int32_t f) const {
  if (ShapedType::isDynamic(rule.factor(f).size))
    for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t)
      for (unsigned d = 0; d < rule.tensor(t).numDims; ++d)
        if (rule.tensor(t).value && llvm::is_contained(rule.dimFactors(rule.tensor(t), d), f))
          return dynamicSizes.getPaddedSize(rule.tensor(t).value, d);
  return {};
}

LogicalResult Padding::collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding) {
  if (isa<FragmentOp>(op))
    fragments.push_back(op);
  // Ops with their own lowering move padding lanes unchanged.
  if (isa<ReshardOp, ProbeOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  ShardingRule rule = getShardingRule(op);
  size_t first = masks.size(); // the first mask of this op
  Guard guard{op, PaddingNeeds::Body::Run, {}};
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f) {
    const Factor &factor = rule.factor(f);
    DimEntries entries = findFactorAxes(rule, f, getSharding);
    AffineExpr dynamicSize = deviceFactor(entries) > 1 ? getPaddedSize(rule, f) : AffineExpr();
    if (factor.kind == FactorKind::Replicated || (divides(entries, factor.size) && !dynamicSize))
      continue;
    std::optional<PaddingNeeds> needs = getPaddingNeeds(op, rule, f);
    if (!needs)
      return op->emitError() << op->getName() << " is sharded unevenly along a dim of size " << factor.size
                             << " and has no form on padded shards, expected operands that are not "
                                "sharded along it, as --spmd-insert-reshards leaves them";
    for (const PaddingNeeds::Mask &need : needs->masks) {
      const ShardingRule::Tensor &tensor = rule.operands()[need.operand];
      auto known = std::find_if(masks.begin() + first, masks.end(), [&](const Mask &mask) {
        return mask.operand == need.operand && mask.value == need.value;
      });
      if (known == masks.end()) {
        masks.push_back({op, need.operand, need.value, {}});
        known = masks.end() - 1;
      }
      for (unsigned d = 0; d < tensor.numDims; ++d)
        if (llvm::is_contained(rule.dimFactors(tensor, d), f))
          known->dims.push_back({d, factor.size, entries, dynamicSize});
    }
    if (needs->body != PaddingNeeds::Body::Run) {
      guard.body = std::max(guard.body, needs->body);
      guard.loops.push_back({unsigned(needs->loop), factor.size, entries, dynamicSize});
    }
  }
  if (!guard.loops.empty())
    guards.push_back(std::move(guard));
  return success();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value Padding::getCount(OpBuilder &b, Location loc, const UnevenLoop &loop) {
  FunctionMeshes::AxesOnMesh axes = meshes.getAxesOnMesh(loop.entries);
  SmallVector<Value> coordinates = getCoordinates(b, loc, axes);
  if (loop.dynamicSize) {
    Value chunk = dynamicSizes.createShardSize(b, loc, loop.dynamicSize, deviceFactor(loop.entries));
    return arith::SubIOp::create(
        b, loc, dynamicSizes.createSize(b, loc, loop.dynamicSize),
        arith::MulIOp::create(b, loc, getChunkNumber(b, loc, axes.entries, coordinates), chunk));
  }
  Value size = arith::ConstantIndexOp::create(b, loc, loop.size);
  return arith::SubIOp::create(b, loc, size, getChunkStart(b, loc, axes.entries, loop.size, coordinates));
}

Operation *Padding::getFragment(Operation *op) {
  Operation *last = nullptr;
  for (Operation *fragment : fragments)
    if (fragment->isBeforeInBlock(fragment->getBlock()->findAncestorOpInBlock(*op)))
      last = fragment;
  return last;
}

void Padding::setInsertionPoint(OpBuilder &b, Value value, Operation *fragment) {
  Operation *def = value.getDefiningOp();
  bool isTop = fragment && value.getParentBlock() == fragment->getBlock();
  if (isTop && fragment != (def ? getFragment(def) : nullptr))
    b.setInsertionPointAfter(fragment);
  else
    b.setInsertionPointAfterValue(value);
}

/// True in lanes whose every index is less than its count.
static Value isInside(OpBuilder &b, Location loc, ArrayRef<Value> indices, ArrayRef<Value> counts) {
  Value inside;
  for (auto [index, count] : llvm::zip_equal(indices, counts)) {
    Value less = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, count);
    inside = inside ? Value(arith::AndIOp::create(b, loc, inside, less)) : less;
  }
  return inside;
}

Value Padding::createMasked(OpBuilder &b, Location loc, Value value, ArrayRef<UnevenLoop> dims, TypedAttr with) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> counts;
  for (const UnevenLoop &dim : dims)
    counts.push_back(getCount(b, loc, dim));
  Value constant = arith::ConstantOp::create(b, loc, with);
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, value), type.getElementType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, TypeRange{type}, ValueRange{value}, ValueRange{empty},
                                   ArrayRef<AffineMap>{identity, identity}, loops,
                                   [&](OpBuilder &body, Location loc, ValueRange args) {
                                     SmallVector<Value> indices;
                                     for (const UnevenLoop &dim : dims)
                                       indices.push_back(linalg::IndexOp::create(body, loc, dim.position));
                                     Value inside = isInside(body, loc, indices, counts);
                                     Value kept = arith::SelectOp::create(body, loc, inside, args[0], constant);
                                     linalg::YieldOp::create(body, loc, kept);
                                   })
      .getResult(0);
}

/// Moves what the body computes, all but its loops' indices, into a branch that
/// is taken where `inside` holds; elsewhere it yields `otherwise`.
static void skipBody(Block *body, Value inside, ValueRange otherwise) {
  Operation *terminator = body->getTerminator();
  OpBuilder b(terminator);
  Location loc = terminator->getLoc();
  auto branch = scf::IfOp::create(b, loc, ValueRange(otherwise).getTypes(), inside,
                                  /*withElseRegion=*/true);
  Block *then = branch.thenBlock();
  Operation *first = inside.getDefiningOp()->getNextNode();
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(first->getIterator(), branch->getIterator())))
    if (!isa<linalg::IndexOp>(op))
      op.moveBefore(then, then->end());
  b.setInsertionPointToEnd(then);
  scf::YieldOp::create(b, loc, terminator->getOperands());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  terminator->setOperands(branch.getResults());
}

void Padding::guard(const Guard &guard) {
  Operation *op = guard.op;
  IRRewriter rewriter(op->getContext());
  if (auto named = dyn_cast<linalg::LinalgOp>(op); named && !isa<linalg::GenericOp>(op)) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, named);
    assert(succeeded(generic) && "every structured op has a generic form");
    op = *generic;
  }
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> counts;
  for (const UnevenLoop &loop : guard.loops)
    counts.push_back(getCount(rewriter, loc, loop));
  Block *body = &getIndexedBody(op)->front();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  rewriter.setInsertionPointToStart(body);
  SmallVector<Value> indices, otherwise;
  for (const UnevenLoop &loop : guard.loops)
    indices.push_back(linalgOp ? Value(linalg::IndexOp::create(rewriter, loc, loop.position))
                               : Value(body->getArgument(loop.position)));
  Operation *terminator = body->getTerminator();
  for (auto [i, yielded] : llvm::enumerate(terminator->getOperands())) {
    if (linalgOp)
      otherwise.push_back(body->getArgument(linalgOp.getNumDpsInputs() + i));
    else
      otherwise.push_back(
          arith::ConstantOp::create(rewriter, loc, getNeutralElement(ReductionKind::Sum, yielded.getType())));
  }
  Value inside = isInside(rewriter, loc, indices, counts);
  if (guard.body == PaddingNeeds::Body::Skip)
    return skipBody(body, inside, otherwise);
  rewriter.setInsertionPoint(terminator);
  for (auto [operand, other] : llvm::zip(terminator->getOpOperands(), otherwise))
    operand.set(arith::SelectOp::create(rewriter, loc, inside, operand.get(), other));
}

void Padding::apply() {
  // One masked value for all of a fragment that need the same.
  struct Made {
    Operation *fragment;
    TypedAttr value;
    SmallVector<UnevenLoop, 1> dims;
    Value result;
  };
  llvm::DenseMap<Value, SmallVector<Made, 1>> made;
  for (const Mask &mask : masks) {
    Value value = mask.op->getOperand(mask.operand);
    SmallVector<Made, 1> &list = made[value];
    Operation *fragment = getFragment(mask.op);
    auto known = llvm::find_if(list, [&](const Made &other) {
      return other.fragment == fragment && other.value == mask.value && other.dims == mask.dims;
    });
    if (known == list.end()) {
      OpBuilder b(mask.op->getContext());
      setInsertionPoint(b, value, fragment);
      list.push_back(
          {fragment, mask.value, mask.dims, createMasked(b, mask.op->getLoc(), value, mask.dims, mask.value)});
      known = list.end() - 1;
    }
    mask.op->setOperand(mask.operand, known->result);
  }
  for (const Guard &entry : guards)
    guard(entry);
}

//===----------------------------------------------------------------------===//
// Proof
//===----------------------------------------------------------------------===//

void Padding::fill(Value value, ArrayRef<UnevenLoop> dims, PaddingFill with) {
  Type element = getElementTypeOrSelf(value.getType());
  if (!element.isIntOrIndexOrFloat())
    return;
  TypedAttr content = getNeutralElement(ReductionKind::Sum, element);
  if (with != PaddingFill::Zero) {
    if (auto floatType = dyn_cast<FloatType>(element))
      content = FloatAttr::get(floatType, APFloat::getNaN(floatType.getFloatSemantics()));
    else
      content = getNeutralElement(with == PaddingFill::Lowest ? ReductionKind::Max : ReductionKind::And, element);
  }
  llvm::MapVector<Operation *, SmallVector<OpOperand *>> uses; // of each fragment
  for (OpOperand &use : value.getUses()) {
    // A shared output is written as it is, and what a fragment returns is not read there.
    Operation *reader = use.getOwner();
    auto write = dyn_cast<tensor::ParallelInsertSliceOp>(reader);
    bool isOutput = write && use.getOperandNumber() == write.getDestMutable().getOperandNumber();
    if (!isOutput && !(isa<func::ReturnOp>(reader) && !fragments.empty()))
      uses[getFragment(reader)].push_back(&use);
  }
  OpBuilder b(value.getContext());
  for (auto &[fragment, readers] : uses) {
    setInsertionPoint(b, value, fragment);
    Value filled = createMasked(b, value.getLoc(), value, dims, content);
    for (OpOperand *use : readers)
      use->set(filled);
  }
}
