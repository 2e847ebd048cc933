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
//   %x = collective 0 ins(%local) output_rows(%any)
//   %z = collective 1 ins(%y) input_rows(%any)
//
//===----------------------------------------------------------------------===//

#include "GroupCollectives.h"
#include "RowMasks.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

/// The dim whose indices are the rows: equal parts of the elements in order. -1 if there is none.
static int64_t findRowDim(Value value) {
  for (auto [d, size] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
    if (size != 1)
      return d;
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

static bool hasLargeRows(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!getElementTypeOrSelf(type).isIntOrFloat())
    return false;
  int64_t bits = type.getElementTypeBitWidth();
  for (int64_t d = findRowDim(value) + 1; d < type.getRank(); ++d)
    bits = type.isDynamicDim(d) ? kMinRowBits : bits * type.getDimSize(d);
  return bits >= kMinRowBits;
}

namespace {

class Limiter {
public:
  Limiter(Block &block, ArrayRef<GroupRegion> regions) : block(block), regions(regions), anyOf(regions.size()) {}

  void limit();

private:
  /// The regions that read a value, and no element of it but in their rows; std::nullopt if another op reads one, save
  /// ops whose results are not needed there either.
  using Readers = std::optional<llvm::SmallBitVector>;
  Readers findReaders(OpOperand &use);
  Readers findReaders(Value value);
  /// Whether the rows of a region are known where collectives are: its mask has one unknown size at most, and is no sum
  /// that the region computes itself.
  bool hasRows(const GroupRegion &region) const;
  /// The collectives of a value that is zero in other rows, started ones too, and what lies between.
  struct After {
    Operation *collective;
    SmallVector<Operation *> path;
    RowMask mask;
  };
  void findCollectivesOf(Value value, SmallVector<Operation *> path, RowMask mask, SmallVectorImpl<After> &found);
  /// The rows of which a group of the region has any, behind its mask.
  Value getRows(unsigned region);
  Value getRows(OpBuilder &b, Location loc, const llvm::SmallBitVector &readers);
  /// Moves a collective behind these values; false if one of them depends on it.
  bool moveBehind(CollectiveOp op, ArrayRef<Value> needed) const;
  /// One that is started as one that is performed where it is done.
  CollectiveOp perform(Operation *op);
  /// Gives a collective the masks of those that read it, and of the sum that it moves.
  void limit(Operation *moved, const After *after);
  Operation *limitOutput(Operation *moved);
  void limitInput(Operation *moved, const After &after);

  Block &block;
  ArrayRef<GroupRegion> regions;
  SmallVector<Value> anyOf; ///< Of getRows().
  DenseMap<Value, Readers> readersOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Rows that are needed
//===----------------------------------------------------------------------===//

bool Limiter::hasRows(const GroupRegion &region) const {
  auto type = cast<RankedTensorType>(region.mask.value.getType());
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != region.mask.dims.row && type.isDynamicDim(d))
      return false;
  auto op = region.mask.value.getDefiningOp<linalg::LinalgOp>();
  return type.getDimSize(region.mask.dims.row) != 1 &&
         (!op || !region.inner.contains(op) || op.getNumReductionLoops() == 0);
}

Limiter::Readers Limiter::findReaders(OpOperand &use) {
  Operation *op = use.getOwner();
  const int64_t dim = findRowDim(use.get());
  if (isa<tensor::DimOp>(op))
    return llvm::SmallBitVector(regions.size());
  if (op->getBlock() != &block || dim < 0)
    return std::nullopt;
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    RowMask mask{{}, {dim}};
    return mapForward(op, mask) && mask.dims.size() == 1 && mask.dims[0] == findRowDim(op->getResult(0))
               ? findReaders(op->getResult(0))
               : std::nullopt;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.isDpsInput(&use))
    return std::nullopt;
  auto loop = dyn_cast<AffineDimExpr>(linalgOp.getMatchingIndexingMap(&use).getResult(dim));
  if (!loop || getDimOfLoop(linalgOp.getMatchingIndexingMap(&use), loop.getPosition()) != dim)
    return std::nullopt;
  llvm::SmallBitVector readers(regions.size());
  for (auto [r, region] : llvm::enumerate(regions))
    if (region.contains(op)) {
      // The mask says which rows these are.
      if (!hasRows(region) || use.get() == region.mask.value || unsigned(region.rolesOf(op).row) != loop.getPosition())
        return std::nullopt;
      readers.set(r);
      return readers;
    }
  if (linalgOp.getIteratorTypesArray()[loop.getPosition()] != utils::IteratorType::parallel || !isTotal(linalgOp))
    return std::nullopt;
  for (OpResult result : op->getResults()) {
    const int64_t computed = findRowDim(result);
    if (computed < 0 || getDimOfLoop(linalgOp.getIndexingMapMatchingResult(result), loop.getPosition()) != computed)
      return std::nullopt;
    Readers ofResult = findReaders(result);
    if (!ofResult)
      return std::nullopt;
    readers |= *ofResult;
  }
  return readers;
}

Limiter::Readers Limiter::findReaders(Value value) {
  if (auto it = readersOf.find(value); it != readersOf.end())
    return it->second;
  Readers readers = llvm::SmallBitVector(regions.size());
  if (llvm::any_of(regions, [&](const GroupRegion &region) { return region.mask.value == value; }))
    readers = std::nullopt;
  for (OpOperand &use : value.getUses()) {
    Readers ofUse = readers ? findReaders(use) : std::nullopt;
    if (ofUse)
      *readers |= *ofUse;
    else
      readers = std::nullopt;
  }
  if (readers && readers->none())
    readers = std::nullopt;
  return readersOf[value] = readers;
}

Value Limiter::getRows(unsigned region) {
  Value &any = anyOf[region];
  if (any)
    return any;
  const ZeroMask &zeroMask = regions[region].mask;
  Value mask = zeroMask.value;
  Location loc = mask.getLoc();
  OpBuilder b(block.getParent()->getContext());
  b.setInsertionPointAfterValue(mask);
  auto type = cast<RankedTensorType>(mask.getType());
  const int64_t rank = type.getRank();
  // One of the elements that are the same.
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, mask);
  bool isSlice = false;
  for (int64_t d = 0; d < rank; ++d)
    if (d != zeroMask.dims.row && type.getDimSize(d) != 1 && isInvariant(mask, d)) {
      sizes[d] = b.getIndexAttr(1);
      isSlice = true;
    }
  if (isSlice)
    mask = tensor::ExtractSliceOp::create(b, loc, mask, offsets, sizes, strides);
  return any = emitFlags(b, loc, mask, zeroMask.dims.row);
}

