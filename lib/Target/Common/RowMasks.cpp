//===- RowMasks.cpp - Masks of rows through ops that move them ------------===//

#include "RowMasks.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

bool RowMask::isLeadingOf(Value of) const {
  auto type = cast<RankedTensorType>(of.getType());
  for (int64_t d = 0; d < dims.back(); ++d)
    if (type.getDimSize(d) != 1 && !llvm::is_contained(dims, d))
      return false;
  return true;
}

Value target::makeEmptyMask(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, b.getI1Type());
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  return linalg::FillOp::create(b, loc, no, empty).getResult(0);
}

Value target::emitIsSet(OpBuilder &b, Location loc, Value element) {
  if (element.getType().isInteger(1))
    return element;
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(element.getType()));
  if (isa<FloatType>(element.getType()))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, element, none);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, element, none);
}

Value target::emitFlags(OpBuilder &b, Location loc, Value mask, unsigned row) {
  const unsigned rank = cast<RankedTensorType>(mask.getType()).getRank();
  Value none = makeEmptyMask(b, loc, tensor::getMixedSize(b, loc, mask, row));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::reduction);
  kinds[row] = utils::IteratorType::parallel;
  const AffineMap out = AffineMap::get(rank, 0, b.getAffineDimExpr(row));
  return linalg::GenericOp::create(
             b, loc, none.getType(), mask, none, ArrayRef{b.getMultiDimIdentityMap(rank), out}, kinds,
             [](OpBuilder &b, Location loc, ValueRange args) {
               Value isSet = emitIsSet(b, loc, args[0]);
               linalg::YieldOp::create(b, loc, arith::OrIOp::create(b, loc, isSet, args[1]).getResult());
             })
      .getResult(0);
}

Value target::makeUnion(OpBuilder &b, Location loc, Value first, Value second) {
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, first), b.getI1Type());
  const int64_t rank = cast<RankedTensorType>(first.getType()).getRank();
  SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, empty.getType(), ValueRange{first, second}, empty, maps, kinds,
                                   [](OpBuilder &b, Location loc, ValueRange args) {
                                     Value either = arith::OrIOp::create(b, loc, args[0], args[1]);
                                     linalg::YieldOp::create(b, loc, either);
                                   })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Changes of shape
//===----------------------------------------------------------------------===//

/// The dims become those that `to` gives them, in their new order.
static void transposeMask(RowMask &mask, function_ref<int64_t(int64_t)> to, OpBuilder *b, Location loc) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, mask.dims.size()));
  llvm::sort(order, [&](int64_t i, int64_t j) { return to(mask.dims[i]) < to(mask.dims[j]); });
  SmallVector<int64_t> dims;
  for (int64_t i : order)
    dims.push_back(to(mask.dims[i]));
  if (b && !llvm::is_sorted(order)) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(*b, loc, mask.value), moved;
    for (int64_t i : order)
      moved.push_back(sizes[i]);
    Value empty = tensor::EmptyOp::create(*b, loc, moved, b->getI1Type());
    mask.value = linalg::TransposeOp::create(*b, loc, mask.value, empty, order)->getResult(0);
  }
  mask.dims = dims;
}

/// Each dim becomes all dims of its group, of which `sizes` are the sizes.
static void expandMask(RowMask &mask, ArrayRef<ReassociationIndices> groups, ArrayRef<OpFoldResult> sizes, OpBuilder *b,
                       Location loc) {
  SmallVector<ReassociationIndices> reassociation;
  SmallVector<int64_t> dims, shape;
  SmallVector<OpFoldResult> shapeValues;
  for (int64_t dim : mask.dims) {
    ReassociationIndices &group = reassociation.emplace_back();
    for (int64_t d : groups[dim]) {
      group.push_back(dims.size());
      dims.push_back(d);
      if (b)
        shapeValues.push_back(sizes[d]);
    }
  }
  if (b && dims.size() > mask.dims.size()) {
    for (OpFoldResult size : shapeValues)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    mask.value = tensor::ExpandShapeOp::create(*b, loc, RankedTensorType::get(shape, b->getI1Type()), mask.value,
                                               reassociation, shapeValues);
  }
  mask.dims = dims;
}

