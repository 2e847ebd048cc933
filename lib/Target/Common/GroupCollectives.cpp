//===- GroupCollectives.cpp - Rows that groups need of other devices ------===//
//
// Groups read the rows of a mask, so that a collective before them need not move the others;
// what groups add up is zero in the others, so that a collective after them need not either:
//
//   %x = collective 0 ins(%local)           %x is read by the loops of %mask alone
//   %y = <sum over the groups of %mask>
//   %z = collective 1 ins(%y)
//   ->
//   %any = or over groups of %mask[row, group]
//   %x = collective 0 ins(%local) rows(%any)
//   %z = collective 1 ins(%y) rows(%any) of_input
//
//===----------------------------------------------------------------------===//

#include "GroupRegions.h"
#include "shardkit/Rules/Reductions.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

/// The dim of `type` with the same rows, as equal parts of the elements in order; -1 if there is none.
static int64_t findRowDim(RankedTensorType type, int64_t rows) {
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    if (size != 1)
      return size == rows ? int64_t(d) : -1;
  return -1;
}

/// True if rows of anything at all give rows of anything, and no trap.
static bool isTotal(linalg::LinalgOp op) {
  return !hasAssertion(op) && llvm::all_of(op.getBlock()->without_terminator(), [](Operation &inner) {
    return isa<linalg::IndexOp>(inner) ||
           (inner.getNumRegions() == 0 && isPure(&inner) && isSpeculatable(&inner) && !isa<tensor::ExtractOp>(inner));
  });
}

/// The masks of rows that are smaller than this weigh too much.
static constexpr int64_t kMinRowBits = 256;

static bool hasLargeRows(Value value, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  return getElementTypeOrSelf(type).isIntOrFloat() &&
         type.getNumElements() / rows * type.getElementTypeBitWidth() >= kMinRowBits;
}

namespace {

class Limiter {
public:
  Limiter(Block &block, const GroupRegion &region) : block(block), region(region) {
    rows = cast<RankedTensorType>(region.mask.value.getType()).getDimSize(region.mask.dims.row);
  }

  void limit();

private:
  bool needsRowsAlone(OpOperand &use);
  /// True if no element of another row is read, but by ops whose results are not needed there either.
  bool needsRowsAlone(Value value);
  /// The collectives of a value that is zero in other rows, started ones too.
  void findCollectivesOf(Value value, SmallVectorImpl<Operation *> &found) const;
  /// The rows of which a group has any, behind the mask.
  Value getRows();
  /// Moves a collective behind the mask; false if that depends on it.
  bool moveBehindMask(CollectiveOp op) const;
  /// One that is started as one that is performed where it is done.
  CollectiveOp perform(Operation *op);
  void setRows(Operation *moved, bool isOfInput);

  Block &block;
  const GroupRegion &region;
  int64_t rows;
  Value any;                     ///< Of getRows().
  DenseMap<Value, bool> needing; ///< Of needsRowsAlone().
};

} // namespace

bool Limiter::needsRowsAlone(OpOperand &use) {
  Operation *op = use.getOwner();
  auto type = cast<RankedTensorType>(use.get().getType());
  const int64_t dim = findRowDim(type, rows);
  if (op->getBlock() != &block || dim < 0)
    return false;
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return needsRowsAlone(op->getResult(0));
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.isDpsInput(&use))
    return false;
  auto loop = dyn_cast<AffineDimExpr>(linalgOp.getMatchingIndexingMap(&use).getResult(dim));
  if (!loop || getDimOfLoop(linalgOp.getMatchingIndexingMap(&use), loop.getPosition()) != dim)
    return false;
  if (region.contains(op))
    return unsigned(region.rolesOf(op).row) == loop.getPosition();
  if (linalgOp.getIteratorTypesArray()[loop.getPosition()] != utils::IteratorType::parallel || !isTotal(linalgOp))
    return false;
  for (OpResult result : op->getResults()) {
    const int64_t computed = findRowDim(cast<RankedTensorType>(result.getType()), rows);
    if (computed < 0 || getDimOfLoop(linalgOp.getIndexingMapMatchingResult(result), loop.getPosition()) != computed ||
        !needsRowsAlone(result))
      return false;
  }
  return true;
}

bool Limiter::needsRowsAlone(Value value) {
  if (auto it = needing.find(value); it != needing.end())
    return it->second;
  // The mask says which rows these are.
  const bool isNeeding = value != region.mask.value && !value.use_empty() &&
                         llvm::all_of(value.getUses(), [&](OpOperand &use) { return needsRowsAlone(use); });
  return needing[value] = isNeeding;
}

/// Casts, which leave zeros.
static bool keepsZeros(linalg::LinalgOp op) {
  auto &&ops = op.getBlock()->without_terminator();
  return op.getNumReductionLoops() == 0 && op.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity() &&
         op.getIndexingMapsArray()[1].isIdentity() &&
         llvm::all_of(ops, [](Operation &inner) { return isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(inner); });
}

void Limiter::findCollectivesOf(Value value, SmallVectorImpl<Operation *> &found) const {
  if (findRowDim(cast<RankedTensorType>(value.getType()), rows) < 0)
    return;
  for (Operation *user : value.getUsers()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
    if (isa<CollectiveOp, DoneOp>(user) && user->getOperand(0) == value)
      found.push_back(user);
    else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user) || (linalgOp && keepsZeros(linalgOp)))
      findCollectivesOf(user->getResult(0), found);
  }
}

