//===- InferSegments.cpp - Segments of weights, from what reads them ------===//
//
//   %p = matmul %x, %w                               %w {spmd.segments = <0, [80, 100, 100], unit = 10>}
//   %q = extract_slice %p[0, 80)
//   %k = extract_slice %p[80, 180)          ->       if each slice is expanded into heads of 10
//   %v = extract_slice %p[180, 280)
//
// 1. Backward over the ops, each dim of a value gets the parts that its readers read, and the units that they keep
//    together. The ops are those that --spmd-split-segments computes segment by segment; any other reader needs the
//    whole dim.
// 2. A weight whose readers read disjoint parts that cover a dim has segments, if they are the same in all functions.
// 3. Forward, a weight loses them where an op has another operand that cannot be split alike.
//
//===----------------------------------------------------------------------===//

#include "SplittableOps.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/OpQueries.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDINFERSEGMENTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// More parts of a dim than this are no segments of a weight.
static constexpr unsigned kMaxParts = 16;

namespace {

/// Runs of elements that readers of a dim keep together: of 2 x 4 x 8, `coarse` ones of 32, or `fine` ones of 8, which
/// are shards too if these divide 2 x 4.
struct Unit {
  int64_t coarse = 1, fine = 1;
  Unit operator*(int64_t inner) const { return {coarse * inner, fine * inner}; }
  static Unit lcm(Unit a, Unit b) { return {std::lcm(a.coarse, b.coarse), std::lcm(a.fine, b.fine)}; }
};

/// A part of a dim that an op reads by itself.
struct Part {
  int64_t begin, end;
  Unit unit;
  int64_t size() const { return end - begin; }
};

/// How the readers of a value read a dim.
struct DimReads {
  SmallVector<Part, 2> parts;
  bool isWhole = false; ///< An op reads the dim in a way that segments do not serve.

