//===- GroupLoops.cpp - Each group computes the rows that it has ----------===//
//
// Ops over groups and rows, of which a mask leaves few, become a loop over the groups that
// computes on the rows of each. For example, with %mask[row, group] of experts and tokens:
//
//   %h = %x[row, k] * %w[group, k, n] for all groups and rows
//   %m = select(%mask, %h, 0)
//   %y = sum over groups of f(%m)
//   ->
//   for group:
//     rows = the rows of which %mask[row, group] is true
//     %y[rows] = %y[rows] + f(%x[rows] * %w[group])
//
// The sums are in the same order of groups.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/ZeroMasks.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETGROUPLOOPS
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The loops, or the dims of slices and the like, that are groups and rows.
using Roles = MaskedDims;

/// An op that sums over groups, or over the rows of a group, what is zero beside the mask.
struct Sum {
  Roles roles;
  bool overRows; ///< the result has groups; else it has rows
};

/// The ops of one mask in a block.
struct GroupRegion {
  ZeroMask mask;
  llvm::MapVector<Operation *, Sum> sums;
  /// The ops whose results have groups and rows.
  DenseMap<Operation *, Roles> inner;
  int64_t groups = 0;

  bool contains(Operation *op) const { return inner.contains(op) || sums.contains(op); }
  Roles rolesOf(Operation *op) const {
    auto it = inner.find(op);
    return it == inner.end() ? sums.lookup(op).roles : it->second;
  }
};

/// The operand of a collective.
Value getMoved(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<target::CollectiveOp, target::DoneOp>(op) ? op->getOperand(0) : Value();
}

class Finder {
public:
  Finder(Block &block, int64_t minProducts) : block(block), minProducts(minProducts) {}

  /// The regions whose loops save products.
  SmallVector<GroupRegion> find();

private:
  void findSums(linalg::LinalgOp op);
  /// Adds the op that computes `value`, and what it depends on, if they have groups and rows.
  void addProducers(GroupRegion &region, Value value, MaskedDims dims);
  void removeOpsWithOtherUsers(GroupRegion &region);
  bool savesProducts(linalg::LinalgOp op, Roles loops) const;

  Block &block;
  int64_t minProducts;
  ZeroMasks masks{getMoved};
  SmallVector<GroupRegion> regions;
  DenseSet<Operation *> taken; ///< Of regions that are found.
};

/// Emits the loops of a region.
class Lowering {
public:
  Lowering(Block &block, GroupRegion &region) : block(block), region(region) {}

  void lower();

private:
  /// What part of a loop or a dim is computed.
  enum class Part : uint8_t { All, Group, Rows, First };
  using Parts = SmallVector<Part>;

  /// The values of an iteration.
  struct Iteration {
    Value group, rows, count;
    IRMapping values;
    /// Parts of other values.
    DenseMap<Value, SmallVector<std::pair<Parts, Value>>> parts;
  };

  void assignStages();
  void lowerStage(ArrayRef<Operation *> ops, unsigned stage);
  void moveUsersBehind(Operation *first, Operation *last, unsigned stage);
  Value emitAny(OpBuilder &b, Location loc, Value maskRow, Value row);
  Value emitMaskRow(OpBuilder &b, Location loc, Iteration &it);
  void emitRows(OpBuilder &b, Location loc, Value maskRow, Iteration &it);
  void emitOps(OpBuilder &b, ArrayRef<Operation *> ops, MutableArrayRef<Value> carried, Iteration &it);

  Parts getParts(linalg::LinalgOp op, OpOperand &operand, ArrayRef<Part> loops) const;
  /// The part of a tensor: a slice, or its rows one after the other.
  Value emitPart(OpBuilder &b, Value value, ArrayRef<Part> parts, Iteration &it);
  Value emitNewPart(OpBuilder &b, Value value, ArrayRef<Part> parts, Iteration &it);
  Value emitRowsOf(OpBuilder &b, Location loc, Value value, int64_t dim, Iteration &it);
  Value emitScatter(OpBuilder &b, Location loc, Value rows, Value into, MaskedDims dims, Iteration &it);
  SmallVector<OpFoldResult> getSizes(OpBuilder &b, Location loc, Value value, ArrayRef<Part> parts, Iteration &it);
  /// A structured op on these parts of its loops; `inits` replaces its inits.
  Operation *emitStructured(OpBuilder &b, linalg::LinalgOp op, ArrayRef<Part> loops, ValueRange inits, Iteration &it);
  Parts getLoops(linalg::LinalgOp op, Roles roles) const;

