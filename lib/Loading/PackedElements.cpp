//===- PackedElements.cpp - Packed words and groups -----------------------===//
//
// A quantized weight stores one element for several elements of the result: a word of
// small numbers, or the scale of a group. Shards must not separate these. The analysis
// follows dims of the result back to ops that read such a stored element. For example,
// one word for eight numbers:
//
//   words 4x2 --(generic, loops 4x2x8)--> 4x2x8 --(collapse_shape)--> 4x16
//
// The loop of 8 does not index the words: blocks of 8 elements of dim 1 come from one
// word, and dim 1 can have 1 or 2 shards.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Loading/LoadingFunctions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// A dim of a value inside the loading function: `size` elements of dim `dim` of the
/// result with stride `unit`. Size 0: unknown.
struct TrackedDim {
  unsigned dim = 0;
  int64_t unit = 0, size = 0;
};
using TrackedDims = SmallVector<TrackedDim, 4>;

class PackedElementSearch {
public:
  /// `dim` is the segmented dim of the result of `load`, or -1.
  PackedElementSearch(func::FuncOp load, const ArgumentLayout::Segment &segment, int64_t dim)
      : load(load), segment(segment), segmentDim(dim) {}

  /// A stored element, and the `block` consecutive elements of a dim that depend on it.
  struct Packed {
    Value element;
    unsigned dim;
    int64_t block;
  };
  /// The first block that the layout separates.
  std::optional<Packed> run();

private:
  void push(Value value, const TrackedDims &dims);
  void follow(Value value, const TrackedDims &dims);

  /// The dim that results from collapsing a group of dims.
  static TrackedDim join(const TrackedDims &dims, ArrayRef<int64_t> group);
  void follow(linalg::LinalgOp op, unsigned result, const TrackedDims &dims);

  /// An operand with dims `inner` is not indexed by `loop`, so that each of its elements is
  /// read for all of `loop`. These form a block if a dim of the operand has its stride.
  void check(Value operand, const TrackedDim &loop, const TrackedDims &inner);

  /// Whether shards separate `block` consecutive elements of a dim.
  bool isSeparated(unsigned dim, int64_t block) const;

  static constexpr unsigned kMaxSteps = 10000;
  func::FuncOp load;
  const ArgumentLayout::Segment &segment;
  int64_t segmentDim;
  SmallVector<std::pair<Value, TrackedDims>> pending;
  unsigned steps = 0;
  std::optional<Packed> found;
};

} // namespace

std::optional<PackedElementSearch::Packed> PackedElementSearch::run() {
  TrackedDims dims;
  Value result = load.getBody().front().getTerminator()->getOperand(0);
  for (auto [d, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape()))
    dims.push_back({unsigned(d), 1, size});
  push(result, dims);
  while (!pending.empty() && !found) {
    auto [value, dims] = pending.pop_back_val();
    follow(value, dims);
  }
  return found;
}

void PackedElementSearch::push(Value value, const TrackedDims &dims) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && size_t(type.getRank()) == dims.size() && value.getDefiningOp() &&
      llvm::any_of(dims, [](const TrackedDim &tracked) { return tracked.size > 1; }) && ++steps < kMaxSteps)
    pending.emplace_back(value, dims);
}

void PackedElementSearch::follow(Value value, const TrackedDims &dims) {
  Operation *op = value.getDefiningOp();
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    TrackedDims inner(shape.size());
    for (auto [tracked, group] : llvm::zip(dims, collapse.getReassociationIndices())) {
      int64_t unit = tracked.unit;
      for (int64_t d : llvm::reverse(group)) {
        if (tracked.size != 0)
          inner[d] = {tracked.dim, unit, shape[d]};
        unit *= shape[d];
      }
    }
    return push(collapse.getSrc(), inner);
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    TrackedDims outer;
    for (const ReassociationIndices &group : expand.getReassociationIndices())
      outer.push_back(join(dims, group));
    return push(expand.getSrc(), outer);
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return follow(linalgOp, cast<OpResult>(value).getResultNumber(), dims);
  if (op->hasTrait<OpTrait::Elementwise>()) {
    for (Value operand : op->getOperands())
      push(operand, dims);
    return;
  }
  if (isa<tensor::ConcatOp, tensor::ExtractSliceOp, tensor::CastOp, tensor::PadOp>(op)) {
    // The dims whose size does not change.
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type || size_t(type.getRank()) != dims.size())
        continue;
      TrackedDims same = dims;
      for (auto [tracked, size] : llvm::zip(same, type.getShape()))
        if (tracked.size != size)
          tracked = {};
      push(operand, same);
    }
  }
}

