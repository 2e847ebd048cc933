//===- SplitSegments.cpp - Segments of a stored dimension, one by one -----===//
//
//   (%w {spmd.segments = <0, [80, 100, 100]>})  ->  (%q, %k, %v {spmd.segment = ...})
//   matmul(x, concat(q, k, v))                  ->  concat(matmul(x, q), ...)
//   extract_slice(concat(q, k, v))[80, 180)     ->  k
//
//===----------------------------------------------------------------------===//

#include "MoveUnits.h"
#include "SplittableOps.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/IndexedOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSPLITSEGMENTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// More units than this are not replicated on a device.
static constexpr int64_t kMaxUnits = 2;

static RankedTensorType withDim(RankedTensorType type, int64_t dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

/// The type of a slice with a dim for units and one for their elements.
static RankedTensorType getUnitsType(RankedTensorType slice, SegmentAttr segment) {
  SmallVector<int64_t> shape(slice.getShape());
  shape[segment.getDim()] /= segment.getUnit();
  shape.insert(shape.begin() + segment.getDim() + 1, segment.getUnit());
  return slice.clone(shape);
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {

/// A value that is the concatenation of others along a dim.
struct Joined {
  int64_t dim;
  SmallVector<Value> segments;

  int64_t size(unsigned i) const { return cast<RankedTensorType>(segments[i].getType()).getDimSize(dim); }
  /// True for the same segment sizes, possibly along another dim.
  bool isShardLike(const Joined &other) const {
    if (segments.size() != other.segments.size())
      return false;
    for (unsigned i = 0; i < segments.size(); ++i)
      if (size(i) != other.size(i))
        return false;
    return true;
  }
};

/// Rewrites the users of concatenations to use their segments.
///
///   %w = concat(%q, %k, %v)            (recorded as a Joined value)
///   %0 = matmul %x, %w                 -> %q0, %k0, %v0, one matmul per segment
///   %1 = extract_slice %0[0, 80)       -> %q0
class Uses {
public:
  /// Creates the concatenation of the segments, and records it.
  Value join(OpBuilder &b, Location loc, Joined joined);

  /// A result that is split into segments of these sizes.
  struct SplitResult {
    unsigned result;
    int64_t dim;
    ArrayRef<int64_t> sizes;
    SmallVector<SegmentAttr> inUnits; ///< By segment; null: the units have no dim of their own.
  };
  void rewrite(func::FuncOp func, ArrayRef<SplitResult> results);

private:
  /// Segments of a returned value: the operands of its concatenation, or slices.
  void splitResults(Operation *terminator, ArrayRef<SplitResult> results);
  bool rewrite(Operation *op);

  /// A slice that consists of full segments, or of an interval of one.
  bool rewriteSlice(tensor::ExtractSliceOp op);

  /// A reshape that splits the dim, or joins it with those after it: applied per segment if
  /// each has a multiple of the inner size.
  template <typename Op>
  bool rewriteReshape(Op op, RankedTensorType from, RankedTensorType to, ArrayRef<ReassociationIndices> groups,
                      bool expands);

  /// The segments of a value, of the sizes of `like`; std::nullopt if they cannot be
  /// created without recomputation.
  std::optional<Joined> getSegments(OpBuilder &b, Value value, int64_t dim, const Joined &like);

  /// A padding of other dims, per segment.
  bool rewritePad(tensor::PadOp op);

  /// An op with loops, one of which runs along the segments: cloned per segment.
  bool rewriteLoops(linalg::LinalgOp op);
  bool rewriteLoop(linalg::LinalgOp op, unsigned loop, const Joined &like);
  bool rewriteElementwise(Operation *op);

  /// Per operand its segments, or the operand itself if the loop does not run along it.
  std::optional<SmallVector<SmallVector<Value>>> getOperandSegments(OpBuilder &b, Operation *op, ArrayRef<int64_t> dims,
                                                                    const Joined &like);
  void clonePerSegment(OpBuilder &b, Operation *op, ArrayRef<SmallVector<Value>> operands, const Joined &like,
                       MutableArrayRef<Joined> results);

  llvm::DenseMap<Value, Joined> values;
  SmallVector<Operation *> concats;
};

Value Uses::join(OpBuilder &b, Location loc, Joined joined) {
  auto concat = tensor::ConcatOp::create(b, loc, joined.dim, joined.segments);
  concats.push_back(concat);
  values[concat.getResult()] = std::move(joined);
  return concat.getResult();
}

void Uses::rewrite(func::FuncOp func, ArrayRef<SplitResult> results) {
  SmallVector<Operation *> ops;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  llvm::SetVector<Operation *> dead;
  for (Operation *op : ops)
    if (llvm::any_of(op->getOperands(), [&](Value v) { return values.contains(v); }) && rewrite(op))
      dead.insert(op);
  splitResults(func.getBody().back().getTerminator(), results);
  auto isDead = [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) { return dead.contains(user); });
  };
  for (Operation *concat : llvm::reverse(concats))
    if (isDead(concat))
      dead.insert(concat);
  // Outputs without other uses.
  for (unsigned i = 0; i < dead.size(); ++i)
    for (Value operand : dead[i]->getOperands())
      if (auto *def = operand.getDefiningOp(); isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(def) && isDead(def))
        dead.insert(def);
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead)
    op->erase();
}