  Block &block;
  GroupRegion &region;
  DenseMap<Operation *, unsigned> stages;
};

struct GroupLoops : spmd::impl::SpmdTargetGroupLoopsBase<GroupLoops> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      for (GroupRegion &region : Finder(*block, minProducts).find())
        Lowering(*block, region).lower();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// What has groups and rows
//===----------------------------------------------------------------------===//

static bool isWholeDim(OffsetSizeAndStrideOpInterface slice, RankedTensorType whole, int64_t dim) {
  return !whole.isDynamicDim(dim) && isZeroInteger(slice.getMixedOffsets()[dim]) &&
         isConstantIntValue(slice.getMixedSizes()[dim], whole.getDimSize(dim)) &&
         isOneInteger(slice.getMixedStrides()[dim]);
}

/// Products of a matrix for each group, of at least so many elements: with one group, the op has rows, or sums over
/// them.
bool Finder::savesProducts(linalg::LinalgOp op, Roles loops) const {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  // Loops of the two inputs alone, and of the result and one input, other than groups and rows.
  int64_t summed = 1, ofFirst = 1, ofSecond = 1;
  auto kindOf = [&](unsigned loop) -> int64_t * {
    bool a = maps[0].isFunctionOfDim(loop), b = maps[1].isFunctionOfDim(loop), c = maps[2].isFunctionOfDim(loop);
    return a && b && !c ? &summed : a && !b && c ? &ofFirst : !a && b && c ? &ofSecond : nullptr;
  };
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop != loops.group && loop != loops.row)
      if (int64_t *kind = kindOf(loop))
        *kind *= ShapedType::isDynamic(ranges[loop]) ? 1 : ranges[loop];
  int64_t *kind = kindOf(loops.row);
  if (kind == &summed)
    return ofFirst > 1 && ofSecond > 1 && ofFirst * ofSecond >= minProducts;
  // The matrix has the group, and no rows.
  if (kind == &ofFirst)
    return maps[1].isFunctionOfDim(loops.group) && summed > 1 && ofSecond > 1 && summed * ofSecond >= minProducts;
  if (kind == &ofSecond)
    return maps[0].isFunctionOfDim(loops.group) && summed > 1 && ofFirst > 1 && summed * ofFirst >= minProducts;
  return false;
}

/// True if every dim of every operand is a loop, or has nothing to do with these two.
static bool hasSimpleMaps(linalg::LinalgOp op, Roles loops) {
  return llvm::all_of(op.getIndexingMapsArray(),
                      [&](AffineMap map) { return getDimOfLoop(map, loops.group) && getDimOfLoop(map, loops.row); });
}

