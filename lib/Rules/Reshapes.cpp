//===- Reshapes.cpp - Row-major reshapes ----------------------------------===//

#include "shardkit/Rules/Reshapes.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Groups and factors
//===----------------------------------------------------------------------===//

/// Groups of static shapes, appended major to minor; false if the counts differ.
static bool appendGroups(ArrayRef<int64_t> from, ArrayRef<int64_t> to, unsigned fromOffset, unsigned toOffset,
                         SmallVectorImpl<ReshapeGroup> &groups) {
  SmallVector<ReshapeGroup> minorFirst;
  int64_t f = from.size(), t = to.size(); // one past the dim to be read next
  while (f > 0 || t > 0) {
    int64_t fromEnd = f, toEnd = t, fromSize = 1, toSize = 1;
    SmallVector<int64_t> boundaries;
    do {
      if (f > 0 && (fromSize <= toSize || t == 0))
        boundaries.push_back(fromSize *= from[--f]);
      else if (t > 0)
        boundaries.push_back(toSize *= to[--t]);
      else
        return false;
    } while (fromSize != toSize);
    llvm::sort(boundaries);
    bool refines = true;
    for (unsigned i = 1; i < boundaries.size(); ++i)
      refines &= boundaries[i] % boundaries[i - 1] == 0;
    minorFirst.push_back({unsigned(f) + fromOffset, unsigned(fromEnd) + fromOffset, unsigned(t) + toOffset,
                          unsigned(toEnd) + toOffset, fromSize, refines});
  }
  groups.append(minorFirst.rbegin(), minorFirst.rend());
  return true;
}

std::optional<SmallVector<ReshapeGroup>> spmd::getReshapeGroups(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (llvm::is_contained(from, 0) || llvm::is_contained(to, 0))
    return std::nullopt;
  SmallVector<ReshapeGroup> groups;
  auto findDynamic = [](ArrayRef<int64_t> shape) {
    return std::make_pair(size_t(llvm::find_if(shape, ShapedType::isDynamic) - shape.begin()),
                          llvm::count_if(shape, ShapedType::isDynamic));
  };
  auto [f, numFrom] = findDynamic(from);
  auto [t, numTo] = findDynamic(to);
  if (numFrom != numTo || numFrom > 1)
    return std::nullopt;
  if (!appendGroups(from.take_front(f), to.take_front(t), 0, 0, groups))
    return std::nullopt;
  if (numFrom == 0)
    return groups;
  groups.push_back({unsigned(f), unsigned(f + 1), unsigned(t), unsigned(t + 1), ShapedType::kDynamic, true});
  if (!appendGroups(from.drop_front(f + 1), to.drop_front(t + 1), f + 1, t + 1, groups))
    return std::nullopt;
  return groups;
}

ReshapeFactors::ReshapeFactors(ShardingRule &rule, ArrayRef<int64_t> fromShape, ArrayRef<int64_t> toShape) {
  from.resize(fromShape.size());
  to.resize(toShape.size());
  auto groups = getReshapeGroups(fromShape, toShape);
  if (!groups)
    return;
  for (const ReshapeGroup &group : llvm::reverse(*groups)) {
    if (!group.refines)
      continue;
    if (ShapedType::isDynamic(group.size)) {
      int32_t f = rule.addFactor(group.size, FactorKind::Replicated);
      from[group.fromBegin] = {f};
      to[group.toBegin] = {f};
      continue;
    }
    // A factor per step from boundary to boundary, minor first.
    SmallVector<int64_t> boundaries{1};
    auto addBoundaries = [&](ArrayRef<int64_t> shape, unsigned begin, unsigned end) {
      for (int64_t unit = 1; end > begin;)
        boundaries.push_back(unit *= shape[--end]);
    };
    addBoundaries(fromShape, group.fromBegin, group.fromEnd);
    addBoundaries(toShape, group.toBegin, group.toEnd);
    llvm::sort(boundaries);
    boundaries.erase(llvm::unique(boundaries), boundaries.end());
    SmallVector<int32_t> factors;
    for (unsigned i = 1; i < boundaries.size(); ++i)
      factors.push_back(rule.addFactor(boundaries[i] / boundaries[i - 1]));
    auto setDims = [&](ArrayRef<int64_t> shape, unsigned begin, unsigned end, auto &dims) {
      int64_t unit = 1;
      for (unsigned d = end; d-- > begin; unit *= shape[d])
        for (unsigned i = 1; i < boundaries.size(); ++i)
          if (boundaries[i] > unit && boundaries[i] <= unit * shape[d])
            dims[d].insert(dims[d].begin(), factors[i - 1]);
    };
    setDims(fromShape, group.fromBegin, group.fromEnd, from);
    setDims(toShape, group.toBegin, group.toEnd, to);
  }
}

