//===- GroupRegions.cpp - Ops of which a mask leaves few rows -------------===//

#include "shardkit/Rules/GroupRegions.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Rules/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

class Finder {
public:
  Finder(Block &block, const GroupRegionFinder &options) : block(block), options(options), masks(options.getMoved) {}

  /// The regions whose loops save products.
  SmallVector<GroupRegion> find();

private:
  void findSums(linalg::LinalgOp op);
  /// Adds the op that computes `value`, and what it depends on, if they have groups and rows.
  void addProducers(GroupRegion &region, Value value, MaskedDims dims);
  void removeOpsWithOtherUsers(GroupRegion &region);
  bool savesProducts(linalg::LinalgOp op, GroupRoles loops) const;

  Block &block;
  const GroupRegionFinder &options;
  ZeroMasks masks;
  SmallVector<GroupRegion> regions;
  DenseSet<Operation *> taken; ///< Of regions that are found.
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
bool Finder::savesProducts(linalg::LinalgOp op, GroupRoles loops) const {
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
    return ofFirst > 1 && ofSecond > 1 && ofFirst * ofSecond >= options.minProducts;
  // The matrix has the group, and no rows.
  if (kind == &ofFirst)
    return maps[1].isFunctionOfDim(loops.group) && summed > 1 && ofSecond > 1 &&
           summed * ofSecond >= options.minProducts;
  if (kind == &ofSecond)
    return maps[0].isFunctionOfDim(loops.group) && summed > 1 && ofFirst > 1 && summed * ofFirst >= options.minProducts;
  return false;
}

static bool hasAssertion(linalg::LinalgOp op) {
  return op->walk([](cf::AssertOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// True if every dim of every operand is a loop, or has nothing to do with these two.
static bool hasSimpleMaps(linalg::LinalgOp op, GroupRoles loops) {
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
  if (!linalgOp || isa<linalg::FillOp>(op) || hasAssertion(linalgOp))
    return;
  AffineMap map = linalgOp.getIndexingMapMatchingResult(cast<OpResult>(value));
  auto group = dyn_cast<AffineDimExpr>(map.getResult(dims.group));
  auto row = dyn_cast<AffineDimExpr>(map.getResult(dims.row));
  if (!group || !row || group == row)
    return;
  GroupRoles loops{group.getPosition(), row.getPosition()};
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
      matchReduction(op, 0) != ReductionKind::Sum || hasAssertion(op))
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
          GroupRoles loops = overRows ? GroupRoles{kept, summed} : GroupRoles{summed, kept};
          if (ShapedType::isDynamic(ranges[loops.group]))
            continue;
          ZeroMask mask = masks.find(operand->get(), dims);
          if (!mask)
            continue;
          auto *region = llvm::find_if(regions, [&](const GroupRegion &r) { return r.mask == mask; });
          if (region == regions.end())
            region = &regions.emplace_back(), region->mask = mask, region->groups = ranges[loops.group];
          region->sums.try_emplace(op, GroupSum{loops, overRows});
        }
      }
  }
}

/// The dims of a value that an op of the region computes or reads which are groups and rows.
static MaskedDims getDims(Operation *op, GroupRoles roles, AffineMap map) {
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
      options.onDense(region, product, other->getOwner());
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

SmallVector<GroupRegion> GroupRegionFinder::find(Block &block) const { return Finder(block, *this).find(); }

DenseMap<Operation *, unsigned> GroupRegion::getStages(Block &block) const {
  DenseMap<Operation *, unsigned> stages;
  DenseMap<Value, unsigned> stageOf;
  for (Operation &op : block) {
    unsigned stage = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        stage = std::max(stage, stageOf.lookup(operand));
    });
    stages[&op] = stage;
    for (Value result : op.getResults())
      stageOf[result] = stage + (sums.contains(&op) ? 1 : 0);
  }
  return stages;
}

double GroupShare::getRows(int64_t local) const {
  double inOthers = 1;
  for (int64_t i = 0; i < used && inOthers > 0; ++i)
    inOthers *= std::max(0.0, double(groups - local - i) / double(groups - i));
  return 1 - inOthers;
}

std::optional<GroupShare> spmd::getGroupShare(Operation *op) {
  auto attr = op->getAttrOfType<DictionaryAttr>(kGroupsAttr);
  if (!attr)
    return std::nullopt;
  auto get = [&](StringRef name) {
    auto number = attr.getAs<IntegerAttr>(name);
    return number ? std::optional(number.getInt()) : std::nullopt;
  };
  GroupShare share{*get("groups"), *get("used"), get("dim"), get("loop")};
  if (auto operands = attr.getAs<DenseI64ArrayAttr>("row_operands"))
    share.rowOperands.assign(operands.asArrayRef().begin(), operands.asArrayRef().end());
  return share;
}

void spmd::setGroupShare(Operation *op, const GroupShare &share) {
  Builder b(op->getContext());
  NamedAttrList attrs;
  attrs.set("groups", b.getI64IntegerAttr(share.groups));
  attrs.set("used", b.getI64IntegerAttr(share.used));
  if (share.dim)
    attrs.set("dim", b.getI64IntegerAttr(*share.dim));
  if (share.loop)
    attrs.set("loop", b.getI64IntegerAttr(*share.loop));
  if (!share.rowOperands.empty())
    attrs.set("row_operands", b.getDenseI64ArrayAttr(share.rowOperands));
  op->setDiscardableAttr(kGroupsAttr, attrs.getDictionary(op->getContext()));
}

int64_t spmd::getGroupsInTurn(Value value, RankedTensorType type) {
  Operation *op = value.getDefiningOp();
  std::optional<GroupShare> share = op ? getGroupShare(op) : std::nullopt;
  if (!share || !type || !share->dim || *share->dim >= type.getRank() || type.isDynamicDim(*share->dim))
    return 1;
  return std::max<int64_t>(type.getDimSize(*share->dim), 1);
}