void Finder::addProducers(GroupRegion &region, Value value, MaskedDims dims) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block || region.sums.contains(op) || taken.contains(op))
    return;
  if (region.inner.contains(op) || resolveMask({value, dims}) == region.mask)
    return;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (slice.getSourceType().getRank() != slice.getType().getRank() || !slice.getType().hasStaticShape() ||
        !isWholeDim(slice, slice.getSourceType(), dims.group) || !isWholeDim(slice, slice.getSourceType(), dims.row) ||
        !slice.getOffsets().empty())
      return;
    region.inner[op] = dims;
    addProducers(region, slice.getSource(), dims);
    return;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (insert.getSourceType().getRank() != insert.getType().getRank() || !insert.getType().hasStaticShape() ||
        !isWholeDim(insert, insert.getType(), dims.group) || !isWholeDim(insert, insert.getType(), dims.row) ||
        !insert.getOffsets().empty() || !insert.getSizes().empty())
      return;
    region.inner[op] = dims;
    addProducers(region, insert.getSource(), dims);
    addProducers(region, insert.getDest(), dims);
    return;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || isa<linalg::FillOp>(op) || target::hasAssertion(linalgOp))
    return;
  AffineMap map = linalgOp.getIndexingMapMatchingResult(cast<OpResult>(value));
  auto group = dyn_cast<AffineDimExpr>(map.getResult(dims.group));
  auto row = dyn_cast<AffineDimExpr>(map.getResult(dims.row));
  if (!group || !row || group == row)
    return;
  Roles loops{group.getPosition(), row.getPosition()};
  auto isComplete = [&](OpOperand &init) {
    AffineMap map = linalgOp.getMatchingIndexingMap(&init);
    return *getDimOfLoop(map, loops.group) >= 0 && *getDimOfLoop(map, loops.row) >= 0;
  };
  if (!hasSimpleMaps(linalgOp, loops) || !llvm::all_of(linalgOp.getDpsInitsMutable(), isComplete))
    return;
  region.inner[op] = loops;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap read = linalgOp.getMatchingIndexingMap(&operand);
    int64_t g = *getDimOfLoop(read, loops.group), r = *getDimOfLoop(read, loops.row);
    if (g >= 0 && r >= 0)
      addProducers(region, operand.get(), {g, r});
  }
}

void Finder::findSums(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1 || op.getNumDpsInits() != 1 ||
      matchReduction(op, 0) != ReductionKind::Sum || target::hasAssertion(op))
    return;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Block *body = op.getBlock();
  // What the mask makes zero must be a factor of all that is added.
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  Value accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  Value term = add->getOperand(add->getOperand(0) == accumulator ? 1 : 0);
  std::function<bool(Value, BlockArgument)> isFactor = [&](Value value, BlockArgument factor) -> bool {
    if (value == factor)
      return true;
    Operation *def = value.getDefiningOp();
    if (isa_and_nonnull<arith::MulFOp, arith::MulIOp>(def))
      return isFactor(def->getOperand(0), factor) || isFactor(def->getOperand(1), factor);
    return isa_and_nonnull<arith::ExtFOp, arith::NegFOp, arith::ExtSIOp, arith::SIToFPOp, arith::TruncFOp>(def) &&
           isFactor(def->getOperand(0), factor);
  };
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(operand->get().getType()) || !isFactor(term, op.getMatchingBlockArgument(operand)))
      continue;
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (unsigned summed = 0; summed < op.getNumLoops(); ++summed)
      for (unsigned kept = 0; kept < op.getNumLoops(); ++kept) {
        if (kinds[summed] != utils::IteratorType::reduction || kinds[kept] != utils::IteratorType::parallel ||
            !hasSimpleMaps(op, {summed, kept}))
          continue;
        int64_t s = *getDimOfLoop(map, summed), k = *getDimOfLoop(map, kept);
        if (s < 0 || k < 0 || ranges[summed] == 1 || ranges[kept] == 1)
          continue;
        for (bool overRows : {false, true}) {
          MaskedDims dims = overRows ? MaskedDims{k, s} : MaskedDims{s, k};
          Roles loops = overRows ? Roles{kept, summed} : Roles{summed, kept};
          if (ShapedType::isDynamic(ranges[loops.group]))
            continue;
          ZeroMask mask = masks.find(operand->get(), dims);
          if (!mask)
            continue;
          auto *region = llvm::find_if(regions, [&](const GroupRegion &r) { return r.mask == mask; });
          if (region == regions.end())
            region = &regions.emplace_back(), region->mask = mask, region->groups = ranges[loops.group];
          region->sums.try_emplace(op, Sum{loops, overRows});
        }
      }
  }
}

/// The dims of a value that an op of the region computes or reads which are groups and rows.
static MaskedDims getDims(Operation *op, Roles roles, AffineMap map) {
  return map ? MaskedDims{*getDimOfLoop(map, roles.group), *getDimOfLoop(map, roles.row)} : roles;
}