/// Dims of a group become one; false if it has others, but of size 1.
static bool collapseMask(RowMask &mask, ArrayRef<ReassociationIndices> groups, RankedTensorType type, OpBuilder *b,
                         Location loc) {
  SmallVector<ReassociationIndices> reassociation;
  SmallVector<int64_t> dims;
  for (auto [result, group] : llvm::enumerate(groups)) {
    ReassociationIndices joined;
    for (int64_t d : group)
      if (auto *it = llvm::find(mask.dims, d); it != mask.dims.end())
        joined.push_back(it - mask.dims.begin());
    if (joined.empty())
      continue;
    for (int64_t d : group)
      if (type.getDimSize(d) != 1 && !llvm::is_contained(mask.dims, d))
        return false;
    reassociation.push_back(joined);
    dims.push_back(result);
  }
  if (b && dims.size() < mask.dims.size())
    mask.value = tensor::CollapseShapeOp::create(*b, loc, mask.value, reassociation);
  mask.dims = dims;
  return true;
}

/// Whether the slice begins with the first rows, which follow each other.
static bool startsWithRows(OffsetSizeAndStrideOpInterface slice, const RowMask &mask) {
  return llvm::all_of(mask.dims, [&](int64_t d) {
    return isZeroInteger(slice.getMixedOffsets()[d]) && isOneInteger(slice.getMixedStrides()[d]);
  });
}

/// A mask of the first rows of a value of these sizes.
static void padMask(RowMask &mask, ArrayRef<OpFoldResult> sizes, OpBuilder *b, Location loc) {
  if (!b)
    return;
  SmallVector<OpFoldResult> padded, offsets(mask.dims.size(), b->getIndexAttr(0)),
      strides(mask.dims.size(), b->getIndexAttr(1));
  for (int64_t d : mask.dims)
    padded.push_back(sizes[d]);
  Value none = makeEmptyMask(*b, loc, padded);
  mask.value = tensor::InsertSliceOp::create(*b, loc, mask.value, none, offsets,
                                             tensor::getMixedSizes(*b, loc, mask.value), strides);
}

static bool isZeroFill(Value value) {
  Attribute fill = getFillElement(value);
  return fill && (matchPattern(fill, m_AnyZeroFloat()) || matchPattern(fill, m_Zero()));
}

bool target::mapForward(Operation *op, RowMask &mask, OpBuilder *b) {
  Location loc = op->getLoc();
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    ArrayRef<int64_t> from = transpose.getPermutation();
    transposeMask(mask, [&](int64_t d) { return llvm::find(from, d) - from.begin(); }, b, loc);
    return true;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapseMask(mask, collapse.getReassociationIndices(), collapse.getSrcType(), b, loc);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    expandMask(mask, expand.getReassociationIndices(), expand.getMixedOutputShape(), b, loc);
    return true;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (insert.getSourceType().getRank() != insert.getType().getRank() || !startsWithRows(insert, mask) ||
        !isZeroFill(insert.getDest()))
      return false;
    padMask(mask, b ? tensor::getMixedSizes(*b, loc, insert.getDest()) : SmallVector<OpFoldResult>(), b, loc);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

namespace {

/// An op that reads a row of a tensor at an index for each of its own rows:
///   %y[i, k] = %x[%index(i), k]
struct LookUp {
  linalg::LinalgOp op;
  tensor::ExtractOp extract;
  int64_t dim;  ///< The rows of what is read.
  int64_t loop; ///< The rows of the op.
  /// What the body computes the index with, in order.
  SmallVector<Operation *> slice;
};

} // namespace

/// The first dim that has more than one index.
static int64_t getFirstDim(Value value) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  return llvm::find_if(shape, [](int64_t size) { return size != 1; }) - shape.begin();
}

