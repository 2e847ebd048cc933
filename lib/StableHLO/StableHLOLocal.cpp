//===- StableHLOLocal.cpp - Attributes of local StableHLO ops -------------===//

#include "Attributes.h"
#include "Model.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::stablehlo;

void stablehlo::Model::makeLocal(Operation *op, const TensorTypes &types) const {
  StringRef name = op->getName().stripDialect();
  if (name == "scatter") {
    // Padding of the indices is of one value.
    if (types.getGlobal(op->getOperand(1)) != types.getLocal(op->getOperand(1)))
      for (StringRef promise : {"indices_are_sorted", "unique_indices"})
        if (op->hasAttr(promise))
          op->setAttr(promise, BoolAttr::get(op->getContext(), false));
    return;
  }
  // Slices of full dims: the limit of a result, or the size that is taken of an operand.
  const bool hasLimits = name == "slice";
  if (!hasLimits && name != "dynamic_slice" && name != "gather")
    return;
  StringRef attr = hasLimits ? "limit_indices" : "slice_sizes";
  Value value = op->getOperand(0);
  Ints sizes = getInts(op, attr);
  ArrayRef<int64_t> global = types.getGlobal(value).getShape(), local = types.getLocal(value).getShape();
  if (sizes.size() != global.size())
    return;
  for (auto [size, all, here] : llvm::zip(sizes, global, local))
    if (size == all)
      size = here;
  setInts(op, attr, sizes);
}

WindowForm stablehlo::Model::getWindowForm(Operation *op) const {
  StringRef name = op->getName().stripDialect();
  return name == "slice" || name == "pad" || name == "reverse" || name == "convolution" || name == "reduce_window"
             ? WindowForm::InPlace
             : WindowForm::None;
}

/// Sets element `i` of a list.
static void setElement(Operation *op, StringRef name, size_t i, int64_t value) {
  Ints values = getInts(op, name);
  if (i >= values.size() || values[i] == value)
    return;
  values[i] = value;
  setInts(op, name, values);
}

void stablehlo::Model::makeWindowLocal(Operation *op, const LocalWindow &window) const {
  StringRef name = op->getName().stripDialect();
  unsigned d = window.dim;
  if (name == "slice") {
    setElement(op, "start_indices", d, 0);
    setElement(op, "limit_indices", d, window.window.size);
  } else if (name == "pad") {
    setElement(op, "edge_padding_low", d, 0);
    setElement(op, "edge_padding_high", d, 0);
  } else if (name == "reduce_window" || name == "convolution") {
    size_t i = d;
    if (name == "convolution") {
      std::optional<ConvolutionDims> dims = getConvolutionDims(op);
      i = llvm::find(dims->in, int64_t(d)) - dims->in.begin();
    }
    setElement(op, "padding", 2 * i, 0);
    setElement(op, "padding", 2 * i + 1, 0);
  }
}

TypedAttr stablehlo::Model::getWindowPadding(Operation *op, unsigned operand, unsigned) const {
  return operand == 0 && op->getName().stripDialect() == "reduce_window" ? getSplat(op->getOperand(1)) : TypedAttr();
}