  void add(const Part &part) {
    for (Part &known : parts)
      if (known.begin == part.begin && known.end == part.end) {
        known.unit = Unit::lcm(known.unit, part.unit);
        return;
      }
    parts.push_back(part);
    isWhole |= parts.size() > kMaxParts;
  }
  void add(const DimReads &other) {
    isWhole |= other.isWhole;
    for (const Part &part : other.parts)
      add(part);
  }
  /// The unit of the dim, of `size` elements, as one part.
  Unit getUnit(int64_t size) const {
    for (const Part &part : parts)
      if (part.begin == 0 && part.end == size)
        return part.unit;
    return {};
  }
  /// Whether no part is smaller than the dim, of `size` elements.
  bool isUndivided(int64_t size) const {
    return llvm::all_of(parts, [&](const Part &part) { return part.size() == size; });
  }
};

using Reads = SmallVector<DimReads, 4>;

/// Segments of dim `dim`.
struct Segments {
  int64_t dim;
  SmallVector<int64_t> sizes;
  int64_t unit = 1;
  bool operator==(const Segments &other) const {
    return dim == other.dim && sizes == other.sizes && unit == other.unit;
  }
};

/// The units of a dim that consists of dims of these sizes, whose readers are `dims`; the last one belongs to the
/// units.
Unit getJoinedUnit(ArrayRef<DimReads> dims, ArrayRef<int64_t> sizes) {
  const int64_t inner = std::accumulate(sizes.begin() + 1, sizes.end(), int64_t(1), std::multiplies<>());
  Unit unit{inner, inner};
  for (unsigned d = 0; d + 2 < sizes.size() && dims[d].isUndivided(sizes[d]) && dims[d + 1].isUndivided(sizes[d + 1]);
       ++d)
    unit.fine /= sizes[d + 1];
  return unit;
}

/// The dims of a group of an expand_shape, of sizes `sizes`, from `first` on, as one dim.
DimReads joinDims(ArrayRef<DimReads> dims, ArrayRef<int64_t> sizes, unsigned first = 0) {
  if (first + 1 == sizes.size())
    return dims[first];
  if (sizes[first] == 1)
    return joinDims(dims, sizes, first + 1);
  const int64_t inner = std::accumulate(sizes.begin() + first + 1, sizes.end(), int64_t(1), std::multiplies<>());
  DimReads joined;
  // Units stay together whatever reads the dim of the units.
  joined.isWhole = dims[first].isWhole && !dims[first].parts.empty();
  // A dim whose elements are read one by one has segments, of which the next dim has the units. Else it has the units.
  int64_t single = llvm::count_if(dims[first].parts, [](const Part &part) { return part.size() == 1; });
  const bool hasUnits = single < sizes[first];
  for (const Part &part : dims[first].parts)
    joined.add({part.begin * inner, part.end * inner,
                hasUnits ? part.unit * inner : joinDims(dims, sizes, first + 1).getUnit(inner)});
  if (hasUnits) {
    Unit own = dims[first].getUnit(sizes[first]);
    joined.add({0, sizes[first] * inner,
                own.coarse > 1 ? own * inner : getJoinedUnit(dims.drop_front(first), sizes.drop_front(first))});
  }
  return joined;
}

/// The major one of dims that a collapse_shape joins, where `inner` elements of the others follow each of its elements.
DimReads getMajor(const DimReads &joined, int64_t inner) {
  DimReads major;
  major.isWhole = joined.isWhole;
  for (const Part &part : joined.parts) {
    if (part.begin % inner != 0 || part.end % inner != 0)
      major.isWhole = true;
    else
      major.add({part.begin / inner,
                 part.end / inner,
                 {part.unit.coarse % inner == 0 ? part.unit.coarse / inner : 1,
                  part.unit.fine % inner == 0 ? part.unit.fine / inner : 1}});
  }
  return major;
}

bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

/// The units of a dim of a computed value that a collapse_shape joined, as heads before an output projection; single
/// elements if none are known.
Unit getProducedUnit(Value value, unsigned dim) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      const ReassociationIndices group = collapse.getReassociationIndices()[dim];
      ArrayRef<int64_t> sizes = collapse.getSrcType().getShape().slice(group.front(), group.size());
      while (sizes.size() > 1 && sizes.front() == 1)
        sizes = sizes.drop_front();
      if (sizes.size() > 1)
        return getJoinedUnit(SmallVector<DimReads>(sizes.size()), sizes);
      dim = group.back() + 1 - sizes.size();
      value = collapse.getSrc();
      continue;
    }
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      std::optional<unsigned> from;
      for (auto [g, group] : llvm::enumerate(expand.getReassociationIndices()))
        if (llvm::is_contained(group, dim) &&
            expand.getResultType().getDimSize(dim) == expand.getSrcType().getDimSize(g))
          from = g;
      if (!from)
        return {};
      dim = *from;
      value = expand.getSrc();
      continue;
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !linalgOp.hasPureTensorSemantics())
      return {};
    AffineMap resultMap =
        linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(cast<OpResult>(value).getResultNumber()));
    auto loop = dyn_cast<AffineDimExpr>(resultMap.getResult(dim));
    OpOperand *source = nullptr;
    for (OpOperand *input : linalgOp.getDpsInputOperands())
      if (AffineMap map = linalgOp.getMatchingIndexingMap(input); loop && isStaticTensor(input->get()))
        for (auto [d, expr] : llvm::enumerate(map.getResults()))
          if (expr == loop && !source) {
            source = input;
            dim = d;
          }
    if (!source)
      return {};
    value = source->get();
  }
  return {};
}

/// What --spmd-split-segments computes segment by segment.
bool isSplittable(Operation *op) {
  if (op->hasAttr(kRuleAttr) || op->hasAttr(kFactorShardingsAttr))
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasPureTensorSemantics();
  return isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::PadOp>(op) ||
         (op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0);
}

/// A function, its ops that depend on weights, and what is read of these.
class FunctionAnalysis {
public:
  FunctionAnalysis(func::FuncOp func, const MeshCache &meshes) : func(func), meshes(meshes) { run(); }

