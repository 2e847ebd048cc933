//===- Gathers.cpp - tensor.gather as a loop ------------------------------===//

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

void proof::expandGathers(ModuleOp module) {
  SmallVector<tensor::GatherOp> ops;
  module.walk([&](tensor::GatherOp op) { ops.push_back(op); });
  for (tensor::GatherOp op : ops)
    rewrite(op);
}
