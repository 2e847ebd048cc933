//===- LocalAttributes.cpp - Sizes in attributes of local ops -------------===//

#include "shardkit/Partition/LocalAttributes.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

/// Sizes of a slice of `tensor`, local for sharded dims that it covers.
static SmallVector<int64_t> getLocalSizes(ArrayRef<int64_t> sizes, Value tensor, const TensorTypes &types) {
  SmallVector<int64_t> result(sizes);
  ArrayRef<int64_t> global = types.getGlobal(tensor).getShape();
  ArrayRef<int64_t> local = types.getLocal(tensor).getShape();
  for (auto [d, size] : llvm::enumerate(result))
    if (local[d] != global[d] && size == global[d])
      size = local[d];
  return result;
}

/// The shape operand of a reshape, as a constant before it.
static Value makeShape(Operation *op, Type shapeType, ArrayRef<int64_t> shape) {
  OpBuilder b(op);
  if (auto type = dyn_cast<tosa::shapeType>(shapeType))
    return tosa::ConstShapeOp::create(b, op->getLoc(), type, b.getIndexTensorAttr(shape));
  auto type = cast<RankedTensorType>(shapeType);
  SmallVector<Attribute> sizes;
  for (int64_t size : shape)
    sizes.push_back(b.getIntegerAttr(type.getElementType(), size));
  return arith::ConstantOp::create(b, op->getLoc(), DenseElementsAttr::get(type, sizes));
}

void spmd::makeAttributesLocal(Operation *op, const TensorTypes &types) {
  auto isSharded = [&](Value value) {
    return isa<RankedTensorType>(value.getType()) && types.getGlobal(value) != types.getLocal(value);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<CollectivePermuteOp, ExchangeOp, HaloExchangeOp>([&](auto move) {
        // Dims that a user's collective does not move may be sharded by other axes.
        auto global = cast<RankedTensorType>(move.getGlobalType());
        SmallVector<int64_t> shape(global.getShape());
        for (auto [size, local, from, to] : llvm::zip_equal(shape, types.getLocal(move.getResult()).getShape(),
                                                            move.getFrom().getDims(), move.getTo().getDims()))
          if (from.getEntries().empty() && to.getEntries().empty())
            size = local;
        move.setGlobalType(global.clone(shape));
      })
      .Case([&](arith::ConstantOp constant) {
        if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
          constant.setValueAttr(splat.resizeSplat(types.getLocal(constant)));
      })
      .Case([&](tosa::ConstOp constant) {
        if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValues()))
          constant.setValuesAttr(splat.resizeSplat(types.getLocal(constant)));
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        expand.setStaticOutputShape(getLocalSizes(expand.getStaticOutputShape(), expand.getResult(), types));
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        // A sharded dim is covered fully, or by one of several equal slices.
        ArrayRef<int64_t> global = types.getGlobal(slice.getSource()).getShape();
        ArrayRef<int64_t> local = types.getLocal(slice.getSource()).getShape();
        ArrayRef<int64_t> result = types.getLocal(slice.getResult()).getShape();
        ArrayRef<int64_t> all = types.getGlobal(slice.getResult()).getShape();
        SmallVector<int64_t> offsets(slice.getStaticOffsets()), sizes(slice.getStaticSizes());
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        for (unsigned d = 0, next = 0; d < sizes.size(); ++d) {
          if (dropped.test(d))
            continue;
          if (!ShapedType::isDynamic(sizes[d]))
            sizes[d] = result[next];
          bool isSharded = result[next] != all[next]; // else every shard takes what it owns
          ++next;
          if (isSharded && local[d] != global[d] && offsets[d] > 0)
            offsets[d] = offsets[d] / (global[d] / local[d]);
        }
        slice.setStaticOffsets(offsets);
        slice.setStaticSizes(sizes);
      })
      .Case([&](tensor::InsertSliceOp slice) {
        slice.setStaticSizes(getLocalSizes(slice.getStaticSizes(), slice.getDest(), types));
      })
      .Case([&](tensor::ParallelInsertSliceOp slice) {
        slice.setStaticSizes(getLocalSizes(slice.getStaticSizes(), slice.getDest(), types));
      })
      .Case([&](tensor::ReshapeOp reshape) {
        if (isSharded(reshape.getResult()))
          reshape.getShapeMutable().assign(
              makeShape(op, reshape.getShape().getType(), types.getLocal(reshape.getResult()).getShape()));
      })
      .Case([&](tosa::ReshapeOp reshape) {
        if (isSharded(reshape.getOutput()))
          reshape.getShapeMutable().assign(
              makeShape(op, reshape.getShape().getType(), types.getLocal(reshape.getOutput()).getShape()));
      })
      .Case([&](tosa::SliceOp slice) {
        if (isSharded(slice.getOutput()))
          slice.getSizeMutable().assign(
              makeShape(op, slice.getSize().getType(), types.getLocal(slice.getOutput()).getShape()));
      })
      .Case([&](tensor::DimOp dim) {
        auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
        std::optional<int64_t> d = dim.getConstantIndex();
        if (!type || !d || *d >= type.getRank() || !isSharded(dim.getSource()) ||
            types.getGlobal(dim.getSource()).isDynamicDim(*d))
          return;
        OpBuilder b(op);
        dim.getResult().replaceAllUsesWith(
            arith::ConstantIndexOp::create(b, op->getLoc(), types.getGlobal(dim.getSource()).getDimSize(*d)));
      });
}
