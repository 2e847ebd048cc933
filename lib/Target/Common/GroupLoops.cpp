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

#include "GroupCollectives.h"
#include "RowMasks.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Remarks.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETGROUPLOOPS
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Emits the loops of a region.
class Lowering {
public:
  Lowering(Block &block, GroupRegion &region, bool forDevices) : block(block), region(region), forDevices(forDevices) {}

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

  void lowerStage(ArrayRef<Operation *> ops, unsigned stage);
  void moveUsersBehind(Operation *first, Operation *last, unsigned stage);
  Value emitMaskRow(OpBuilder &b, Location loc, Iteration &it);
  void emitRows(OpBuilder &b, Location loc, Value maskRow, Iteration &it);
  void emitOps(OpBuilder &b, ArrayRef<Operation *> ops, MutableArrayRef<Value> carried, Iteration &it);

  Parts getParts(linalg::LinalgOp op, OpOperand &operand, ArrayRef<Part> loops) const;
  /// The part of a tensor: a slice, or its rows one after the other.
  Value emitPart(OpBuilder &b, Value value, ArrayRef<Part> parts, Iteration &it);
  Value emitNewPart(OpBuilder &b, Value value, ArrayRef<Part> parts, Iteration &it);
  Value emitRowsOf(OpBuilder &b, Location loc, Value value, int64_t dim, Iteration &it);
  Value emitScatter(OpBuilder &b, Location loc, Value rows, Value into, MaskedDims dims, Iteration &it);
  Value emitScatterAtOnce(OpBuilder &b, Location loc, Value rows, Value into, MaskedDims dims, Iteration &it);
  SmallVector<OpFoldResult> getSizes(OpBuilder &b, Location loc, Value value, ArrayRef<Part> parts, Iteration &it);
  /// A structured op on these parts of its loops; `inits` replaces its inits.
  Operation *emitStructured(OpBuilder &b, linalg::LinalgOp op, ArrayRef<Part> loops, ValueRange inits, Iteration &it);
  Parts getLoops(linalg::LinalgOp op, GroupRoles roles) const;

  Block &block;
  GroupRegion &region;
  const bool forDevices;
  DenseMap<Operation *, unsigned> stages;
};

/// The operand of a collective.
Value getMoved(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<target::CollectiveOp, target::DoneOp>(op) ? op->getOperand(0) : Value();
}

void remarkDense(const GroupRegion &region, Operation *product, Operation *reader) {
  remark::missed(product->getLoc(), remark::RemarkOpts::name("dense-groups").category("spmd"))
      << remark::add("all {0} groups compute all rows", region.groups)
      << remark::reason("{0} reads masked elements", reader->getName().getStringRef());
}

