//===- CopiedElements.cpp - Loading functions that only copy elements ----===//

#include "shardkit/Loading/LoadingFunctions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Evaluates the values of a function as copies of elements of its arguments, from the
/// result back. For example, the result of a transpose of argument 0 is a copy of all
/// its elements with permuted dims.
class Evaluator {
public:
  Evaluator(func::FuncOp func, ArrayRef<std::optional<Copies>> arguments, unsigned depth) : depth(depth) {
    for (auto [value, copies] : llvm::zip(func.getArguments(), arguments))
      known[value] = copies;
  }

  std::optional<Copies> get(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::optional<Copies> result;
    if (type && type.hasStaticShape() && value.getDefiningOp())
      result = evaluate(cast<OpResult>(value), type.getShape());
    known[value] = result;
    return result;
  }

private:
  std::optional<Copies> evaluate(OpResult value, ArrayRef<int64_t> shape) {
    Operation *op = value.getOwner();
    if (isa<tensor::EmptyOp>(op))
      return Copies::undefined(shape);
    if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      SmallVector<Copies> inputs;
      for (Value input : concat.getInputs()) {
        std::optional<Copies> copies = get(input);
        if (!copies)
          return std::nullopt;
        inputs.push_back(std::move(*copies));
      }
      return Copies::concat(inputs, concat.getDim());
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      std::optional<Copies> source = get(slice.getSource());
      if (!source || !isStatic(slice))
        return std::nullopt;
      std::optional<Copies> copies =
          source->slice(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getStaticStrides());
      return copies ? copies->reshape(shape) : copies; // drops dims of size 1
    }
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
      std::optional<Copies> into = get(slice.getDest()), source = get(slice.getSource());
      if (!into || !source || !isStatic(slice))
        return std::nullopt;
      std::optional<Copies> copies = source->reshape(slice.getStaticSizes());
      return copies ? into->insert(*copies, slice.getStaticOffsets(), slice.getStaticStrides()) : std::nullopt;
    }
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp, tensor::CastOp>(op)) {
      std::optional<Copies> source = get(op->getOperand(0));
      return source ? source->reshape(shape) : source;
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return evaluate(linalgOp, value.getResultNumber(), shape);
    if (auto call = dyn_cast<func::CallOp>(op))
      return evaluate(call, value.getResultNumber());
    return std::nullopt;
  }

  static bool isStatic(OffsetSizeAndStrideOpInterface slice) {
    return llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic) &&
           llvm::none_of(slice.getStaticSizes(), ShapedType::isDynamic) &&
           llvm::none_of(slice.getStaticStrides(), ShapedType::isDynamic) &&
           llvm::all_of(slice.getStaticStrides(), [](int64_t step) { return step > 0; });
  }

  /// Transposes, broadcasts and copies: the body yields an operand.
  std::optional<Copies> evaluate(linalg::LinalgOp op, unsigned result, ArrayRef<int64_t> shape) {
    Value yielded = op.getBlock()->getTerminator()->getOperand(result);
    auto arg = dyn_cast<BlockArgument>(yielded);
    if (!arg || arg.getOwner() != op.getBlock() || arg.getArgNumber() >= op.getNumDpsInputs() ||
        op.getNumReductionLoops() != 0)
      return std::nullopt;
    OpOperand *operand = op.getDpsInputOperand(arg.getArgNumber());
    AffineMap from = op.getMatchingIndexingMap(operand);
    AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
    if (!from.isProjectedPermutation() || !to.isPermutation() || !isa<RankedTensorType>(operand->get().getType()))
      return std::nullopt;
    std::optional<Copies> source = get(operand->get());
    if (!source)
      return std::nullopt;
    SmallVector<int64_t> dims(to.getNumResults(), -1);
    for (unsigned r = 0; r < to.getNumResults(); ++r)
      for (unsigned d = 0; d < from.getNumResults(); ++d)
        if (from.getDimPosition(d) == to.getDimPosition(r))
          dims[r] = d;
    return source->remap(shape, dims);
  }

  std::optional<Copies> evaluate(func::CallOp call, unsigned result) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    // The depth limit also stops at recursive calls.
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() || depth > 16)
      return std::nullopt;
    SmallVector<std::optional<Copies>> arguments;
    for (Value operand : call.getOperands())
      arguments.push_back(get(operand));
    return Evaluator(callee, arguments, depth + 1).get(callee.getBody().front().getTerminator()->getOperand(result));
  }

  unsigned depth;
  llvm::DenseMap<Value, std::optional<Copies>> known;
};

} // namespace

std::optional<Copies> spmd::getCopies(func::FuncOp load) {
  if (load.isExternal() || !load.getBody().hasOneBlock())
    return std::nullopt;
  Value result = load.getBody().front().getTerminator()->getOperand(0);
  SmallVector<std::optional<Copies>> arguments;
  for (auto [i, type] : llvm::enumerate(load.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    // Arguments of another element type are not copied.
    arguments.push_back(tensor.getElementType() == getElementTypeOrSelf(result)
                            ? std::optional(Copies::ofSource(i, tensor.getShape()))
                            : std::nullopt);
  }
  std::optional<Copies> copies = Evaluator(load, arguments, 0).get(result);
  return copies && copies->isComplete() ? copies : std::nullopt;
}