Value Limiter::getRows(OpBuilder &b, Location loc, const llvm::SmallBitVector &readers) {
  Value rows;
  for (unsigned region : readers.set_bits())
    rows = rows ? makeUnion(b, loc, rows, getRows(region)) : getRows(region);
  return rows;
}

//===----------------------------------------------------------------------===//
// Rows that were computed
//===----------------------------------------------------------------------===//

/// Casts, which leave zeros.
static bool keepsZeros(linalg::LinalgOp op) {
  auto &&ops = op.getBlock()->without_terminator();
  return op.getNumReductionLoops() == 0 && op.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity() &&
         op.getIndexingMapsArray()[1].isIdentity() &&
         llvm::all_of(ops, [](Operation &inner) { return isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(inner); });
}

void Limiter::findCollectivesOf(Value value, SmallVector<Operation *> path, RowMask mask,
                                SmallVectorImpl<After> &found) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user->getBlock() != &block || use.getOperandNumber() != 0)
      continue;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
    if (isa<CollectiveOp, DoneOp>(user)) {
      found.push_back({user, path, mask});
    } else if (linalgOp && keepsZeros(linalgOp)) {
      findCollectivesOf(user->getResult(0), path, mask, found);
    } else if (RowMask mapped = mask; mapForward(user, mapped)) {
      SmallVector<Operation *> longer(path);
      longer.push_back(user);
      findCollectivesOf(user->getResult(0), longer, mapped, found);
    }
  }
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