void Finder::removeOpsWithOtherUsers(GroupRegion &region) {
  auto mapOf = [](Operation *op, OpOperand *operand, Value result) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return !linalgOp ? AffineMap()
           : operand ? linalgOp.getMatchingIndexingMap(operand)
                     : linalgOp.getIndexingMapMatchingResult(cast<OpResult>(result));
  };
  for (Operation &op : llvm::reverse(block)) {
    auto it = region.inner.find(&op);
    if (it == region.inner.end())
      continue;
    auto isInside = [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return region.contains(user) && getDims(user, region.rolesOf(user), mapOf(user, &use, {})) ==
                                          getDims(&op, it->second, mapOf(&op, nullptr, use.get()));
    };
    auto other = llvm::find_if_not(op.getUses(), isInside);
    if (other == op.use_end())
      continue;
    auto product = dyn_cast<linalg::LinalgOp>(op);
    if (product && savesProducts(product, it->second))
      remark::missed(op.getLoc(), remark::RemarkOpts::name("dense-groups").category("spmd"))
          << remark::add("all {0} groups compute all rows", region.groups)
          << remark::reason("{0} reads masked elements", other->getOwner()->getName().getStringRef());
    region.inner.erase(it);
  }
}

SmallVector<GroupRegion> Finder::find() {
  for (auto op : block.getOps<linalg::LinalgOp>())
    findSums(op);
  // Where it is not known that a mask is the same along columns, these could be groups too.
  llvm::stable_sort(regions, [](const GroupRegion &a, const GroupRegion &b) { return a.groups < b.groups; });
  SmallVector<GroupRegion> found;
  for (GroupRegion &region : regions) {
    // A sum of products of two masked values is one of the first mask.
    region.sums.remove_if([&](auto &entry) { return taken.contains(entry.first); });
    for (auto &[op, sum] : region.sums)
      for (OpOperand &operand : op->getOpOperands()) {
        AffineMap map = cast<linalg::LinalgOp>(op).getMatchingIndexingMap(&operand);
        int64_t g = *getDimOfLoop(map, sum.roles.group), r = *getDimOfLoop(map, sum.roles.row);
        if (g >= 0 && r >= 0)
          addProducers(region, operand.get(), {g, r});
      }
    removeOpsWithOtherUsers(region);
    auto saves = [&](Operation *op) {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      return linalgOp && savesProducts(linalgOp, region.rolesOf(op));
    };
    if (!llvm::any_of(region.sums, [&](auto &entry) { return saves(entry.first); }) &&
        !llvm::any_of(region.inner, [&](auto &entry) { return saves(entry.first); }))
      continue;
    for (auto &[op, sum] : region.sums)
      taken.insert(op);
    for (auto &[op, roles] : region.inner)
      taken.insert(op);
    found.push_back(region);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// A sum ends a stage: what depends on it is computed in a later loop.
void Lowering::assignStages() {
  DenseMap<Value, unsigned> stageOf;
  for (Operation &op : block) {
    unsigned stage = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        stage = std::max(stage, stageOf.lookup(operand));
    });
    stages[&op] = stage;
    for (Value result : op.getResults())
      stageOf[result] = stage + (region.sums.contains(&op) ? 1 : 0);
  }
}

void Lowering::lower() {
  remark::passed(region.sums.front().first->getLoc(), remark::RemarkOpts::name("groups").category("spmd"))
      << remark::add("each of {0} groups computes the rows that its mask leaves, in {1} ops", region.groups,
                     region.inner.size() + region.sums.size());
  assignStages();
  SmallVector<SmallVector<Operation *>> ops;
  for (Operation &op : block)
    if (region.contains(&op)) {
      ops.resize(std::max<size_t>(ops.size(), stages[&op] + 1));
      ops[stages[&op]].push_back(&op);
    }
  for (auto [stage, members] : llvm::enumerate(ops))
    if (!members.empty())
      lowerStage(members, stage);
}

/// The ops between that depend on the loop come after it, in the same order.
void Lowering::moveUsersBehind(Operation *first, Operation *last, unsigned stage) {
  SmallVector<Operation *> later;
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (stages.lookup(op) > stage)
      later.push_back(op);
  for (Operation *op : llvm::reverse(later))
    op->moveAfter(last);
}

