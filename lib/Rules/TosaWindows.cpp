//===- TosaWindows.cpp - Convolutions and pooling of tosa -----------------===//

#include "shardkit/Rules/TosaWindows.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

/// The value of a zero point; null if it is unknown, or not a constant of arith.
static TypedAttr getZeroPoint(Value zeroPoint, Value input) {
  DenseElementsAttr constant;
  if (!matchPattern(zeroPoint, m_Constant(&constant)) || !constant.isSplat())
    return {};
  auto value = constant.getSplatValue<TypedAttr>();
  Type element = getElementTypeOrSelf(input.getType());
  return value.getType() == element && !element.isUnsignedInteger() ? value : TypedAttr();
}

namespace {
/// Attributes of an op along the dims between the first and the last.
struct Windowed {
  ArrayRef<int64_t> pad, stride, dilation;
  SmallVector<int64_t> kernel;
  TypedAttr padding;
};
} // namespace

static std::optional<Windowed> getWindowed(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Windowed>>(op)
      .Case<tosa::Conv2DOp, tosa::Conv3DOp>([](auto op) {
        return Windowed{op.getPad(), op.getStride(), op.getDilation(),
                        llvm::to_vector(getShape(op.getWeight()).drop_front().drop_back()),
                        getZeroPoint(op.getInputZp(), op.getInput())};
      })
      .Case([](tosa::DepthwiseConv2DOp op) {
        return Windowed{op.getPad(), op.getStride(), op.getDilation(),
                        llvm::to_vector(getShape(op.getWeight()).take_front(2)),
                        getZeroPoint(op.getInputZp(), op.getInput())};
      })
      .Case([](tosa::TransposeConv2DOp op) {
        return Windowed{op.getOutPad(),
                        op.getStride(),
                        {},
                        llvm::to_vector(getShape(op.getWeight()).drop_front().drop_back()),
                        getZeroPoint(op.getInputZp(), op.getInput())};
      })
      .Case([](tosa::MaxPool2dOp op) {
        Type element = getElementTypeOrSelf(op.getInput().getType());
        bool isKnown = element.isIntOrFloat() && !element.isUnsignedInteger();
        return Windowed{op.getPad(),
                        op.getStride(),
                        {},
                        llvm::to_vector(op.getKernel()),
                        isKnown ? getNeutralElement(ReductionKind::Max, element) : TypedAttr()};
      })
      .Case([](tosa::AvgPool2dOp op) {
        return Windowed{op.getPad(), op.getStride(), {}, llvm::to_vector(op.getKernel()), {}};
      })
      .Default([](Operation *) { return std::nullopt; });
}

OpWindows spmd::getOpWindows(Operation *op) {
  OpWindows result;
  std::optional<Windowed> windowed = getWindowed(op);
  if (!windowed)
    return result;
  ArrayRef<int64_t> in = getShape(op->getOperand(0)), out = getShape(op->getResult(0));
  result.padding = windowed->padding;
  for (unsigned i = 0; i < windowed->kernel.size(); ++i) {
    unsigned d = i + 1;
    int64_t low = windowed->pad[2 * i], high = windowed->pad[2 * i + 1], stride = windowed->stride[i],
            kernel = windowed->kernel[i];
    if (in.size() != out.size() || ShapedType::isDynamic(in[d]) || ShapedType::isDynamic(out[d]) ||
        ShapedType::isDynamic(kernel))
      continue;
    if (isa<tosa::TransposeConv2DOp>(op)) {
      // Element i is written to indices stride * i + low + k of the result, k < kernel.
      if (windowed->padding)
        result.dims.push_back({d,
                               {1, stride - kernel - low, kernel - stride + 1, stride},
                               /*readsBeyond=*/true,
                               /*granule=*/stride});
      continue;
    }
    bool pads = low != 0 || high != 0;
    if (!windowed->padding && pads)
      continue;
    int64_t dilation = windowed->dilation.empty() ? 1 : windowed->dilation[i];
    result.dims.push_back({d, {stride, -low, dilation * (kernel - 1) + 1}, pads});
  }
  return result;
}

void spmd::setOpWindow(Operation *op, const OpWindow &window, int64_t chunk, int64_t length) {
  unsigned i = window.dim - 1;
  auto write = [&](ArrayRef<int64_t> old, int64_t low, int64_t high) {
    SmallVector<int64_t> pad(old);
    pad[2 * i] = low;
    pad[2 * i + 1] = high;
    return pad;
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tosa::TransposeConv2DOp op) {
        // The first index of the window, in indices of the local result.
        int64_t kernel = getShape(op.getWeight())[window.dim], stride = op.getStride()[i];
        int64_t low =
            llvm::divideFloorSigned(window.window.offset, stride) * stride - (window.window.offset + kernel - stride);
        op.setOutPad(write(op.getOutPad(), low, chunk - ((length - 1) * stride + kernel + low)));
      })
      .Case<tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp, tosa::MaxPool2dOp, tosa::AvgPool2dOp>(
          [&](auto op) { op.setPad(write(op.getPad(), 0, 0)); });
}