TrackedDim PackedElementSearch::join(const TrackedDims &dims, ArrayRef<int64_t> group) {
  TrackedDim joined;
  for (int64_t d : llvm::reverse(group)) {
    const TrackedDim &tracked = dims[d];
    if (tracked.size == 1)
      continue;
    if (tracked.size == 0)
      return {};
    if (joined.size == 0)
      joined = tracked;
    else if (tracked.dim == joined.dim && tracked.unit == joined.unit * joined.size)
      joined.size *= tracked.size;
    else
      return {};
  }
  return joined.size == 0 ? TrackedDim{0, 1, 1} : joined;
}

void PackedElementSearch::follow(linalg::LinalgOp op, unsigned result, const TrackedDims &dims) {
  AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  if (!to.isProjectedPermutation())
    return;
  SmallVector<TrackedDim> loops(op.getNumLoops());
  for (unsigned d = 0; d < to.getNumResults(); ++d)
    loops[to.getDimPosition(d)] = dims[d];
  auto yielded = dyn_cast<BlockArgument>(op.getBlock()->getTerminator()->getOperand(result));
  bool computes = !yielded || yielded.getOwner() != op.getBlock();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap from = op.getMatchingIndexingMap(operand);
    if (!from.isProjectedPermutation())
      continue;
    TrackedDims inner;
    for (unsigned d = 0; d < from.getNumResults(); ++d)
      inner.push_back(loops[from.getDimPosition(d)]);
    if (computes && op.getNumReductionLoops() == 0)
      for (unsigned l = 0; l < loops.size(); ++l)
        if (!from.isFunctionOfDim(l))
          check(operand->get(), loops[l], inner);
    push(operand->get(), inner);
  }
}

void PackedElementSearch::check(Value operand, const TrackedDim &loop, const TrackedDims &inner) {
  if (loop.size <= 1)
    return;
  int64_t block = loop.unit * loop.size;
  if (llvm::any_of(inner,
                   [&](const TrackedDim &tracked) {
                     return tracked.size > 1 && tracked.dim == loop.dim && tracked.unit == block;
                   }) &&
      isSeparated(loop.dim, block) && !found)
    found = {operand, loop.dim, block};
}

bool PackedElementSearch::isSeparated(unsigned dim, int64_t block) const {
  int64_t unit = 1;
  for (int64_t size : segment.type.getShape().drop_front(dim + 1))
    unit *= size;
  for (const Digit &digit : segment.layout.digits)
    if (digit.lo < unit * block && digit.hi > unit)
      return true;
  for (const UnevenDim &uneven : segment.layout.uneven)
    if (uneven.dim == dim && uneven.chunk(segment.type.getDimSize(dim)) % block != 0)
      return true;
  return int64_t(dim) == segmentDim && (segment.offset % block != 0 || segment.type.getDimSize(dim) % block != 0);
}

static LogicalResult verifySegment(func::FuncOp load, const ArgumentLayout::Segment &segment, int64_t dim,
                                   Attribute weight, Location loc, const Twine &argument) {
  auto packed = PackedElementSearch(load, segment, dim).run();
  if (!packed)
    return success();
  int64_t size = segment.type.getDimSize(packed->dim), block = packed->block;
  bool isBoundary = int64_t(packed->dim) == dim && (segment.offset % block != 0 || size % block != 0);
  InFlightDiagnostic diag = emitError(loc)
                            << (isBoundary ? "segment of " : "sharding of ") << argument
                            << (isBoundary ? " begins or ends within " : " separates ") << block << " elements of dim "
                            << packed->dim << " that are computed from one stored element";
  if (auto stored = dyn_cast<BlockArgument>(packed->element))
    diag << " of '" << getStoredNames(weight)[stored.getArgNumber()] << "'";
  diag << " (a packed word or a group), expected ";
  if (isBoundary)
    return diag << "segments that consist of full groups";
  diag << "a number of shards that keeps them together: ";
  unsigned listed = 0;
  for (int64_t n = 1; n <= size / block; ++n)
    if (llvm::divideCeil(size, n) % block == 0) {
      if (listed == 12) {
        diag << ", ...";
        break;
      }
      diag << (listed++ ? ", " : "") << n;
    }
  return diag;
}

LogicalResult spmd::verifyPackedElements(func::FuncOp load, const ArgumentLayout &layout, Attribute weight,
                                         Location loc, const Twine &argument) {
  for (const ArgumentLayout::Segment &segment : layout.segments)
    if (!layout.isReplicated() && failed(verifySegment(load, segment, layout.dim, weight, loc, argument)))
      return failure();
  return success();
}