Lowering::Parts Lowering::getLoops(linalg::LinalgOp op, Roles roles) const {
  Parts loops(op.getNumLoops(), Part::All);
  loops[roles.group] = Part::Group;
  loops[roles.row] = Part::Rows;
  return loops;
}

Lowering::Parts Lowering::getParts(linalg::LinalgOp op, OpOperand &operand, ArrayRef<Part> loops) const {
  Parts parts;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    parts.push_back(dim ? loops[dim.getPosition()] : Part::All);
  }
  return parts;
}

SmallVector<OpFoldResult> Lowering::getSizes(OpBuilder &b, Location loc, Value value, ArrayRef<Part> parts,
                                             Iteration &it) {
  SmallVector<OpFoldResult> sizes;
  for (auto [d, part] : llvm::enumerate(parts)) {
    if (part == Part::Rows)
      sizes.push_back(it.count);
    else if (part == Part::All)
      sizes.push_back(tensor::getMixedSize(b, loc, value, d));
    else
      sizes.push_back(b.getIndexAttr(1));
  }
  return sizes;
}

Operation *Lowering::emitStructured(OpBuilder &b, linalg::LinalgOp op, ArrayRef<Part> loops, ValueRange inits,
                                    Iteration &it) {
  Location loc = op.getLoc();
  SmallVector<Value> inputs, outputs(inits);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value value = operand->get();
    if (!isa<RankedTensorType>(value.getType())) {
      inputs.push_back(value);
      continue;
    }
    Parts parts = getParts(op, *operand, loops);
    const int64_t group = llvm::find(parts, Part::Group) - parts.begin();
    const int64_t row = llvm::find(parts, Part::Rows) - parts.begin();
    const int64_t rank = parts.size();
    auto isMask = [&] {
      for (int64_t d = 0; d < rank; ++d)
        if (d != group && d != row && !isInvariant(value, d))
          return false;
      return resolveMask({value, {group, row}}) == region.mask;
    };
    if (group < rank && row < rank && isMask()) {
      // It is true at these rows.
      Value empty = tensor::EmptyOp::create(b, loc, getSizes(b, loc, value, parts, it), b.getI1Type());
      Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
      inputs.push_back(linalg::FillOp::create(b, loc, yes, empty).getResult(0));
    } else {
      inputs.push_back(emitPart(b, value, parts, it));
    }
  }
  if (outputs.empty())
    for (OpOperand &init : op.getDpsInitsMutable())
      outputs.push_back(emitPart(b, init.get(), getParts(op, init, loops), it));
  auto generic = linalg::GenericOp::create(b, loc, ValueRange(outputs).getTypes(), inputs, outputs, maps,
                                           op.getIteratorTypesArray());
  IRMapping none;
  op->getRegion(0).cloneInto(&generic.getRegion(), none);
  generic.getRegion().walk([&](linalg::IndexOp index) {
    const Part part = loops[index.getDim()];
    if (part == Part::All)
      return;
    OpBuilder inside(index);
    Value at = it.group;
    if (part == Part::First)
      at = arith::ConstantIndexOp::create(inside, loc, 0);
    inside.setInsertionPointAfter(index);
    if (part == Part::Rows)
      at = tensor::ExtractOp::create(inside, loc, it.rows, index.getResult());
    index.getResult().replaceAllUsesExcept(at, at.getDefiningOp());
  });
  return generic;
}

Value Lowering::emitRowsOf(OpBuilder &b, Location loc, Value value, int64_t dim, Iteration &it) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  sizes[dim] = it.count;
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  Value rows = tensor::ExtractSliceOp::create(b, loc, it.rows, OpFoldResult(b.getIndexAttr(0)), OpFoldResult(it.count),
                                              OpFoldResult(b.getIndexAttr(1)));
  SmallVector<AffineMap> maps{AffineMap::get(type.getRank(), 0, b.getAffineDimExpr(dim)),
                              b.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, empty.getType(), rows, empty, maps, kinds, [&](OpBuilder &b, Location loc, ValueRange args) {
        SmallVector<Value> at;
        for (int64_t d = 0; d < type.getRank(); ++d)
          at.push_back(d == dim ? args[0] : linalg::IndexOp::create(b, loc, d).getResult());
        linalg::YieldOp::create(b, loc, tensor::ExtractOp::create(b, loc, value, at).getResult());
      });
  return generic.getResult(0);
}