ShardingRule spmd::getReshapeRule(Operation *op) {
  auto getShape = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getShape() : ArrayRef<int64_t>();
  };
  ShardingRule rule;
  ReshapeFactors factors(rule, getShape(op->getOperand(0)), getShape(op->getResult(0)));
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
    rule.setPadding(f, PaddingContent::Harmless);
  rule.addOperand(op->getOperand(0));
  for (const auto &dim : factors.from)
    rule.addDim(dim);
  rule.addResult(op->getResult(0));
  for (const auto &dim : factors.to)
    rule.addDim(dim);
  return rule;
}

//===----------------------------------------------------------------------===//
// Splitting reshapes
//===----------------------------------------------------------------------===//

bool spmd::isReshape(Operation *op) { return isa<tensor::ReshapeOp, tosa::ReshapeOp>(op); }

static void splitReshape(Operation *op, llvm::function_ref<void(Value, Value)> onReplace) {
  Value source = op->getOperand(0);
  auto from = dyn_cast<RankedTensorType>(source.getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!from || !to)
    return;
  auto groups = getReshapeGroups(from.getShape(), to.getShape());
  if (!groups || (from.hasStaticShape() && llvm::all_of(*groups, [](const ReshapeGroup &g) { return g.refines; })))
    return;
  // A collapsed dim is the product of dims on both sides: dims of size 1 that the other
  // side lacks are grouped with a neighbor.
  SmallVector<ReshapeGroup> joined;
  auto isOneSided = [](const ReshapeGroup &g) { return g.fromBegin == g.fromEnd || g.toBegin == g.toEnd; };
  for (const ReshapeGroup &group : *groups) {
    if (joined.empty() || (!isOneSided(group) && !isOneSided(joined.back()))) {
      joined.push_back(group);
      continue;
    }
    ReshapeGroup &last = joined.back();
    last.fromEnd = group.fromEnd;
    last.toEnd = group.toEnd;
    last.size = ShapedType::isDynamic(last.size)    ? last.size
                : ShapedType::isDynamic(group.size) ? group.size
                                                    : last.size * group.size;
  }
  if (joined.empty() || isOneSided(joined.front()))
    return; // rank 0
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> fromGroups, toGroups;
  for (const ReshapeGroup &group : joined) {
    shape.push_back(group.size);
    fromGroups.push_back(llvm::to_vector(llvm::seq<int64_t>(group.fromBegin, group.fromEnd)));
    toGroups.push_back(llvm::to_vector(llvm::seq<int64_t>(group.toBegin, group.toEnd)));
  }
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto type = RankedTensorType::get(shape, to.getElementType());
  Value value = source;
  if (int64_t(shape.size()) != from.getRank())
    value = tensor::CollapseShapeOp::create(b, loc, type, value, fromGroups);
  if (int64_t(shape.size()) != to.getRank()) {
    SmallVector<OpFoldResult> sizes;
    for (auto [d, size] : llvm::enumerate(to.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        sizes.push_back(b.getIndexAttr(size));
        continue;
      }
      // The unknown size of a collapsed dim is that of its one dynamic dim.
      int64_t dynamicDim = llvm::find_if(shape, ShapedType::isDynamic) - shape.begin();
      sizes.push_back(tensor::DimOp::create(b, loc, value, dynamicDim).getResult());
    }
    value = tensor::ExpandShapeOp::create(b, loc, to, value, toGroups, sizes);
  }
  if (onReplace)
    onReplace(op->getResult(0), value);
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

void spmd::splitReshapes(ArrayRef<Operation *> reshapes, llvm::function_ref<void(Value, Value)> onReplace) {
  for (Operation *op : reshapes)
    splitReshape(op, onReplace);
}