/// Adds the ops of a body that `value` is computed with; false if these read `excluded`, or have regions or effects.
static bool addSlice(Block *body, Value value, Operation *excluded, SetVector<Operation *> &slice) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != body || slice.contains(def))
    return true;
  if (def == excluded || def->getNumRegions() > 0 || !isPure(def))
    return false;
  for (Value operand : def->getOperands())
    if (!addSlice(body, operand, excluded, slice))
      return false;
  slice.insert(def);
  return true;
}

/// Whether an operand of the body is the same for all indices of loops other than `loop`.
static bool isOfLoop(linalg::LinalgOp op, BlockArgument arg, int64_t loop) {
  OpOperand *operand = op.getMatchingOpOperand(arg);
  return op.isDpsInput(operand) && llvm::all_of(op.getMatchingIndexingMap(operand).getResults(), [&](AffineExpr expr) {
           auto dim = dyn_cast<AffineDimExpr>(expr);
           return isa<AffineConstantExpr>(expr) || (dim && int64_t(dim.getPosition()) == loop);
         });
}

static std::optional<LookUp> matchLookUp(Operation *op, Value value) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp->getNumResults() != 1 || linalgOp.getNumReductionLoops() > 0 || hasAssertion(linalgOp))
    return std::nullopt;
  LookUp found{linalgOp, {}, getFirstDim(value), -1, {}};
  Block *body = linalgOp.getBlock();
  for (OpOperand &use : value.getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
    if (!extract || extract->getBlock() != body || found.extract)
      return std::nullopt;
    found.extract = extract;
  }
  const int64_t row = getFirstDim(op->getResult(0));
  AffineMap map = linalgOp.getIndexingMapMatchingResult(op->getResult(0));
  if (!found.extract || found.dim >= int64_t(found.extract.getIndices().size()) ||
      row >= int64_t(map.getNumResults()) || !isa<AffineDimExpr>(map.getResult(row)))
    return std::nullopt;
  found.loop = cast<AffineDimExpr>(map.getResult(row)).getPosition();
  // Rows that are not needed may hold anything: nothing is read at an index that they give, and nothing traps.
  SetVector<Operation *> all;
  for (Operation &inner : body->without_terminator()) {
    if (inner.getNumRegions() > 0 || !isPure(&inner) || (!isa<tensor::ExtractOp>(inner) && !isSpeculatable(&inner)))
      return std::nullopt;
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      for (Value index : extract.getIndices())
        if (!addSlice(body, index, found.extract, all))
          return std::nullopt;
  }
  SetVector<Operation *> slice;
  addSlice(body, found.extract.getIndices()[found.dim], found.extract, slice);
  SmallVector<Value> read{found.extract.getIndices()[found.dim]};
  for (Operation *inner : slice) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner); index && int64_t(index.getDim()) != found.loop)
      return std::nullopt;
    llvm::append_range(read, inner->getOperands());
  }
  for (Value operand : read)
    if (auto arg = dyn_cast<BlockArgument>(operand);
        arg && arg.getOwner() == body && !isOfLoop(linalgOp, arg, found.loop))
      return std::nullopt;
  found.slice = slice.takeVector();
  return found;
}