  func::FuncOp func;
  llvm::MapVector<unsigned, Segments> found; ///< By argument.

  /// The arguments that an op reads together with what cannot be split alike.
  llvm::SetVector<unsigned> findFailures();

private:
  bool isCandidate(unsigned argument);
  void run();
  void readOperands(Operation *op);
  DimReads readSlice(tensor::ExtractSliceOp op, unsigned dim);
  /// The reads of dim `dim` of a result; none if it has no readers of interest.
  DimReads getReads(Value value, unsigned dim) const {
    auto it = reads.find(value);
    return it == reads.end() ? DimReads() : it->second[dim];
  }
  std::optional<Segments> findSegments(unsigned argument);

  const MeshCache &meshes;
  SmallVector<Operation *> ops; ///< Those with an operand that depends on a weight, in program order.
  llvm::DenseMap<Value, Reads> reads;
};

bool FunctionAnalysis::isCandidate(unsigned i) {
  if (!func.getArgAttr(i, kWeightAttr) || func.getArgAttr(i, kSegmentsAttr) || func.getArgAttr(i, kSegmentAttr) ||
      func.getArgAttr(i, kAxisResourcesAttr) || !isStaticTensor(func.getArgument(i)))
    return false;
  if (Attribute sharding = func.getArgAttr(i, kShardingAttr); sharding && !isa<ShardingAttr>(sharding))
    return false;
  auto load = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kLoadAttr);
  auto made = load ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(func, load) : func::FuncOp();
  if (made && callsHostFunctions(made))
    return false;
  // An update would have to come in the same segments.
  for (unsigned r = 0; r < func.getNumResults(); ++r)
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(r, kTiedAttr); tied && tied.getInt() == int64_t(i))
      return false;
  return true;
}

void FunctionAnalysis::run() {
  llvm::DenseSet<Value> dependent;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (isCandidate(i))
      dependent.insert(func.getArgument(i));
  if (dependent.empty())
    return;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return dependent.contains(operand); }))
      return;
    ops.push_back(op);
    if (isSplittable(op))
      for (Value result : op->getResults())
        if (isStaticTensor(result))
          dependent.insert(result);
  });
  for (Value value : dependent)
    reads[value].resize(cast<RankedTensorType>(value.getType()).getRank());
  for (Operation *op : llvm::reverse(ops))
    readOperands(op);
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (dependent.contains(func.getArgument(i)))
      if (std::optional<Segments> segments = findSegments(i))
        found[i] = std::move(*segments);
}

DimReads FunctionAnalysis::readSlice(tensor::ExtractSliceOp op, unsigned dim) {
  DimReads whole;
  whole.isWhole = true;
  const int64_t full = op.getSourceType().getDimSize(dim), offset = op.getStaticOffsets()[dim],
                size = op.getStaticSizes()[dim], stride = op.getStaticStrides()[dim];
  llvm::SmallBitVector dropped = op.getDroppedDims();
  if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) || ShapedType::isDynamic(stride))
    return whole; // such as the layers of a stack
  DimReads inner;
  if (!dropped.test(dim)) {
    unsigned resultDim = dim;
    for (unsigned d = 0; d < dim; ++d)
      resultDim -= dropped.test(d);
    inner = getReads(op.getResult(), resultDim);
  }
  if (stride != 1 && size > 1) {
    // Every n-th element: runs of n stay together.
    if (offset >= stride || size * stride != full)
      return whole;
    DimReads interleaved;
    interleaved.add({0, full, inner.getUnit(size) * stride});
    return interleaved;
  }
  if (size == full)
    return inner;
  DimReads shifted;
  shifted.add({offset, offset + size, inner.getUnit(size)});
  if (!inner.isWhole) // else the slice is a segment
    for (const Part &part : inner.parts)
      shifted.add({part.begin + offset, part.end + offset, part.unit});
  return shifted;
}