Value Lowering::emitPart(OpBuilder &b, Value value, ArrayRef<Part> parts, Iteration &it) {
  if (Value known = it.values.lookupOrNull(value))
    return known;
  if (llvm::all_of(parts, [](Part part) { return part == Part::All; }))
    return value;
  for (auto &[known, part] : it.parts[value])
    if (ArrayRef(known) == parts)
      return part;
  Value part = emitNewPart(b, value, parts, it);
  it.parts[value].push_back({Parts(parts), part});
  return part;
}

Value Lowering::emitNewPart(OpBuilder &b, Value value, ArrayRef<Part> parts, Iteration &it) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  if (value.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(b, loc, getSizes(b, loc, value, parts, it), type.getElementType());
  if (auto fill = dyn_cast_or_null<TypedAttr>(getFillElement(value))) {
    Value empty = tensor::EmptyOp::create(b, loc, getSizes(b, loc, value, parts, it), type.getElementType());
    Value element = arith::ConstantOp::create(b, loc, fill);
    return linalg::FillOp::create(b, loc, element, empty).getResult(0);
  }
  const int64_t row = llvm::find(parts, Part::Rows) - parts.begin();
  const bool hasRows = row < type.getRank();
  // Transposes and broadcasts, and ops on the matrices of groups, are computed for the part.
  if (auto op = value.getDefiningOp<linalg::LinalgOp>();
      op && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 && op->getBlock() == &block) {
    AffineMap out = op.getIndexingMapMatchingResult(cast<OpResult>(value));
    auto yielded = dyn_cast<BlockArgument>(op.getBlock()->getTerminator()->getOperand(0));
    const bool moves = yielded && yielded.getOwner() == op.getBlock();
    if ((moves || !hasRows) && out.isPermutation() && !target::hasAssertion(op) &&
        llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
          return llvm::all_of(map.getResults(), [](AffineExpr e) { return isa<AffineDimExpr, AffineConstantExpr>(e); });
        })) {
      Parts loops(op.getNumLoops());
      for (auto [expr, part] : llvm::zip_equal(out.getResults(), parts))
        loops[cast<AffineDimExpr>(expr).getPosition()] = part;
      return emitStructured(b, op, loops, {}, it)->getResult(0);
    }
  }
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  bool isSlice = false;
  for (auto [d, part] : llvm::enumerate(parts)) {
    if (part != Part::Group && part != Part::First)
      continue;
    isSlice = true;
    sizes[d] = b.getIndexAttr(1);
    if (part == Part::Group)
      offsets[d] = it.group;
  }
  Value slice = isSlice ? tensor::ExtractSliceOp::create(b, loc, value, offsets, sizes, strides).getResult() : value;
  return hasRows ? emitRowsOf(b, loc, slice, row, it) : slice;
}

Value Lowering::emitScatter(OpBuilder &b, Location loc, Value rows, Value into, MaskedDims dims, Iteration &it) {
  auto type = cast<RankedTensorType>(into.getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  auto loop =
      scf::ForOp::create(b, loc, zero, it.count, one, into, [&](OpBuilder &b, Location loc, Value i, ValueRange args) {
        SmallVector<OpFoldResult> from(type.getRank(), b.getIndexAttr(0)), to(from);
        SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, into);
        from[dims.row] = i;
        to[dims.row] = tensor::ExtractOp::create(b, loc, it.rows, i).getResult();
        sizes[dims.row] = b.getIndexAttr(1);
        if (dims.group >= 0) {
          to[dims.group] = it.group;
          sizes[dims.group] = b.getIndexAttr(1);
        }
        Value row = tensor::ExtractSliceOp::create(b, loc, rows, from, sizes, strides);
        scf::YieldOp::create(b, loc,
                             tensor::InsertSliceOp::create(b, loc, row, args[0], to, sizes, strides).getResult());
      });
  return loop.getResult(0);
}

