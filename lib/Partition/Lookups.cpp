//===- Lookups.cpp - Accesses at data-dependent indices -------------------===//
//
// An index is made local and compared with the range of the shard. If the shard does not own
// it, the shard accesses its first element and replaces the result by the neutral element, so
// that the sum over the shards is the result of the lookup.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Partition/Lookups.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

void Lookups::collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding) {
  Region *body = getIndexedBody(op);
  std::optional<Addressing> addressing;
  if (body ? body->front().getOps<tensor::ExtractOp>().empty()
           : !isa<tensor::ExtractSliceOp>(op) && !(addressing = getAddressing(op)).has_value())
    return;
  ShardingRule rule = getShardingRule(op);
  ShardedOp shardedOp{op, {}};
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f) {
    const Factor &factor = rule.factor(f);
    if (factor.kind != FactorKind::Indexed || factor.hasWindows)
      continue;
    ShardedDim shardedDim{factor.size, {}, 0, {}};
    for (auto [t, tensor] : llvm::enumerate(rule.operands())) {
      const Sharding *sharding = getSharding(tensor.value);
      if (!sharding || !rule.hasFactor(tensor, f))
        continue;
      shardedDim.entries = *projectFactor(rule, t, f, *sharding);
      for (unsigned d = 0; d < tensor.numDims; ++d) {
        if (!llvm::is_contained(rule.dimFactors(tensor, d), f))
          continue;
        shardedDim.dim = d;
        if (body)
          for (tensor::ExtractOp extract : body->front().getOps<tensor::ExtractOp>())
            if (extract.getTensor() == tensor.value)
              shardedDim.uses.push_back(&extract.getIndicesMutable()[d]);
      }
    }
    if (deviceFactor(shardedDim.entries) > 1)
      shardedOp.dims.push_back(std::move(shardedDim));
  }
  if (!shardedOp.dims.empty())
    (body ? bodies : ops).push_back(std::move(shardedOp));
}

/// The local index of a global one; 0 if another shard owns it.
static LocalIndex getLocalIndex(OpBuilder &b, Location loc, Value global, int64_t size,
                                const FunctionMeshes::AxesOnMesh &axes, ArrayRef<Value> coordinates) {
  OwnedIndex local = getOwnedIndex(b, loc, global, axes.entries, size, coordinates);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return {arith::SelectOp::create(b, loc, local.owned, local.index, zero), local.owned};
}

void Lookups::makeBodiesLocal() {
  for (const ShardedOp &entry : bodies) {
    Operation *op = entry.op;
    Block *body = &getIndexedBody(op)->front();
    OpBuilder outside(op), b(op);
    SmallVector<Value> owned;
    for (const ShardedDim &dim : entry.dims) {
      FunctionMeshes::AxesOnMesh axes = meshes.getAxesOnMesh(dim.entries);
      SmallVector<Value> coordinates = getCoordinates(outside, op->getLoc(), axes);
      Value index = dim.uses.front()->get();
      if (index.getParentBlock() == body)
        b.setInsertionPointAfterValue(index);
      else
        b.setInsertionPointToStart(body);
      LocalIndex local = getLocalIndex(b, dim.uses.front()->getOwner()->getLoc(), index, dim.size, axes, coordinates);
      for (OpOperand *use : dim.uses)
        use->set(local.index);
      owned.push_back(local.owned);
    }
    Operation *terminator = body->getTerminator();
    b.setInsertionPoint(terminator);
    Location loc = terminator->getLoc();
    Value all = owned.front();
    for (Value other : ArrayRef(owned).drop_front())
      all = arith::AndIOp::create(b, loc, all, other);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    for (OpOperand &yielded : terminator->getOpOperands()) {
      Value otherwise;
      if (linalgOp)
        otherwise = body->getArgument(linalgOp.getNumDpsInputs() + yielded.getOperandNumber());
      if (!otherwise || otherwise.use_empty())
        otherwise = createExactNeutral(b, loc, ReductionKind::Sum, yielded.get().getType());
      yielded.set(arith::SelectOp::create(b, loc, all, yielded.get(), otherwise));
    }
  }
}

/// A slice at dynamic offsets as a loop over its elements. `localize` converts a global index along a dim; it returns
/// the index itself for an unsharded dim.
static Value
expandSlice(OpBuilder &b, tensor::ExtractSliceOp op,
            llvm::function_ref<LocalIndex(OpBuilder &b, Location loc, unsigned d, Value global)> localize) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<OpFoldResult> sizes;
  for (unsigned d = 0; d < dropped.size(); ++d)
    if (!dropped.test(d))
      sizes.push_back(op.getMixedSizes()[d]);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, TypeRange{type}, ValueRange{}, ValueRange{empty},
             ArrayRef<AffineMap>{b.getMultiDimIdentityMap(type.getRank())}, loops,
             [&](OpBuilder &b, Location loc, ValueRange) {
               SmallVector<Value> indices;
               Value owned;
               for (unsigned d = 0, next = 0; d < dropped.size(); ++d) {
                 Value index = getValueOrCreateConstantIndexOp(b, loc, op.getMixedOffsets()[d]);
                 if (!dropped.test(d)) {
                   Value lane = linalg::IndexOp::create(b, loc, next++);
                   Value stride = getValueOrCreateConstantIndexOp(b, loc, op.getMixedStrides()[d]);
                   index = arith::AddIOp::create(b, loc, index, arith::MulIOp::create(b, loc, lane, stride));
                 }
                 LocalIndex local = localize(b, loc, d, index);
                 indices.push_back(local.index);
                 if (local.owned)
                   owned = owned ? Value(arith::AndIOp::create(b, loc, owned, local.owned)) : local.owned;
               }
               Value element = tensor::ExtractOp::create(b, loc, op.getSource(), indices);
               Value neutral = createExactNeutral(b, loc, ReductionKind::Sum, type.getElementType());
               linalg::YieldOp::create(b, loc, Value(arith::SelectOp::create(b, loc, owned, element, neutral)));
             })
      .getResult(0);
}

void Lookups::expandOps() {
  for (const ShardedOp &entry : ops) {
    Operation *op = entry.op;
    OpBuilder outside(op), b(op);
    SmallVector<FunctionMeshes::AxesOnMesh> axes;
    SmallVector<SmallVector<Value>> coordinates;
    for (const ShardedDim &dim : entry.dims) {
      axes.push_back(meshes.getAxesOnMesh(dim.entries));
      coordinates.push_back(getCoordinates(outside, op->getLoc(), axes.back()));
    }
    auto localizeAt = [&](OpBuilder &b, Location loc, Value global,
                          llvm::function_ref<bool(unsigned dim)> isAt) -> LocalIndex {
      for (auto [i, dim] : llvm::enumerate(entry.dims))
        if (isAt(dim.dim))
          return getLocalIndex(b, loc, global, dim.size, axes[i], coordinates[i]);
      return {global, Value()};
    };
    Value result;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      result = expandSlice(b, slice, [&](OpBuilder &b, Location loc, unsigned d, Value global) {
        return localizeAt(b, loc, global, [&](unsigned dim) { return dim == d; });
      });
    } else {
      std::optional<Addressing> addressing = getAddressing(op);
      result = expandAddressing(b, op, *addressing, [&](OpBuilder &b, Location loc, unsigned k, Value global) {
        return localizeAt(b, loc, global, [&](unsigned dim) { return addressing->coordinate[dim] == k; });
      });
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}
