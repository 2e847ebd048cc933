//===- IndexedOps.cpp - Ops that address elements by data -----------------===//

#include "shardkit/Rules/IndexedOps.h"

#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Rules/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Bodies that look up elements of captured tensors
//===----------------------------------------------------------------------===//

static bool hasNeutralSum(Value value) { return getElementTypeOrSelf(value.getType()).isIntOrIndexOrFloat(); }

bool BodyLookups::collect() {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp && !isa<tensor::GenerateOp>(op))
    return false;
  if (!llvm::all_of(op->getResults(), hasNeutralSum))
    return false;
  Block *body = &getIndexedBody(op)->front();
  if (linalgOp) {
    if (op->getNumResults() != linalgOp.getNumDpsInits())
      return false;
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (!body->getArgument(linalgOp.getNumDpsInputs() + i).use_empty() && !matchReduction(linalgOp, i))
        return false;
  }
  SmallVector<Value> indices;
  for (Operation &inner : body->without_terminator())
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      llvm::append_range(indices, extract.getIndices());
  while (!indices.empty()) {
    Operation *def = indices.pop_back_val().getDefiningOp();
    if (def && def->getBlock() == body && feeding.insert(def).second)
      llvm::append_range(indices, def->getOperands());
  }
  for (Operation &inner : body->without_terminator()) {
    bool runsAsBefore = feeding.contains(&inner);
    if (inner.getNumRegions() > 0 || (!runsAsBefore && (!isSpeculatable(&inner) || mayTrap(&inner))))
      return false;
  }
  return true;
}

int32_t BodyLookups::getFactor(ShardingRule &rule, Value captured, unsigned d) {
  int64_t size = cast<RankedTensorType>(captured.getType()).getDimSize(d);
  if (ShapedType::isDynamic(size))
    return -1;
  if (!allowed)
    allowed = collect();
  if (!*allowed)
    return -1;
  Region *body = getIndexedBody(op);
  Value index;
  for (OpOperand &use : captured.getUses()) {
    if (!body->isAncestor(use.getOwner()->getParentRegion()))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
    if (!extract || feeding.contains(extract) || (index && index != extract.getIndices()[d]))
      return -1;
    index = extract.getIndices()[d];
  }
  auto [it, isNew] = factors.try_emplace({index, size}, -1);
  if (isNew)
    it->second = rule.addFactor(size, FactorKind::Indexed);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Ops that address rows
//===----------------------------------------------------------------------===//

static int64_t getRank(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// Dims that are addressed by one coordinate each; the others correspond to the dims of the
/// rows after the batch, which may have the addressed ones as dims of size 1.
static void setAddressed(Addressing &addressing, ArrayRef<int64_t> dims) {
  int64_t rank = getRank(addressing.table), next = addressing.batch;
  bool keepsRank = getRank(addressing.rows) == addressing.batch + rank;
  for (int64_t d = 0; d < rank; ++d) {
    auto *it = llvm::find(dims, d);
    bool addressed = it != dims.end();
    addressing.coordinate.push_back(addressed ? it - dims.begin() : -1);
    addressing.along.push_back(addressed ? -1 : next);
    next += !addressed || keepsRank;
  }
}

std::optional<Addressing> spmd::getAddressing(Operation *op) {
  auto iface = dyn_cast<ShardingRuleOpInterface>(op);
  return iface ? iface.getAddressing() : std::nullopt;
}

std::optional<Addressing> spmd::getUpstreamAddressing(Operation *op) {
  if (!isa<tensor::GatherOp, tensor::ScatterOp, tosa::GatherOp, tosa::ScatterOp>(op) ||
      !llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                    llvm::IsaPred<RankedTensorType>))
    return std::nullopt;
  Addressing a;
  a.writes = isa<tensor::ScatterOp, tosa::ScatterOp>(op);
  a.hasTuples = isa<tensor::GatherOp, tensor::ScatterOp>(op);
  // tensor.scatter has the rows first, tosa.scatter last.
  a.tableOperand = isa<tensor::ScatterOp>(op);
  a.indicesOperand = a.tableOperand + 1;
  a.table = op->getOperand(a.tableOperand);
  a.indices = op->getOperand(a.indicesOperand);
  a.rows = a.writes ? op->getOperand(isa<tensor::ScatterOp>(op) ? 0 : 2) : op->getResult(0);
  a.batch = getRank(a.indices) - a.hasTuples;
  if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
    setAddressed(a, gather.getGatherDims());
  } else if (auto scatter = dyn_cast<tensor::ScatterOp>(op)) {
    setAddressed(a, scatter.getScatterDims());
  } else { // table N, K, C; indices N, W; rows N, W, C
    a.coordinate = {-1, 0, -1};
    a.along = {0, -1, 2};
  }
  return a;
}

static bool isRanked(Value value) { return value && isa<RankedTensorType>(value.getType()); }