void Uses::splitResults(Operation *terminator, ArrayRef<SplitResult> results) {
  OpBuilder b(terminator);
  for (const SplitResult &split : llvm::reverse(results)) {
    Value full = terminator->getOperand(split.result);
    auto type = cast<RankedTensorType>(full.getType());
    SmallVector<Value> segments;
    if (split.sizes.size() == 1) {
      segments.push_back(full);
    } else if (auto it = values.find(full); it != values.end() && it->second.dim == split.dim) {
      SmallVector<int64_t> sizes;
      for (unsigned i = 0; i < it->second.segments.size(); ++i)
        sizes.push_back(it->second.size(i));
      if (ArrayRef<int64_t>(sizes) == split.sizes)
        segments = it->second.segments;
    }
    int64_t offset = 0;
    for (int64_t size : segments.empty() ? split.sizes : ArrayRef<int64_t>()) {
      RankedTensorType segmentType = withDim(type, split.dim, size);
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), steps(type.getRank(), b.getIndexAttr(1));
      offsets[split.dim] = b.getIndexAttr(offset);
      segments.push_back(tensor::ExtractSliceOp::create(b, terminator->getLoc(), segmentType, full, offsets,
                                                        getAsIndexOpFoldResult(b.getContext(), segmentType.getShape()),
                                                        steps));
      offset += size;
    }
    for (auto [segment, units] : llvm::zip(segments, split.inUnits))
      if (units)
        segment = tensor::ExpandShapeOp::create(b, terminator->getLoc(),
                                                getUnitsType(cast<RankedTensorType>(segment.getType()), units), segment,
                                                units.getUnitGroups());
    SmallVector<Value> operands(terminator->getOperands());
    operands.erase(operands.begin() + split.result);
    operands.insert(operands.begin() + split.result, segments.begin(), segments.end());
    terminator->setOperands(operands);
  }
}

bool Uses::rewrite(Operation *op) {
  // Rules and factors on an op refer to the full op.
  if (op->hasAttr(kRuleAttr) || op->hasAttr(kFactorShardingsAttr))
    return false;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return rewriteSlice(slice);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return rewriteReshape(expand, expand.getSrcType(), expand.getResultType(), expand.getReassociationIndices(),
                          /*expands=*/true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return rewriteReshape(collapse, collapse.getSrcType(), collapse.getResultType(), collapse.getReassociationIndices(),
                          /*expands=*/false);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return rewritePad(pad);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return rewriteLoops(linalgOp);
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0)
    return rewriteElementwise(op);
  return false;
}