void FunctionAnalysis::readOperands(Operation *op) {
  auto addAll = [&](Value operand, llvm::function_ref<DimReads(unsigned)> get) {
    auto it = reads.find(operand);
    if (it == reads.end())
      return;
    for (unsigned d = 0; d < it->second.size(); ++d)
      it->second[d].add(get(d));
  };
  DimReads whole;
  whole.isWhole = true;
  if (!isSplittable(op) || !llvm::all_of(op->getResults(), isStaticTensor)) {
    for (Value operand : op->getOperands())
      addAll(operand, [&](unsigned) { return whole; });
    return;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    addAll(slice.getSource(), [&](unsigned d) { return readSlice(slice, d); });
    return;
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
    addAll(expand.getSrc(), [&](unsigned d) {
      SmallVector<DimReads> dims;
      SmallVector<int64_t> sizes;
      for (int64_t fine : groups[d]) {
        dims.push_back(getReads(expand.getResult(), fine));
        sizes.push_back(expand.getResultType().getDimSize(fine));
      }
      return joinDims(dims, sizes);
    });
    return;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (auto [g, group] : llvm::enumerate(collapse.getReassociationIndices())) {
      int64_t inner = 1;
      for (int64_t d : ArrayRef(group).drop_front())
        inner *= collapse.getSrcType().getDimSize(d);
      if (auto it = reads.find(collapse.getSrc()); it != reads.end())
        it->second[group.front()].add(getMajor(getReads(collapse.getResult(), g), inner));
    }
    return;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    addAll(pad.getSource(), [&](unsigned d) { return canSplitPad(pad, d) ? getReads(pad.getResult(), d) : whole; });
    return;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<utils::IteratorType> iterators = linalgOp.getIteratorTypesArray();
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      addAll(operand.get(), [&](unsigned d) {
        auto loop = dyn_cast<AffineDimExpr>(map.getResult(d));
        if (!loop)
          return whole;
        DimReads all;
        if (iterators[loop.getPosition()] != utils::IteratorType::parallel) {
          // A contraction with heads that were joined.
          Unit unit;
          for (OpOperand *input : linalgOp.getDpsInputOperands())
            for (auto [i, expr] : llvm::enumerate(linalgOp.getMatchingIndexingMap(input).getResults()))
              if (expr == loop && input != &operand)
                unit = Unit::lcm(unit, getProducedUnit(input->get(), i));
          if (unit.coarse == 1)
            return whole;
          all.add({0, cast<RankedTensorType>(operand.get().getType()).getDimSize(d), unit});
          return all;
        }
        for (OpResult result : op->getResults()) {
          AffineMap resultMap = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(result.getResultNumber()));
          for (auto [r, expr] : llvm::enumerate(resultMap.getResults()))
            if (expr == loop)
              all.add(getReads(result, r));
            else
              all.isWhole |= expr.isFunctionOfDim(loop.getPosition());
        }
        return all;
      });
    }
    return;
  }
  for (Value operand : op->getOperands())
    addAll(operand, [&](unsigned d) {
      DimReads all;
      for (Value result : op->getResults())
        all.add(getReads(result, d));
      return all;
    });
}