Addressing spmd::getLookupAddressing(Operation *op, unsigned table, unsigned indices) {
  auto operandOf = [&](unsigned i) { return i < op->getNumOperands() ? op->getOperand(i) : Value(); };
  Addressing a{/*writes=*/false, table, indices, operandOf(table), operandOf(indices), op->getResult(0)};
  if (!isRanked(a.table) || !isRanked(a.indices))
    return a;
  a.batch = getRank(a.indices);
  for (int64_t d = 0; d < getRank(a.table); ++d) {
    a.coordinate.push_back(d == 0 ? 0 : -1);
    a.along.push_back(d == 0 ? -1 : a.batch + d - 1);
  }
  return a;
}

ShardingRule spmd::getAddressingRule(Operation *op, const Addressing &a) {
  ShardingRule rule;
  if (!isRanked(a.table) || !isRanked(a.indices) || !isRanked(a.rows)) {
    rule.error = "the table, indices and rows of its addressing are not all ranked tensors of the op";
    return rule;
  }
  auto factor = [&](Value value, int64_t d, FactorKind kind) {
    int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(d);
    return rule.addFactor(size, ShapedType::isDynamic(size) ? FactorKind::Replicated : kind);
  };
  SmallVector<int32_t> rows(getRank(a.rows), -1), table;
  // Rows that are written stay unsharded: with equal indices the last row wins, which a
  // device without all rows cannot determine.
  if (!a.writes)
    for (int64_t r = 0; r < a.batch; ++r)
      rows[r] = factor(a.rows, r, FactorKind::Parallel);
  for (auto [d, along] : llvm::enumerate(a.along)) {
    if (along < 0) {
      bool may = a.writes || hasNeutralSum(a.table);
      table.push_back(factor(a.table, d, may ? FactorKind::Indexed : FactorKind::Replicated));
      continue;
    }
    if (rows[along] < 0)
      rows[along] = factor(a.rows, along, FactorKind::Parallel);
    table.push_back(rows[along]);
  }
  SmallVector<int32_t> indices(ArrayRef(rows).take_front(a.batch));
  indices.resize(getRank(a.indices), -1);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    rule.addOperand(operand);
    rule.addDims(i == a.tableOperand ? table : i == a.indicesOperand ? indices : rows);
  }
  rule.addResult(op->getResult(0));
  rule.addDims(a.writes ? table : rows);
  return rule;
}

/// Loops of the rows as indices -> indices into the table, and whether all are in
/// this shard (null: always).
static std::pair<SmallVector<Value>, Value> getTableIndices(OpBuilder &b, Location loc, const Addressing &a,
                                                            ValueRange loops, LocalIndexFn localize) {
  SmallVector<Value> indices;
  Value owned;
  for (auto [d, along] : llvm::enumerate(a.along)) {
    if (along >= 0) {
      indices.push_back(loops[along]);
      continue;
    }
    SmallVector<Value> at(loops.take_front(a.batch));
    if (a.hasTuples)
      at.push_back(arith::ConstantIndexOp::create(b, loc, a.coordinate[d]));
    Value index = tensor::ExtractOp::create(b, loc, a.indices, at);
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
    if (localize) {
      LocalIndex local = localize(b, loc, a.coordinate[d], index);
      index = local.index;
      if (local.owned)
        owned = owned ? Value(arith::AndIOp::create(b, loc, owned, local.owned)) : local.owned;
    }
    indices.push_back(index);
  }
  return {indices, owned};
}

static Value expandRead(OpBuilder &b, Operation *op, const Addressing &a, LocalIndexFn localize) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(a.rows.getType());
  SmallVector<OpFoldResult> sizes(type.getRank(), b.getIndexAttr(1));
  for (int64_t r = 0; r < a.batch; ++r)
    sizes[r] = tensor::getMixedSize(b, loc, a.indices, r);
  for (auto [d, along] : llvm::enumerate(a.along))
    if (along >= a.batch)
      sizes[along] = tensor::getMixedSize(b, loc, a.table, d);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(b, loc, TypeRange{empty.getType()}, ValueRange{}, ValueRange{empty},
                                           ArrayRef<AffineMap>{b.getMultiDimIdentityMap(type.getRank())}, iterators,
                                           [&](OpBuilder &b, Location loc, ValueRange) {
                                             SmallVector<Value> loops;
                                             for (int64_t r = 0; r < type.getRank(); ++r)
                                               loops.push_back(linalg::IndexOp::create(b, loc, r));
                                             auto [indices, owned] = getTableIndices(b, loc, a, loops, localize);
                                             Value element = tensor::ExtractOp::create(b, loc, a.table, indices);
                                             if (owned) {
                                               Value neutral = createExactNeutral(b, loc, ReductionKind::Sum,
                                                                                  type.getElementType());
                                               element = arith::SelectOp::create(b, loc, owned, element, neutral);
                                             }
                                             linalg::YieldOp::create(b, loc, element);
                                           });
  Value result = generic.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(b, loc, type, result);
  return result;
}

