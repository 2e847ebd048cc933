//===- Sort.cpp - Sorts in global or local view ---------------------------===//

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;

/// Whether all types have the same shape.
static bool haveOneShape(TypeRange types) {
  return llvm::all_of(types, [&](Type type) {
    return cast<RankedTensorType>(type).getShape() == cast<RankedTensorType>(types.front()).getShape();
  });
}

LogicalResult SortOp::verify() {
  // sort_c1
  if (getInputs().empty())
    return emitOpError() << "has no operands, expected at least one";
  if (!haveOneShape(getInputs().getTypes()) || !haveOneShape(getOutputs().getTypes()))
    return emitOpError() << "has operands or results of several shapes, expected one shape of the operands and one of "
                            "the results";
  // sort_c2
  int64_t rank = getInputType().getRank(), dim = getDimension();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "dim is " << dim << ", expected one from 0 to " << rank - 1 << ", as operands have rank "
                         << rank;
  // sort_c3
  if (getOutputs().size() != getInputs().size())
    return emitOpError() << "has " << getOutputs().size() << " results, expected one for each of " << getInputs().size()
                         << " operands";
  for (auto [i, input, output] : llvm::enumerate(getInputs().getTypes(), getOutputs().getTypes())) {
    auto from = cast<RankedTensorType>(input), to = cast<RankedTensorType>(output);
    if (from.isDynamicDim(dim) && to != from)
      return emitOpError() << "result #" << i << " has type " << to << ", expected " << from
                           << ", all elements of a dim of dynamic size";
    SmallVector<int64_t> shape(from.getShape());
    if (to.getRank() == rank && to.getDimSize(dim) >= 0 && to.getDimSize(dim) <= shape[dim])
      shape[dim] = to.getDimSize(dim);
    if (to != from.clone(shape))
      return emitOpError() << "result #" << i << " has type " << to << ", expected " << from << " with at most "
                           << from.getDimSize(dim) << " elements along dim " << dim;
  }
  return success();
}

LogicalResult SortOp::verifyRegions() {
  // sort_c4
  Block &body = getOrder().front();
  SmallVector<Type> expected;
  for (Type type : getInputs().getTypes())
    expected.append(2, cast<RankedTensorType>(type).getElementType());
  if (!llvm::equal(body.getArgumentTypes(), expected))
    return emitOpError() << "region has arguments of types " << body.getArgumentTypes()
                         << ", expected two of the element type of each operand: " << TypeRange(expected);
  if (body.empty() || !isa<YieldOp>(body.back()))
    return emitOpError() << "region does not end in spmd.yield, expected one i1 of it";
  // sort_c5
  for (Operation &op : body.without_terminator())
    if (!isPure(&op) || op.getNumRegions() > 0 ||
        llvm::any_of(llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()), llvm::IsaPred<ShapedType>))
      return op.emitOpError() << "is in the region of a sort, expected pure ops on scalars";
  return success();
}