/// The rows that are read for the rows of a mask.
static void scatterMask(LookUp &lookUp, RowMask &mask, ArrayRef<OpFoldResult> sizes, OpBuilder &b) {
  Location loc = lookUp.op.getLoc();
  linalg::LinalgOp op = lookUp.op;
  Value none = makeEmptyMask(b, loc, sizes[lookUp.dim]);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, mask.value, 0));
  auto body = [&](OpBuilder &b, Location loc, Value row, ValueRange args) {
    IRMapping mapping;
    for (BlockArgument arg : op.getBlock()->getArguments()) {
      OpOperand *operand = op.getMatchingOpOperand(arg);
      if (!isOfLoop(op, arg, lookUp.loop) || !isa<RankedTensorType>(operand->get().getType()))
        continue;
      SmallVector<Value> at;
      for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
        at.push_back(isa<AffineDimExpr>(expr) ? row : zero);
      mapping.map(arg, tensor::ExtractOp::create(b, loc, operand->get(), at).getResult());
    }
    for (Operation *inner : lookUp.slice) {
      if (isa<linalg::IndexOp>(inner))
        mapping.map(inner->getResult(0), row);
      else
        b.clone(*inner, mapping);
    }
    Value at = mapping.lookupOrDefault(Value(lookUp.extract.getIndices()[lookUp.dim]));
    Value isNeeded = tensor::ExtractOp::create(b, loc, mask.value, row);
    Value before = tensor::ExtractOp::create(b, loc, args[0], at);
    Value either = arith::OrIOp::create(b, loc, before, isNeeded);
    scf::YieldOp::create(b, loc, tensor::InsertOp::create(b, loc, either, args[0], at).getResult());
  };
  mask.value = scf::ForOp::create(b, loc, zero, count, one, none, body).getResult(0);
}

//===----------------------------------------------------------------------===//
// From results to operands
//===----------------------------------------------------------------------===//

Operation *target::getOnlyReader(Value value) {
  Operation *only = nullptr;
  for (Operation *user : value.getUsers()) {
    if (isa<tensor::DimOp>(user))
      continue;
    Operation *reader = value.getParentBlock()->findAncestorOpInBlock(*user);
    if (!reader || (only && only != reader))
      return nullptr;
    only = reader;
  }
  return only;
}

bool target::canMapBackward(Operation *op, Value value, SmallVectorImpl<Value> &needed) {
  if (isa<linalg::TransposeOp, tensor::CollapseShapeOp>(op))
    return op->getOperand(0) == value;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::append_range(needed, slice.getSizes());
    llvm::append_range(needed, slice.getOffsets());
    return slice.getSourceType().getRank() == slice.getType().getRank();
  }
  std::optional<LookUp> lookUp = matchLookUp(op, value);
  if (!lookUp)
    return false;
  llvm::append_range(needed, lookUp->op.getDpsInits());
  llvm::append_range(needed, lookUp->op.getDpsInputs());
  for (Operation *inner : lookUp->slice)
    llvm::append_range(needed, inner->getOperands());
  return true;
}

bool target::mapBackward(Operation *op, Value value, RowMask &mask, OpBuilder *b, ArrayRef<OpFoldResult> sizes) {
  Location loc = op->getLoc();
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    transposeMask(mask, [&](int64_t d) { return transpose.getPermutation()[d]; }, b, loc);
    return true;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    expandMask(mask, collapse.getReassociationIndices(), sizes, b, loc);
    return true;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!startsWithRows(slice, mask))
      return false;
    padMask(mask, sizes, b, loc);
    return true;
  }
  std::optional<LookUp> lookUp = matchLookUp(op, value);
  if (!lookUp || mask.dims.size() != 1 || mask.dims[0] != getFirstDim(op->getResult(0)))
    return false;
  if (b)
    scatterMask(*lookUp, mask, sizes, *b);
  mask.dims = {lookUp->dim};
  return true;
}

SmallVector<OpFoldResult> target::getSizesAfter(OpBuilder &b, Operation *op, ArrayRef<OpFoldResult> sizes) {
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> after;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    for (int64_t d : transpose.getPermutation())
      after.push_back(sizes[d]);
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
      AffineExpr product = b.getAffineConstantExpr(1);
      SmallVector<OpFoldResult> factors;
      for (int64_t d : group) {
        product = product * b.getAffineSymbolExpr(factors.size());
        factors.push_back(sizes[d]);
      }
      after.push_back(affine::makeComposedFoldedAffineApply(b, loc, product, factors));
    }
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    after = slice.getMixedSizes();
  } else {
    after = tensor::getMixedSizes(b, loc, cast<linalg::LinalgOp>(op).getDpsInits()[0]);
  }
  return after;
}