/// Every element of the table looks at every row: loops over the table, and over the dims
/// of the rows that do not correspond to one of it.
static Value expandStaticWrite(OpBuilder &b, Operation *op, const Addressing &a, LocalIndexFn localize) {
  Location loc = op->getLoc();
  auto rowsType = cast<RankedTensorType>(a.rows.getType());
  SmallVector<utils::IteratorType> kinds(getRank(a.table), utils::IteratorType::parallel);
  SmallVector<AffineExpr> rowLoops(rowsType.getRank()), rowExprs;
  for (auto [d, along] : llvm::enumerate(a.along))
    if (along >= 0)
      rowLoops[along] = b.getAffineDimExpr(d);
  for (int64_t r = 0; r < a.batch; ++r)
    if (!rowLoops[r]) {
      rowLoops[r] = b.getAffineDimExpr(kinds.size());
      kinds.push_back(utils::IteratorType::reduction);
    }
  // Drop dims of size 1 for addressed dims.
  SmallVector<OpFoldResult> offsets(rowsType.getRank(), b.getIndexAttr(0)), sizes,
      strides(rowsType.getRank(), b.getIndexAttr(1));
  SmallVector<int64_t> kept;
  for (auto [size, loop] : llvm::zip_equal(rowsType.getShape(), rowLoops)) {
    sizes.push_back(b.getIndexAttr(size));
    if (!loop)
      continue;
    kept.push_back(size);
    rowExprs.push_back(loop);
  }
  Value rows = a.rows;
  if (kept.size() != rowLoops.size())
    rows = tensor::ExtractSliceOp::create(b, loc, rowsType.clone(kept), rows, offsets, sizes, strides);
  AffineMap tableMap = AffineMap::getMultiDimIdentityMap(kinds.size(), b.getContext()).getMajorSubMap(getRank(a.table));
  AffineMap rowMap = AffineMap::get(kinds.size(), 0, rowExprs, b.getContext());
  auto generic = linalg::GenericOp::create(
      b, loc, a.table.getType(), rows, a.table, ArrayRef<AffineMap>{rowMap, tableMap}, kinds,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        SmallVector<Value> loops(rowLoops.size());
        for (auto [loop, expr] : llvm::zip_equal(loops, rowLoops))
          if (expr)
            loop = linalg::IndexOp::create(b, loc, cast<AffineDimExpr>(expr).getPosition());
        auto [indices, owned] = getTableIndices(b, loc, a, loops, localize);
        Value here = owned;
        for (auto [d, along] : llvm::enumerate(a.along)) {
          if (along >= 0)
            continue;
          Value same =
              arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, linalg::IndexOp::create(b, loc, d), indices[d]);
          here = here ? Value(arith::AndIOp::create(b, loc, here, same)) : same;
        }
        linalg::YieldOp::create(b, loc, arith::SelectOp::create(b, loc, here, args[0], args[1]).getResult());
      });
  return generic.getResult(0);
}

static Value expandWrite(OpBuilder &b, Operation *op, const Addressing &a, LocalIndexFn localize) {
  auto isStatic = [](Value value) { return cast<RankedTensorType>(value.getType()).hasStaticShape(); };
  if (a.batch > 0 && isStatic(a.table) && isStatic(a.rows) && isStatic(a.indices))
    return expandStaticWrite(b, op, a, localize);
  Location loc = op->getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> ends, loops;
  for (int64_t r = 0, rank = getRank(a.rows); r < rank; ++r)
    ends.push_back(getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, a.rows, r)));
  std::function<Value(OpBuilder &, Value)> write = [&](OpBuilder &b, Value table) -> Value {
    if (loops.size() < ends.size()) {
      auto loop = scf::ForOp::create(b, loc, zero, ends[loops.size()], one, ValueRange{table});
      loops.push_back(loop.getInductionVar());
      OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
      Value next = write(inside, loop.getRegionIterArg(0));
      scf::YieldOp::create(inside, loc, next);
      return loop.getResult(0);
    }
    auto [indices, owned] = getTableIndices(b, loc, a, loops, localize);
    Value element = tensor::ExtractOp::create(b, loc, a.rows, loops);
    if (owned) {
      Value old = tensor::ExtractOp::create(b, loc, table, indices);
      element = arith::SelectOp::create(b, loc, owned, element, old);
    }
    return tensor::InsertOp::create(b, loc, element, table, indices);
  };
  return write(b, a.table);
}

Value spmd::expandAddressing(OpBuilder &b, Operation *op, const Addressing &addressing, LocalIndexFn localize) {
  return addressing.writes ? expandWrite(b, op, addressing, localize) : expandRead(b, op, addressing, localize);
}