bool Uses::rewriteSlice(tensor::ExtractSliceOp op) {
  const Joined joined = values.find(op.getSource())->second;
  int64_t d = joined.dim, start = op.getStaticOffsets()[d], size = op.getStaticSizes()[d];
  if (ShapedType::isDynamic(start) || ShapedType::isDynamic(size) || size < 1 || op.getStaticStrides()[d] != 1)
    return false;
  // Segments that intersect [start, start + size), and the begin of the first.
  unsigned first = 0, last;
  int64_t begin = 0;
  while (begin + joined.size(first) <= start)
    begin += joined.size(first++);
  int64_t end = begin;
  for (last = first; end < start + size; ++last)
    end += joined.size(last);
  bool isSegment = last == first + 1;
  if (!isSegment && (begin != start || end != start + size))
    return false;
  OpBuilder b(op);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t resultDim = d;
  for (int64_t i = 0; i < d; ++i)
    resultDim -= dropped.test(i);
  Joined result{resultDim, {}};
  for (unsigned i = first; i < last; ++i) {
    SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes();
    int64_t segmentSize = isSegment ? size : joined.size(i);
    offsets[d] = b.getIndexAttr(isSegment ? start - begin : 0);
    sizes[d] = b.getIndexAttr(segmentSize);
    RankedTensorType type = dropped.test(d) ? op.getType() : withDim(op.getType(), resultDim, segmentSize);
    Value segment = joined.segments[i];
    // The full segment needs no slice.
    bool isFull = segment.getType() == type && segmentSize == joined.size(i) &&
                  llvm::all_of(offsets, [](OpFoldResult o) { return isConstantIntValue(o, 0); });
    result.segments.push_back(
        isFull ? segment
               : tensor::ExtractSliceOp::create(b, op.getLoc(), type, segment, offsets, sizes, op.getMixedStrides()));
  }
  op.replaceAllUsesWith(isSegment ? result.segments.front() : join(b, op.getLoc(), result));
  return true;
}

template <typename Op>
bool Uses::rewriteReshape(Op op, RankedTensorType from, RankedTensorType to, ArrayRef<ReassociationIndices> groups,
                          bool expands) {
  const Joined joined = values.find(op.getSrc())->second;
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return false;
  RankedTensorType fine = expands ? to : from;
  for (auto [g, group] : llvm::enumerate(groups)) {
    int64_t before = expands ? int64_t(g) : group.front();
    if (before != joined.dim)
      continue;
    int64_t inner = 1;
    for (int64_t d : ArrayRef(group).drop_front())
      inner *= fine.getDimSize(d);
    Joined result{expands ? group.front() : int64_t(g), {}};
    OpBuilder b(op);
    for (unsigned i = 0; i < joined.segments.size(); ++i)
      if (expands && joined.size(i) % inner != 0)
        return false;
    for (unsigned i = 0; i < joined.segments.size(); ++i) {
      int64_t size = expands ? joined.size(i) / inner : joined.size(i) * inner;
      result.segments.push_back(Op::create(b, op.getLoc(), withDim(to, result.dim, size), joined.segments[i], groups));
    }
    op.getResult().replaceAllUsesWith(join(b, op.getLoc(), result));
    return true;
  }
  return false;
}

bool Uses::rewritePad(tensor::PadOp op) {
  const Joined joined = values.find(op.getSource())->second;
  if (!canSplitPad(op, joined.dim))
    return false;
  OpBuilder b(op);
  Joined result{joined.dim, {}};
  SmallVector<SmallVector<Value>> operands;
  for (Value operand : op->getOperands())
    operands.emplace_back(joined.segments.size(), operand);
  operands.front() = joined.segments;
  clonePerSegment(b, op, operands, joined, result);
  return true;
}

