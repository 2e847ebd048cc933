//===- Gathers.cpp - tensor.gather and tensor.scatter as loops ------------===//

#include "SequentialLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

/// Slice k of the result is at the indices that row k has.
static void rewrite(tensor::GatherOp op) {
  RankedTensorType type = op.getResultType(), source = op.getSourceType(), rows = op.getIndicesType();
  if (!type.hasStaticShape())
    return;
  Location loc = op.getLoc();
  OpBuilder b(op);
  int64_t batch = rows.getRank() - 1;
  ArrayRef<int64_t> dims = op.getGatherDims();
  bool isFull = type.getRank() == batch + source.getRank(); // dims of one element stand for those at indices
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  auto body = [&](OpBuilder &b, Location loc, ValueRange) {
    SmallVector<Value> at(source.getRank()), row;
    for (int64_t d = 0; d < batch; ++d)
      row.push_back(linalg::IndexOp::create(b, loc, d));
    row.push_back({});
    int64_t next = batch;
    for (int64_t d = 0; d < source.getRank(); ++d) {
      bool isGathered = llvm::is_contained(dims, d);
      if (!isGathered)
        at[d] = linalg::IndexOp::create(b, loc, next);
      next += !isGathered || isFull;
    }
    for (auto [c, d] : llvm::enumerate(dims)) {
      row.back() = arith::ConstantIndexOp::create(b, loc, c);
      Value index = tensor::ExtractOp::create(b, loc, op.getIndices(), row);
      at[d] =
          rows.getElementType().isIndex() ? index : Value(arith::IndexCastOp::create(b, loc, b.getIndexType(), index));
    }
    linalg::YieldOp::create(b, loc, ValueRange(tensor::ExtractOp::create(b, loc, op.getSource(), at)));
  };
  auto generic =
      linalg::GenericOp::create(b, loc, TypeRange{type}, ValueRange(), ValueRange{empty}, {identity}, loops, body);
  op.replaceAllUsesWith(generic.getResult(0));
  op.erase();
}

/// Each element of the result looks at all rows: loops over the result, and over the batch of rows.
static void rewrite(tensor::ScatterOp op) {
  RankedTensorType type = op.getDestType(), rows = op.getSourceType(), tuples = op.getIndicesType();
  int64_t batch = tuples.getRank() - 1, rank = type.getRank();
  if (!type.hasStaticShape() || !rows.hasStaticShape() || !tuples.hasStaticShape() || batch == 0)
    return;
  Location loc = op->getLoc();
  OpBuilder b(op);
  ArrayRef<int64_t> dims = op.getScatterDims();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.append(batch, utils::IteratorType::reduction);
  SmallVector<AffineExpr> row;
  for (int64_t d = 0; d < batch; ++d)
    row.push_back(b.getAffineDimExpr(rank + d));
  bool isFull = rows.getRank() == batch + rank; // dims of one element stand for those at indices
  for (int64_t d = 0; d < rank; ++d) {
    bool isScattered = llvm::is_contained(dims, d);
    if (!isScattered || isFull)
      row.push_back(isScattered ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(d));
  }
  AffineMap rowMap = AffineMap::get(loops.size(), 0, row, b.getContext()),
            map = AffineMap::getMultiDimIdentityMap(loops.size(), b.getContext()).getMajorSubMap(rank);
  auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
    SmallVector<Value> at;
    for (int64_t d = 0; d < batch; ++d)
      at.push_back(linalg::IndexOp::create(b, loc, rank + d));
    at.push_back({});
    Value here;
    for (auto [c, d] : llvm::enumerate(dims)) {
      at.back() = arith::ConstantIndexOp::create(b, loc, c);
      Value index = tensor::ExtractOp::create(b, loc, op.getIndices(), at);
      if (!tuples.getElementType().isIndex())
        index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
      Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, linalg::IndexOp::create(b, loc, d), index);
      here = here ? Value(arith::AndIOp::create(b, loc, here, same)) : same;
    }
    linalg::YieldOp::create(b, loc,
                            ValueRange(arith::SelectOp::create(b, loc, here, arguments[0], arguments[1]).getResult()));
  };
  auto generic = linalg::GenericOp::create(b, loc, TypeRange{type}, ValueRange{op.getSource()},
                                           ValueRange{op.getDest()}, {rowMap, map}, loops, body);
  op.replaceAllUsesWith(generic.getResult(0));
  op.erase();
}

void proof::expandGathers(ModuleOp module) {
  SmallVector<tensor::GatherOp> ops;
  module.walk([&](tensor::GatherOp op) { ops.push_back(op); });
  for (tensor::GatherOp op : ops)
    rewrite(op);
  SmallVector<tensor::ScatterOp> scatters;
  module.walk([&](tensor::ScatterOp op) { scatters.push_back(op); });
  for (tensor::ScatterOp op : scatters)
    rewrite(op);
}