/// The segments that disjoint parts of a dim are; parts inside of a part divide it further. The dim is to have
/// `shards`.
std::optional<Segments> getSegments(const DimReads &dim, unsigned d, int64_t full, int64_t shards) {
  SmallVector<int64_t> borders{0, full};
  for (const Part &part : dim.parts)
    borders.append({part.begin, part.end});
  llvm::sort(borders);
  borders.erase(llvm::unique(borders), borders.end());
  Segments segments{int64_t(d), {}};
  SmallVector<Unit> units;
  for (auto [begin, end] : llvm::zip(borders, ArrayRef(borders).drop_front())) {
    Unit unit;
    bool isRead = false;
    for (const Part &part : dim.parts) {
      const bool covers = part.begin <= begin && part.end >= end, isAll = part.size() == full;
      if (!covers && part.begin < end && part.end > begin)
        return std::nullopt;
      isRead |= covers && (!isAll || borders.size() == 2);
      if (covers && part.size() == end - begin)
        unit = Unit::lcm(unit, part.unit);
    }
    if (!isRead || (end - begin) % unit.coarse != 0)
      return std::nullopt;
    if ((end - begin) % unit.fine != 0)
      unit.fine = unit.coarse;
    segments.sizes.push_back(end - begin);
    units.push_back(unit);
  }
  // Parts that cross each other are windows, not segments; so are single elements.
  for (const Part &a : dim.parts)
    for (const Part &b : dim.parts)
      if (a.begin < b.begin && b.begin < a.end && a.end < b.end)
        return std::nullopt;
  if (segments.sizes.size() > 1 && llvm::is_contained(segments.sizes, 1))
    return std::nullopt;
  int64_t coarse = 0, fine = 0;
  for (auto [size, unit] : llvm::zip(segments.sizes, units)) {
    // A segment of the size of another one's units is one head.
    const bool isHead = unit.coarse == 1 && llvm::any_of(units, [&](const Unit &other) { return other.fine == size; });
    coarse = std::gcd(coarse, isHead ? size : unit.coarse);
    fine = std::gcd(fine, isHead ? size : unit.fine);
  }
  const bool isFiner = llvm::any_of(
      segments.sizes, [&](int64_t size) { return size / coarse % shards != 0 && size / fine % shards == 0; });
  segments.unit = isFiner ? fine : coarse;
  return segments;
}

std::optional<Segments> FunctionAnalysis::findSegments(unsigned argument) {
  auto type = cast<RankedTensorType>(func.getArgument(argument).getType());
  const Reads &dims = reads.find(func.getArgument(argument))->second;
  std::optional<ShardingOnMesh> given;
  if (auto attr = func.getArgAttrOfType<ShardingAttr>(argument, kShardingAttr)) {
    FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return InFlightDiagnostic(); });
    if (failed(read))
      return std::nullopt; // an error of the phase that reads it
    given = std::move(*read);
  }
  for (unsigned d = 0; d < dims.size(); ++d) {
    if (dims[d].isWhole || dims[d].parts.empty())
      continue;
    int64_t shards = 1;
    if (given) {
      const DimSharding &dim = given->sharding.dims[d];
      if (llvm::any_of(dim.entries, [](const DimEntry &entry) { return entry.isStride(); }) ||
          (dim.entries.empty() && !dim.open))
        continue;
      shards = totalFactor(dim.entries);
    }
    std::optional<Segments> segments = getSegments(dims[d], d, type.getDimSize(d), shards);
    if (!segments)
      continue;
    // One segment matters where the given shards would end inside of its units. Units that more than two devices would
    // hold are sharded: what is computed from the shards is gathered, which is less than the weight.
    if (segments->sizes.size() == 1) {
      const int64_t units = type.getDimSize(d) / segments->unit;
      if (segments->unit == 1 || units % shards == 0 || 2 * units < shards)
        continue;
    }
    return segments;
  }
  return std::nullopt;
}