bool Limiter::moveBehindMask(CollectiveOp op) const {
  Operation *mask = region.mask.value.getDefiningOp();
  if (!mask || mask->getBlock() != &block || mask->isBeforeInBlock(op))
    return true;
  // With all that depends on it, in the same order.
  SmallVector<Operation *> later{op};
  DenseSet<Value> moved(op->result_begin(), op->result_end());
  for (Operation *next = op->getNextNode();; next = next->getNextNode()) {
    const WalkResult depends = next->walk([&](Operation *inner) {
      return llvm::any_of(inner->getOperands(), [&](Value operand) { return moved.contains(operand); })
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (next == mask) {
      if (depends.wasInterrupted())
        return false;
      break;
    }
    if (!depends.wasInterrupted())
      continue;
    later.push_back(next);
    moved.insert(next->result_begin(), next->result_end());
  }
  for (Operation *next : llvm::reverse(later))
    next->moveAfter(mask);
  return true;
}

Value Limiter::getRows() {
  if (any)
    return any;
  Value mask = region.mask.value;
  Location loc = mask.getLoc();
  OpBuilder b(block.getParent()->getContext());
  b.setInsertionPointAfterValue(mask);
  auto type = cast<RankedTensorType>(mask.getType());
  const int64_t rank = type.getRank();
  // One of the elements that are the same.
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1)), sizes;
  bool isSlice = false;
  for (int64_t d = 0; d < rank; ++d) {
    const bool isFirst = d != region.mask.dims.row && type.getDimSize(d) != 1 && isInvariant(mask, d);
    sizes.push_back(b.getIndexAttr(isFirst ? 1 : type.getDimSize(d)));
    isSlice |= isFirst;
  }
  if (isSlice)
    mask = tensor::ExtractSliceOp::create(b, loc, mask, offsets, sizes, strides);
  Value empty = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{rows}, b.getI1Type());
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value none = linalg::FillOp::create(b, loc, no, empty).getResult(0);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::reduction);
  kinds[region.mask.dims.row] = utils::IteratorType::parallel;
  const AffineMap out = AffineMap::get(rank, 0, b.getAffineDimExpr(region.mask.dims.row));
  any = linalg::GenericOp::create(
            b, loc, none.getType(), mask, none, ArrayRef{b.getMultiDimIdentityMap(rank), out}, kinds,
            [&](OpBuilder &b, Location loc, ValueRange args) {
              Value isSet = emitIsSet(b, loc, args[0]);
              linalg::YieldOp::create(b, loc, arith::OrIOp::create(b, loc, isSet, args[1]).getResult());
            })
            .getResult(0);
  return any;
}

/// The start of one that can be performed at once instead.
static StartOp findStart(DoneOp done) {
  auto start = done.getBegun().getDefiningOp<StartOp>();
  return start && start.getAlone() && start.getBegun().hasOneUse() ? start : StartOp();
}

CollectiveOp Limiter::perform(Operation *op) {
  auto done = dyn_cast<DoneOp>(op);
  if (!done)
    return cast<CollectiveOp>(op);
  StartOp start = findStart(done);
  OpBuilder b(done);
  auto at = CollectiveOp::create(b, done.getLoc(), TypeRange{done.getResult().getType()}, done.getIdAttr(),
                                 b.getI64IntegerAttr(0), done.getInput(), start.getInit(), /*offsets=*/ValueRange(),
                                 /*mask=*/Value(), /*of_input=*/UnitAttr());
  done.getResult().replaceAllUsesWith(at->getResult(0));
  done.erase();
  start.erase();
  return at;
}

void Limiter::setRows(Operation *moved, bool isOfInput) {
  if (auto done = dyn_cast<DoneOp>(moved); done && !findStart(done))
    return;
  if (!hasLargeRows(isOfInput ? moved->getOperand(0) : moved->getResult(0), rows))
    return;
  CollectiveOp op = perform(moved);
  if (op.getMask() || op.getBatchDims() > 0 || !op.getOffsets().empty() || !moveBehindMask(op))
    return;
  op.getMaskMutable().assign(getRows());
  op.setOfInput(isOfInput);
  remark::passed(op.getLoc(), remark::RemarkOpts::name("rows").category("spmd"))
      << remark::add("collective {0} moves the rows that a mask leaves of {1}", op.getId(), rows);
}

void Limiter::limit() {
  if (ShapedType::isDynamic(rows) || rows == 1 || !cast<RankedTensorType>(region.mask.value.getType()).hasStaticShape())
    return;
  SmallVector<Operation *> before, after;
  for (Operation &op : block)
    if (isa<CollectiveOp, DoneOp>(op))
      if (auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
          type && findRowDim(type, rows) >= 0 && needsRowsAlone(op.getResult(0)))
        before.push_back(&op);
  for (auto &[op, sum] : region.sums) {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    const int64_t dim = findRowDim(cast<RankedTensorType>(op->getResult(0).getType()), rows);
    if (!sum.overRows && dim >= 0 && isNeutralFill(linalgOp.getDpsInits()[0], ReductionKind::Sum) &&
        getDimOfLoop(linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0)), sum.roles.row) == dim)
      findCollectivesOf(op->getResult(0), after);
  }
  for (Operation *op : before)
    setRows(op, /*isOfInput=*/false);
  for (Operation *op : after)
    setRows(op, /*isOfInput=*/true);
}

void target::limitCollectives(Block &block, const GroupRegion &region) { Limiter(block, region).limit(); }