std::optional<Joined> Uses::getSegments(OpBuilder &b, Value value, int64_t dim, const Joined &like) {
  if (auto it = values.find(value); it != values.end()) {
    if (it->second.dim != dim || !it->second.isShardLike(like))
      return std::nullopt;
    return it->second;
  }
  Operation *def = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!def || !type || !type.hasStaticShape())
    return std::nullopt;
  Joined result{dim, {}};
  DenseElementsAttr constant;
  std::optional<Joined> inits;
  if (auto fill = dyn_cast<linalg::FillOp>(def)) {
    inits = getSegments(b, fill.getOutputs().front(), dim, like);
    if (!inits)
      return std::nullopt;
  } else if (!isa<tensor::EmptyOp, tensor::SplatOp>(def) &&
             !(matchPattern(value, m_Constant(&constant)) && constant.isSplat())) {
    return std::nullopt;
  }
  for (unsigned i = 0; i < like.segments.size(); ++i) {
    RankedTensorType segmentType = withDim(type, dim, like.size(i));
    if (constant) {
      result.segments.push_back(arith::ConstantOp::create(b, value.getLoc(), constant.resizeSplat(segmentType)));
      continue;
    }
    Operation *made = b.clone(*def);
    made->getResult(0).setType(segmentType);
    if (inits)
      made->setOperand(1, inits->segments[i]);
    result.segments.push_back(made->getResult(0));
  }
  return result;
}

bool Uses::rewriteLoops(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (OpOperand &operand : op->getOpOperands()) {
    auto it = values.find(operand.get());
    if (it == values.end())
      continue;
    auto along = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(it->second.dim));
    const Joined like = it->second;
    if (along && iterators[along.getPosition()] == utils::IteratorType::parallel &&
        rewriteLoop(op, along.getPosition(), like))
      return true;
  }
  return false;
}

bool Uses::rewriteLoop(linalg::LinalgOp op, unsigned loop, const Joined &like) {
  bool readsIndex = false;
  op->walk([&](linalg::IndexOp index) { readsIndex |= index.getDim() == loop; });
  if (readsIndex)
    return false;
  // The dim of each operand that the loop runs along, or -1.
  SmallVector<int64_t> dims;
  for (OpOperand &operand : op->getOpOperands()) {
    dims.push_back(-1);
    for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (!expr.isFunctionOfDim(loop))
        continue;
      if (!isa<AffineDimExpr>(expr) || dims.back() >= 0)
        return false;
      dims.back() = d;
    }
  }
  for (OpResult result : op->getResults())
    if (dims[op.getDpsInitOperand(result.getResultNumber())->getOperandNumber()] < 0)
      return false;
  OpBuilder b(op);
  std::optional<SmallVector<SmallVector<Value>>> operands = getOperandSegments(b, op, dims, like);
  if (!operands)
    return false;
  SmallVector<Joined> results;
  for (OpResult result : op->getResults())
    results.push_back({dims[op.getDpsInitOperand(result.getResultNumber())->getOperandNumber()], {}});
  clonePerSegment(b, op, *operands, like, results);
  return true;
}

bool Uses::rewriteElementwise(Operation *op) {
  const Joined *like = nullptr;
  for (Value operand : op->getOperands())
    if (auto it = values.find(operand); it != values.end() && !like)
      like = &it->second;
  const Joined joined = *like;
  SmallVector<int64_t> dims;
  for (Value operand : op->getOperands())
    dims.push_back(isa<RankedTensorType>(operand.getType()) ? joined.dim : -1);
  for (Type type : op->getResultTypes())
    if (!isa<RankedTensorType>(type))
      return false;
  OpBuilder b(op);
  std::optional<SmallVector<SmallVector<Value>>> operands = getOperandSegments(b, op, dims, joined);
  if (!operands)
    return false;
  SmallVector<Joined> results(op->getNumResults(), Joined{joined.dim, {}});
  clonePerSegment(b, op, *operands, joined, results);
  return true;
}

std::optional<SmallVector<SmallVector<Value>>> Uses::getOperandSegments(OpBuilder &b, Operation *op,
                                                                        ArrayRef<int64_t> dims, const Joined &like) {
  SmallVector<SmallVector<Value>> operands;
  for (auto [operand, dim] : llvm::zip(op->getOperands(), dims)) {
    operands.emplace_back(like.segments.size(), operand);
    if (dim < 0)
      continue;
    std::optional<Joined> split = getSegments(b, operand, dim, like);
    if (!split)
      return std::nullopt; // ops created so far are unused
    operands.back() = split->segments;
  }
  return operands;
}