struct GroupLoops : spmd::impl::SpmdTargetGroupLoopsBase<GroupLoops> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      SmallVector<GroupRegion> regions = GroupRegionFinder{minProducts, getMoved, remarkDense}.find(*block);
      if (!forDevices) // GPUs send all rows.
        target::limitCollectives(*block, regions);
      for (GroupRegion &region : regions)
        Lowering(*block, region, forDevices).lower();
    }
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Lowering::lower() {
  remark::passed(region.sums.front().first->getLoc(), remark::RemarkOpts::name("groups").category("spmd"))
      << remark::add("each of {0} groups computes the rows that its mask leaves, in {1} ops", region.groups,
                     region.inner.size() + region.sums.size());
  stages = region.getStages(block);
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

Lowering::Parts Lowering::getLoops(linalg::LinalgOp op, GroupRoles roles) const {
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

/// Writes all rows of a group at once: out[p, v] = p == at[r] ? row[r, v] : out[p, v].
Value Lowering::emitScatterAtOnce(OpBuilder &b, Location loc, Value rows, Value into, MaskedDims dims, Iteration &it) {
  const unsigned rank = cast<RankedTensorType>(into.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, into);
  Value part = into;
  if (dims.group >= 0) {
    offsets[dims.group] = it.group;
    sizes[dims.group] = b.getIndexAttr(1);
    part = tensor::ExtractSliceOp::create(b, loc, into, offsets, sizes, strides);
  }
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Value at = tensor::ExtractSliceOp::create(b, loc, it.rows, zero, OpFoldResult(it.count), one);
  // The last loop is that over the rows of the group.
  SmallVector<AffineExpr> out, from;
  for (unsigned d = 0; d < rank; ++d) {
    out.push_back(b.getAffineDimExpr(d));
    from.push_back(b.getAffineDimExpr(d == unsigned(dims.row) ? rank : d));
  }
  SmallVector<AffineMap> maps{AffineMap::get(rank + 1, 0, b.getAffineDimExpr(rank)),
                              AffineMap::get(rank + 1, 0, from, b.getContext()),
                              AffineMap::get(rank + 1, 0, out, b.getContext())};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  Value written = linalg::GenericOp::create(b, loc, part.getType(), ValueRange{at, rows}, part, maps, kinds,
                                            [&](OpBuilder &b, Location loc, ValueRange args) {
                                              Value p = linalg::IndexOp::create(b, loc, dims.row);
                                              Value isHere =
                                                  arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, p, args[0]);
                                              Value next = arith::SelectOp::create(b, loc, isHere, args[1], args[2]);
                                              linalg::YieldOp::create(b, loc, next);
                                            })
                      .getResult(0);
  return dims.group < 0 ? written
                        : tensor::InsertSliceOp::create(b, loc, written, into, offsets, sizes, strides).getResult();
}

Value Lowering::emitScatter(OpBuilder &b, Location loc, Value rows, Value into, MaskedDims dims, Iteration &it) {
  if (forDevices)
    return emitScatterAtOnce(b, loc, rows, into, dims, it);
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

/// The indices of the rows that count for the group.
void Lowering::emitRows(OpBuilder &b, Location loc, Value maskRow, Iteration &it) {
  OpFoldResult size = tensor::getMixedSize(b, loc, maskRow, region.mask.dims.row), one = b.getIndexAttr(1);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  OpFoldResult length = affine::makeComposedFoldedAffineApply(b, loc, d0 + 1, {size});
  Value empty = tensor::EmptyOp::create(b, loc, ArrayRef(length), b.getIndexType());
  auto found = target::FindRowsOp::create(b, loc, TypeRange{empty.getType()},
                                          target::emitFlags(b, loc, maskRow, region.mask.dims.row), empty);
  Value all = found.getResult().front();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  it.rows = tensor::ExtractSliceOp::create(b, loc, all, one, size, one);
  // What the count is at most, for the memory of what has rows.
  it.count = affine::AffineMinOp::create(
      b, loc, AffineMap::get(2, 0, {d0, d1}, b.getContext()),
      ValueRange{tensor::ExtractOp::create(b, loc, all, zero), getValueOrCreateConstantIndexOp(b, loc, size)});
}

void Lowering::emitOps(OpBuilder &b, ArrayRef<Operation *> ops, MutableArrayRef<Value> carried, Iteration &it) {
  unsigned next = 0;
  for (Operation *op : ops) {
    Location loc = op->getLoc();
    const GroupRoles roles = region.rolesOf(op);
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

/// The sizes of a result of one of `ops`, which do not depend on these: they are erased.
static SmallVector<OpFoldResult> getSizesBefore(OpBuilder &b, OpResult result, ArrayRef<Operation *> ops) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(result.getOwner()))
    return slice.getMixedSizes();
  Value init = cast<DestinationStyleOpInterface>(result.getOwner()).getTiedOpOperand(result)->get();
  if (llvm::is_contained(ops, init.getDefiningOp()))
    return getSizesBefore(b, cast<OpResult>(init), ops);
  return tensor::getMixedSizes(b, result.getLoc(), init);
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
        inits.push_back(
            tensor::EmptyOp::create(b, loc, getSizesBefore(b, cast<OpResult>(result), ops), type.getElementType()));
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
    if (op->use_empty()) // A mask that collectives take too is computed as a whole as well.
      op->erase();
  }
}
