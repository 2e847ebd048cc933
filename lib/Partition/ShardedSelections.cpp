//===- ShardedSelections.cpp - Selections over shards ---------------------===//

#include "shardkit/Partition/ShardedSelections.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/Selections.h"
#include "shardkit/Rules/Sorts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;

/// Whether the rule of an op may have a selection: known without it for most ops.
static bool maySelect(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumReductionLoops() != 1)
    return isa<SortOp>(op);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (!matchReduction(linalgOp, i))
      return true;
  return false;
}

void ShardedSelections::collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding) {
  if (!maySelect(op))
    return;
  ShardingRule rule = getShardingRule(op);
  ShardedSelection sharded{op, 0, {}, {}, {}};
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
    if (rule.factor(f).kind == FactorKind::Selection && sharded.entries.empty()) {
      sharded.entries = findFactorAxes(rule, f, getSharding);
      sharded.size = rule.factor(f).size;
    }
  if (sharded.entries.empty())
    return;
  for (Value result : op->getResults()) {
    sharded.globalTypes.push_back(cast<RankedTensorType>(result.getType()));
    sharded.shardings.push_back(*getSharding(result));
  }
  selections.push_back(std::move(sharded));
}

LogicalResult ShardedSelections::complete() {
  for (const ShardedSelection &sharded : selections) {
    auto sort = dyn_cast<SortOp>(sharded.op);
    if (failed(sort ? complete(sort, sharded) : complete(cast<linalg::LinalgOp>(sharded.op), sharded)))
      return failure();
  }
  return success();
}

FailureOr<Value> ShardedSelections::gather(OpBuilder &b, Value candidates, RankedTensorType globalType,
                                           Sharding sharding, unsigned dim, const DimEntries &entries) {
  Sharding to = sharding;
  sharding.dims[dim].entries = entries;
  return lowerReshard(b, candidates.getLoc(), candidates, globalType, table.intern(std::move(sharding)),
                      table.intern(std::move(to)), table);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult ShardedSelections::complete(linalg::LinalgOp op, const ShardedSelection &sharded) {
  Location loc = op.getLoc();
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  int64_t shards = deviceFactor(sharded.entries);
  SmallVector<Value> gathered;
  llvm::SmallPtrSet<Operation *, 2> expanded;
  for (auto [result, type, sharding] : llvm::zip(op->getResults(), sharded.globalTypes, sharded.shardings)) {
    auto local = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(local.getShape()), globalShape(type.getShape());
    shape.insert(shape.begin(), 1);
    globalShape.insert(globalShape.begin(), shards);
    SmallVector<ReassociationIndices> groups;
    for (int64_t d = 0; d < local.getRank(); ++d) {
      groups.push_back({d + 1});
      if (d == 0)
        groups.back().insert(groups.back().begin(), 0);
    }
    auto expand = tensor::ExpandShapeOp::create(b, loc, local.clone(shape), result, groups);
    expanded.insert(expand);
    for (Value size : expand.getOutputShape())
      expanded.insert(size.getDefiningOp()); // the size of a dynamic dim
    Sharding stacked = sharding;
    stacked.dims.insert(stacked.dims.begin(), DimSharding());
    FailureOr<Value> all = gather(b, expand, type.clone(globalShape), std::move(stacked), 0, sharded.entries);
    if (failed(all))
      return failure();
    gathered.push_back(*all);
  }
  // The same loops, the reduced one over shards.
  SmallVector<utils::IteratorType> loops = op.getIteratorTypesArray();
  AffineExpr shard = b.getAffineDimExpr(llvm::find(loops, utils::IteratorType::reduction) - loops.begin());
  SmallVector<AffineMap> maps, outMaps;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    outMaps.push_back(op.getMatchingIndexingMap(&init));
    maps.push_back(outMaps.back().insertResult(shard, 0));
  }
  llvm::append_range(maps, outMaps);
  std::optional<Selection> selection = getSelection(op);
  auto generic = linalg::GenericOp::create(
      b, loc, op->getResultTypes(), gathered, op.getDpsInits(), maps, loops,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        ValueRange held = args.drop_front(gathered.size());
        linalg::YieldOp::create(b, loc, pickOne(b, op, *selection, held, args.take_front(gathered.size())));
      });
  for (auto [result, picked] : llvm::zip(op->getResults(), generic.getResults()))
    result.replaceAllUsesExcept(picked, expanded);
  return success();
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// The sort `op` of other operands. With `hasPadding` the last of them is an i1 that is false in padding, which is
/// not kept as long as there are other elements.
static SortOp createSort(OpBuilder &b, SortOp op, ValueRange inputs, bool hasPadding) {
  Location loc = op.getLoc();
  SmallVector<Type> types, arguments;
  for (Value input : inputs) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[op.getDimension()] = op.getKeptSize();
    types.push_back(type.clone(shape));
    arguments.append(2, type.getElementType());
  }
  auto sort = SortOp::create(b, loc, types, inputs, op.getDimensionAttr(), op.getLastAttr());
  Block &body = sort.getOrder().emplaceBlock();
  body.addArguments(arguments, SmallVector<Location>(arguments.size(), loc));
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> first, second;
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    first.push_back(body.getArgument(2 * i));
    second.push_back(body.getArgument(2 * i + 1));
  }
  Value before = emitOrder(inner, op, first, second);
  if (hasPadding) {
    Value x = body.getArguments().drop_back().back(), y = body.getArguments().back();
    Value differs = arith::XOrIOp::create(inner, loc, x, y);
    before = arith::SelectOp::create(inner, loc, differs, op.getLast() ? y : x, before);
  }
  YieldOp::create(inner, loc, before);
  return sort;
}