Value Lowering::emitMaskRow(OpBuilder &b, Location loc, Iteration &it) {
  Value mask = region.mask.value;
  Parts parts;
  for (int64_t d = 0, rank = cast<RankedTensorType>(mask.getType()).getRank(); d < rank; ++d)
    parts.push_back(isInvariant(mask, d) ? Part::First : Part::All);
  parts[region.mask.dims.group] = Part::Group;
  parts[region.mask.dims.row] = Part::All;
  return emitPart(b, region.mask.value, parts, it);
}

/// Whether any element of a row of the mask is true, or not zero.
Value Lowering::emitAny(OpBuilder &b, Location loc, Value maskRow, Value row) {
  auto type = cast<RankedTensorType>(maskRow.getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> at(type.getRank(), zero);
  at[region.mask.dims.row] = row;
  auto isSet = [&](OpBuilder &b) -> Value {
    Value element = tensor::ExtractOp::create(b, loc, maskRow, at);
    if (element.getType().isInteger(1))
      return element;
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(element.getType()));
    if (isa<FloatType>(element.getType()))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, element, none);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, element, none);
  };
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != region.mask.dims.row && type.getDimSize(d) != 1)
      others.push_back(d);
  if (others.empty())
    return isSet(b);
  SmallVector<Value> limits;
  for (int64_t d : others)
    limits.push_back(getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, maskRow, d)));
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, SmallVector<Value>(others.size(), zero), limits, SmallVector<Value>(others.size(), one), no,
      [&](OpBuilder &b, Location loc, ValueRange indices, ValueRange args) -> scf::ValueVector {
        for (auto [d, index] : llvm::zip_equal(others, indices))
          at[d] = index;
        return {arith::OrIOp::create(b, loc, args[0], isSet(b)).getResult()};
      });
  return nest.results.front();
}