void Uses::clonePerSegment(OpBuilder &b, Operation *op, ArrayRef<SmallVector<Value>> operands, const Joined &like,
                           MutableArrayRef<Joined> results) {
  for (unsigned i = 0; i < like.segments.size(); ++i) {
    Operation *clone = b.clone(*op);
    for (auto [o, values] : llvm::enumerate(operands))
      clone->setOperand(o, values[i]);
    for (auto [result, joined] : llvm::zip(clone->getResults(), results)) {
      result.setType(withDim(cast<RankedTensorType>(result.getType()), joined.dim, like.size(i)));
      joined.segments.push_back(result);
    }
  }
  for (auto [result, joined] : llvm::zip(op->getResults(), results))
    result.replaceAllUsesWith(join(b, op->getLoc(), std::move(joined)));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::string listDivisors(int64_t n) {
  SmallVector<std::string> divisors;
  for (int64_t i = 1; i <= n; ++i)
    if (n % i == 0)
      divisors.push_back(std::to_string(i));
  return llvm::join(divisors, ", ");
}

class ArgumentSplitter {
public:
  ArgumentSplitter(func::FuncOp func, const MeshCache &meshes) : func(func), meshes(meshes) {}
  LogicalResult run();

private:
  Location getLoc(unsigned i) { return func.getArgument(i).getLoc(); }
  static std::string getResultName(const NamedAttrList &attrs, unsigned r);

  /// The segments of a result that updates an argument: each is tied to its segment, from
  /// argument `tied` on.
  void addResults(unsigned r, SegmentsAttr segments, ArrayRef<ShardingAttr> shardings, int64_t tied,
                  const NamedAttrList &full, SmallVectorImpl<DictionaryAttr> &out);
  LogicalResult check(unsigned i);

  /// The layouts that a sharding permits for `units` units.
  enum class Fit {
    Even,      ///< Shards of full units, without a dim for them.
    Replicate, ///< Along fewer axes.
    InUnits,   ///< Shards of unequal numbers of units, which have a dim of their own.
    None
  };
  static Fit getFit(SegmentsAttr segments, int64_t size, const DimSharding &dim);

  /// The segments of argument `i` that have a dim for units, by the shardings of the argument and its updates.
  FailureOr<llvm::SmallBitVector> getInUnits(unsigned i, SegmentsAttr segments);

  /// The shardings of the segments: that of the argument or of its update, along fewer axes for a segment of too few
  /// units that may be replicated.
  FailureOr<SmallVector<ShardingAttr>> getShardings(unsigned i, SegmentsAttr segments, ShardingAttr attr,
                                                    const llvm::SmallBitVector &inUnits);

  func::FuncOp func;
  const MeshCache &meshes;
  Uses uses;
};

LogicalResult ArgumentSplitter::run() {
  // 1. Replace each argument with segments by one argument per segment.
  SignatureAttrs before(func);
  SmallVector<DictionaryAttr> attrs;
  SmallVector<int64_t> newIndices;          // indices of the old arguments among the new ones
  SmallVector<SegmentsAttr> segmentsOfArgs; // one per old argument
  SmallVector<llvm::SmallBitVector> inUnitsOfArgs;
  SmallVector<tensor::CollapseShapeOp> collapses; // of units
  Block &body = func.getBody().front();
  unsigned numArgs = func.getNumArguments(), at = 0;
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  for (unsigned i = 0; i < numArgs; ++i) {
    newIndices.push_back(attrs.size());
    auto segments = func.getArgAttrOfType<SegmentsAttr>(i, kSegmentsAttr);
    segmentsOfArgs.push_back(segments);
    inUnitsOfArgs.emplace_back();
    if (!segments || !segments.hasEffect()) {
      before.arg(i).erase(kSegmentsAttr);
      attrs.push_back(before.arg(i).getDictionary(func.getContext()));
      ++at;
      continue;
    }
    if (failed(check(i)))
      return failure();
    FailureOr<llvm::SmallBitVector> inUnits = getInUnits(i, segments);
    if (failed(inUnits))
      return failure();
    FailureOr<SmallVector<ShardingAttr>> shardings =
        getShardings(i, segments, func.getArgAttrOfType<ShardingAttr>(i, kShardingAttr), *inUnits);
    if (failed(shardings))
      return failure();
    inUnitsOfArgs.back() = *inUnits;
    BlockArgument full = body.getArgument(at);
    auto stored = cast<RankedTensorType>(full.getType());
    Joined joined{segments.getDim(), {}};
    int64_t offset = 0;
    for (auto [p, size, sharding] : llvm::enumerate(segments.getSizes(), *shardings)) {
      NamedAttrList attrsOfSegment = before.arg(i);
      attrsOfSegment.erase(kSegmentsAttr);
      if (sharding)
        attrsOfSegment.set(kShardingAttr, sharding);
      auto segment = SegmentAttr::get(func.getContext(), stored, joined.dim, offset, segments.getUnit(), i);
      attrsOfSegment.set(kSegmentAttr, segment);
      attrs.push_back(attrsOfSegment.getDictionary(func.getContext()));
      RankedTensorType slice = withDim(stored, joined.dim, size);
      const bool hasUnits = inUnits->test(p);
      Value value = body.insertArgument(at++, hasUnits ? getUnitsType(slice, segment) : slice, full.getLoc());
      if (hasUnits) {
        collapses.push_back(tensor::CollapseShapeOp::create(b, full.getLoc(), slice, value, segment.getUnitGroups()));
        value = collapses.back();
      }
      joined.segments.push_back(value);
      offset += size;
    }
    full.replaceAllUsesWith(joined.segments.size() == 1 ? joined.segments.front()
                                                        : uses.join(b, full.getLoc(), std::move(joined)));
    body.eraseArgument(at);
  }
  // 2. Split the results that update such arguments.
  SmallVector<DictionaryAttr> resultAttrs;
  SmallVector<Uses::SplitResult> splits;
  for (unsigned r = 0; r < func.getNumResults(); ++r) {
    auto tied = func.getResultAttrOfType<IntegerAttr>(r, kTiedAttr);
    SegmentsAttr segments = tied ? segmentsOfArgs[tied.getInt()] : SegmentsAttr();
    if (!segments || !segments.hasEffect()) {
      if (tied)
        before.result(r).set(kTiedAttr, b.getI64IntegerAttr(newIndices[tied.getInt()]));
      resultAttrs.push_back(before.result(r).getDictionary(func.getContext()));
      continue;
    }
    const llvm::SmallBitVector &inUnits = inUnitsOfArgs[tied.getInt()];
    FailureOr<SmallVector<ShardingAttr>> shardings =
        getShardings(tied.getInt(), segments, func.getResultAttrOfType<ShardingAttr>(r, kShardingAttr), inUnits);
    if (failed(shardings))
      return failure();
    splits.push_back({r, segments.getDim(), segments.getSizes(), {}});
    addResults(r, segments, *shardings, newIndices[tied.getInt()], before.result(r), resultAttrs);
    for (unsigned p = 0; p < inUnits.size(); ++p) {
      DictionaryAttr ofSegment = resultAttrs[resultAttrs.size() - inUnits.size() + p];
      splits.back().inUnits.push_back(inUnits.test(p) ? ofSegment.getAs<SegmentAttr>(kSegmentAttr) : SegmentAttr());
    }
  }
  // Results after segments keep their names.
  if (!splits.empty())
    for (unsigned r = 0, at = 0; r < func.getNumResults(); ++r) {
      const auto *split = llvm::find_if(splits, [&](auto &split) { return split.result == r; });
      if (split != splits.end()) {
        at += split->sizes.size();
        continue;
      }
      NamedAttrList resultAttr(resultAttrs[at]);
      resultAttr.set(kNameAttr, StringAttr::get(func.getContext(), getResultName(resultAttr, r)));
      resultAttrs[at++] = resultAttr.getDictionary(func.getContext());
    }
  // 3. Rewrite the body, and update the signature.
  uses.rewrite(func, splits);
  func.setFunctionType(
      FunctionType::get(func.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  func.setAllArgAttrs(attrs);
  func.setAllResultAttrs(resultAttrs);
  return collapses.empty() ? success() : moveUnits(func, collapses);
}

std::string ArgumentSplitter::getResultName(const NamedAttrList &attrs, unsigned r) {
  auto name = dyn_cast_or_null<StringAttr>(attrs.get(kNameAttr));
  return name ? name.str() : "result" + std::to_string(r);
}

void ArgumentSplitter::addResults(unsigned r, SegmentsAttr segments, ArrayRef<ShardingAttr> shardings, int64_t tied,
                                  const NamedAttrList &full, SmallVectorImpl<DictionaryAttr> &out) {
  Builder b(func.getContext());
  auto type = cast<RankedTensorType>(func.getResultTypes()[r]);
  std::string name = getResultName(full, r);
  int64_t offset = 0;
  for (auto [size, sharding] : llvm::zip(segments.getSizes(), shardings)) {
    NamedAttrList attrsOfSegment = full;
    if (sharding)
      attrsOfSegment.set(kShardingAttr, sharding);
    attrsOfSegment.set(kTiedAttr, b.getI64IntegerAttr(tied++));
    attrsOfSegment.set(kSegmentAttr,
                       SegmentAttr::get(func.getContext(), type, segments.getDim(), offset, segments.getUnit(), r));
    attrsOfSegment.set(
        kNameAttr, b.getStringAttr(name + "[" + std::to_string(offset) + ":" + std::to_string(offset + size) + "]"));
    out.push_back(attrsOfSegment.getDictionary(func.getContext()));
    offset += size;
  }
}

LogicalResult ArgumentSplitter::check(unsigned i) {
  auto error = [&] { return emitError(getLoc(i)) << "argument #" << i; };
  auto load = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kLoadAttr);
  if (!load && !func.getArgAttrOfType<StringAttr>(i, kWeightAttr))
    return error() << " has segments, expected a spmd.weight that names its stored tensor, or "
                      "several with a loading function";
  if (auto made = load ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(func, load) : func::FuncOp();
      made && callsHostFunctions(made))
    return error() << " has segments and a loading function that calls host functions, expected "
                      "one of them";
  if (func.getArgAttr(i, kAxisResourcesAttr))
    return error() << " has segments and axis resources, expected a sharding; run "
                      "--spmd-resolve-axis-resources first";
  if (isa_and_nonnull<OrtAttr>(func.getArgAttr(i, kShardingAttr)))
    return error() << " has segments and an ONNX Runtime spec, expected a sharding; run "
                      "--spmd-import-ort first";
  return success();
}

/// Keeps of the axes of a dim those that divide `units`, and the major sub-axis of the next one.
static DimEntries keepDivisors(DimEntries entries, int64_t units) {
  for (unsigned e = 0; e < entries.size(); ++e) {
    const int64_t size = std::gcd(entries[e].size, units);
    if (size != entries[e].size) {
      entries[e].size = size;
      entries.truncate(size > 1 ? e + 1 : e);
      break;
    }
    units /= size;
  }
  return entries;
}

ArgumentSplitter::Fit ArgumentSplitter::getFit(SegmentsAttr segments, int64_t size, const DimSharding &dim) {
  const int64_t unit = segments.getUnit(), units = size / unit, shards = totalFactor(dim.entries);
  const bool hasStride = llvm::any_of(dim.entries, [](const DimEntry &entry) { return entry.isStride(); });
  if (units % shards == 0)
    return Fit::Even;
  if (hasStride)
    return Fit::None;
  // Of units that divide few of the devices, each would hold many: they are padded.
  if (segments.getReplicate() && units < shards && units <= kMaxUnits * totalFactor(keepDivisors(dim.entries, units)))
    return Fit::Replicate;
  // Uneven shards are chunks of full units; the last ones are padded.
  return llvm::divideCeil(size, shards) % unit == 0 ? Fit::Even : Fit::InUnits;
}

FailureOr<llvm::SmallBitVector> ArgumentSplitter::getInUnits(unsigned i, SegmentsAttr segments) {
  SmallVector<ShardingAttr> all{func.getArgAttrOfType<ShardingAttr>(i, kShardingAttr)};
  for (unsigned r = 0; r < func.getNumResults(); ++r)
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(r, kTiedAttr); tied && tied.getInt() == int64_t(i))
      all.push_back(func.getResultAttrOfType<ShardingAttr>(r, kShardingAttr));
  llvm::SmallBitVector result(segments.getSizes().size());
  for (ShardingAttr attr : all) {
    if (!attr)
      continue;
    FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return emitError(getLoc(i)); });
    if (failed(read))
      return failure();
    for (auto [p, size] : llvm::enumerate(segments.getSizes()))
      if (getFit(segments, size, read->sharding.dims[segments.getDim()]) == Fit::InUnits)
        result.set(p);
  }
  return result;
}

