//===- NarrowSorts.cpp - Sorts of which few elements are read -------------===//

#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDNARROWSORTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-narrow-sorts"

using namespace mlir;
using namespace mlir::spmd;

/// The map of a tensor that is read in reverse along a dim of `size`.
static AffineMap getReverseMap(OpBuilder &b, unsigned rank, unsigned dim, int64_t size) {
  AffineMap map = b.getMultiDimIdentityMap(rank).dropResult(dim);
  return map.insertResult(-b.getAffineDimExpr(dim) + (size - 1), dim);
}

/// The reversal of a result of the sort, as it is written in linalg.
static linalg::GenericOp matchReversal(SortOp op, Operation *user) {
  auto generic = dyn_cast<linalg::GenericOp>(user);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumReductionLoops() > 0 || !op.getInputType().hasStaticShape())
    return {};
  OpBuilder b(op.getContext());
  unsigned rank = op.getInputType().getRank();
  bool isReversal = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0)) ==
                        getReverseMap(b, rank, op.getDimension(), op.getKeptSize()) &&
                    generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity() &&
                    generic.getBlock()->getTerminator()->getOperand(0) == generic.getBlock()->getArgument(0);
  return isReversal ? generic : linalg::GenericOp();
}

static Value createReversal(OpBuilder &b, Location loc, Value value, unsigned dim) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  AffineMap reverse = getReverseMap(b, type.getRank(), dim, type.getDimSize(dim));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, TypeRange{type}, ValueRange{value}, ValueRange{empty},
             {reverse, b.getMultiDimIdentityMap(type.getRank())}, loops,
             [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args.front()); })
      .getResult(0);
}

/// A slice of a reversed result (the last in an ascending order are the first in a descending one) reads the reversal
/// of a slice of the result.
static void moveBeforeReversal(SortOp op, linalg::GenericOp reversal, tensor::ExtractSliceOp slice) {
  int64_t dim = op.getDimension(), offset = slice.getStaticOffset(dim), size = slice.getStaticSize(dim);
  if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) || slice.getStaticStride(dim) != 1 || size < 1)
    return;
  OpBuilder b(slice);
  auto type = cast<RankedTensorType>(reversal.getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), steps(shape.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(shape[dim] - offset - size);
  shape[dim] = size;
  Value part = tensor::ExtractSliceOp::create(b, slice.getLoc(), reversal.getInputs().front(), offsets,
                                              getAsIndexOpFoldResult(b.getContext(), shape), steps);
  slice.getSourceMutable().assign(size == 1 ? part : createReversal(b, slice.getLoc(), part, dim));
  SmallVector<int64_t> others(slice.getStaticOffsets());
  others[dim] = 0;
  slice.setStaticOffsets(others);
}

static void moveBeforeReversals(SortOp op) {
  for (Operation *user : llvm::to_vector(op->getUsers()))
    if (linalg::GenericOp reversal = matchReversal(op, user)) {
      for (Operation *reader : llvm::to_vector(reversal->getUsers()))
        if (auto slice = dyn_cast<tensor::ExtractSliceOp>(reader))
          moveBeforeReversal(op, reversal, slice);
      if (reversal->use_empty())
        reversal.erase();
    }
}

namespace {
/// The indices of a dim that are read: from `begin` up to `end`.
struct ReadRange {
  int64_t begin, end;
};
} // namespace

/// What slices read of the results along the sorted dim; std::nullopt if other ops read them.
static std::optional<ReadRange> getReadRange(SortOp op, SmallVectorImpl<tensor::ExtractSliceOp> &slices) {
  int64_t dim = op.getDimension();
  ReadRange range{op.getKeptSize(), 0};
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice)
      return std::nullopt;
    int64_t offset = slice.getStaticOffset(dim), size = slice.getStaticSize(dim), stride = slice.getStaticStride(dim);
    if (llvm::any_of(ArrayRef<int64_t>{offset, size, stride}, ShapedType::isDynamic) || size < 1)
      return std::nullopt;
    int64_t last = offset + (size - 1) * stride;
    range = {std::min({range.begin, offset, last}), std::max({range.end, offset + 1, last + 1})};
    slices.push_back(slice);
  }
  if (range.begin < 0 || range.begin >= range.end || range.end > op.getKeptSize())
    return std::nullopt;
  return range;
}

/// Keeps the first elements up to the last one that is read, or, if these are fewer, the last ones. Returns whether it
/// keeps fewer elements than before.
static bool narrow(SortOp op) {
  if (op.getInputType().isDynamicDim(op.getDimension()))
    return false; // All elements are kept.
  moveBeforeReversals(op);
  SmallVector<tensor::ExtractSliceOp> slices;
  std::optional<ReadRange> range = getReadRange(op, slices);
  if (!range)
    return false;
  int64_t dim = op.getDimension(), kept = op.getKeptSize();
  bool isAll = kept == op.getSortedSize();
  bool keepsLast = op.getLast();
  if (isAll)
    keepsLast = kept - range->begin < range->end;
  int64_t count = keepsLast ? kept - range->begin : range->end;
  if (count == kept)
    return false;
  SPMD_LOG() << "keeps the " << (keepsLast ? "last " : "first ") << count << " of " << kept
             << " elements of the sort at " << op.getLoc();
  op.setLast(keepsLast);
  for (Value result : op.getOutputs()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = count;
    result.setType(type.clone(shape));
  }
  for (tensor::ExtractSliceOp slice : slices) {
    SmallVector<int64_t> offsets(slice.getStaticOffsets());
    if (keepsLast)
      offsets[dim] -= kept - count;
    slice.setStaticOffsets(offsets);
    if (slice.getType() == slice.getSourceType() && slice.getType().hasStaticShape()) {
      slice.replaceAllUsesWith(slice.getSource());
      slice.erase();
    }
  }
  return true;
}

namespace {
struct NarrowSortsPass : public spmd::impl::SPMDNarrowSortsPassBase<NarrowSortsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (failed(verifyInput(func, Phase::Annotated, getArgument())))
      return signalPassFailure();
    SmallVector<SortOp> sorts;
    func.walk([&](SortOp op) { sorts.push_back(op); });
    SPMD_COUNT(narrowedSorts, llvm::count_if(sorts, narrow));
  }
};
} // namespace