/// The indices of the rows that count for the group.
void Lowering::emitRows(OpBuilder &b, Location loc, Value maskRow, Iteration &it) {
  const int64_t dim = region.mask.dims.row;
  OpFoldResult size = tensor::getMixedSize(b, loc, maskRow, dim);
  Value empty = tensor::EmptyOp::create(b, loc, ArrayRef(size), b.getIndexType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value limit = getValueOrCreateConstantIndexOp(b, loc, size);
  auto loop = scf::ForOp::create(b, loc, zero, limit, one, ValueRange{empty, zero},
                                 [&](OpBuilder &b, Location loc, Value row, ValueRange args) {
                                   Value isSet = emitAny(b, loc, maskRow, row);
                                   // Without a branch: the next row overwrites one that is not counted.
                                   Value rows = tensor::InsertOp::create(b, loc, row, args[0], args[1]);
                                   Value more = arith::SelectOp::create(b, loc, isSet, one, zero);
                                   Value count = arith::AddIOp::create(b, loc, args[1], more);
                                   scf::YieldOp::create(b, loc, ValueRange{rows, count});
                                 });
  it.rows = loop.getResult(0);
  // What the count is at most, for the memory of what has rows.
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  it.count = affine::AffineMinOp::create(b, loc, AffineMap::get(2, 0, {d0, d1}, b.getContext()),
                                         ValueRange{loop.getResult(1), limit});
}

void Lowering::emitOps(OpBuilder &b, ArrayRef<Operation *> ops, MutableArrayRef<Value> carried, Iteration &it) {
  unsigned next = 0;
  for (Operation *op : ops) {
    Location loc = op->getLoc();
    const Roles roles = region.rolesOf(op);
    if (auto found = region.sums.find(op); found != region.sums.end()) {
      auto sum = cast<linalg::LinalgOp>(op);
      OpOperand *init = sum.getDpsInitOperand(0);
      AffineMap map = sum.getMatchingIndexingMap(init);
      Value &total = carried[next++];
      Parts loops = getLoops(sum, roles), parts = getParts(sum, *init, loops);
      Value part = emitPart(b, total, parts, it);
      Value result = emitStructured(b, sum, loops, part, it)->getResult(0);
      if (!found->second.overRows) {
        total = emitScatter(b, loc, result, total, {-1, *getDimOfLoop(map, roles.row)}, it);
        continue;
      }
      const int64_t group = *getDimOfLoop(map, roles.group);
      auto type = cast<RankedTensorType>(total.getType());
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, total);
      offsets[group] = it.group;
      sizes[group] = b.getIndexAttr(1);
      total = tensor::InsertSliceOp::create(b, loc, result, total, offsets, sizes, strides);
      continue;
    }
    auto partsOf = [&](RankedTensorType type) {
      Parts parts(type.getRank(), Part::All);
      parts[roles.group] = Part::Group;
      parts[roles.row] = Part::Rows;
      return parts;
    };
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      Value source = emitPart(b, slice.getSource(), partsOf(slice.getSourceType()), it);
      SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
      sizes[roles.group] = b.getIndexAttr(1);
      sizes[roles.row] = it.count;
      it.values.map(slice.getResult(), tensor::ExtractSliceOp::create(b, loc, source, slice.getMixedOffsets(), sizes,
                                                                      slice.getMixedStrides())
                                           .getResult());
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      Value source = emitPart(b, insert.getSource(), partsOf(insert.getSourceType()), it);
      Value dest = emitPart(b, insert.getDest(), partsOf(insert.getDestType()), it);
      SmallVector<OpFoldResult> sizes = insert.getMixedSizes();
      sizes[roles.group] = b.getIndexAttr(1);
      sizes[roles.row] = it.count;
      it.values.map(insert.getResult(), tensor::InsertSliceOp::create(b, loc, source, dest, insert.getMixedOffsets(),
                                                                      sizes, insert.getMixedStrides())
                                            .getResult());
    } else {
      auto linalgOp = cast<linalg::LinalgOp>(op);
      Operation *part = emitStructured(b, linalgOp, getLoops(linalgOp, roles), {}, it);
      it.values.map(op->getResults(), part->getResults());
    }
    // What a later loop reads, at the same rows.
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return stages.lookup(user) != stages.lookup(op); })) {
        MaskedDims dims = roles;
        if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
          AffineMap map = linalgOp.getIndexingMapMatchingResult(cast<OpResult>(result));
          dims = {*getDimOfLoop(map, roles.group), *getDimOfLoop(map, roles.row)};
        }
        carried[next] = emitScatter(b, loc, it.values.lookup(result), carried[next], dims, it);
        ++next;
      }
  }
}

void Lowering::lowerStage(ArrayRef<Operation *> ops, unsigned stage) {
  Operation *last = ops.back();
  moveUsersBehind(ops.front(), last, stage);
  OpBuilder b(last);
  Location loc = last->getLoc();
  SmallVector<Value> results, inits;
  for (Operation *op : ops) {
    if (region.sums.contains(op)) {
      results.push_back(op->getResult(0));
      inits.push_back(cast<linalg::LinalgOp>(op).getDpsInitOperand(0)->get());
      continue;
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return stages.lookup(user) != stage; })) {
        results.push_back(result);
        auto type = cast<RankedTensorType>(result.getType());
        inits.push_back(tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, result), type.getElementType()));
      }
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value groups = arith::ConstantIndexOp::create(b, loc, region.groups);
  auto loop = scf::ForOp::create(
      b, loc, zero, groups, one, inits, [&](OpBuilder &b, Location loc, Value group, ValueRange args) {
        Iteration it;
        it.group = group;
        emitRows(b, loc, emitMaskRow(b, loc, it), it);
        Value isAny = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, it.count, zero);
        auto branch = scf::IfOp::create(
            b, loc, isAny,
            [&](OpBuilder &b, Location loc) {
              SmallVector<Value> carried(args);
              emitOps(b, ops, carried, it);
              scf::YieldOp::create(b, loc, carried);
            },
            [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, args); });
        scf::YieldOp::create(b, loc, branch.getResults());
      });
  stages[loop] = stage;
  for (auto [from, to] : llvm::zip_equal(results, loop.getResults()))
    from.replaceAllUsesWith(to);
  for (Operation *op : llvm::reverse(ops)) {
    stages.erase(op);
    op->erase();
  }
}