llvm::SetVector<unsigned> FunctionAnalysis::findFailures() {
  /// A value that consists of segments along a dim, and the arguments that they come from.
  struct Joined {
    int64_t dim;
    SmallVector<int64_t> sizes;
    llvm::SmallSetVector<unsigned, 2> arguments;
  };
  llvm::DenseMap<Value, Joined> values;
  for (const auto &[argument, segments] : found) {
    Joined &joined = values[func.getArgument(argument)];
    joined.dim = segments.dim;
    joined.sizes = segments.sizes;
    joined.arguments.insert(argument);
  }
  llvm::SetVector<unsigned> failures;
  for (Operation *op : ops) {
    const Joined *first = nullptr;
    OpOperand *reader = nullptr;
    for (OpOperand &operand : op->getOpOperands())
      if (auto it = values.find(operand.get()); it != values.end() && !first) {
        first = &it->second;
        reader = &operand;
      }
    if (!first)
      continue;
    const Joined like = *first;
    auto fail = [&] {
      for (Value operand : op->getOperands())
        if (auto it = values.find(operand); it != values.end())
          failures.insert_range(it->second.arguments);
    };
    auto join = [&](Value value, int64_t dim, ArrayRef<int64_t> sizes) {
      values[value] = {dim, SmallVector<int64_t>(sizes), like.arguments};
    };
    if (!isSplittable(op)) {
      fail();
      continue;
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      const int64_t offset = slice.getStaticOffsets()[like.dim], size = slice.getStaticSizes()[like.dim];
      if (slice.getStaticStrides()[like.dim] != 1) {
        if (like.sizes.size() > 1)
          fail();
        continue; // else the units of the one segment
      }
      int64_t begin = 0;
      SmallVector<int64_t> inside;
      for (int64_t s : like.sizes) {
        if (begin >= offset && begin + s <= offset + size)
          inside.push_back(s);
        begin += s;
      }
      int64_t resultDim = like.dim;
      for (int64_t d = 0; d < like.dim; ++d)
        resultDim -= slice.getDroppedDims().test(d);
      if (inside.size() > 1 || (inside.size() == 1 && size == slice.getSourceType().getDimSize(like.dim)))
        join(slice.getResult(), resultDim, inside);
      continue;
    }
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
      auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
      RankedTensorType fine = expand ? expand.getResultType() : collapse.getSrcType();
      auto groups = expand ? expand.getReassociationIndices() : collapse.getReassociationIndices();
      for (auto [g, group] : llvm::enumerate(groups)) {
        if ((expand ? int64_t(g) : group.front()) != like.dim)
          continue;
        int64_t inner = 1;
        for (int64_t d : ArrayRef(group).drop_front())
          inner *= fine.getDimSize(d);
        if (expand && like.sizes.size() == 1)
          continue; // the units have a dim of their own
        if (expand && llvm::any_of(like.sizes, [&](int64_t size) { return size % inner != 0; })) {
          fail();
          continue;
        }
        SmallVector<int64_t> sizes;
        for (int64_t size : like.sizes)
          sizes.push_back(expand ? size / inner : size * inner);
        join(op->getResult(0), expand ? group.front() : int64_t(g), sizes);
      }
      continue;
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      if (canSplitPad(pad, like.dim))
        join(pad.getResult(), like.dim, like.sizes);
      else
        fail();
      continue;
    }
    // The dims that the loop along the segments runs along.
    SmallVector<int64_t> dims(op->getNumOperands(), like.dim);
    bool fits = true;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp) {
      auto loop = dyn_cast<AffineDimExpr>(linalgOp.getMatchingIndexingMap(reader).getResult(like.dim));
      fits = loop && (like.sizes.size() == 1 ||
                      linalgOp.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::parallel);
      for (OpOperand &operand : op->getOpOperands()) {
        int64_t &dim = dims[operand.getOperandNumber()] = -1;
        for (auto [d, expr] : llvm::enumerate(linalgOp.getMatchingIndexingMap(&operand).getResults())) {
          if (!fits || !expr.isFunctionOfDim(loop.getPosition()))
            continue;
          fits &= isa<AffineDimExpr>(expr) && dim < 0;
          dim = d;
        }
      }
      if (fits)
        op->walk([&](linalg::IndexOp index) { fits &= index.getDim() != loop.getPosition(); });
    }
    Joined joined = like;
    for (auto [operand, dim] : llvm::zip(op->getOperands(), dims)) {
      if (dim < 0 || !isa<RankedTensorType>(operand.getType()))
        continue;
      auto it = values.find(operand);
      if (it == values.end()) {
        fits &= like.sizes.size() == 1 || (operand.getDefiningOp() && isConstantLike(operand.getDefiningOp()));
        continue;
      }
      fits &= it->second.dim == dim && it->second.sizes == like.sizes;
      joined.arguments.insert_range(it->second.arguments);
    }
    if (!fits) {
      fail();
      continue;
    }
    for (OpResult result : op->getResults()) {
      joined.dim = linalgOp ? dims[linalgOp.getDpsInitOperand(result.getResultNumber())->getOperandNumber()] : like.dim;
      if (joined.dim >= 0)
        values[result] = joined;
    }
  }
  return failures;
}