Value ShardedSelections::createIsInside(OpBuilder &b, SortOp op, const ShardedSelection &sharded) {
  Location loc = op.getLoc();
  FunctionMeshes::AxesOnMesh axes = table.getMeshes().getAxesOnMesh(sharded.entries);
  SmallVector<Value> coordinates = getCoordinates(b, loc, axes);
  Value start = getChunkStart(b, loc, axes.entries, sharded.size, coordinates);
  Value size = arith::ConstantIndexOp::create(b, loc, sharded.size);
  Value count = arith::SubIOp::create(b, loc, size, start);
  Value input = op.getInputs().front();
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, input), b.getI1Type());
  unsigned rank = op.getInputType().getRank();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{empty.getType()}, ValueRange(), ValueRange{empty}, {b.getMultiDimIdentityMap(rank)}, loops,
      [&](OpBuilder &body, Location loc, ValueRange) {
        Value index = linalg::IndexOp::create(body, loc, op.getDimension());
        linalg::YieldOp::create(body, loc,
                                ValueRange{arith::CmpIOp::create(body, loc, arith::CmpIPredicate::slt, index, count)});
      });
  return generic.getResult(0);
}

/// Whether some shard has fewer elements than are kept of it, so that padding is among its candidates.
static bool mayKeepPadding(const DimEntries &entries, int64_t size, int64_t kept) {
  int64_t shards = deviceFactor(entries);
  return size - (shards - 1) * llvm::divideCeilSigned(size, shards) < kept;
}

LogicalResult ShardedSelections::complete(SortOp op, const ShardedSelection &sharded) {
  OpBuilder b(op);
  bool hasPadding = !divides(sharded.entries, sharded.size);
  SmallVector<Value> inputs(op.getInputs());
  if (hasPadding)
    inputs.push_back(createIsInside(b, op, sharded));
  ValueRange candidates = createSort(b, op, inputs, hasPadding).getOutputs();
  hasPadding = hasPadding && mayKeepPadding(sharded.entries, sharded.size, op.getKeptSize());
  SmallVector<Value> gathered;
  for (auto [i, candidate] : llvm::enumerate(candidates.take_front(op->getNumResults() + hasPadding))) {
    unsigned like = i < op->getNumResults() ? i : 0;
    SmallVector<int64_t> shape(sharded.globalTypes[like].getShape());
    shape[op.getDimension()] *= deviceFactor(sharded.entries);
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(candidate.getType()));
    FailureOr<Value> all = gather(b, candidate, type, sharded.shardings[like], op.getDimension(), sharded.entries);
    if (failed(all))
      return failure();
    gathered.push_back(*all);
  }
  SortOp merged = createSort(b, op, gathered, hasPadding);
  op->replaceAllUsesWith(merged.getOutputs().take_front(op->getNumResults()));
  op->erase();
  return success();
}