FailureOr<SmallVector<ShardingAttr>> ArgumentSplitter::getShardings(unsigned i, SegmentsAttr segments,
                                                                    ShardingAttr attr,
                                                                    const llvm::SmallBitVector &inUnits) {
  SmallVector<ShardingAttr> shardings(segments.getSizes().size(), attr);
  if (!attr)
    return shardings;
  auto emit = [&] { return emitError(getLoc(i)); };
  FailureOr<ShardingOnMesh> read = meshes.read(attr, emit);
  if (failed(read))
    return failure();
  const Sharding &full = read->sharding;
  int64_t d = segments.getDim(), shards = totalFactor(full.dims[d].entries);
  for (auto [p, size, sharding] : llvm::enumerate(segments.getSizes(), shardings)) {
    const int64_t units = size / segments.getUnit();
    const Fit fit = getFit(segments, size, full.dims[d]);
    if (fit == Fit::None)
      return emit() << "segment " << p << " of argument #" << i << " has " << units
                    << (units == 1 ? " unit of " : " units of ") << segments.getUnit() << " and is split into "
                    << shards << " with strides, expected " << listDivisors(units) << " shards, or no strides";
    Sharding segmentSharding = full;
    if (fit == Fit::Replicate) {
      DimEntries &entries = segmentSharding.dims[d].entries;
      entries = keepDivisors(entries, units);
    }
    if (inUnits.test(p))
      segmentSharding.dims.insert(segmentSharding.dims.begin() + d + 1, DimSharding());
    if (fit == Fit::Replicate || inUnits.test(p))
      sharding = toAttr(func.getContext(), attr.getMesh(), segmentSharding, *read->mesh);
  }
  return shardings;
}

struct SplitSegmentsPass : public spmd::impl::SPMDSplitSegmentsPassBase<SplitSegmentsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Annotated, getArgument())))
      return signalPassFailure();
    SmallVector<func::FuncOp> functions;
    for (auto func : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < func.getNumArguments() && !func.isExternal(); ++i)
        if (func.getArgAttr(i, kSegmentsAttr)) {
          functions.push_back(func);
          break;
        }
    if (functions.empty())
      return;
    if (getPhase(module) < int(Phase::Annotated))
      makeConstraintsOfShardings(module);
    WalkResult calls = module.walk([&](func::CallOp call) {
      for (func::FuncOp func : functions)
        if (call.getCallee() == func.getSymName()) {
          call.emitError() << "@" << func.getSymName()
                           << " has an argument with segments and is called, expected it to be "
                              "called by no function of the module, or inlined";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (calls.wasInterrupted())
      return signalPassFailure();
    MeshCache meshes(module);
    for (func::FuncOp func : functions)
      if (failed(ArgumentSplitter(func, meshes).run()))
        return signalPassFailure();
  }
};

} // namespace