bool Limiter::moveBehind(CollectiveOp op, ArrayRef<Value> needed) const {
  Operation *last = op;
  DenseSet<Operation *> makers;
  for (Value value : needed)
    if (Operation *maker = value.getDefiningOp(); maker && maker->getBlock() == &block) {
      makers.insert(maker);
      if (last->isBeforeInBlock(maker))
        last = maker;
    }
  // With all that depends on it, in the same order.
  SmallVector<Operation *> later{op};
  DenseSet<Value> moved(op->result_begin(), op->result_end());
  for (Operation *next = op; next != last;) {
    next = next->getNextNode();
    const WalkResult depends = next->walk([&](Operation *inner) {
      return llvm::any_of(inner->getOperands(), [&](Value operand) { return moved.contains(operand); })
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!depends.wasInterrupted())
      continue;
    if (makers.contains(next))
      return false;
    later.push_back(next);
    moved.insert(next->result_begin(), next->result_end());
  }
  if (last != op)
    for (Operation *next : llvm::reverse(later))
      next->moveAfter(last);
  return true;
}

/// The start of one that can be performed at once instead.
static StartOp findStart(DoneOp done) {
  auto start = done.getBegun().getDefiningOp<StartOp>();
  return start && start.getAlone() && start.getBegun().hasOneUse() ? start : StartOp();
}

/// Whether a collective can take masks.
static bool takesRows(Operation *op) {
  if (auto done = dyn_cast<DoneOp>(op))
    return bool(findStart(done));
  return cast<CollectiveOp>(op).getOffsets().empty();
}

CollectiveOp Limiter::perform(Operation *op) {
  auto done = dyn_cast<DoneOp>(op);
  if (!done)
    return cast<CollectiveOp>(op);
  StartOp start = findStart(done);
  OpBuilder b(done);
  auto at = CollectiveOp::create(b, done.getLoc(), TypeRange{done.getResult().getType()}, done.getIdAttr(),
                                 b.getI64IntegerAttr(0), done.getInput(), start.getInit(), /*offsets=*/ValueRange(),
                                 /*input_rows=*/Value(), /*output_rows=*/Value());
  done.getResult().replaceAllUsesWith(at->getResult(0));
  done.erase();
  start.erase();
  return at;
}

static void emitRemark(CollectiveOp op, Value mask) {
  const int64_t rows = cast<RankedTensorType>(mask.getType()).getNumDynamicDims() > 0
                           ? ShapedType::kDynamic
                           : cast<RankedTensorType>(mask.getType()).getNumElements();
  remark::passed(op.getLoc(), remark::RemarkOpts::name("rows").category("spmd"))
      << remark::add("collective {0} moves the rows that a mask leaves{1}", op.getId(),
                     ShapedType::isDynamic(rows) ? "" : " of " + std::to_string(rows));
}

/// The op that moves the value now.
Operation *Limiter::limitOutput(Operation *moved) {
  // What makes the value that has the rows.
  SmallVector<Operation *> path;
  SmallVector<Value> needed;
  Value value = moved->getResult(0);
  Readers readers = findReaders(value);
  while (!readers) {
    Operation *user = getOnlyReader(value);
    if (!user || user->getBlock() != &block || !canMapBackward(user, value, needed))
      return moved;
    path.push_back(user);
    value = user->getResult(0);
    readers = findReaders(value);
  }
  const int64_t rowDim = findRowDim(value);
  RowMask mask{{}, {rowDim}};
  auto getSource = [&](size_t step) { return (step == 0 ? moved : path[step - 1])->getResult(0); };
  for (size_t step = path.size(); step-- > 0;)
    if (!mapBackward(path[step], getSource(step), mask))
      return moved;
  if (!mask.isLeadingOf(moved->getResult(0)) || !hasLargeRows(value))
    return moved;
  for (unsigned region : readers->set_bits())
    needed.push_back(getRows(region));
  CollectiveOp op = perform(moved);
  moved = op;
  if (!moveBehind(op, needed))
    return op;
  OpBuilder b(op);
  mask = {getRows(b, op.getLoc(), *readers), {rowDim}};
  emitRemark(op, mask.value);
  SmallVector<SmallVector<OpFoldResult>> sizes{tensor::getMixedSizes(b, op.getLoc(), op.getInit())};
  for (Operation *step : path)
    sizes.push_back(getSizesAfter(b, step, sizes.back()));
  for (size_t step = path.size(); step-- > 0;)
    mapBackward(path[step], getSource(step), mask, &b, sizes[step]);
  op.getOutputRowsMutable().assign(mask.value);
  return op;
}

void Limiter::limitInput(Operation *moved, const After &after) {
  if (!after.mask.isLeadingOf(moved->getOperand(0)))
    return;
  CollectiveOp op = perform(moved);
  OpBuilder b(op);
  Value rows = after.mask.value;
  RowMask mask{rows, {0}};
  for (Operation *step : after.path)
    mapForward(step, mask, &b);
  op.getInputRowsMutable().assign(mask.value);
  emitRemark(op, rows);
}

void Limiter::limit(Operation *moved, const After *after) {
  if (!takesRows(moved))
    return;
  moved = limitOutput(moved);
  if (after)
    limitInput(moved, *after);
}

void Limiter::limit() {
  SmallVector<After> after;
  for (auto [r, region] : llvm::enumerate(regions)) {
    if (!hasRows(region))
      continue;
    for (auto &[op, sum] : region.sums) {
      auto linalgOp = cast<linalg::LinalgOp>(op);
      Value result = op->getResult(0);
      const int64_t dim = findRowDim(result);
      if (sum.overRows || dim != 0 || !hasLargeRows(result) ||
          !isNeutralFill(linalgOp.getDpsInits()[0], ReductionKind::Sum) ||
          getDimOfLoop(linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0)), sum.roles.row) != dim)
        continue;
      SmallVector<After> ofSum;
      findCollectivesOf(result, {}, {Value(), {dim}}, ofSum);
      for (After &one : ofSum) {
        one.mask.value = getRows(r);
        after.push_back(std::move(one));
      }
    }
  }
  SmallVector<Operation *> collectives;
  for (Operation &op : block)
    if (isa<CollectiveOp, DoneOp>(op) && isa<RankedTensorType>(op.getResult(0).getType()))
      collectives.push_back(&op);
  // One that moves a sum to other groups moves the rows that these need of those that were computed.
  for (Operation *op : collectives) {
    auto *sum = llvm::find_if(after, [&](const After &one) { return one.collective == op; });
    limit(op, sum == after.end() ? nullptr : sum);
  }
}

void target::limitCollectives(Block &block, ArrayRef<GroupRegion> regions) { Limiter(block, regions).limit(); }
