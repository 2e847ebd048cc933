//===- PackedElements.cpp - Words and groups stay whole -------------------===//
//
// A quantised weight stores one element for several places: a word of small
// numbers, a scale of a group. Dims of values are followed from the result back to
// ops that compute with such an element.
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

/// A dim of a value inside the loading function: `size` places of a dim of the
/// result, `unit` apart. Size 0: not followed.
struct Part {
  unsigned dim = 0;
  int64_t unit = 0, size = 0;
};
using Parts = SmallVector<Part, 4>;

class Follower {
public:
  /// Of what `load` gives `dim` is cut into parts, if it is not negative.
  Follower(func::FuncOp load, const ArgumentLayout::Part &part, int64_t dim) : load(load), part(part), partDim(dim) {}

  /// One stored element and the places of a dim that are computed from it.
  struct Packed {
    Value element;
    unsigned dim;
    int64_t block;
  };
  /// The first that the layout parts.
  std::optional<Packed> run() {
    Parts parts;
    Value result = load.getBody().front().getTerminator()->getOperand(0);
    for (auto [d, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape()))
      parts.push_back({unsigned(d), 1, size});
    push(result, parts);
    while (!pending.empty() && !found) {
      auto [value, parts] = pending.pop_back_val();
      follow(value, parts);
    }
    return found;
  }

private:
  void push(Value value, const Parts &parts) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && size_t(type.getRank()) == parts.size() && value.getDefiningOp() &&
        llvm::any_of(parts, [](const Part &part) { return part.size > 1; }) && ++steps < kMaxSteps)
      pending.emplace_back(value, parts);
  }

  void follow(Value value, const Parts &parts) {
    Operation *op = value.getDefiningOp();
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
      Parts inner(shape.size());
      for (auto [part, group] : llvm::zip(parts, collapse.getReassociationIndices())) {
        int64_t unit = part.unit;
        for (int64_t d : llvm::reverse(group)) {
          if (part.size != 0)
            inner[d] = {part.dim, unit, shape[d]};
          unit *= shape[d];
        }
      }
      return push(collapse.getSrc(), inner);
    }
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      Parts outer;
      for (const ReassociationIndices &group : expand.getReassociationIndices())
        outer.push_back(join(parts, group));
      return push(expand.getSrc(), outer);
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return follow(linalgOp, cast<OpResult>(value).getResultNumber(), parts);
    if (op->hasTrait<OpTrait::Elementwise>()) {
      for (Value operand : op->getOperands())
        push(operand, parts);
      return;
    }
    if (isa<tensor::ConcatOp, tensor::ExtractSliceOp, tensor::CastOp, tensor::PadOp>(op)) {
      // Dims that it leaves as they are.
      for (Value operand : op->getOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.getType());
        if (!type || size_t(type.getRank()) != parts.size())
          continue;
        Parts same = parts;
        for (auto [part, size] : llvm::zip(same, type.getShape()))
          if (part.size != size)
            part = {};
        push(operand, same);
      }
    }
  }

  /// The dim that dims of the value are one of, major to minor.
  static Part join(const Parts &parts, ArrayRef<int64_t> group) {
    Part joined;
    for (int64_t d : llvm::reverse(group)) {
      const Part &part = parts[d];
      if (part.size == 1)
        continue;
      if (part.size == 0)
        return {};
      if (joined.size == 0)
        joined = part;
      else if (part.dim == joined.dim && part.unit == joined.unit * joined.size)
        joined.size *= part.size;
      else
        return {};
    }
    return joined.size == 0 ? Part{0, 1, 1} : joined;
  }

  void follow(linalg::LinalgOp op, unsigned result, const Parts &parts) {
    AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
    if (!to.isProjectedPermutation())
      return;
    SmallVector<Part> loops(op.getNumLoops());
    for (unsigned d = 0; d < to.getNumResults(); ++d)
      loops[to.getDimPosition(d)] = parts[d];
    auto yielded = dyn_cast<BlockArgument>(op.getBlock()->getTerminator()->getOperand(result));
    bool computes = !yielded || yielded.getOwner() != op.getBlock();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap from = op.getMatchingIndexingMap(operand);
      if (!from.isProjectedPermutation())
        continue;
      Parts inner;
      for (unsigned d = 0; d < from.getNumResults(); ++d)
        inner.push_back(loops[from.getDimPosition(d)]);
      if (computes && op.getNumReductionLoops() == 0)
        for (unsigned l = 0; l < loops.size(); ++l)
          if (!from.isFunctionOfDim(l))
            check(operand->get(), loops[l], inner);
      push(operand->get(), inner);
    }
  }

  /// `loop` makes places of one element of an operand with dims `inner`: a group if
  /// it is what lies between the places of one of these.
  void check(Value operand, const Part &loop, const Parts &inner) {
    if (loop.size <= 1)
      return;
    int64_t block = loop.unit * loop.size;
    if (llvm::any_of(inner,
                     [&](const Part &part) { return part.size > 1 && part.dim == loop.dim && part.unit == block; }) &&
        isCut(loop.dim, block) && !found)
      found = {operand, loop.dim, block};
  }

  /// Whether shards part `block` places of a dim that follow one another.
  bool isCut(unsigned dim, int64_t block) const {
    int64_t unit = 1;
    for (int64_t size : part.type.getShape().drop_front(dim + 1))
      unit *= size;
    for (const Digit &digit : part.layout.digits)
      if (digit.lo < unit * block && digit.hi > unit)
        return true;
    for (const UnevenDim &uneven : part.layout.uneven)
      if (uneven.dim == dim && uneven.chunk(part.type.getDimSize(dim)) % block != 0)
        return true;
    return int64_t(dim) == partDim && (part.offset % block != 0 || part.type.getDimSize(dim) % block != 0);
  }

  static constexpr unsigned kMaxSteps = 10000;
  func::FuncOp load;
  const ArgumentLayout::Part &part;
  int64_t partDim;
  SmallVector<std::pair<Value, Parts>> pending;
  unsigned steps = 0;
  std::optional<Packed> found;
};

} // namespace

static LogicalResult verifyPart(func::FuncOp load, const ArgumentLayout::Part &part, int64_t dim, Attribute weight,
                                Location loc, const Twine &argument) {
  auto packed = Follower(load, part, dim).run();
  if (!packed)
    return success();
  int64_t size = part.type.getDimSize(packed->dim), block = packed->block;
  bool isBorder = int64_t(packed->dim) == dim && (part.offset % block != 0 || size % block != 0);
  InFlightDiagnostic diag = emitError(loc) << (isBorder ? "part of " : "sharding of ") << argument
                                           << (isBorder ? " begins or ends inside of " : " parts ") << block
                                           << " places of dim " << packed->dim << " that one stored element";
  if (auto stored = dyn_cast<BlockArgument>(packed->element))
    diag << " of '" << getStoredNames(weight)[stored.getArgNumber()] << "'";
  diag << " makes (a packed word or a group), expected ";
  if (isBorder)
    return diag << "parts of whole groups";
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
  for (const ArgumentLayout::Part &part : layout.parts)
    if (!layout.isWhole() && failed(verifyPart(load, part, layout.dim, weight, loc, argument)))
      return failure();
  return success();
}
