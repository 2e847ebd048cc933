//===- Lookups.cpp - Places that other shards own -------------------------===//
//
// A place is made local and compared with what the shard has. Elsewhere the first
// element is used, which every shard has, and what comes out is dropped: replaced
// by what adds nothing, so that the sum over the shards is what was looked up.
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
  CutOp own{op, {}};
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f) {
    const Factor &factor = rule.factor(f);
    if (factor.kind != FactorKind::Indexed)
      continue;
    CutDim cut{factor.size, {}, 0, {}};
    for (auto [t, tensor] : llvm::enumerate(rule.operands())) {
      const Sharding *sharding = getSharding(tensor.value);
      if (!sharding || !rule.hasFactor(tensor, f))
        continue;
      cut.entries = *projectFactor(rule, t, f, *sharding);
      for (unsigned d = 0; d < tensor.numDims; ++d) {
        if (!llvm::is_contained(rule.dimFactors(tensor, d), f))
          continue;
        cut.dim = d;
        if (body)
          for (tensor::ExtractOp extract : body->front().getOps<tensor::ExtractOp>())
            if (extract.getTensor() == tensor.value)
              cut.uses.push_back(&extract.getIndicesMutable()[d]);
      }
    }
    if (deviceFactor(cut.entries) > 1)
      own.dims.push_back(std::move(cut));
  }
  if (!own.dims.empty())
    (body ? bodies : ops).push_back(std::move(own));
}

/// The local index of a place, 0 where it is elsewhere.
static LocalIndex getLocalIndex(OpBuilder &b, Location loc, Value global, int64_t size,
                                const FunctionMeshes::AxesOnMesh &axes, ArrayRef<Value> coordinates) {
  OwnedIndex own = getOwnedIndex(b, loc, global, axes.entries, size, coordinates);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return {arith::SelectOp::create(b, loc, own.owned, own.index, zero), own.owned};
}

void Lookups::makeBodiesLocal() {
  for (const CutOp &cut : bodies) {
    Operation *op = cut.op;
    Block *body = &getIndexedBody(op)->front();
    OpBuilder outside(op), b(op);
    SmallVector<Value> owned;
    for (const CutDim &dim : cut.dims) {
      FunctionMeshes::AxesOnMesh axes = meshes.getAxesOnMesh(dim.entries);
      SmallVector<Value> coordinates = getCoordinates(outside, op->getLoc(), axes);
      Value place = dim.uses.front()->get();
      if (place.getParentBlock() == body)
        b.setInsertionPointAfterValue(place);
      else
        b.setInsertionPointToStart(body);
      LocalIndex local = getLocalIndex(b, dim.uses.front()->getOwner()->getLoc(), place, dim.size, axes, coordinates);
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

/// A slice at places that are known at run time, as a loop over its elements.
/// `localize`: where a global place along a dim is; the index alone where it is whole.
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
               SmallVector<Value> places;
               Value owned;
               for (unsigned d = 0, next = 0; d < dropped.size(); ++d) {
                 Value place = getValueOrCreateConstantIndexOp(b, loc, op.getMixedOffsets()[d]);
                 if (!dropped.test(d)) {
                   Value lane = linalg::IndexOp::create(b, loc, next++);
                   Value stride = getValueOrCreateConstantIndexOp(b, loc, op.getMixedStrides()[d]);
                   place = arith::AddIOp::create(b, loc, place, arith::MulIOp::create(b, loc, lane, stride));
                 }
                 LocalIndex local = localize(b, loc, d, place);
                 places.push_back(local.index);
                 if (local.owned)
                   owned = owned ? Value(arith::AndIOp::create(b, loc, owned, local.owned)) : local.owned;
               }
               Value element = tensor::ExtractOp::create(b, loc, op.getSource(), places);
               Value neutral = createExactNeutral(b, loc, ReductionKind::Sum, type.getElementType());
               linalg::YieldOp::create(b, loc, Value(arith::SelectOp::create(b, loc, owned, element, neutral)));
             })
      .getResult(0);
}

void Lookups::expandOps() {
  for (const CutOp &cut : ops) {
    Operation *op = cut.op;
    OpBuilder outside(op), b(op);
    SmallVector<FunctionMeshes::AxesOnMesh> axes;
    SmallVector<SmallVector<Value>> coordinates;
    for (const CutDim &dim : cut.dims) {
      axes.push_back(meshes.getAxesOnMesh(dim.entries));
      coordinates.push_back(getCoordinates(outside, op->getLoc(), axes.back()));
    }
    auto localizeAt = [&](OpBuilder &b, Location loc, Value global,
                          llvm::function_ref<bool(unsigned dim)> isAt) -> LocalIndex {
      for (auto [i, dim] : llvm::enumerate(cut.dims))
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