struct InferSegmentsPass : public spmd::impl::SPMDInferSegmentsPassBase<InferSegmentsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Annotated, getArgument())))
      return signalPassFailure();
    MeshCache meshes(module);
    if (llvm::none_of(meshes.entries(), [](const MeshCache::Entry &entry) { return entry.mesh->numDevices() > 1; }))
      return;
    llvm::StringSet<> called;
    module.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
    SmallVector<FunctionAnalysis> analyses;
    for (func::FuncOp func : getProgramFunctions(module))
      if (!func.isExternal() && func.getBody().hasOneBlock() && !called.contains(func.getSymName()))
        analyses.emplace_back(func, meshes);
    keepEqual(module, analyses);
    // A rejected weight may leave an op with two kinds of operands: at most once per weight.
    bool isChanged = true;
    while (std::exchange(isChanged, false)) {
      llvm::DenseSet<Attribute> rejected;
      for (FunctionAnalysis &analysis : analyses)
        for (unsigned argument : analysis.findFailures())
          rejected.insert(analysis.func.getArgAttr(argument, kWeightAttr));
      isChanged = !rejected.empty();
      reject(analyses, rejected);
    }
    for (FunctionAnalysis &analysis : analyses)
      for (auto &[argument, segments] : analysis.found)
        write(analysis.func, argument, segments);
  }

private:
  static void reject(MutableArrayRef<FunctionAnalysis> analyses, const llvm::DenseSet<Attribute> &rejected) {
    for (FunctionAnalysis &analysis : analyses)
      analysis.found.remove_if(
          [&](const auto &entry) { return rejected.contains(analysis.func.getArgAttr(entry.first, kWeightAttr)); });
  }

  /// A stored tensor has the same segments wherever it is read, or none.
  static void keepEqual(ModuleOp module, MutableArrayRef<FunctionAnalysis> analyses) {
    llvm::DenseMap<Attribute, Segments> segments;
    llvm::DenseSet<Attribute> rejected;
    llvm::DenseMap<Operation *, FunctionAnalysis *> byFunction;
    for (FunctionAnalysis &analysis : analyses)
      byFunction[analysis.func] = &analysis;
    for (auto &analysis : analyses)
      for (auto &[argument, found] : analysis.found)
        segments.try_emplace(analysis.func.getArgAttr(argument, kWeightAttr), found);
    for (func::FuncOp func : getProgramFunctions(module)) {
      FunctionAnalysis *analysis = byFunction.lookup(func);
      for (unsigned i = 0; i < func.getNumArguments(); ++i) {
        Attribute weight = func.getArgAttr(i, kWeightAttr);
        auto known = weight ? segments.find(weight) : segments.end();
        if (known == segments.end())
          continue;
        bool isEqual = false;
        if (analysis)
          if (auto found = analysis->found.find(i); found != analysis->found.end())
            isEqual = found->second == known->second;
        if (!isEqual)
          rejected.insert(weight);
      }
    }
    reject(analyses, rejected);
  }

  static void write(func::FuncOp func, unsigned argument, const Segments &segments) {
    auto attr = SegmentsAttr::get(func.getContext(), segments.dim, segments.sizes, segments.unit, /*replicate=*/true);
    func.setArgAttr(argument, kSegmentsAttr, attr);
    remark::analysis(func.getArgument(argument).getLoc(),
                     remark::RemarkOpts::name("segments").category("spmd").function(func.getName()))
        << remark::add(
               "dim {0} of argument #{1} ({2}) has segments [{3}], units of {4}", segments.dim, argument,
               getWeightName(func, argument),
               llvm::join(llvm::map_range(segments.sizes, [](int64_t size) { return std::to_string(size); }), ", "),
               segments.unit)
        << remark::reason("{0}", segments.sizes.size() > 1 ? "what reads the weight reads them one by one"
                                                           : "what reads the weight keeps units together")
        << remark::suggest("write spmd.segments on the argument to choose others");
  }
};

} // namespace
